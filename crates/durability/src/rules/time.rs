//! Times that do not fit the medium, and methods that should take as long as each other.
//!
//! A time never proves anything: memory that is protected and memory that is not take as long. It
//! says something of a drive only where flushes are known to arrive there, or none are needed.

use units::durable_ratio::DURABLE_APART;

use super::flush::{self, Arrival, arrival};
use crate::evidence::{
    DriveWord, Evidence, Medium, PathLayer, Protection, SyncLayerKind, Times, Untried, median,
};
use crate::grade::Grade;
use crate::reason::{Reason, time_of};

const TIMED: &str = "measured here";
const TIMED_AND_COUNTED: &str = "measured here, flushes of /sys/block/*/stat";
const MINUTE_NS: u64 = 60_000_000_000;
/// Shortest time in which a flash drive without protection programs a page, in nanoseconds.
const FLASH_NS: u64 = 50_000;
/// Number of pairs that must be there, and in how many of ten the slower one must take twice as
/// long: whatever others do to the drive, it meets either method as often.
const PAIRS_MIN: usize = 10;
const OF_TEN: usize = 9;

/// The drives, each with its place among the layers.
fn drives(evidence: &Evidence) -> impl Iterator<Item = (usize, &PathLayer, &DriveWord)> {
    evidence.layers.iter().enumerate().filter_map(|(place, layer)| match &layer.kind {
        SyncLayerKind::Drive(word) => Some((place, layer, word.as_ref())),
        _ => None,
    })
}

/// The one time that stands for durable writes of the same bytes: the quicker method's median.
fn rewrite_ns(times: &Times) -> Option<u64> {
    let dsync = median(&sorted(times.pairs.iter().map(|&(_, dsync)| dsync)));
    [median(&times.overwrite), dsync].into_iter().flatten().min()
}

fn sorted(times: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sorted: Vec<u64> = times.collect();
    sorted.sort_unstable();
    sorted
}

/// A sector of a rotating drive comes by once a turn.
pub(crate) fn turns(evidence: &Evidence) -> Vec<Reason> {
    let Some(took_ns) = rewrite_ns(&evidence.times) else { return Vec::new() };
    let one = |(place, layer, word): (usize, &PathLayer, &DriveWord)| {
        let Medium::Rotating(per_minute) = word.medium else { return None };
        let turn_ns = MINUTE_NS.checked_div(u64::from(per_minute))?;
        if took_ns.saturating_mul(10) >= turn_ns.saturating_mul(9) {
            return None;
        }
        let (name, took, turn) = (&layer.name, time_of(took_ns), time_of(turn_ns));
        let sent = match arrival(evidence, place) {
            Arrival::Seen => format!("although each is flushed to {name}"),
            Arrival::Needless => format!("although {name} is declared write through"),
            Arrival::Unseen => return None,
        };
        let at_best = match word.protection {
            Protection::Good => Grade::Consistent,
            _ => Grade::Suspect,
        };
        Some(
            Reason::against("faster-than-a-turn", at_best)
                .seen(
                    format!(
                        "syncs of the same bytes return after {took}, {sent}, which turns once in \
                         {turn}: a cache answers, protected or not"
                    ),
                    TIMED,
                )
                .changes("find out whether a controller or the drive has a battery or capacitors"),
        )
    };
    drives(evidence).filter_map(one).collect()
}

/// Flash takes its time, unless it answers from memory.
pub(crate) fn flash(evidence: &Evidence) -> Vec<Reason> {
    let Some(took_ns) = median(&evidence.times.overwrite) else { return Vec::new() };
    let one = |(place, layer, word): (usize, &PathLayer, &DriveWord)| {
        let vouched =
            word.protection == Protection::Good || word.volatile_cache.value() == Some(&false);
        let solid = word.medium == Medium::Solid || word.is_virtual;
        if took_ns >= FLASH_NS || vouched || !solid || arrival(evidence, place) != Arrival::Seen {
            return None;
        }
        let (name, took) = (&layer.name, time_of(took_ns));
        Some(
            Reason::open("faster-than-flash", Grade::Unproven)
                .seen(
                    format!(
                        "{name} completes a flush for each sync after {took}, faster than flash \
                         alone: its memory is protected, or {name} ignores flushes"
                    ),
                    TIMED_AND_COUNTED,
                )
                .changes("find power-loss protection in the drive's data sheet, or cut its power"),
        )
    };
    drives(evidence).filter_map(one).collect()
}

/// Two methods that should both be durable.
pub(crate) fn methods(evidence: &Evidence) -> Vec<Reason> {
    let Times { pairs, .. } = &evidence.times;
    let data = median(&sorted(pairs.iter().map(|&(data, _)| data)));
    let dsync = median(&sorted(pairs.iter().map(|&(_, dsync)| dsync)));
    let (Some(data_ns), Some(dsync_ns)) = (data, dsync) else { return Vec::new() };
    let is_swapped = dsync_ns < data_ns;
    let twice = pairs.iter().filter(|&&(data, dsync)| {
        let (quick, slow) = if is_swapped { (dsync, data) } else { (data, dsync) };
        slow > quick.saturating_mul(2)
    });
    let agree = pairs.len() >= PAIRS_MIN && twice.count() * 10 >= pairs.len() * OF_TEN;
    let (quick_ns, slow_ns) = (data_ns.min(dsync_ns), data_ns.max(dsync_ns));
    let is_close = slow_ns <= quick_ns.saturating_mul(u64::from(DURABLE_APART));
    if !agree || is_close || flush::leaves_out(evidence) {
        return Vec::new();
    }
    let names = ("write and fdatasync", "a write with O_DSYNC");
    let (quick, slow) = if is_swapped { (names.1, names.0) } else { names };
    let (quick_took, slow_took) = (time_of(quick_ns), time_of(slow_ns));
    vec![
        Reason::against("methods-disagree", Grade::Suspect)
            .seen(
                format!(
                    "{quick} takes {quick_took} and {slow} {slow_took} for the same bytes, though \
                     both should wait for the medium"
                ),
                TIMED,
            )
            .changes("find which of the two the flush counters follow"),
    ]
}

/// Syncs of ours that could not be made: none at all, or not all.
pub(crate) fn untried(evidence: &Evidence) -> Vec<Reason> {
    let Some(Untried { reason, has_no_room, advice }) = &evidence.untried else {
        return Vec::new();
    };
    let (code, seen) = match evidence.times.syncs() {
        0 => ("not-tried", format!("no sync could be tried here: {reason}")),
        made => ("tried-in-part", format!("only {made} syncs could be tried here: {reason}")),
    };
    let change = match (advice, has_no_room) {
        (Some(advice), _) => advice.as_str(),
        (None, true) => "free some space there, or name a directory of this drive that has room",
        (None, false) => "name a directory that may be written",
    };
    vec![Reason::open(code, Grade::Unproven).seen(seen, TIMED).changes(change)]
}
