//! The rounds on a double whose truth is known.

use device::durable::{DurableMethod, Method, WritePlace};
use device::{Durable, DurableFault};

use units::random::Random;

use super::sample::ROUNDS_KEPT;
use super::{
    Difference, DurableLimits, DurableSeen, SERIES_MAX, SeriesLimits, compare, run, sustained,
};

const WAY: DurableMethod = DurableMethod {
    method: Method::Fdatasync,
    is_direct: false,
    place: WritePlace::Overwrite,
    write_bytes: 8192,
    writes: 1,
    is_contended: false,
};

const LIMITS: DurableLimits = DurableLimits {
    elapsed_ns: 1_000_000_000,
    written_bytes: u64::MAX,
    slice_ns: 1_000_000,
    slice_bytes: u64::MAX,
    rounds: u64::MAX,
};

/// Does nothing but let its own time pass.
struct Double {
    now_ns: u64,
    written_bytes: u64,
    /// Time of an operation of each row.
    takes_ns: Vec<u64>,
    /// By how much everything slows down with each operation, in millionths.
    drift_ppm: u64,
    done: u64,
    /// The row that takes twice as long from which of its operations on.
    ages: Option<(usize, u64)>,
    /// The row that fails, from which of its operations on, and the failure.
    fault: Option<(usize, u64, DurableFault)>,
    /// The rows in the order of their slices, and the operations of each slice.
    slices: Vec<(usize, u64)>,
    counts: Vec<u64>,
    ends_after: u64,
    /// Place where set, everything takes 33 times as long for stretches that a seed draws.
    bursts: Option<Random>,
    burst_ends_ns: u64,
    is_slow: bool,
}

impl Double {
    fn new(takes_ns: &[u64]) -> Double {
        Double {
            now_ns: 5,
            written_bytes: 0,
            takes_ns: takes_ns.to_vec(),
            drift_ppm: 0,
            done: 0,
            ages: None,
            fault: None,
            slices: Vec::new(),
            counts: vec![0; takes_ns.len()],
            ends_after: u64::MAX,
            bursts: None,
            burst_ends_ns: 0,
            is_slow: false,
        }
    }

    /// By how much everything is slower now.
    fn burst(&mut self) -> u64 {
        let Some(random) = &mut self.bursts else { return 1 };
        if self.now_ns >= self.burst_ends_ns {
            self.is_slow = !self.is_slow;
            self.burst_ends_ns = self.now_ns + random.below(60_000_000);
        }
        if self.is_slow { 33 } else { 1 }
    }
}

impl Durable for Double {
    fn begin(&mut self, way: usize) -> Result<(), DurableFault> {
        self.slices.push((way, 0));
        Ok(())
    }

    fn once(&mut self, way: usize) -> Result<u64, DurableFault> {
        self.counts[way] += 1;
        self.slices.last_mut().expect("begin was called").1 += 1;
        if let Some((row, from, fault)) = &self.fault
            && *row == way
            && self.counts[way] >= *from
        {
            return Err(fault.clone());
        }
        let took_ns =
            self.takes_ns[way] + self.takes_ns[way] * self.done * self.drift_ppm / 1_000_000;
        let is_old = self.ages.is_some_and(|(row, from)| row == way && self.counts[way] >= from);
        let took_ns = took_ns * self.burst() * if is_old { 2 } else { 1 };
        self.done += 1;
        self.now_ns += took_ns;
        self.written_bytes += 8192;
        Ok(took_ns)
    }

    fn end(&mut self, _way: usize) -> Result<(), DurableFault> {
        Ok(())
    }

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn goes_on(&self) -> bool {
        self.done < self.ends_after
    }
}

fn ran(double: &mut Double, limits: DurableLimits) -> DurableSeen {
    let ways = vec![WAY; double.takes_ns.len()];
    run(double, &ways, limits, 3)
}

#[test]
fn every_round_gives_every_row_one_slice_in_an_order_of_its_own() {
    let mut double = Double::new(&[100_000, 200_000, 50_000, 400_000]);
    let seen = ran(&mut double, LIMITS);
    assert!(seen.rounds > 100, "{}", seen.rounds);
    let whole = double.slices.chunks_exact(4);
    let mut orders = std::collections::BTreeSet::new();
    for round in whole {
        let mut rows: Vec<usize> = round.iter().map(|(row, _)| *row).collect();
        orders.insert(rows.clone());
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2, 3]);
    }
    assert!(orders.len() > 20, "{orders:?}");
}

#[test]
fn means_are_exact_and_the_first_of_a_slice_and_the_first_round_are_left_out() {
    let mut double = Double::new(&[100_000, 200_000]);
    let limits = DurableLimits { rounds: 3, ..LIMITS };
    let seen = ran(&mut double, limits);
    assert_eq!((seen.rounds, seen.discarded_rounds, seen.was_cut_short), (2, 1, false));
    for (row, took_ns) in seen.rows.iter().zip([100_000, 200_000]) {
        assert_eq!(row.mean_ns(), Some(took_ns as f64));
        assert_eq!(row.round_means_ns.values(), vec![Some(took_ns as f64); 2]);
        let in_a_slice = 1_000_000 / took_ns;
        assert_eq!(row.latencies.count(), 2 * in_a_slice);
        assert_eq!(row.discarded, 3 + in_a_slice);
        assert_eq!(row.series.values().len() as u64, row.latencies.count());
    }
}

#[test]
fn a_drift_that_doubles_everything_does_not_tell_equal_rows_apart() {
    let mut double = Double::new(&[100_000, 100_000]);
    double.drift_ppm = 200;
    let seen = ran(&mut double, LIMITS);
    let [one, other] = &seen.rows[..] else { panic!("two rows") };
    assert!(one.latencies.max() > one.latencies.min() * 3 / 2, "it drifted");
    let compared = compare(one.round_means_ns.values(), other.round_means_ns.values(), 0.05);
    assert_eq!(compared.conclusion(), Difference::NoDifferenceDetected);
    assert!(compared.interval.is_within(0.97, 1.03), "{compared:?}");
}

#[test]
fn equal_rows_on_a_drive_that_switches_its_pace_are_seldom_called_different() {
    let (mut different, runs) = (0, 300);
    for seed in 0..runs {
        let mut double = Double::new(&[120_000, 120_000, 120_000]);
        double.bursts = Some(Random::new(seed));
        let limits = DurableLimits { rounds: 40, elapsed_ns: u64::MAX, ..LIMITS };
        let seen = run(&mut double, &[WAY; 3], limits, seed);
        let means = |row: usize| seen.rows[row].round_means_ns.values();
        different += u64::from(
            compare(means(0), means(2), 0.05).conclusion() != Difference::NoDifferenceDetected,
        );
    }
    // 5 % of 300 are 15; 27 and more would come once in 300 times by chance.
    assert!(different < 27, "{different} of {runs}");
}

#[test]
fn a_row_that_takes_twice_as_long_is_found_on_such_a_drive() {
    let mut slower = 0;
    for seed in 0..50 {
        let mut double = Double::new(&[120_000, 240_000]);
        double.bursts = Some(Random::new(seed));
        let limits = DurableLimits { rounds: 60, elapsed_ns: u64::MAX, ..LIMITS };
        let seen = run(&mut double, &[WAY; 2], limits, seed);
        let [one, other] = &seen.rows[..] else { panic!("two rows") };
        let compared = compare(other.round_means_ns.values(), one.round_means_ns.values(), 0.05);
        assert_ne!(compared.conclusion(), Difference::Faster, "seed {seed}: {compared:?}");
        slower += u32::from(compared.conclusion() == Difference::Slower);
    }
    assert!(slower >= 45, "{slower} of 50");
}

#[test]
fn a_failing_row_is_void_and_the_others_go_on() {
    let mut double = Double::new(&[100_000, 100_000]);
    let short = DurableFault::Void("a write was short".to_owned());
    double.fault = Some((0, 50, short));
    let seen = ran(&mut double, LIMITS);
    assert_eq!(seen.rows[0].errors, ["a write was short"]);
    assert_eq!(double.counts[0], 50, "nothing more is tried");
    assert!(seen.rows[1].errors.is_empty() && seen.rows[1].latencies.count() > 1000);
    assert_eq!(seen.stopped, None);
    let rounds = |row: usize| seen.rows[row].round_means_ns.values().len();
    assert_eq!(rounds(0), rounds(1));
}

#[test]
fn a_row_that_cannot_be_done_is_no_error() {
    let mut double = Double::new(&[100_000, 100_000]);
    double.fault = Some((0, 1, DurableFault::Unavailable("no direct I/O".to_owned())));
    let seen = ran(&mut double, LIMITS);
    assert_eq!(seen.rows[0].unavailable.as_deref(), Some("no direct I/O"));
    assert!(seen.rows[0].errors.is_empty() && seen.rows[0].mean_ns().is_none());
}

#[test]
fn nothing_is_done_after_a_sync_has_failed() {
    let mut double = Double::new(&[100_000, 100_000, 100_000]);
    double.fault = Some((1, 30, DurableFault::Stopped("fsync failed".to_owned())));
    let seen = ran(&mut double, LIMITS);
    assert_eq!(seen.stopped.as_deref(), Some("fsync failed"));
    assert_eq!(double.counts[1], 30);
    assert_eq!(double.slices.last().map(|(row, _)| *row), Some(1), "it was the last thing done");
    let rounds = |row: usize| seen.rows[row].round_means_ns.values().len() as u64;
    assert_eq!([0, 1, 2].map(rounds), [seen.rounds; 3], "rounds of all rows belong together");
}

#[test]
fn neither_bytes_nor_time_are_passed_by_more_than_one_operation() {
    for (takes_ns, elapsed_ns, written_bytes) in [
        (100_000, 50_000_000, u64::MAX),
        (100_000, u64::MAX, 10 << 20),
        // A slow disk: one operation takes more than a slice, or more than all the time.
        (30_000_000, 700_000_000, u64::MAX),
        (300_000_000, 200_000_000, u64::MAX),
    ] {
        let mut double = Double::new(&[takes_ns, takes_ns]);
        let limits = DurableLimits { elapsed_ns, written_bytes, ..LIMITS };
        let seen = ran(&mut double, limits);
        assert!(seen.elapsed_ns <= elapsed_ns.saturating_add(takes_ns), "{}", seen.elapsed_ns);
        assert!(double.written_bytes <= written_bytes, "{}", double.written_bytes);
        assert!(seen.rounds + seen.discarded_rounds >= 1);
    }
}

#[test]
fn an_operation_of_many_syncs_begins_only_where_all_but_one_fit_into_the_time() {
    let way = DurableMethod { method: Method::OpenSync, writes: 16, write_bytes: 1024, ..WAY };
    let limits = DurableLimits { elapsed_ns: 4_000_000_000, ..LIMITS };
    for seed in 0..20 {
        let mut double = Double::new(&[16 * 300_000_000, 300_000_000]);
        let seen = run(&mut double, &[way, WAY], limits, seed);
        assert_eq!((&double.counts[..], seen.was_cut_short), (&[0, 1][..], true));
    }
    // Where nothing else tells how long a sync takes, it does.
    let mut double = Double::new(&[16 * 300_000_000]);
    assert_eq!((run(&mut double, &[way], limits, 3).rounds, double.done), (0, 1));
}

#[test]
fn a_round_that_is_left_out_takes_one_operation_of_each_row_where_those_are_slow() {
    let mut double = Double::new(&[300_000_000; 4]);
    let seen = ran(&mut double, DurableLimits { elapsed_ns: 3_500_000_000, ..LIMITS });
    assert_eq!(seen.rows.iter().map(|row| row.latencies.count()).sum::<u64>(), 4);
    assert_eq!(double.done, 12, "four to warm up, and two of each row");
}

#[test]
fn a_user_who_wants_no_more_is_heard_within_a_slice() {
    let mut double = Double::new(&[100_000, 100_000]);
    double.ends_after = 95;
    let seen = ran(&mut double, LIMITS);
    assert!(double.done <= 96, "{}", double.done);
    assert!(seen.was_cut_short && seen.stopped.is_none());
}

#[test]
fn a_sustained_run_is_a_series_without_gaps() {
    let mut double = Double::new(&[100_000]);
    let span = SeriesLimits { bytes: 10 << 20, elapsed_ns: u64::MAX, stretch_bytes: 1 << 20 };
    let points = sustained(&mut double, 0, &WAY, span).unwrap();
    assert_eq!(points.len(), 10);
    assert_eq!(points.iter().map(|point| point.bytes).sum::<u64>(), 10 << 20);
    assert!(points.iter().all(|point| point.operations == 128 && point.median_ns == 100_000));
    assert_eq!(points.last().unwrap().at_bytes, 10 << 20);
    assert!(double.written_bytes <= span.bytes);
}

#[test]
fn the_latencies_that_are_kept_in_their_order_stand_for_all_of_a_long_run() {
    // Half a million operations that become slower and slower, up to six times.
    let mut double = Double { drift_ppm: 10, ..Double::new(&[100]) };
    let limits = DurableLimits { elapsed_ns: 200_000_000, ..LIMITS };
    let seen = run(&mut double, &[WAY], limits, 1);
    let row = &seen.rows[0];
    assert!(row.latencies.count() > 4 * SERIES_MAX as u64, "{}", row.latencies.count());
    let mut kept = row.series.values().to_vec();
    assert!(kept.len() >= SERIES_MAX && kept.len() <= 2 * SERIES_MAX, "{}", kept.len());
    // They only grow, and are still in their order.
    assert!(kept.is_sorted());
    kept.sort_unstable();
    for percent in [10_u32, 50, 90, 99] {
        let (all, some) = (
            row.latencies.percentile(f64::from(percent)),
            kept[kept.len() * percent as usize / 100],
        );
        assert!(some.abs_diff(all) * 50 <= all, "p{percent}: {some} of those kept, {all} of all");
    }
}

#[test]
fn rows_of_a_long_run_are_compared_over_all_of_it_and_each_in_the_same_rounds() {
    // Alike for as many rounds as are ever kept; then, for longer than that, one is slower. Two
    // operations in each round, and a drift by which rounds are told apart.
    let alike = 2 * ROUNDS_KEPT as u64;
    let rounds = 5 * alike / 2;
    let mut double = Double { drift_ppm: 10, ..Double::new(&[100, 100]) };
    double.ages = Some((0, 2 * alike));
    let limits = DurableLimits { rounds, slice_ns: 1, elapsed_ns: u64::MAX, ..LIMITS };
    let seen = ran(&mut double, limits);
    assert_eq!(seen.rounds + seen.discarded_rounds, rounds);
    let [one, other] = [&seen.rows[0], &seen.rows[1]].map(|row| row.round_means_ns.values());
    assert!((ROUNDS_KEPT..=2 * ROUNDS_KEPT).contains(&one.len()), "{}", one.len());
    let compared = compare(one, other, 0.05);
    assert_eq!(compared.conclusion(), Difference::Slower, "{compared:?}");
    assert!(compared.interval.is_within(1.9, 2.1), "{compared:?}");
    // Were they of other rounds, the drift would show in some.
    let near = |(one, other): (&Option<f64>, &Option<f64>)| {
        let ratio = one.unwrap() / other.unwrap();
        (0.99..1.02).contains(&ratio) || (1.98..2.02).contains(&ratio)
    };
    assert!(one.iter().zip(other).all(near));
}
