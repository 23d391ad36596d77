//! The unit whose count moves one to one with the drive's.

use std::ops::Range;

use super::{CANDIDATES, CounterRefresh, NoUnit, ObservedInterval, OffCounts, UNITS_BYTES};

/// The fewest unaligned writes from which a unit is told. The limit is ours.
pub const WRITES_LEAST: u64 = 200;
/// Over all, counts may differ by this share, one in so many, and by [`WRITES_APART`]: page and
/// counters are not read at the same instant. The limits are ours.
const SHARE_APART: u64 = 100;
const WRITES_APART: u64 = 2;
/// Between two moves of the counter they may differ by more, since fewer writes are compared.
const SHARE_APART_ONCE: u64 = 20;
const WRITES_APART_ONCE: u64 = 8;

/// The writes that a drive counts as unaligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountingRule {
    /// Those that start off a unit, whatever their length: OCP's rule.
    Starts,
    /// Those that start or end off a unit.
    Parts,
}

/// A drive's indirection unit, found without a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassiveUnit {
    /// The unit in bytes. 4096 stands for every unit up to that: no smaller one was compared.
    pub bytes: u64,
    /// Unaligned writes by the drive's count.
    pub counted: u64,
    /// The fewest and the most that the host's count allows for this unit.
    pub expected: (u64, u64),
}

/// Returns the indirection unit of a drive whose counter stood at `before` when the first of the
/// consecutive `intervals` began.
///
/// A counter that is refreshed in the background moves somewhere within an interval. So counting
/// begins at its first move and ends at its last, and the writes of those two intervals may or may
/// not be in: `D` lies between `H - last` and `H + first`. Apart from that, `D` and `H` may differ
/// by 1 % and two writes, which leaves the drive's own unit in and every other out that a load
/// tells apart. Each stretch between two moves must fit too.
///
/// OCP's counter follows [`CountingRule::Starts`]. A drive that counts by another rule than `rule`
/// fits no unit, or by chance one that is not its own; who doubts the rule asks with both.
///
/// # Errors
/// When the unit cannot be told, with the reason.
pub fn passive_unit(
    before: u64,
    intervals: &[ObservedInterval],
    refresh: CounterRefresh,
    rule: CountingRule,
) -> Result<PassiveUnit, NoUnit> {
    let readings: Vec<u64> = [before].into_iter().chain(counters(intervals)).collect();
    if readings.contains(&u64::MAX) {
        return Err(NoUnit::AllOnes);
    }
    if readings.windows(2).any(|pair| pair[1] < pair[0]) {
        return Err(NoUnit::Backward);
    }
    if readings.last() == Some(&before) {
        return Err(NoUnit::StoodStill);
    }
    // Places between intervals, 0 before the first, at which the counter is as the host counted.
    let places: Vec<usize> = match refresh {
        CounterRefresh::OnRead => (0..readings.len()).collect(),
        CounterRefresh::InBackground => {
            (1..readings.len()).filter(|&at| readings[at] > readings[at - 1]).collect()
        }
    };
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return Err(NoUnit::StoodStill);
    };
    if first == last {
        return Err(NoUnit::OneMove);
    }
    let whole = Stretch::of(&readings, intervals, first..last, refresh);
    if whole.counted < WRITES_LEAST {
        return Err(NoUnit::FewWrites { counted: whole.counted, least: WRITES_LEAST });
    }
    let pairs = places.windows(2);
    let stretches: Vec<Stretch> =
        pairs.map(|pair| Stretch::of(&readings, intervals, pair[0]..pair[1], refresh)).collect();
    let fits = |index: usize| {
        whole.fits(index, rule, SHARE_APART, WRITES_APART)
            && stretches
                .iter()
                .all(|stretch| stretch.fits(index, rule, SHARE_APART_ONCE, WRITES_APART_ONCE))
    };
    told(&whole, rule, fits)
}

fn counters(intervals: &[ObservedInterval]) -> impl Iterator<Item = u64> {
    intervals.iter().map(|interval| interval.unaligned_writes)
}

/// The unit that alone fits.
fn told(
    whole: &Stretch,
    rule: CountingRule,
    fits: impl Fn(usize) -> bool,
) -> Result<PassiveUnit, NoUnit> {
    let fitting: Vec<usize> = (0..UNITS_BYTES.len()).filter(|&index| fits(index)).collect();
    let counted = whole.counted;
    match fitting[..] {
        [] => Err(NoUnit::NoneFits { counted }),
        [index] if index >= CANDIDATES => Err(NoUnit::Large { least_bytes: UNITS_BYTES[index] }),
        [index] => Ok(PassiveUnit {
            bytes: UNITS_BYTES[index],
            counted,
            expected: whole.bounds(index, rule, SHARE_APART, WRITES_APART),
        }),
        [first, .., last] => {
            Err(NoUnit::SeveralFit { low_bytes: UNITS_BYTES[first], high_bytes: UNITS_BYTES[last] })
        }
    }
}

/// Intervals that are compared as one.
struct Stretch {
    /// The drive's count.
    counted: u64,
    /// The host's counts.
    off: OffCounts,
    /// The host's counts of the interval before, of which any part may be in the drive's count.
    before: OffCounts,
    /// The host's counts of the last interval, any part of which may be missing there.
    last: OffCounts,
}

impl Stretch {
    /// The intervals between two `places`.
    fn of(
        readings: &[u64],
        intervals: &[ObservedInterval],
        places: Range<usize>,
        refresh: CounterRefresh,
    ) -> Stretch {
        let mut off = OffCounts::default();
        intervals[places.clone()].iter().for_each(|interval| off.add(&interval.off));
        let edge = |end: usize| match (refresh, end.checked_sub(1)) {
            (CounterRefresh::InBackground, Some(index)) => intervals[index].off,
            _ => OffCounts::default(),
        };
        Stretch {
            counted: readings[places.end] - readings[places.start],
            off,
            before: edge(places.start),
            last: edge(places.end),
        }
    }

    fn fits(&self, index: usize, rule: CountingRule, share: u64, writes: u64) -> bool {
        let (low, high) = self.bounds(index, rule, share, writes);
        // Any unit above the largest counts as many writes as that one, or more.
        low <= self.counted && (self.counted <= high || index >= CANDIDATES)
    }

    /// The fewest and the most writes that a drive of this unit and rule counts.
    fn bounds(&self, index: usize, rule: CountingRule, share: u64, writes: u64) -> (u64, u64) {
        let of = |counts: &OffCounts| match rule {
            CountingRule::Starts => counts.starts[index],
            CountingRule::Parts => counts.parts[index],
        };
        let count = of(&self.off);
        let apart = count.div_euclid(share).saturating_add(writes);
        let low = count.saturating_sub(of(&self.last)).saturating_sub(apart);
        let high = count.saturating_add(of(&self.before)).saturating_add(apart);
        (low, high)
    }
}
