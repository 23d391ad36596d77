//! Content of a controller's cache when the power goes, over what is below it.
//!
//! A battery keeps the cache, so that all that came in is there: in the cache, or given to the
//! model below and forced to its medium. Without the battery there is only what the model has.

use std::collections::BTreeMap;
use std::ops::Range;

use units::ByteRange;

use super::CachedExtent;
use crate::power::{Aftermath, Cut, CutFault, HostLog, HostPromises, SectorContent};

/// An arrival in the cache, in order.
#[derive(Clone, Copy, Debug)]
enum Came {
    /// A write, with its number.
    Kept(usize),
    /// A write that went by the cache, which forgot what it had of its bytes.
    By(usize),
    /// A discard.
    Dropped(ByteRange),
}

/// A command that was given to the model.
#[derive(Clone, Copy, Debug)]
struct Given {
    range: ByteRange,
    /// The write that went by the cache; `None` for what the cache had.
    write: Option<usize>,
    /// Number of arrivals until then.
    upto: usize,
    /// When the model had it.
    done_ns: Option<u64>,
}

/// Arrivals and commands to the model, for power cuts.
#[derive(Clone, Debug)]
pub(super) struct ArrivalLedger {
    below: HostLog,
    came: Vec<(u64, Came)>,
    given: Vec<Given>,
    /// Writes on the wire or waiting for room, by what they are called.
    flying: BTreeMap<u64, usize>,
    writes: usize,
}

/// The newest of what came of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Newest {
    /// The cache has it: its place among what came, and the write.
    Kept(usize, usize),
    /// It is at the model, if it is anywhere.
    Below,
}

impl ArrivalLedger {
    /// Nothing yet, over a model that says `told`, for so many commands to it at most.
    pub(super) fn new(told: HostPromises, commands_max: usize) -> ArrivalLedger {
        ArrivalLedger {
            below: HostLog::new(told, commands_max),
            came: Vec::new(),
            given: Vec::new(),
            flying: BTreeMap::new(),
            writes: 0,
        }
    }

    /// The write called `id` was sent.
    pub(super) fn sent(&mut self, id: u64) {
        self.flying.insert(id, self.writes);
        self.writes += 1;
    }

    /// The write called `id` is in the cache.
    pub(super) fn kept(&mut self, id: u64, at_ns: u64) {
        let number = self.flying.remove(&id);
        self.came.extend(number.map(|number| (at_ns, Came::Kept(number))));
    }

    /// A discard is on its way down.
    pub(super) fn dropped(&mut self, range: ByteRange, at_ns: u64) {
        self.came.push((at_ns, Came::Dropped(range)));
        self.below.discard_sent(range, at_ns);
    }

    /// The write called `id` goes by the cache.
    pub(super) fn goes_by(&mut self, id: u64, range: ByteRange, at_ns: u64) {
        let Some(number) = self.flying.remove(&id) else { return };
        self.came.push((at_ns, Came::By(number)));
        self.give(range, Some(number), at_ns);
    }

    /// A part of the cache is given to the model.
    pub(super) fn destages(&mut self, extent: CachedExtent, at_ns: u64) {
        let range = ByteRange::new(extent.start, extent.bytes()).expect("bytes of the model");
        self.give(range, None, at_ns);
    }

    fn give(&mut self, range: ByteRange, write: Option<usize>, at_ns: u64) {
        if self.below.write_sent(range, true, at_ns).is_some() {
            let upto = self.came.len();
            self.given.push(Given { range, write, upto, done_ns: None });
        }
    }

    /// A part of the cache is on the model's medium.
    pub(super) fn destaged(&mut self, extent: CachedExtent, at_ns: u64) {
        let is_it = |given: &&mut Given| {
            given.done_ns.is_none() && given.range.start_bytes() == extent.start
        };
        if let Some(given) = self.given.iter_mut().find(is_it) {
            given.done_ns = Some(at_ns);
        }
    }

    /// Returns what was sent to the model.
    pub(super) fn below(&self) -> &HostLog {
        &self.below
    }

    /// Returns what the host finds, where the model holds `below`; the cache has what came unless
    /// its protection fails.
    ///
    /// # Errors
    /// When a log is full, or the model wrote what it was not sent.
    pub(super) fn over(
        &self,
        host: &HostLog,
        below: &Aftermath,
        cut: &Cut,
    ) -> Result<Aftermath, CutFault> {
        if self.below.is_full() || host.is_full() {
            return Err(CutFault::Full);
        }
        let mut held = BTreeMap::new();
        for (lba, found) in below.changed() {
            held.insert(lba, self.translated(host, lba, found)?);
        }
        if !cut.faults.protection_fails {
            for (lba, newest) in self.newest(host, cut.at_ns)? {
                match newest {
                    Newest::Kept(place, number) if self.has(host, lba, place, cut.at_ns) => {
                        held.insert(lba, SectorContent::Write(number));
                    }
                    _ => {}
                }
            }
        }
        Ok(Aftermath::new(cut.at_ns, held).with_unfit(below.unfit()))
    }

    /// Returns what the host calls what the model holds in a sector.
    fn translated(
        &self,
        host: &HostLog,
        lba: u64,
        held: SectorContent,
    ) -> Result<SectorContent, CutFault> {
        let SectorContent::Write(number) = held else { return Ok(held) };
        let given = self.given.get(number).ok_or(CutFault::NoSuchWrite { number })?;
        if let Some(write) = given.write {
            return Ok(SectorContent::Write(write));
        }
        let came = self.came[..given.upto].iter().rev();
        let writes = came.filter_map(|(_, came)| match came {
            Came::Kept(number) => Some(*number),
            _ => None,
        });
        let mut over = writes.filter(|number| lbas(host, *number).contains(&lba));
        Ok(over.next().map_or(SectorContent::Original, SectorContent::Write))
    }

    /// The newest of what came of each sector until `at_ns`.
    fn newest(&self, host: &HostLog, at_ns: u64) -> Result<BTreeMap<u64, Newest>, CutFault> {
        let mut newest = BTreeMap::new();
        let sectors = host.told().sectors;
        for (place, (_, came)) in self.came.iter().enumerate().filter(|(_, (at, _))| *at <= at_ns) {
            let (lbas, here) = match *came {
                Came::Kept(number) => (lbas(host, number), Newest::Kept(place, number)),
                Came::By(number) => (lbas(host, number), Newest::Below),
                Came::Dropped(range) => (sectors.lbas(range), Newest::Below),
            };
            newest.extend(lbas.map(|lba| (lba, here)));
        }
        Ok(newest)
    }

    /// Returns whether the cache still has a sector of what came at `place`: until the model has
    /// it.
    fn has(&self, host: &HostLog, lba: u64, place: usize, at_ns: u64) -> bool {
        let sectors = host.told().sectors;
        !self.given.iter().any(|given| {
            given.upto > place
                && given.done_ns.is_some_and(|done_ns| done_ns <= at_ns)
                && sectors.lbas(given.range).contains(&lba)
        })
    }
}

fn lbas(host: &HostLog, number: usize) -> Range<u64> {
    let write = host.writes().get(number);
    write.map_or(0..0, |write| host.told().sectors.lbas(write.range))
}
