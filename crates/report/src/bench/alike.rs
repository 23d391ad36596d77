//! Results of `straddle fsync` and `straddle probe` as those of `straddle bench`, so that two of
//! them are compared by the same rules: ratios within a run, which have intervals.

use super::{Arm, Bench, BenchTarget, Comparison, Experiment, Workload};
use crate::fsync::{Fsync, FsyncRow};
use crate::probe::{Answer, Answers, Probe};

/// The run as one experiment: its rows are the arms, and the rows that were set against each other
/// the comparisons. What a verdict was asked for, or what was said of durability, is its verdict.
#[must_use]
pub fn of_fsync(fsync: &Fsync) -> Bench {
    let target = &fsync.target;
    let asked = fsync.verdict.as_ref().map(|verdict| verdict.verdict.clone());
    let grade = fsync.honesty.as_ref().map(|honesty| honesty.grade.clone());
    let comparisons = fsync.comparisons.iter().map(|one| {
        comparison((one.question.clone(), one.against.clone()), (one.ratio, one.low, one.high))
    });
    Bench {
        version: fsync.version.clone(),
        run: fsync.run.clone(),
        seed: fsync.seed,
        target: BenchTarget {
            path: target.path.clone(),
            layers: target.layers.iter().map(|layer| layer.name.clone()).collect(),
            drive: target.drive.clone(),
            model: target.model.clone(),
            firmware: target.firmware.clone(),
            rotating: target.rotating,
            ..BenchTarget::default()
        },
        experiments: vec![Experiment {
            title: "ways to make writes durable".to_owned(),
            arms: fsync.rows.iter().map(arm).collect(),
            alpha: fsync.comparisons.first().map_or(f64::NAN, |one| one.alpha),
            comparisons: comparisons.collect(),
            verdict: asked.or(grade).unwrap_or_else(|| "not judged".to_owned()),
            ..experiment("round", "fsync")
        }],
        refusal: fsync.refusal.clone(),
        ..Bench::default()
    }
}

/// The run as one experiment: its comparisons, and each answer as a figure that is known exactly.
#[must_use]
pub fn of_probe(probe: &Probe) -> Bench {
    let target = &probe.target;
    let asked = probe.comparisons.iter().map(|one| {
        comparison(
            (format!("{}: {}", one.panel, one.arm), one.against.clone()),
            (one.ratio.unwrap_or(f64::NAN), one.low, one.high),
        )
    });
    Bench {
        version: probe.version.clone(),
        run: probe.run.clone(),
        seed: probe.seed,
        target: BenchTarget {
            path: target.path.clone(),
            layers: target.layers.clone(),
            drive: target.drive.clone(),
            model: target.model.clone(),
            firmware: target.firmware.clone(),
            logical_sector_bytes: probe.reported.logical_sector_bytes,
            ..BenchTarget::default()
        },
        experiments: vec![Experiment {
            title: "what the drive's latency tells".to_owned(),
            comparisons: answers(&probe.answers).into_iter().chain(asked).collect(),
            verdict: if probe.answers.found_any() { "found" } else { "cannot tell" }.to_owned(),
            alpha: probe.answers.alignment.alpha.unwrap_or(f64::NAN),
            ..experiment("block", "probe")
        }],
        refusal: probe.refusal.clone(),
        ..Bench::default()
    }
}

/// What was found of the layout. A run that found nothing cannot tell, so its figure is unknown.
fn answers(answers: &Answers) -> Vec<Comparison> {
    fn figure<T>(name: &str, answer: &Answer<T>, of: fn(&T) -> u64) -> Option<Comparison> {
        let value = answer.value.as_ref().map(of)?;
        let value = value as f64;
        Some(comparison((name.to_owned(), String::new()), (value, value, Some(value))))
    }
    let figures = [
        figure("alignment, in bytes", &answers.alignment, |found| found.bytes),
        figure("origin, in bytes", &answers.alignment, |found| found.origin_bytes),
        figure("size, in bytes", &answers.size, |found| found.bytes),
        figure("chunk, in bytes", &answers.chunk, |found| found.bytes),
        figure("members", &answers.members, |found| found.count),
    ];
    figures.into_iter().flatten().collect()
}

fn experiment(unit: &str, action: &str) -> Experiment {
    Experiment {
        unit: unit.to_owned(),
        block_operations: 1,
        workload: Workload { action: action.to_owned(), ..Workload::default() },
        ..Experiment::default()
    }
}

fn comparison(
    (arm, against): (String, String),
    (ratio, low, high): (f64, f64, Option<f64>),
) -> Comparison {
    Comparison { arm, against, ratio, low, high, clipped_mean: None }
}

fn arm(row: &FsyncRow) -> Arm {
    Arm {
        name: row.id.clone(),
        count: row.operations,
        median_ns: row.median_ns.unwrap_or(0),
        p99_ns: row.p99_ns,
        ..Arm::default()
    }
}
