//! Shape of fio's JSON, for parsers that exist.
//!
//! The shape is that of `fio --output-format=json+`, fio 3.33 (`stat.c`,
//! `show_thread_status_json`). What straddle does not know is left out, not written as 0: the
//! samples of bandwidth and IOPS over time, short and dropped I/Os, CPU time, the depths seen, the
//! time a drive was in use. Latencies are taken from the histogram, so mean, deviation and
//! percentiles are off by at most 0.8 %; least and greatest are exact.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use units::number::real;

use crate::bench::OperationDirection;
use crate::envelope::Envelope;

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

/// A whole result, with its line feed.
pub(crate) fn fio_document(
    envelope: &Envelope,
    global: Value,
    jobs: Vec<Value>,
    disk_util: Value,
) -> String {
    let mut top = Map::new();
    top.insert("fio version".to_owned(), format!("straddle-{}", envelope.version).into());
    if let Ok(started) = envelope.run.started.parse::<Timestamp>() {
        let seconds = started.as_second();
        top.insert("timestamp".to_owned(), seconds.into());
        top.insert("timestamp_ms".to_owned(), (seconds * 1000).into());
        // As C's `asctime` writes it, in UTC.
        let time = started.strftime("%a %b %e %H:%M:%S %Y").to_string();
        top.insert("time".to_owned(), time.into());
    }
    top.insert("global options".to_owned(), global);
    top.insert("jobs".to_owned(), jobs.into());
    top.insert("disk_util".to_owned(), disk_util);
    crate::json::ended(serde_json::to_string_pretty(&top))
}

/// One job.
pub(crate) struct FioJob {
    pub(crate) name: String,
    pub(crate) group: usize,
    pub(crate) action: OperationDirection,
    pub(crate) is_random: bool,
    pub(crate) depth: u64,
    pub(crate) is_direct: bool,
    /// The option that makes writes durable, and its value.
    pub(crate) sync: Option<(&'static str, String)>,
    /// Bytes of each write or read, and how many of them an operation has.
    pub(crate) block_bytes: Option<u64>,
    pub(crate) blocks: u64,
    pub(crate) operations_per_second: Option<f64>,
    pub(crate) latencies: FioLatencies,
    /// True if a sync belongs to each operation and is counted as one of its own.
    pub(crate) counts_syncs: bool,
    /// Values of ours that fio has no key for.
    pub(crate) own: Value,
}

impl FioJob {
    pub(crate) fn json(&self) -> Value {
        let (seen, nothing) = (&self.latencies, FioLatencies::default());
        let idle = direction(&nothing, Some(0), Some(0.0));
        let bytes = self.block_bytes.map(|bytes| bytes.saturating_mul(self.blocks));
        let busy = direction(seen, bytes, self.operations_per_second);
        let (read, write) = match self.action {
            OperationDirection::Read => (busy, idle.clone()),
            _ => (idle.clone(), busy),
        };
        let sync = match self.counts_syncs {
            true => json!({ "total_ios": seen.count, "lat_ns": seen.detail() }),
            false => json!({ "total_ios": 0, "lat_ns": nothing.summary() }),
        };
        json!({
            "jobname": self.name,
            "groupid": self.group,
            "error": 0,
            "job options": self.options(),
            "read": read,
            "write": write,
            "trim": idle,
            "sync": sync,
            "latency_ns": seen.shares(1),
            "latency_us": seen.shares(1_000),
            "latency_ms": seen.shares(1_000_000),
            "straddle": self.own,
        })
    }

    /// The job as fio's options would say it, as texts.
    fn options(&self) -> Value {
        let mut options = Map::new();
        let mut say = |key: &str, value: String| options.insert(key.to_owned(), value.into());
        say("name", self.name.clone());
        let random = if self.is_random { "rand" } else { "" };
        say("rw", format!("{random}{}", self.action.word()));
        if let Some(bytes) = self.block_bytes {
            say("bs", bytes.to_string());
        }
        say("iodepth", self.depth.to_string());
        say("numjobs", "1".to_owned());
        say("direct", u8::from(self.is_direct).to_string());
        if let Some((key, value)) = &self.sync {
            say(key, value.clone());
        }
        options.into()
    }
}

/// Returns what was done one way.
fn direction(seen: &FioLatencies, bytes: Option<u64>, operations_per_second: Option<f64>) -> Value {
    let rate = operations_per_second.filter(|rate| rate.is_finite() && *rate >= 0.0);
    let total = bytes.and_then(|bytes| seen.count.checked_mul(bytes));
    let bandwidth = bytes.zip(rate).map(|(bytes, rate)| real(bytes) * rate);
    let runtime = rate.and_then(|rate| match seen.count {
        0 => Some(0.0),
        count => (rate > 0.0).then(|| real(count) / rate * (SECOND_NS / MILLI_NS)),
    });
    // Unknown is null; a key that parsers look for is there all the same.
    json!({
        "io_bytes": total,
        "io_kbytes": total.map(|total| total.div_euclid(1024)),
        "bw_bytes": bandwidth.and_then(whole),
        "bw": bandwidth.and_then(|bandwidth| whole(bandwidth / 1024.0)),
        "iops": rate,
        "runtime": runtime.and_then(whole),
        "total_ios": seen.count,
        // Submission and completion are not told apart: none was seen alone.
        "slat_ns": FioLatencies::default().summary(),
        "clat_ns": seen.detail(),
        "lat_ns": seen.detail(),
    })
}

/// The latencies of a job, in nanoseconds.
#[derive(Default)]
pub(crate) struct FioLatencies {
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

impl FioLatencies {
    /// Of `count` latencies: the least and the greatest, and their histogram.
    pub(crate) fn new(
        count: u64,
        (least, greatest): (u64, u64),
        histogram: &[(u64, u64)],
    ) -> FioLatencies {
        if count == 0 {
            return FioLatencies::default();
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
        FioLatencies { count, least, greatest, mean, deviation, buckets, held }
    }

    /// `min`, `max`, `mean`, `stddev`, `N`.
    fn summary(&self) -> Value {
        json!({
            "min": self.least,
            "max": self.greatest,
            "mean": self.mean,
            "stddev": self.deviation,
            "N": self.count,
        })
    }

    /// The same with percentiles and all buckets, where anything was seen.
    fn detail(&self) -> Value {
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
    fn shares(&self, unit_ns: u64) -> Value {
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

/// A number that is not negative, without its fraction; `None` where it is too great for JSON
/// readers that keep integers in 64 bits.
fn whole(value: f64) -> Option<u64> {
    format!("{:.0}", value.floor()).parse().ok()
}
