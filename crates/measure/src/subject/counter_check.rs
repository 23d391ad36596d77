//! Observations of an arm, and a check that the drive counted the same.
//!
//! # What the drive's counters can tell
//!
//! They count all that reaches the drive, whoever asked. So
//!
//! - *fewer* bytes than asked is certain: something above the drive answered for it (a cache), or
//!   the bytes went to another drive. One such observation may be a counter that is brought up to
//!   date late; many are no measurement of this drive. Others' operations can hide it, and an idle
//!   drive does not;
//! - *exact* is what direct operations on an otherwise idle drive must be;
//! - *more* is others' work, or what a file system or a layer below it adds: its journal with each
//!   sync, parity, copies. It is noted, and explains noise. When it is typical though nothing was
//!   synced, each operation costs more bytes than its own, in the baseline too, and what is
//!   compared is not one operation of the drive with another.
//!
//! The sectors of an operation are counted before whoever waits for it is woken
//! (`blk_update_request` in the kernel's `block/blk-mq.c`), the number of operations after that,
//! so bytes are compared and not numbers. Only the direction that was asked for counts.
//!
//! # What is between
//!
//! A file system may let one misaligned direct write of a file through at a time and aligned ones
//! side by side, since it may have to fill up the blocks at both ends (ext4 before Linux 6.6; XFS
//! before 5.12, and later where the blocks were never written: `fs/ext4/file.c`,
//! `fs/xfs/xfs_file.c`). At a depth the arms then differ by its lock, whatever the drive does. It
//! shows in how many operations the drive had at once: the time that they took, added up, in the
//! time of the observations (Little's law).

use std::cmp::Ordering;

use device::{Action, DiskCounts};
use units::prefix::Size;

use super::block::Block;
use super::work::Work;
use crate::Histogram;

/// Observations of an arm.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// Time of each operation; at depth 1 with its sync, where it has one.
    pub latencies: Histogram,
    /// Time of each sync by itself.
    pub syncs: Histogram,
    /// The drive's own counts in all observations, whoever asked; `None` without counters.
    pub counts: Option<DiskCounts>,
    /// The observations.
    pub observations: u64,
    /// Those in which the drive counted as many bytes as were asked of it.
    pub exact: u64,
    /// Those in which it counted fewer.
    pub fewer: u64,
    /// Those in which it counted more.
    pub more: u64,
    /// The operations, syncs not counted.
    pub operations: u64,
    /// Their bytes.
    pub asked_bytes: u64,
    /// The observations' times added up.
    pub busy_ns: u64,
    /// Number of bytes counted for a thousand that were asked, in each observation.
    pub counted_per_1000: Histogram,
}

/// The bytes of a sector, as the kernel counts.
const SECTOR_BYTES: u64 = 512;
/// Short observations that may be chance, whatever their share.
const FEWER_MAX: u64 = 3;
/// The share of short observations that may be chance, as a part: 2 %.
const FEWER_PART: u64 = 50;
/// The bytes counted for a thousand asked from which on they are said to be typical.
const EXCESS_PER_1000: u64 = 2000;
/// The same where nothing is synced, so that no journal explains them.
const EXCESS_PLAIN_PER_1000: u64 = 1050;

/// The times of an arm's observations from which on its operations in flight are known, in
/// nanoseconds: the drive counts in milliseconds, which may be wrong by one in each observation.
const FLIGHT_NS_MIN: u64 = 100_000_000;
/// Operations in flight, a thousand times: at most so many are one at a time.
const ALONE_PER_1000: u64 = 1100;
/// At least so many are several. What is between is not told.
const SEVERAL_PER_1000: u64 = 1800;

impl Observations {
    /// Returns how many operations the drive had at once in the middle, a thousand times; `None`
    /// without counters, and as long as too little was seen.
    #[must_use]
    fn flight_per_1000(&self, action: Action) -> Option<u64> {
        let counts = self.counts.filter(|_| self.busy_ns >= FLIGHT_NS_MIN)?;
        let took_ms = if action == Action::Read { counts.read_ms } else { counts.write_ms };
        // Milliseconds to nanoseconds, a thousand times.
        let flight = u128::from(took_ms) * 1_000_000_000 / u128::from(self.busy_ns);
        u64::try_from(flight).ok()
    }

    /// Adds an observation that ended well.
    pub(super) fn note(&mut self, work: &Work, block: &Block, counted: Option<DiskCounts>) {
        let operations = u64::from(block.ended);
        let asked_bytes = operations * u64::from(work.operation_bytes);
        self.observations += 1;
        self.operations += operations;
        self.asked_bytes += asked_bytes;
        self.busy_ns = self.busy_ns.saturating_add(block.time_ns());
        let Some(counted) = counted else { return };
        let sectors =
            if work.action == Action::Read { counted.read_sectors } else { counted.write_sectors };
        let counted_bytes = sectors.saturating_mul(SECTOR_BYTES);
        let part = || counted_bytes.saturating_mul(1000).div_euclid(asked_bytes);
        let (observations, per_1000) = match counted_bytes.cmp(&asked_bytes) {
            Ordering::Less => (&mut self.fewer, part()),
            Ordering::Equal => (&mut self.exact, 1000),
            Ordering::Greater => (&mut self.more, part()),
        };
        *observations += 1;
        self.counted_per_1000.record(per_1000);
        self.counts = Some(self.counts.map_or(counted, |before| before.plus(&counted)));
    }
}

/// Why the arms' times are not those of the drive.
pub(super) fn accounting(work: &Work, seen: &[Observations]) -> Option<String> {
    let sum = |field: fn(&Observations) -> u64| seen.iter().map(field).sum::<u64>();
    let (fewer, all) = (sum(|seen| seen.fewer), sum(|seen| seen.observations));
    if fewer <= FEWER_MAX || fewer.saturating_mul(FEWER_PART) <= all {
        return None;
    }
    let verb = work.verb();
    Some(format!(
        "the drive counted fewer bytes to {verb} than were asked in {fewer} of {all} observations: \
         a cache above it answered, or it is not the drive that was asked"
    ))
}

/// Why the arms' times differ by more than the drive: at a depth it had one operation at a time of
/// some arms, and several of all others. Either may be the baseline: where granules begin off the
/// file system's blocks, it is what is aligned to the drive that the file system locks for.
pub(super) fn serialized(work: &Work, seen: &[&Observations], names: &[&str]) -> Option<String> {
    if work.depth == 1 {
        return None;
    }
    let flights = seen.iter().map(|seen| seen.flight_per_1000(work.action));
    let flights: Vec<u64> = flights.collect::<Option<_>>()?;
    let is_several = |flight: u64| flight >= SEVERAL_PER_1000;
    let is_alone = |flight: u64| flight <= ALONE_PER_1000;
    // More than were asked at once are others' too. The counts of a block may be wrong by one each.
    let asked_per_1000 = u64::from(work.depth) * 1250;
    if flights.iter().any(|&flight| flight > asked_per_1000) {
        return None;
    }
    // Noise leaves something between.
    if flights.iter().any(|&flight| !is_several(flight) && !is_alone(flight)) {
        return None;
    }
    let find = |wanted: &dyn Fn(u64) -> bool| {
        let mut arms = flights.iter().copied().zip(names);
        arms.find(|(flight, _)| wanted(*flight))
    };
    let ((several, among), (alone, name)) = (find(&is_several)?, find(&is_alone)?);
    let shown = |flight: u64| format!("{}.{}", flight.div_euclid(1000), (flight % 1000) / 100);
    Some(format!(
        "of {} {}s at once the drive had {} in {among}, and {} in {name}: what is above the drive \
         lets one through at a time there, and the ratio would be its own",
        work.depth,
        work.verb(),
        shown(several),
        shown(alone),
    ))
}

/// Returns what should be known; `names` are the arms'.
pub(super) fn remarks(work: &Work, seen: &[Observations], names: &[&str]) -> Vec<String> {
    let excesses: Vec<Option<Excess>> = seen.iter().map(|seen| excess(work, seen)).collect();
    let mut found = Vec::new();
    // A journal or a copy costs all arms alike, which is said once.
    if let Some((Some(first), rest)) = excesses.split_first()
        && rest.iter().all(|other| other.is_some_and(|other| other.is_like(first)))
    {
        found.push(first.sentence(work, &format!("in {} alike", all(names))));
    } else {
        let each = excesses.iter().zip(names);
        found.extend(each.filter_map(|(excess, name)| {
            excess.as_ref().map(|excess| excess.sentence(work, &format!("in {name} operations")))
        }));
    }
    found.extend(seen.iter().zip(names).filter_map(|(seen, name)| other_way(work, name, seen)));
    found
}

/// All arms of a comparison: `aligned, shifted and control operations`.
fn all(names: &[&str]) -> String {
    match names {
        [front @ .., last] if !front.is_empty() => {
            format!("{} and {last} operations", front.join(", "))
        }
        _ => format!("{} operations", names.concat()),
    }
}

/// Number of bytes more than asked the drive typically counted in an arm.
#[derive(Clone, Copy, Debug)]
struct Excess {
    per_1000: u64,
}

/// Returns what to say of an arm for which the drive counted more than asked: typically, or, where
/// syncs of ours explain nothing, often.
fn excess(work: &Work, seen: &Observations) -> Option<Excess> {
    let per_1000 = seen.counted_per_1000.median();
    let is_often =
        seen.more > FEWER_MAX && seen.more.saturating_mul(FEWER_PART) > seen.observations;
    let is_plain = work.is_plain() && is_often && per_1000 >= EXCESS_PLAIN_PER_1000;
    let is_said = per_1000 >= EXCESS_PER_1000 || is_plain;
    is_said.then_some(Excess { per_1000 })
}

impl Excess {
    /// Returns whether both are within a tenth of each other.
    fn is_like(self, other: &Excess) -> bool {
        self.per_1000.abs_diff(other.per_1000).saturating_mul(10) <= self.per_1000
    }

    fn sentence(self, work: &Work, place: &str) -> String {
        let (whole, tenths) = (self.per_1000.div_euclid(1000), (self.per_1000 % 1000) / 100);
        let who = if work.is_plain() {
            "other programs or a layer above added theirs"
        } else {
            "the journal or other programs added theirs, which may hide a part of the penalty"
        };
        format!(
            "the drive {moved} {whole}.{tenths} times what bench {moved}, {place}: {who}",
            moved = work.past(),
        )
    }
}

/// Returns what to say of an arm for which the drive moved as much the other way: where writes make
/// the system read, it and not the drive completes what is partial.
fn other_way(work: &Work, name: &str, seen: &Observations) -> Option<String> {
    let counts = seen.counts.as_ref().filter(|_| work.action != Action::Read)?;
    let read_bytes = counts.read_sectors.saturating_mul(SECTOR_BYTES);
    (read_bytes >= seen.asked_bytes && read_bytes > 0).then(|| {
        format!(
            "during the {name} operations, {} were read while {} were written: a layer above the \
             drive reads before it writes, or other programs read",
            Size(read_bytes),
            Size(seen.asked_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use device::Durability;

    use super::*;

    const WRITE: Action = Action::Write { durability: Durability::Cached, atomic: false };
    const NAMES: [&str; 3] = ["aligned", "shifted", "control"];

    /// Checks what the arms saw in a second of which the drive spent so many milliseconds on
    /// writes.
    fn check(depth: u16, busy_ns: u64, write_ms: [u64; 3], expected: Option<&str>) {
        let work = Work {
            action: WRITE,
            sync: None,
            sync_every: 0,
            operation_bytes: 4096,
            depth,
            block_operations: 64,
        };
        let arms = write_ms.map(|write_ms| {
            let counts = DiskCounts { write_ms, ..DiskCounts::default() };
            Observations { counts: Some(counts), busy_ns, ..Observations::default() }
        });
        let found = serialized(&work, &arms.each_ref(), &NAMES);
        let is_so = match (&found, expected) {
            (Some(found), Some(part)) => found.contains(part),
            (found, part) => found.is_none() && part.is_none(),
        };
        assert!(is_so, "{write_ms:?}: {found:?}");
    }

    #[test]
    fn an_arm_that_goes_one_at_a_time_where_the_others_go_together_is_serialized() {
        let second = 1_000_000_000;
        let text = "of 8 writes at once the drive had 7.9 in aligned, and 0.9 in shifted: ";
        check(8, second, [7_900, 980, 7_800], Some(text));
        check(8, second, [980, 7_900, 970], Some("7.9 in shifted, and 0.9 in aligned: "));
        check(8, second, [1_900, 1_090, 1_900], Some("1.9 in aligned, and 1.0 in shifted"));
    }

    #[test]
    fn arms_that_go_alike_and_what_is_too_little_to_tell_are_not_serialized() {
        let second = 1_000_000_000;
        check(8, second, [7_900, 7_950, 7_800], None);
        check(8, second, [7_900, 1_500, 7_800], None);
        check(8, second, [7_900, 980, 1_500], None);
        check(8, second, [980, 900, 990], None);
        check(1, second, [1_900, 900, 1_900], None);
        check(8, 50_000_000, [395, 49, 395], None);
    }

    #[test]
    fn more_in_flight_than_were_asked_are_the_requests_of_others_and_decide_nothing() {
        let second = 1_000_000_000;
        check(2, second, [700, 45_200, 900], None);
        check(8, second, [980, 10_100, 970], None);
        check(8, second, [980, 8_400, 970], Some("8.4 in shifted, and 0.9 in aligned"));
    }

    #[test]
    fn without_counters_nothing_is_in_flight() {
        let seen = Observations { busy_ns: 1_000_000_000, ..Observations::default() };
        assert_eq!(seen.flight_per_1000(WRITE), None);
        let counts = DiskCounts { read_ms: 2_500, ..DiskCounts::default() };
        let seen = Observations { counts: Some(counts), ..seen };
        assert_eq!(seen.flight_per_1000(Action::Read), Some(2_500));
        assert_eq!(seen.flight_per_1000(WRITE), Some(0));
    }
}
