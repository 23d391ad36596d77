//! Results of `fsync` made by hand.

use crate::made::sample::{envelope, notes};
use durability::Grade;
use measure::durable::{Difference, RowGroup};
use measure::engine_verdict::Fitness;
use measure::{Interval, Tail};
use report::fsync::{
    Ceiling, DataPath, DriveWord, EngineLimit, Evidence, FSYNC_SCHEMA, Forecast, Fsync, FsyncRow,
    FsyncScratch, FsyncTarget, FsyncVerdict, Honesty, Knee, LayerFlushes, ProcessWord, Rounds,
    RowComparison, RowMethod, SlowestWrites, Sustained, SustainedPoint,
};
use report::{Envelope, Refusal, Run};

pub(crate) fn text(word: &str) -> String {
    word.to_owned()
}

pub(crate) fn row(id: &str, group: RowGroup, label: &str, path: DataPath) -> FsyncRow {
    FsyncRow {
        id: text(id),
        group,
        label: text(label),
        is_pg: true,
        path,
        method: RowMethod::Fdatasync,
        place: text("overwrite"),
        write_bytes: 8192,
        writes_per_operation: 1,
        operations: 1000,
        discarded_operations: 100,
        busy_ns: 164_000_000,
        operations_per_second: Some(6097.561),
        mean_ns: Some(164_000.0),
        median_ns: Some(160_000),
        p90_ns: Some(170_000),
        p99_ns: Some(400_000),
        p999_ns: Some(1_200_000),
        least_ns: Some(131_072),
        greatest_ns: Some(1_200_000),
        histogram: vec![(159_744, 998), (397_312, 1), (1_196_032, 1)],
        slowest: Some(SlowestWrites {
            stretch_ns: 16_000_000,
            latency_ns: vec![Some(400_000), None, Some(1_200_000), Some(390_000)],
        }),
        tails: vec![
            tail(50.0, [160_000, 155_000, 166_000]),
            tail(99.0, [400_000, 300_000, 800_000]),
        ],
        unavailable: None,
        errors: Vec::new(),
    }
}

/// A quantile with its interval, in nanoseconds.
pub(crate) fn tail(percent: f64, [value, low, high]: [u64; 3]) -> Tail {
    Tail {
        quantile_percent: percent,
        value_ns: value,
        low_ns: Some(low),
        high_ns: Some(high),
        alpha: 0.001,
        samples: 1000,
        effective_samples: 900,
        needed_samples: 6,
    }
}

/// A row that has no figures.
pub(crate) fn bare(id: &str, group: RowGroup, label: &str) -> FsyncRow {
    FsyncRow {
        id: text(id),
        group,
        label: text(label),
        path: DataPath::Buffered,
        method: RowMethod::FsyncWritethrough,
        place: text("overwrite"),
        ..FsyncRow::default()
    }
}

pub(crate) fn target() -> FsyncTarget {
    FsyncTarget {
        path: text("/data"),
        filesystem: text("ext4"),
        mount_options: vec![text("rw"), text("relatime")],
        ..FsyncTarget::default()
    }
}

pub(crate) fn forecast() -> Forecast {
    Forecast {
        scratch_bytes: 16 << 20,
        written_bytes_max: 256 << 20,
        seconds_max: 25,
        wear: text("at most 256 MiB written"),
        impact: vec![text("others share the drive")],
    }
}

/// A small result of a disk.
pub(crate) fn plain() -> Fsync {
    let run = Run { kernel: Some(text("6.1.0")), host: Some(text("db1")), ..Run::default() };
    Fsync {
        envelope: envelope(FSYNC_SCHEMA, run),
        seed: 7,
        target: target(),
        scratch: Some(FsyncScratch {
            place: text("/data"),
            length_bytes: 16 << 20,
            written_bytes: 100 << 20,
            prepared_ns: 5,
        }),
        forecast: Some(forecast()),
        rounds: Some(Rounds {
            rounds: 12,
            discarded_rounds: 1,
            warm_up: text("the first round is left out"),
            slice_ns: 20_000_000,
            elapsed_ns: 9_000_000_000,
            was_cut_short: false,
        }),
        rows: vec![
            row("pg.one.open_datasync", RowGroup::OneWrite, "open_datasync", DataPath::Direct),
            row("pg.one.fdatasync", RowGroup::OneWrite, "fdatasync", DataPath::Buffered),
            FsyncRow {
                unavailable: Some(text("Linux has no fsync_writethrough")),
                ..bare("pg.one.fsync_writethrough", RowGroup::OneWrite, "fsync_writethrough")
            },
            FsyncRow {
                errors: vec![text("a write of 8192 bytes wrote 4096")],
                ..bare("wal.append", RowGroup::Wal, "append, fdatasync")
            },
        ],
        ..Fsync::default()
    }
}

/// All that there can be.
pub(crate) fn whole() -> Fsync {
    Fsync {
        comparisons: vec![RowComparison {
            question: text("append against overwrite"),
            row: text("wal.append"),
            against: text("pg.one.fdatasync"),
            interval: Interval { ratio: 2.9, low: 2.7, high: 3.1 },
            alpha: 0.05,
            rounds: 12,
            conclusion: Difference::Slower,
        }],
        sustained: Some(Sustained {
            points: vec![SustainedPoint::default()],
            knee: Some(Knee::default()),
            reason: text("the pace fell after 1 GiB"),
            ..Sustained::default()
        }),
        verdict: Some(FsyncVerdict {
            engine: text("etcd"),
            verdict: Fitness::Warn,
            sentence: text("p99 is 14.2 ms"),
            next: text("use a drive with PLP"),
            quantile: Some(Tail::default()),
            limits: vec![EngineLimit::default()],
            ceilings: vec![Ceiling::default()],
            ..FsyncVerdict::default()
        }),
        honesty: Some(Honesty {
            grade: Grade::Unproven,
            evidence: vec![Evidence::default()],
            would_change: vec![text("a plug-pull test")],
            layers: vec![LayerFlushes::default()],
            drive: Some(DriveWord::default()),
            process: Some(ProcessWord::default()),
            ..Honesty::default()
        }),
        envelope: Envelope {
            notes: notes(),
            refusal: Some(Refusal::new("stopped", Some(text("try again")))),
            ..plain().envelope
        },
        ..plain()
    }
}
