//! An array after a power cut: what its members hold, put together.
//!
//! The members lose power at one instant, but not in one state: that is the write hole. Data and
//! parity of a stripe are written side by side, and so are mirrors; a cut between them leaves a
//! parity that does not fit its data, or copies that differ. Nothing is lost by that alone, since
//! md recomputes parity and copies the first mirror over the others. Where a member is lost too,
//! its bytes are what parity says: where that does not fit they are no data, though the host may
//! never have written near them (N. Brown, "Closing the RAID5 write hole", LWN 665299).

use std::collections::BTreeSet;

use super::ledger::{ArrayLedger, MemberLedger};
use super::members::Members;
use super::parity_update::Chunk;
use super::plan::{ArrayPlan, ArrayShape};
use crate::Model;
use crate::power::{Aftermath, Cut, CutFault, HostLog, SectorContent, Survivors, Unfit};

/// An array whose members lost their power.
pub(super) struct Fallen<'a, M> {
    plan: &'a ArrayPlan,
    shape: &'a ArrayShape,
    members: &'a Members<M>,
    ledger: Option<&'a ArrayLedger>,
    host: &'a HostLog,
    /// Aftermath of each member; `None` for one that did not come back.
    held: Vec<Option<Aftermath>>,
    at_ns: u64,
}

impl<'a, M: Model> Fallen<'a, M> {
    /// An array of `plan` and `shape` after `cut`.
    pub(super) fn new(
        (plan, shape): (&'a ArrayPlan, &'a ArrayShape),
        (members, ledger): (&'a Members<M>, Option<&'a ArrayLedger>),
        host: &'a HostLog,
        cut: &Cut,
    ) -> Result<Fallen<'a, M>, CutFault> {
        let count = members.count();
        let lost = cut.faults.lost_member;
        if let Some(member) = lost.filter(|member| usize::from(*member) >= count) {
            return Err(CutFault::NoSuchMember { member, members: count });
        }
        let mut held = Vec::new();
        for (number, (model, ledger)) in (0_u16..).zip(members.ledgers()) {
            let ledger = ledger.ok_or(CutFault::NoLog)?;
            let mut own = *cut;
            own.faults.lost_member = None;
            // Chance falls for each member by itself.
            if let Survivors::Random(seed) = cut.survivors {
                own.survivors = Survivors::Random(seed ^ (u64::from(number) << 32));
            }
            let after = model.after(&ledger.host, &own)?;
            held.push((lost != Some(number)).then_some(after));
        }
        Ok(Fallen { plan, shape, members, ledger, host, held, at_ns: cut.at_ns })
    }

    /// Returns what the array holds.
    pub(super) fn aftermath(&self) -> Result<Aftermath, CutFault> {
        let mut held = Vec::new();
        let mut unfit = Unfit::default();
        for lba in self.lbas() {
            let (here, is_fit) = match self.plan.level.parity() {
                0 => self.copied(lba)?,
                _ => self.striped(lba)?,
            };
            held.push((lba, here));
            if !is_fit {
                match self.plan.level.parity() {
                    0 => unfit.mirrors += 1,
                    _ => unfit.parity += 1,
                }
            }
        }
        Ok(Aftermath::new(self.at_ns, held).with_unfit(unfit))
    }

    fn sector_bytes(&self) -> u64 {
        self.shape.logical_bytes
    }

    /// The logical sectors that may hold something else than before.
    fn lbas(&self) -> BTreeSet<u64> {
        let bytes = self.sector_bytes();
        let mut lbas = BTreeSet::new();
        for (member, after) in self.held.iter().enumerate() {
            let offset = self.members.offset_bytes(member);
            let Some(after) = after else { continue };
            let own_bytes = self.members.logical_bytes(member);
            for (own, _) in after.changed() {
                let (start, end) = (own * own_bytes, (own + 1) * own_bytes);
                let step = usize::try_from(bytes.min(own_bytes)).unwrap_or(1);
                let inside = (start..end).step_by(step).filter_map(|at| at.checked_sub(offset));
                lbas.extend(inside.flat_map(|at| self.addresses(member, at)).map(|at| at / bytes));
            }
        }
        if self.held.iter().any(Option::is_none) {
            lbas.extend(self.written());
        }
        lbas.retain(|lba| (lba + 1) * bytes <= self.shape.capacity_bytes);
        lbas
    }

    /// All that was written, with parity all of its rows: what a lost member may have had.
    fn written(&self) -> BTreeSet<u64> {
        let (bytes, stripe) = (self.sector_bytes(), self.shape.stripe);
        let has_parity = self.plan.level.parity() > 0;
        let mut lbas = BTreeSet::new();
        for write in self.host.writes() {
            let mut at = write.range.start_bytes() / bytes * bytes;
            while at < write.range.end_bytes() {
                let place = stripe.place(at);
                match has_parity {
                    true => lbas.extend(self.beside(place.stripe, place.member_bytes)),
                    false => lbas.extend([at]),
                }
                at += bytes;
            }
        }
        lbas.into_iter().map(|at| at / bytes).collect()
    }

    /// The addresses of the bytes of a stripe that stand at one place of all members' data.
    fn beside(&self, stripe: u64, within: u64) -> impl Iterator<Item = u64> {
        let shape = self.shape.stripe;
        let (data, chunk) = (shape.data_members(), shape.chunk_bytes());
        (0..data).map(move |position| (stripe * data + position) * chunk + within % chunk)
    }

    /// The array's addresses that the byte `at` of a member's data is about: its own, or with
    /// parity all of its row.
    fn addresses(&self, member: usize, at: u64) -> Vec<u64> {
        let plan = self.plan;
        let stripe = at / self.shape.stripe.chunk_bytes();
        let beside = self.beside(stripe, at);
        if plan.level.parity() > 0 {
            return beside.collect();
        }
        let copies = usize::try_from(plan.copies()).unwrap_or(1);
        beside.skip(member / copies).take(1).collect()
    }

    /// Returns what a member's ledger says of the byte `at` of its data: the origin of what it
    /// holds there.
    fn found(&self, member: usize, at: u64) -> Result<Option<MemberBytes>, CutFault> {
        let Some(after) = &self.held[member] else { return Ok(None) };
        let bytes = self.members.logical_bytes(member);
        let held = after.held((at + self.members.offset_bytes(member)) / bytes);
        let ledger: &MemberLedger = self.members.ledger(member).ok_or(CutFault::NoLog)?;
        Ok(match held {
            SectorContent::Original => Some(MemberBytes::Before),
            SectorContent::Unreadable => None,
            SectorContent::Write(number) => Some(MemberBytes::From(ledger.origin(number, at)?)),
        })
    }

    /// Returns what a sector without parity holds, and whether all copies that can be read are
    /// alike.
    fn copied(&self, lba: u64) -> Result<(SectorContent, bool), CutFault> {
        let place = self.shape.stripe.place(lba * self.sector_bytes());
        let copies = usize::try_from(self.plan.copies()).unwrap_or(1);
        let first = usize::try_from(place.position).unwrap_or(0) * copies;
        let mut all = Vec::new();
        for member in first..first + copies {
            all.extend(self.found(member, place.member_bytes)?);
        }
        let is_fit = all.windows(2).all(|pair| pair[0] == pair[1]);
        let held = match all.first() {
            Some(MemberBytes::Before) => SectorContent::Original,
            Some(MemberBytes::From(number)) => SectorContent::Write(*number),
            None => SectorContent::Unreadable,
        };
        Ok((held, is_fit))
    }

    /// Returns what a sector with parity holds, and whether its parity fits all of its row.
    fn striped(&self, lba: u64) -> Result<(SectorContent, bool), CutFault> {
        let address = lba * self.sector_bytes();
        let place = self.shape.stripe.place(address);
        let row = StripeByte { stripe: place.stripe, within: place.member_bytes };
        let fits = self.fits(row)?;
        let own = self.data(row, place.position)?;
        let held = match (own, fits) {
            (Some(version), _) => Some(version),
            // What parity makes of the others.
            (None, Some(round)) => self.version(row, place.position, round),
            (None, None) => None,
        };
        let held = match held {
            Some(Version::Before) => SectorContent::Original,
            Some(Version::Write(number)) => SectorContent::Write(number),
            None => SectorContent::Unreadable,
        };
        // A parity that is lost does not contradict anything.
        Ok((held, fits.is_some() || self.parities(row)?.is_empty()))
    }

    /// The state that parity of a row describes, where what can be read of the row is in it too,
    /// and there is parity enough for what cannot.
    fn fits(&self, row: StripeByte) -> Result<Option<MemberBytes>, CutFault> {
        let positions = 0..self.plan.data_members();
        let data: Result<Vec<_>, CutFault> =
            positions.clone().map(|position| self.data(row, position)).collect();
        let data = data?;
        let is_in = |parity: &MemberBytes| {
            positions.clone().zip(&data).all(|(position, own)| {
                own.is_none() || *own == self.version(row, position, *parity)
            })
        };
        let states: Vec<MemberBytes> = self.parities(row)?.into_iter().filter(is_in).collect();
        let all = |state: &MemberBytes| -> Vec<Option<Version>> {
            positions.clone().map(|position| self.version(row, position, *state)).collect()
        };
        let is_one = states.windows(2).all(|pair| all(&pair[0]) == all(&pair[1]));
        let missing = data.iter().filter(|own| own.is_none()).count();
        Ok(states.first().copied().filter(|_| is_one && missing <= states.len()))
    }

    /// Returns what the parities of a row that can be read describe.
    fn parities(&self, row: StripeByte) -> Result<Vec<MemberBytes>, CutFault> {
        let Some(rotation) = self.plan.level.rotation() else { return Ok(Vec::new()) };
        let mut states = Vec::new();
        for turn in 0..self.plan.level.parity() {
            let member = Chunk::Parity(turn).member(self.plan, rotation, row.stripe);
            states.extend(self.found(member, row.within)?);
        }
        Ok(states)
    }

    /// Returns what the member holds of a row's data; `None` where it cannot be read.
    fn data(&self, row: StripeByte, position: u64) -> Result<Option<Version>, CutFault> {
        let Some(rotation) = self.plan.level.rotation() else { return Ok(None) };
        let member = Chunk::Data(position).member(self.plan, rotation, row.stripe);
        let found = self.found(member, row.within)?;
        Ok(found.and_then(|found| self.version(row, position, found)))
    }

    /// Returns what stands in a row's data in the state `found`.
    fn version(&self, row: StripeByte, position: u64, found: MemberBytes) -> Option<Version> {
        let MemberBytes::From(round) = found else { return Some(Version::Before) };
        let stripe = self.shape.stripe;
        let within = row.within % stripe.chunk_bytes();
        let address = row.stripe * stripe.full_bytes() + position * stripe.chunk_bytes() + within;
        let ledger = self.ledger?;
        let newest = ledger.newest(self.host, row.stripe, round, address);
        Some(newest.map_or(Version::Before, Version::Write))
    }
}

/// A byte of every member of a stripe.
#[derive(Clone, Copy, Debug)]
struct StripeByte {
    stripe: u64,
    /// Of the members' data.
    within: u64,
}

/// Origin of a member's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberBytes {
    /// They were there before.
    Before,
    /// From this write, or round.
    From(usize),
}

/// Content of a sector of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Before,
    Write(usize),
}
