//! Simulated drives under simulated loads: the unit is right, or cannot be told.

use units::random::Random;

use super::*;

const SECTOR: u64 = 512;
const STARTS: CountingRule = CountingRule::Starts;
const SPAN: u64 = 1 << 30;

/// A drive that counts unaligned writes.
struct Drive {
    unit: u64,
    rule: CountingRule,
    refresh: CounterRefresh,
    /// The intervals after which it refreshes its page in the background.
    every: u64,
    counted: u64,
    page: u64,
}

impl Drive {
    fn random(random: &mut Random, units: &[u64]) -> Drive {
        let refresh = *random.choose(&[CounterRefresh::OnRead, CounterRefresh::InBackground]);
        let counted = random.below(1 << 40);
        Drive {
            unit: *random.choose(units),
            rule: *random.choose(&[CountingRule::Starts, CountingRule::Parts]),
            refresh,
            every: 1 + random.below(12),
            counted,
            page: counted,
        }
    }

    fn write(&mut self, start: u64, length: u64) {
        let starts_off = !start.is_multiple_of(self.unit);
        let ends_off = !(start + length).is_multiple_of(self.unit);
        let counts = starts_off || (self.rule == CountingRule::Parts && ends_off);
        self.counted += u64::from(counts);
    }
}

/// Runs `writes` writes in each of `intervals` intervals, and probes.
fn probe(
    drive: &mut Drive,
    random: &mut Random,
    intervals: u64,
    writes: u64,
    mut next: impl FnMut(&mut Random) -> (u64, u64),
) -> Result<PassiveUnit, NoUnit> {
    let before = drive.page;
    let mut observed = Vec::new();
    for number in 0..intervals {
        let mut off = OffCounts::default();
        // Somewhere within every so many intervals the page is refreshed.
        let refreshed = number.is_multiple_of(drive.every).then(|| random.below(writes + 1));
        for write in 0..=writes {
            if refreshed == Some(write) {
                drive.page = drive.counted;
            }
            if write < writes {
                let (start, length) = next(random);
                off.take(start, length);
                drive.write(start, length);
            }
        }
        if drive.refresh == CounterRefresh::OnRead {
            drive.page = drive.counted;
        }
        observed.push(ObservedInterval { off, unaligned_writes: drive.page });
    }
    passive_unit(before, &observed, drive.refresh, drive.rule)
}

fn at(random: &mut Random, unit: u64) -> u64 {
    random.below(SPAN.div_euclid(unit)) * unit
}

/// Pages of all sizes in their own places, 4 KiB blocks in runs, and some writes off everything.
fn mixed(random: &mut Random, off_percent: u64) -> (u64, u64) {
    let part = random.below(100);
    if part < off_percent {
        return (at(random, SECTOR), SECTOR * (1 + random.below(64)));
    }
    if part.is_multiple_of(2) {
        let unit = *random.choose(&UNITS_BYTES);
        (at(random, unit), unit)
    } else {
        (at(random, 4096), 4096 * (1 + random.below(16)))
    }
}

#[test]
fn the_unit_is_right_in_each_of_1000_loads_with_partial_writes() {
    let mut random = testkit::random(2026);
    for load in 0..1000 {
        let mut drive = Drive::random(&mut random, &UNITS_BYTES[..CANDIDATES]);
        let off = 8 + random.below(20);
        let (intervals, writes) = match drive.refresh {
            CounterRefresh::OnRead => (1 + random.below(6), 5000),
            CounterRefresh::InBackground => (100 + random.below(100), 100),
        };
        let next = |random: &mut Random| mixed(random, off);
        let found = probe(&mut drive, &mut random, intervals, writes, next);
        match found {
            Ok(unit) => {
                assert_eq!(unit.bytes, drive.unit, "load {load}: {unit:?}");
            }
            Err(error) => panic!("load {load}, unit {}: {error}", drive.unit),
        }
    }
}

#[test]
fn no_load_makes_it_wrong_whatever_the_unit() {
    let mut random = testkit::random(7);
    let all: Vec<u64> = (12..=20).map(|power| 1 << power).collect();
    let (mut right, mut untold) = (0, 0);
    for load in 0..1000 {
        let mut drive = Drive::random(&mut random, &all);
        let (intervals, writes) = (1 + random.below(40), 1 + random.below(300));
        let align = SECTOR << random.below(12);
        let length = SECTOR << random.below(10);
        let off = random.below(3);
        let mut place = at(&mut random, align);
        let is_sequential = random.below(3) == 0;
        let next = |random: &mut Random| {
            if is_sequential {
                place += length;
                (place, length)
            } else if random.below(10) < off {
                mixed(random, 10)
            } else {
                (at(random, align), length)
            }
        };
        match probe(&mut drive, &mut random, intervals, writes, next) {
            Ok(unit) => {
                assert_eq!(unit.bytes, drive.unit, "load {load}: {unit:?}");
                right += 1;
            }
            Err(_) => untold += 1,
        }
    }
    assert!(right > 20 && untold > 200, "{right} right, {untold} untold");
}

#[test]
fn loads_without_partial_writes_tell_nothing() {
    let mut random = testkit::random(3);
    for _ in 0..100 {
        let mut drive = Drive::random(&mut random, &UNITS_BYTES);
        let whole = |random: &mut Random| (at(random, 1 << 20), 1 << 20);
        let found = probe(&mut drive, &mut random, 20, 100, whole);
        assert_eq!(found, Err(NoUnit::StoodStill));
    }
}

fn interval(starts: [u64; 7], unaligned_writes: u64) -> ObservedInterval {
    ObservedInterval { off: OffCounts { starts, parts: [9999; 7] }, unaligned_writes }
}

#[test]
fn each_way_to_tell_nothing_has_its_reason() {
    let starts = [100, 500, 1000, 1000, 2000, 3000, 4000];
    let on_read = |intervals: &[ObservedInterval]| {
        passive_unit(10, intervals, CounterRefresh::OnRead, STARTS).unwrap_err()
    };
    assert_eq!(on_read(&[interval(starts, u64::MAX)]), NoUnit::AllOnes);
    assert_eq!(on_read(&[interval(starts, 9)]), NoUnit::Backward);
    assert_eq!(on_read(&[interval(starts, 10)]), NoUnit::StoodStill);
    assert_eq!(on_read(&[]), NoUnit::StoodStill);
    assert_eq!(on_read(&[interval(starts, 110)]), NoUnit::FewWrites { counted: 100, least: 200 });
    assert_eq!(on_read(&[interval(starts, 760)]), NoUnit::NoneFits { counted: 750 });
    let several = NoUnit::SeveralFit { low_bytes: 16 << 10, high_bytes: 32 << 10 };
    assert_eq!(on_read(&[interval(starts, 1010)]), several);
    assert_eq!(on_read(&[interval(starts, 4010)]), NoUnit::Large { least_bytes: 256 << 10 });
    let lags = passive_unit(10, &[interval(starts, 1010)], CounterRefresh::InBackground, STARTS);
    assert_eq!(lags, Err(NoUnit::OneMove));
    let found =
        passive_unit(10, &[interval(starts, 2013)], CounterRefresh::OnRead, STARTS).unwrap();
    assert_eq!((found.bytes, found.counted, found.expected), (64 << 10, 2003, (1978, 2022)));
}

#[test]
fn one_stretch_that_does_not_fit_takes_the_answer_back() {
    let starts = [100, 300, 1000, 1500, 2000, 3000, 4000];
    // 4000 in all, as for 64 KiB, and yet never 2000.
    let uneven = [interval(starts, 1000), interval(starts, 4000)];
    let found = passive_unit(0, &uneven, CounterRefresh::OnRead, STARTS);
    assert_eq!(found, Err(NoUnit::NoneFits { counted: 4000 }));
}

#[test]
fn counts_that_are_full_or_empty_stay_within_bounds() {
    let mut counts = OffCounts { starts: [u64::MAX; 7], parts: [u64::MAX; 7] };
    counts.add(&OffCounts { starts: [1; 7], parts: [1; 7] });
    assert_eq!(counts.starts, [u64::MAX; 7]);
    let mut none = OffCounts::default();
    none.take(u64::MAX, 0);
    assert_eq!(none, OffCounts::default());
    none.take(512, u64::MAX);
    assert_eq!(none.starts, [1; 7]);
    let full = [interval([u64::MAX; 7], 500), interval([u64::MAX; 7], 900)];
    assert!(passive_unit(0, &full, CounterRefresh::InBackground, STARTS).is_err());
}
