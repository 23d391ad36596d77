//! From what `measure` saw to the document that is printed.

use device::DiskCounts;
use measure::{Conclusion, Experiment, Histogram, Interval};
use report::bench::{
    Arm, BenchTarget, Comparison, DriveCounts, Experiment as Document, OperationDirection,
    Predicted, Sync, Workload,
};
use units::number::real;

use super::plan;
use crate::shared::measured_bytes::MeasuredBytes;

/// Latencies below this many have no 99th percentile.
const P99_COUNT_MIN: u64 = 100;

/// Record of what one arm did, beside the times that the experiment has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArmRecord {
    /// All its latencies, one for each operation; `None` where the experiment's times are they.
    pub(crate) latencies: Option<Histogram>,
    /// Counts of the drive; `None` when it does not count.
    pub(crate) counts: Option<DiskCounts>,
    /// Observations looked at one by one, and those of which the drive counted exactly what was
    /// asked.
    pub(crate) seen: u64,
    pub(crate) exact: u64,
    /// Operations a second while it ran.
    pub(crate) operations_per_second: Option<f64>,
}

impl ArmRecord {
    /// Counts what the drive counted during one more observation.
    pub(crate) fn add(&mut self, since: &DiskCounts) {
        self.counts = Some(self.counts.map_or(*since, |counts| counts.plus(since)));
        self.seen += 1;
    }
}

/// Facts about an experiment, beside its statistics.
pub(crate) struct About {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) block_operations: u64,
    pub(crate) workload: Workload,
    pub(crate) arms: Vec<plan::PlannedArm>,
    pub(crate) seen: Vec<ArmRecord>,
    pub(crate) elapsed_ns: u64,
    pub(crate) written_bytes: u64,
    pub(crate) predicted: Option<Predicted>,
    /// Time that the platter takes for a turn; `None` where there is none, or it is not known.
    pub(crate) turn_ns: Option<u64>,
}

/// Returns what programs of the user's or of the suite did, by its words.
pub(crate) fn of_command(words: Vec<String>) -> Workload {
    Workload {
        action: OperationDirection::Command,
        operation_bytes: None,
        sync: Sync::None,
        sync_every: 0,
        depth: 1,
        order: None,
        direct: false,
        command: words,
    }
}

/// The document of an experiment that ended.
pub(crate) fn experiment(about: About, done: &Experiment, conclusion: Conclusion) -> Document {
    let standing = done.standing();
    let arm = |(number, (arm, seen)): (usize, (&plan::PlannedArm, &ArmRecord))| {
        let times = seen.latencies.as_ref().unwrap_or_else(|| done.times(number));
        of_arm(arm, seen, times, about.turn_ns)
    };
    let arms: Vec<Arm> = about.arms.iter().zip(&about.seen).enumerate().map(arm).collect();
    let comparison = |(number, one): (usize, &measure::ArmVerdict)| Comparison {
        arm: about.arms[one.arm].name.clone(),
        against: about.arms[one.against].name.clone(),
        // Before the first pair there is none.
        interval: match standing.pairs {
            0 => Interval { ratio: f64::NAN, ..one.median },
            _ => one.median,
        },
        clipped_mean: one.clipped,
        pair_ratios: done.pair_ratios(number).map(four_places).collect(),
    };
    Document {
        comparisons: standing.comparisons.iter().enumerate().map(comparison).collect(),
        pairs: standing.pairs,
        discarded_pairs: standing.discarded,
        alpha: done.plan().alpha,
        verdict: conclusion.verdict,
        reason: conclusion.reason,
        regimes: done.regimes(),
        narrowing: done.narrowing().to_vec(),
        title: about.title,
        unit: about.unit.to_owned(),
        block_operations: about.block_operations,
        workload: about.workload,
        elapsed_ns: about.elapsed_ns,
        written_bytes: about.written_bytes,
        arms,
        predicted: about.predicted,
    }
}

/// A ratio as it is kept: more places say nothing of a single pair.
fn four_places(ratio: f64) -> f64 {
    (ratio * 1e4).round() / 1e4
}

fn of_arm(
    arm: &plan::PlannedArm,
    seen: &ArmRecord,
    times: &Histogram,
    turn_ns: Option<u64>,
) -> Arm {
    let median_ns = times.median();
    let drive = seen.counts.map(|counts| DriveCounts {
        reads: counts.reads,
        read_bytes: counts.read_bytes(),
        writes: counts.writes,
        written_bytes: counts.written_bytes(),
        merges: counts.read_merges.saturating_add(counts.write_merges),
        flushes: counts.flushes,
        exact_operations: seen.exact,
        seen_operations: seen.seen,
    });
    Arm {
        name: arm.name.clone(),
        role: arm.role,
        shift_bytes: arm.shift_bytes,
        count: times.count(),
        median_ns,
        p99_ns: (times.count() >= P99_COUNT_MIN).then(|| times.percentile(99.0)),
        least_ns: times.min(),
        greatest_ns: times.max(),
        operations_per_second: seen.operations_per_second,
        turns: turn_ns.filter(|&turn| turn > 0).map(|turn| real(median_ns) / real(turn)),
        histogram: times.buckets().collect(),
        drive,
    }
}

/// Returns what was measured.
pub(crate) fn target(path: String, place: Option<&MeasuredBytes>) -> BenchTarget {
    let drive = place.and_then(|place| place.drive.as_ref());
    BenchTarget {
        path,
        layers: place.map(|place| place.layers.clone()).unwrap_or_default(),
        drive: drive.map(|drive| drive.name.clone()),
        cached: place.is_some_and(|place| place.cached.is_some()),
        model: drive.and_then(|drive| drive.model.clone()),
        firmware: drive.and_then(|drive| drive.firmware.clone()),
        rotating: drive.and_then(|drive| drive.rotating),
        capacity_bytes: drive.and_then(|drive| drive.capacity_bytes),
        others_bytes_per_second: None,
        logical_sector_bytes: place.and_then(|place| place.logical_sector_bytes),
        granule_bytes: place.map(|place| place.unit.length_bytes()),
        granule_origin_bytes: place.map(|place| place.unit.origin_bytes()),
        granule_source: place.map(|place| place.unit_source),
    }
}
