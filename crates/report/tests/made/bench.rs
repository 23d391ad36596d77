//! Results made by hand.

use measure::{CostVerdict, Interval, PairStep, Regime, Role};
use report::bench::{
    Arm, BENCH_SCHEMA, Bench, BenchTarget, Comparison, DriveCounts, Effort, Experiment,
    OperationDirection, Predicted, ScratchFacts, Sync, Workload, WorkloadOrder,
};
use report::{Envelope, Run};
use units::Source;

use crate::made::sample::{envelope, notes};

/// A disk that rotates, with 512-byte logical sectors and 4 KiB granules.
pub(crate) fn disk() -> Bench {
    let run = Run {
        command: ["straddle", "bench", "/data"].map(str::to_owned).to_vec(),
        started: "2026-03-01T12:00:00Z".to_owned(),
        kernel: Some("6.12.0".to_owned()),
        host: Some("web-3".to_owned()),
        machine: Some("Dell Inc. PowerEdge R640".to_owned()),
    };
    Bench {
        envelope: envelope(BENCH_SCHEMA, run),
        seed: 7,
        elapsed_ns: 2_100_000_000,
        target: BenchTarget {
            path: "/data".to_owned(),
            layers: vec!["ext4".to_owned(), "sda1".to_owned(), "sda".to_owned()],
            drive: Some("sda".to_owned()),
            cached: false,
            model: Some("WDC WD60EFRX".to_owned()),
            firmware: Some("82.00A82".to_owned()),
            rotating: Some(true),
            capacity_bytes: Some(6_001_175_126_016),
            others_bytes_per_second: Some(0),
            logical_sector_bytes: Some(512),
            granule_bytes: Some(4096),
            granule_origin_bytes: Some(0),
            granule_source: Some(Source::Sysfs),
        },
        scratch: Some(ScratchFacts {
            place: "/data".to_owned(),
            length_bytes: 64 << 20,
            pieces: 1,
            drive_address_bytes: Some(1_638_275_325_952),
            written_bytes: 66 << 20,
            prepared_ns: 400_000_000,
        }),
        experiments: vec![penalty()],
    }
}

pub(crate) fn workload() -> Workload {
    Workload {
        action: OperationDirection::Write,
        operation_bytes: Some(4096),
        sync: Sync::Fdatasync,
        sync_every: 1,
        depth: 1,
        order: Some(WorkloadOrder::Cursor),
        direct: true,
        command: Vec::new(),
    }
}

pub(crate) fn arm(name: &str, role: Role, shift_bytes: u64, median_ns: u64, p99: u64) -> Arm {
    Arm {
        name: name.to_owned(),
        role,
        shift_bytes,
        count: 141,
        median_ns,
        p99_ns: Some(p99),
        least_ns: median_ns / 2,
        greatest_ns: p99.saturating_mul(2),
        operations_per_second: Some(1e9 / (median_ns as f64)),
        turns: None,
        histogram: vec![(median_ns, 139), (p99, 2)],
        drive: None,
    }
}

pub(crate) fn comparison(arm: &str, ratio: f64, low: f64, high: f64) -> Comparison {
    Comparison {
        arm: arm.to_owned(),
        against: "aligned".to_owned(),
        interval: Interval { ratio, low, high },
        clipped_mean: None,
        pair_ratios: vec![ratio; 40],
    }
}

/// Three turns instead of one.
pub(crate) fn penalty() -> Experiment {
    let turns = |turns, arm| Arm { turns: Some(turns), ..arm };
    let mut shifted = comparison("shifted 512 B", 3.0, 2.97, 3.03);
    shifted.clipped_mean = Some(Interval { ratio: 3.01, low: 2.9, high: 3.12 });
    let effort = |reads, writes| Effort { reads, writes, read_modify_writes: reads, drives: 1 };
    Experiment {
        title: "4 KiB write + fdatasync, depth 1".to_owned(),
        unit: "operation".to_owned(),
        block_operations: 1,
        workload: workload(),
        pairs: 141,
        discarded_pairs: 3,
        elapsed_ns: 1_420_000_000,
        written_bytes: 141 * 3 * 4096,
        arms: vec![
            turns(1.004, arm("aligned", Role::Baseline, 0, 8_350_000, 8_410_000)),
            turns(3.0, arm("shifted 512 B", Role::Shifted, 512, 25_000_000, 33_400_000)),
            turns(1.0, arm("control", Role::Control, 0, 8_350_000, 8_420_000)),
        ],
        comparisons: vec![shifted, comparison("control", 1.0, 0.99, 1.01)],
        alpha: 0.05,
        verdict: CostVerdict::Penalty,
        reason: "shifted writes take 3.00 times as long".to_owned(),
        predicted: Some(Predicted { aligned: effort(0, 1), shifted: effort(2, 2) }),
        regimes: vec![Regime { from_pair: 1, median_ns: 8_350_000, spread_ns: 60_000 }],
        narrowing: vec![PairStep {
            pairs: 20,
            median: Interval { ratio: 2.9, low: 1.4, high: 6.0 },
        }],
    }
}

/// One that found no difference, while the drive changed.
pub(crate) fn no_penalty() -> Experiment {
    Experiment {
        title: "64 KiB read, depth 32".to_owned(),
        workload: Workload {
            action: OperationDirection::Read,
            operation_bytes: Some(65536),
            sync: Sync::None,
            sync_every: 0,
            depth: 32,
            order: Some(WorkloadOrder::Random),
            ..workload()
        },
        unit: "block".to_owned(),
        block_operations: 256,
        written_bytes: 0,
        pairs: 60,
        arms: vec![
            arm("aligned", Role::Baseline, 0, 310_000, 900_000),
            arm("shifted 512 B", Role::Shifted, 512, 311_000, 910_000),
            arm("shifted 2 KiB", Role::Shifted, 2048, 309_000, 905_000),
            arm("control", Role::Control, 0, 310_000, 899_000),
        ],
        comparisons: vec![
            comparison("shifted 512 B", 1.003, 0.98, 1.02),
            comparison("shifted 2 KiB", 0.997, 0.97, 1.03),
            comparison("control", 1.0, 0.98, 1.02),
        ],
        verdict: CostVerdict::NoPenalty,
        reason: "No penalty: shifted reads take as long, within 5 %.".to_owned(),
        predicted: None,
        regimes: vec![
            Regime { from_pair: 1, median_ns: 310_000, spread_ns: 20_000 },
            Regime { from_pair: 41, median_ns: 4_100_000, spread_ns: 900_000 },
        ],
        ..penalty()
    }
}

/// One that says nothing.
pub(crate) fn void() -> Experiment {
    Experiment {
        title: "4 KiB write, depth 8".to_owned(),
        workload: Workload { sync: Sync::None, sync_every: 0, depth: 8, ..workload() },
        arms: vec![
            arm("aligned", Role::Baseline, 0, 8_350_000, 8_410_000),
            arm("shifted 512 B", Role::Shifted, 512, 25_000_000, 33_400_000),
            arm("control", Role::Control, 0, 9_350_000, 9_420_000),
        ],
        comparisons: vec![
            comparison("shifted 512 B", 3.0, 2.97, 3.03),
            comparison("control", 1.12, 1.08, 1.16),
        ],
        verdict: CostVerdict::Void,
        reason: "the control takes 1.12 times as long as the baseline".to_owned(),
        predicted: None,
        ..penalty()
    }
}

pub(crate) fn drive_counts() -> DriveCounts {
    DriveCounts {
        reads: 0,
        read_bytes: 0,
        writes: 282,
        written_bytes: 141 * 8192,
        merges: 2,
        flushes: Some(141),
        exact_operations: 139,
        seen_operations: 141,
    }
}

/// Every kind of experiment with everything that may be there, commands included.
pub(crate) fn whole() -> Bench {
    let mut counted = penalty();
    counted.arms.iter_mut().for_each(|arm| arm.drive = Some(drive_counts()));
    let command = Experiment {
        title: "mkfs.ext4".to_owned(),
        unit: "command".to_owned(),
        workload: Workload {
            action: OperationDirection::Command,
            operation_bytes: None,
            order: None,
            command: vec!["mkfs.ext4".to_owned(), "{device}".to_owned()],
            ..workload()
        },
        arms: penalty()
            .arms
            .into_iter()
            .map(|arm| Arm { count: 9, p99_ns: None, operations_per_second: None, ..arm })
            .collect(),
        verdict: CostVerdict::Small,
        ..penalty()
    };
    let refusal = report::Refusal {
        message: "stopped".to_owned(),
        hint: Some("try again".to_owned()),
        kind: report::RefusalKind::Safety,
    };
    Bench {
        experiments: vec![counted, no_penalty(), void(), command],
        envelope: Envelope { notes: notes(), refusal: Some(refusal), ..disk().envelope },
        ..disk()
    }
}
