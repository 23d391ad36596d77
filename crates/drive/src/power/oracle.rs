//! Promises of the drive when the power went, and those that are broken.
//!
//! Only what the host sent and was told decides, not how the drive works:
//!
//! | of a logical sector | may be there after the cut |
//! |---|---|
//! | the newest write that is promised, and what was in flight together with it | yes |
//! | any write sent later | yes: it may have got there, or a part of it |
//! | a write that was acknowledged before a promised one was sent | no: a promise is broken |
//! | what was there before | only where no write is promised |
//! | nothing readable | only where a write was open: it may have been under way |
//!
//! A write is promised when it was acknowledged until the cut, and was forced to the medium, or was
//! acknowledged before a flush was sent that completed until the cut, or the drive said that it has
//! no cache that forgets. A discard takes promises back: it leaves open what is there.

use std::collections::{BTreeMap, BTreeSet};

use super::{Aftermath, CutFault, HostLog, HostWrite, Moment, SectorContent};

/// Allowed contents of a sector after a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Legal {
    /// These writes' data, by their numbers.
    pub writes: Vec<usize>,
    /// True for the data from before the log.
    pub original: bool,
    /// Nothing readable.
    pub unreadable: bool,
}

/// Judgment of an oracle about an aftermath.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OracleJudgment {
    /// Number of logical sectors looked at: those that were written, and those that changed.
    pub sectors: u64,
    /// Number of those that cannot be read, and to which a write was open: the drive kept its word,
    /// and lost what was there.
    pub torn: u64,
    /// Number of those that had been promised, and are not there.
    pub missing: u64,
    /// Number of those that cannot be read and that nobody was writing, but somebody a sector that
    /// shares their physical sector.
    pub collateral: u64,
}

impl OracleJudgment {
    /// Returns whether the drive kept its promises: nothing that was promised is missing.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.missing == 0
    }
}

/// The promises of a log at an instant.
pub(super) struct Promises<'a> {
    log: &'a HostLog,
    at_ns: u64,
    /// When the newest flush was sent that had completed.
    flushed: Option<Moment>,
    /// The writes to each sector, by number, and the discards.
    writes: BTreeMap<u64, Vec<usize>>,
    discards: BTreeMap<u64, Vec<usize>>,
}

impl<'a> Promises<'a> {
    pub(super) fn at(log: &'a HostLog, at_ns: u64) -> Promises<'a> {
        let is_past = |moment: &Moment| moment.at_ns <= at_ns;
        let completed =
            log.flushes().iter().filter(|flush| flush.done.as_ref().is_some_and(is_past));
        let flushed = completed.map(|flush| flush.sent).max();
        let sectors = log.told().sectors;
        let mut writes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (number, write) in log.writes().iter().enumerate() {
            if is_past(&write.sent) {
                for lba in sectors.lbas(write.range) {
                    writes.entry(lba).or_default().push(number);
                }
            }
        }
        let mut discards: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (number, discard) in log.discards().iter().enumerate() {
            if is_past(&discard.sent) {
                for (lba, _) in writes.range(sectors.lbas(discard.range)) {
                    discards.entry(*lba).or_default().push(number);
                }
            }
        }
        Promises { log, at_ns, flushed, writes, discards }
    }

    /// The write `number`, and when it was acknowledged, if that was until the cut.
    fn write(&self, number: usize) -> (&HostWrite, Option<Moment>) {
        let write = &self.log.writes()[number];
        (write, write.done.filter(|done| done.at_ns <= self.at_ns))
    }

    /// Returns whether the write is to be on the medium.
    pub(super) fn is_promised(&self, number: usize) -> bool {
        let (write, done) = self.write(number);
        let is_flushed = done.is_some_and(|done| self.flushed.is_some_and(|sent| done < sent));
        let is_through = write.is_fua || !self.log.told().has_volatile_cache;
        done.is_some() && (is_through || is_flushed)
    }

    fn numbers(map: &BTreeMap<u64, Vec<usize>>, lba: u64) -> &[usize] {
        map.get(&lba).map_or(&[], Vec::as_slice)
    }

    /// The newest write to `lba` that is promised, and not taken back by a discard.
    fn promised(&self, lba: u64) -> Option<usize> {
        let lasts = |number: &usize| {
            let is_before = |discard: &usize| {
                let done = self.log.discards()[*discard].done;
                done.is_some_and(|done| done < self.log.writes()[*number].sent)
            };
            Self::numbers(&self.discards, lba).iter().all(is_before)
        };
        let promised = Self::numbers(&self.writes, lba).iter().copied();
        promised.rev().find(|number| self.is_promised(*number) && lasts(number))
    }

    /// Returns whether `number` was over when the write `promised` was sent.
    pub(super) fn is_superseded(&self, number: usize, promised: Option<usize>) -> bool {
        let Some(promised) = promised else { return false };
        let sent = self.log.writes()[promised].sent;
        self.write(number).1.is_some_and(|done| done < sent)
    }

    /// Returns whether a discard came behind the write `number` to `lba`, or beside it.
    pub(super) fn is_dropped(&self, lba: u64, number: usize) -> bool {
        Self::numbers(&self.discards, lba).iter().any(|discard| {
            let done = self.log.discards()[*discard].done;
            done.is_none_or(|done| done >= self.log.writes()[number].sent)
        })
    }

    /// Returns whether the drive may be writing `lba` at the cut.
    fn is_open(&self, lba: u64, promised: Option<usize>) -> bool {
        let may =
            |number: &usize| !self.is_promised(*number) && !self.is_superseded(*number, promised);
        Self::numbers(&self.writes, lba).iter().any(may)
            || !Self::numbers(&self.discards, lba).is_empty()
    }

    fn legal(&self, lba: u64) -> Legal {
        let promised = self.promised(lba);
        let writes = Self::numbers(&self.writes, lba).iter().copied();
        Legal {
            writes: writes.filter(|number| !self.is_superseded(*number, promised)).collect(),
            original: promised.is_none(),
            unreadable: self.is_open(lba, promised),
        }
    }
}

/// Returns a function of what may be in each logical sector when the power goes at `at_ns`.
///
/// Memory and time: in proportion to the sectors written in the log.
pub fn legal(log: &HostLog, at_ns: u64) -> impl Fn(u64) -> Legal {
    let promises = Promises::at(log, at_ns);
    move |lba| promises.legal(lba)
}

/// Returns what is wrong with `aftermath`, by what the host sent and was told.
///
/// Memory and time: in proportion to the sectors written in the log and changed in the aftermath.
///
/// # Errors
/// When the log is full, so that not all promises are known.
pub fn judge(log: &HostLog, aftermath: &Aftermath) -> Result<OracleJudgment, CutFault> {
    if log.is_full() {
        return Err(CutFault::Full);
    }
    let promises = Promises::at(log, aftermath.at_ns);
    let physical = log.told().sectors.physical();
    let written = promises.writes.keys().copied();
    let lbas: BTreeSet<u64> = written.chain(aftermath.changed().map(|(lba, _)| lba)).collect();
    let is_open = |lba: &&u64| promises.is_open(**lba, promises.promised(**lba));
    let open: BTreeSet<u64> = lbas.iter().filter(is_open).map(|lba| physical.of(*lba)).collect();
    let mut judgment = OracleJudgment::default();
    for lba in lbas {
        judgment.sectors += 1;
        let (held, legal) = (aftermath.held(lba), promises.legal(lba));
        match held {
            SectorContent::Unreadable if legal.unreadable => judgment.torn += 1,
            SectorContent::Unreadable if open.contains(&physical.of(lba)) => {
                judgment.collateral += 1;
            }
            SectorContent::Original if legal.original => {}
            SectorContent::Write(number) if legal.writes.contains(&number) => {}
            _ => judgment.missing += 1,
        }
    }
    Ok(judgment)
}
