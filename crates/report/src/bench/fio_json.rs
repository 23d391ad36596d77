//! A result in the shape of fio's JSON, for parsers that exist: a job for each experiment and arm.
//!
//! The shape is that of `fio --output-format=json+`, fio 3.33 (`stat.c`,
//! `show_thread_status_json`). What straddle does not know is left out, not written as 0: the
//! samples of bandwidth and IOPS over time, short and dropped I/Os, CPU time, the depths seen, the
//! time a drive was in use. Three things differ in meaning:
//! - the latency of a write holds the sync that belongs to it, as with fio's `sync=dsync`; `sync`
//!   counts only what was seen apart, which is nothing;
//! - latencies are taken from the histogram, so mean, deviation and percentiles are off by at most
//!   0.8 %; least and greatest are exact;
//! - each job has an object `straddle` beside fio's keys: experiment, arm, shift, verdict, ratio.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Arm, Bench, Experiment, OperationDirection, Sync, WorkloadOrder};

/// The shares of which fio gives the latency, in percent. Source: `init.c`, `def_percentile_list`
/// as printed by fio 3.33.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// fio's bounds of the shares of latencies, in the unit of each key. Source: `stat.c`,
/// `stat_calc_lat_n`, `_u` and `_m`.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// Nanoseconds in a millisecond and in a second.
const MILLI_NS: f64 = 1e6;
const SECOND_NS: f64 = 1e9;

/// The result as fio's JSON, with its line feed. Experiments that ran commands have no place in
/// it: see [`fio_json_left_out`].
#[must_use]
pub fn fio_json(bench: &Bench) -> String {
    let mut top = Map::new();
    top.insert("fio version".to_owned(), format!("straddle-{}", bench.envelope.version).into());
    if let Ok(started) = bench.envelope.run.started.parse::<Timestamp>() {
        let seconds = started.as_second();
        top.insert("timestamp".to_owned(), seconds.into());
        top.insert("timestamp_ms".to_owned(), (seconds * 1000).into());
        top.insert("time".to_owned(), asctime(started).into());
    }
    top.insert("global options".to_owned(), json!({}));
    let jobs: Vec<Value> = (bench.experiments.iter().enumerate())
        .filter(|(_, experiment)| is_io(experiment))
        .flat_map(|(group, experiment)| {
            experiment.arms.iter().map(move |arm| job(group, experiment, arm))
        })
        .collect();
    top.insert("jobs".to_owned(), jobs.into());
    top.insert("disk_util".to_owned(), disk_util(bench));
    crate::json::ended(serde_json::to_string_pretty(&top))
}

/// `Sat Nov 21 22:35:42 2026`, as C's `asctime` writes it, in UTC.
fn asctime(moment: Timestamp) -> String {
    moment.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// The titles of the experiments that [`fio_json`] leaves out: they ran commands, of which fio's
/// shape has no notion.
#[must_use]
pub fn fio_json_left_out(bench: &Bench) -> Vec<String> {
    let left_out = bench.experiments.iter().filter(|experiment| !is_io(experiment));
    left_out.map(|experiment| crate::text::one_line(&experiment.title)).collect()
}

fn is_io(experiment: &Experiment) -> bool {
    matches!(experiment.workload.action, OperationDirection::Read | OperationDirection::Write)
}

fn job(group: usize, experiment: &Experiment, arm: &Arm) -> Value {
    let nothing = Latencies::default();
    let seen = Latencies::of(arm);
    let bytes = experiment.workload.operation_bytes;
    let [read, write] = [OperationDirection::Read, OperationDirection::Write].map(|action| {
        match experiment.workload.action == action {
            true => direction(&seen, bytes, arm.operations_per_second),
            false => direction(&nothing, Some(0), Some(0.0)),
        }
    });
    let mut job = Map::new();
    job.insert("jobname".to_owned(), format!("{}: {}", experiment.title, arm.name).into());
    job.insert("groupid".to_owned(), group.into());
    job.insert("error".to_owned(), 0.into());
    job.insert("job options".to_owned(), options(experiment, arm));
    job.insert("read".to_owned(), read);
    job.insert("write".to_owned(), write);
    job.insert("trim".to_owned(), direction(&nothing, Some(0), Some(0.0)));
    let sync = json!({ "total_ios": 0, "lat_ns": nothing.summary() });
    job.insert("sync".to_owned(), sync);
    for (key, unit_ns) in [("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000)] {
        job.insert(key.to_owned(), seen.shares(unit_ns));
    }
    let comparison = experiment.comparisons.iter().find(|one| one.arm == arm.name);
    job.insert(
        "straddle".to_owned(),
        json!({
            "experiment": experiment.title,
            "arm": arm.name,
            "role": arm.role,
            "shift_bytes": arm.shift_bytes,
            "verdict": experiment.verdict,
            "ratio": comparison.map(|one| one.interval.ratio),
            "low": comparison.map(|one| one.interval.low),
            "high": comparison.map(|one| one.interval.high),
        }),
    );
    job.into()
}

/// The job as fio's options would say it, as texts.
fn options(experiment: &Experiment, arm: &Arm) -> Value {
    let workload = &experiment.workload;
    let random = if workload.order == Some(WorkloadOrder::Random) { "rand" } else { "" };
    let mut options = Map::new();
    let mut say = |key: &str, value: String| options.insert(key.to_owned(), value.into());
    say("name", format!("{}: {}", experiment.title, arm.name));
    say("rw", format!("{random}{}", workload.action.word()));
    if let Some(bytes) = workload.operation_bytes {
        say("bs", bytes.to_string());
    }
    say("iodepth", workload.depth.to_string());
    say("numjobs", "1".to_owned());
    say("direct", u8::from(workload.direct).to_string());
    let sync = workload.sync.word();
    match workload.sync {
        Sync::Fsync | Sync::Fdatasync => say(sync, workload.sync_every.to_string()),
        Sync::Sync | Sync::Dsync => say("sync", sync.to_owned()),
        Sync::None => None,
    };
    options.into()
}

/// Returns what was done one way.
pub(crate) fn direction(
    seen: &Latencies,
    bytes: Option<u64>,
    operations_per_second: Option<f64>,
) -> Value {
    let mut way = Map::new();
    let mut say = |key: &str, value: Option<Value>| {
        // Unknown is null; a key that parsers look for is there all the same.
        way.insert(key.to_owned(), value.unwrap_or(Value::Null));
    };
    let rate = operations_per_second.filter(|rate| rate.is_finite() && *rate >= 0.0);
    let total = bytes.and_then(|bytes| seen.count.checked_mul(bytes));
    let bandwidth = bytes.zip(rate).map(|(bytes, rate)| real(bytes) * rate);
    let runtime = rate.and_then(|rate| match seen.count {
        0 => Some(0.0),
        count => (rate > 0.0).then(|| real(count) / rate * (SECOND_NS / MILLI_NS)),
    });
    say("io_bytes", total.map(Value::from));
    say("io_kbytes", total.map(|total| total.div_euclid(1024).into()));
    say("bw_bytes", bandwidth.and_then(whole));
    say("bw", bandwidth.and_then(|bandwidth| whole(bandwidth / 1024.0)));
    say("iops", rate.map(Value::from));
    say("runtime", runtime.and_then(whole));
    say("total_ios", Some(seen.count.into()));
    // Submission and completion are not told apart: none was seen alone.
    say("slat_ns", Some(Latencies::default().summary()));
    say("clat_ns", Some(seen.detail()));
    say("lat_ns", Some(seen.detail()));
    way.into()
}

/// The latencies of an arm, in nanoseconds.
#[derive(Default)]
pub(crate) struct Latencies {
    count: u64,
    least: u64,
    greatest: u64,
    mean: f64,
    deviation: f64,
    /// The middle of each bucket, in order, and how many are in it.
    buckets: Vec<(u64, u64)>,
    /// Number of all buckets hold.
    held: u64,
}

impl Latencies {
    fn of(arm: &Arm) -> Latencies {
        Latencies::new(arm.count, (arm.least_ns, arm.greatest_ns), &arm.histogram)
    }

    /// Of `count` latencies: the least and the greatest, and their histogram.
    pub(crate) fn new(
        count: u64,
        (least, greatest): (u64, u64),
        histogram: &[(u64, u64)],
    ) -> Latencies {
        if count == 0 {
            return Latencies::default();
        }
        let least = least.min(greatest);
        let filled = histogram.iter().filter(|(_, count)| *count > 0);
        let placed = |&(from, count): &(u64, u64)| (middle(from).clamp(least, greatest), count);
        let mut buckets: Vec<(u64, u64)> = filled.map(placed).collect();
        buckets.sort_unstable();
        let held = buckets.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            buckets.iter().map(|&(at, count)| of(real(at)) * real(count)).sum()
        };
        let mean = if held == 0 { 0.0 } else { sum(&|at| at) / real(held) };
        // The sample's deviation, as fio's: sqrt(sum((x - mean)^2) / (n - 1)).
        let squares = sum(&|at| (at - mean) * (at - mean));
        let deviation = if held < 2 { 0.0 } else { (squares / (real(held) - 1.0)).sqrt() };
        Latencies { count, least, greatest, mean, deviation, buckets, held }
    }

    /// `min`, `max`, `mean`, `stddev`, `N`.
    pub(crate) fn summary(&self) -> Value {
        json!({
            "min": self.least,
            "max": self.greatest,
            "mean": self.mean,
            "stddev": self.deviation,
            "N": self.count,
        })
    }

    /// The same with percentiles and all buckets, where anything was seen.
    pub(crate) fn detail(&self) -> Value {
        let mut detail = self.summary();
        if self.held > 0 {
            let bins = self.buckets.iter().map(|(at, count)| (at.to_string(), (*count).into()));
            detail["percentile"] = self.percentiles();
            detail["bins"] = Value::Object(bins.collect());
        }
        detail
    }

    /// The latency that each share stays at or below, by nearest rank.
    fn percentiles(&self) -> Value {
        let mut found = Map::new();
        let mut buckets = self.buckets.iter();
        let (mut at, mut below) = (0, 0_u64);
        for percent in PERCENTILES {
            let rank = (percent / 100.0 * real(self.held) * (1.0 - 1e-12)).ceil();
            while real(below) < rank {
                let Some((next, count)) = buckets.next() else { break };
                (at, below) = (*next, below.saturating_add(*count));
            }
            found.insert(format!("{percent:.6}"), at.into());
        }
        found.into()
    }

    /// The percentage of latencies up to each bound of fio's and over the one before, in units of
    /// `unit_ns`; those below 1000 of the unit beneath belong to that.
    pub(crate) fn shares(&self, unit_ns: u64) -> Value {
        let mut shares = Map::new();
        let mut from = if unit_ns == 1 { 0 } else { unit_ns };
        let share = |from: u64, to: u64| {
            let within = self.buckets.iter().filter(|(at, _)| (from..to).contains(at));
            let count: f64 = within.map(|(_, count)| real(*count)).sum();
            if self.held == 0 { 0.0 } else { 100.0 * count / real(self.held) }
        };
        for bound in BOUNDS {
            let to = bound * unit_ns;
            shares.insert(bound.to_string(), share(from, to).into());
            from = to;
        }
        if unit_ns == 1_000_000 {
            shares.insert("2000".to_owned(), share(from, 2000 * unit_ns).into());
            shares.insert(">=2000".to_owned(), share(2000 * unit_ns, u64::MAX).into());
        }
        shares.into()
    }
}

/// The middle of the bucket that starts at `from`: 64 buckets in each power of two.
fn middle(from: u64) -> u64 {
    let width = from.checked_ilog2().map_or(1, |power| 1_u64 << power.saturating_sub(6));
    from.saturating_add(width.div_euclid(2))
}

/// The drive's counters over all arms, where it is one drive and it was counted. Merges of reads
/// and of writes are not told apart and left out, as is the time that it was in use.
fn disk_util(bench: &Bench) -> Value {
    let arms = bench.experiments.iter().flat_map(|experiment| &experiment.arms);
    let counts: Vec<_> = arms.filter_map(|arm| arm.drive.as_ref()).collect();
    let (Some(name), false) = (&bench.target.drive, counts.is_empty()) else { return json!([]) };
    let [mut reads, mut writes] = [0_u64; 2];
    for count in counts {
        reads = reads.saturating_add(count.reads);
        writes = writes.saturating_add(count.writes);
    }
    json!([{ "name": name, "read_ios": reads, "write_ios": writes }])
}

/// A number that is not negative, without its fraction; `None` where it is too great for JSON
/// readers that keep integers in 64 bits.
fn whole(value: f64) -> Option<Value> {
    let text = format!("{:.0}", value.floor());
    text.parse::<u64>().ok().map(Value::from)
}

fn real(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of `date -u -d TEXT '+%s %a %b %e %T %Y'`.
    #[test]
    fn moments_are_written_as_asctime_does() {
        for (text, seconds, expected) in [
            ("1970-01-01T00:00:00Z", 0, "Thu Jan  1 00:00:00 1970"),
            ("2000-02-29T23:59:59Z", 951_868_799, "Tue Feb 29 23:59:59 2000"),
            ("2026-03-01T12:00:00.123Z", 1_772_366_400, "Sun Mar  1 12:00:00 2026"),
        ] {
            let moment: Timestamp = text.parse().unwrap();
            assert_eq!((moment.as_second(), &*asctime(moment)), (seconds, expected), "{text}");
        }
    }
}
