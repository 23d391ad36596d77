//! The figures of one result that can be compared.

use std::fmt::Write as _;

use durability::Grade;
use measure::durable::{Difference, RowGroup};
use measure::engine_verdict::Fitness;
use measure::{CostVerdict, Interval, Tail};

use super::{Measure, Measurement, RunValue};
use crate::bench::{Arm, Bench, Comparison, Experiment};
use crate::fsync::{Fsync, FsyncRow, title};
use crate::probe::{Answers, FoundDepth, Probe, ProbeAnswer};

/// A figure of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// Group.
    pub(super) group: String,
    /// Its name in the group.
    pub(super) name: String,
    pub(super) measure: Measure,
    /// All that has to be equal for two figures to be of the same work.
    pub(super) work: String,
    /// One observation, where figures of another one mean something else.
    pub(super) observed: String,
    pub(super) value: RunValue,
    pub(super) alpha: Option<f64>,
    pub(super) is_judged: bool,
    /// True of an answer that leaves its question open: another one beside it is no difference.
    pub(super) is_open: bool,
    /// Why its value means nothing, as the rest of a sentence about the run.
    pub(super) fault: Option<String>,
}

/// The figures of a result, in its order.
pub(super) fn figures(result: Measurement<'_>) -> Vec<Figure> {
    match result {
        Measurement::Bench(bench) => of_bench(bench),
        Measurement::Fsync(fsync) => of_fsync(fsync),
        Measurement::Probe(probe) => of_probe(probe),
    }
}

/// An answer in words, judged.
fn said(group: &str, name: &str, said: Option<String>, because: Option<String>) -> Figure {
    Figure {
        group: group.to_owned(),
        name: name.to_owned(),
        measure: Measure::Answer,
        work: String::new(),
        observed: String::new(),
        value: RunValue::Said { said, because },
        alpha: None,
        is_judged: true,
        is_open: false,
        fault: None,
    }
}

fn of_bench(bench: &Bench) -> Vec<Figure> {
    bench.experiments.iter().flat_map(of_experiment).collect()
}

fn of_experiment(experiment: &Experiment) -> Vec<Figure> {
    let blank = Figure {
        group: group(experiment),
        work: format!("{:?}", experiment.workload),
        observed: match experiment.block_operations {
            0 | 1 => format!("one {}", experiment.unit),
            many => format!("one {} of {many} operations", experiment.unit),
        },
        fault: (experiment.verdict == CostVerdict::Void).then(|| "is void".to_owned()),
        ..said("", "", None, None)
    };
    let is_control = |name: &str| {
        experiment.arms.iter().any(|arm| arm.name == name && crate::bench::is_control(arm))
    };
    let told = experiment.comparisons.iter().filter(|one| !is_control(&one.arm));
    let of_comparison = |one: &Comparison| Figure {
        name: one.arm.clone(),
        measure: Measure::Ratio,
        work: format!("{} against {}", blank.work, one.against),
        value: ratio(one.interval),
        alpha: finite(experiment.alpha),
        ..blank.clone()
    };
    // The latencies of an arm have no interval in the result.
    let time = |arm: &Arm, measure, value_ns| Figure {
        name: arm.name.clone(),
        measure,
        value: RunValue::Latency { value_ns, low_ns: None, high_ns: None },
        is_judged: false,
        ..blank.clone()
    };
    let times = |arm: &Arm| {
        let seen = arm.count > 0;
        [
            (Measure::Median, seen.then_some(arm.median_ns)),
            (Measure::P99, arm.p99_ns.filter(|_| seen)),
        ]
        .map(|(measure, value)| time(arm, measure, value))
    };
    // An arm's ratio stands with its latencies.
    let mut ratios: Vec<Figure> = told.map(of_comparison).collect();
    let mut figures = Vec::new();
    for arm in &experiment.arms {
        figures.extend(ratios.extract_if(.., |ratio| ratio.name == arm.name));
        figures.extend(times(arm));
    }
    figures.append(&mut ratios);
    figures
}

/// Title of the experiment without the arm that it ends with where a run has several: in runs with
/// one and with several, the same work has the same name.
fn group(experiment: &Experiment) -> String {
    let title = &experiment.title;
    let ends =
        experiment.arms.iter().find_map(|arm| title.strip_suffix(&format!(", {}", arm.name)));
    ends.unwrap_or(title).to_owned()
}

/// A ratio of a document; a lower end of 0 says nothing.
fn ratio(of: Interval) -> RunValue {
    let low = if of.low > 0.0 { of.low } else { f64::NAN };
    RunValue::Ratio { interval: Interval { low, ..of } }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn of_fsync(fsync: &Fsync) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(verdict) = &fsync.verdict {
        let engine = &verdict.engine;
        let answer = Some(verdict.verdict.word().to_owned());
        figures.push(Figure {
            is_open: verdict.verdict == Fitness::NotEnough,
            ..said("engine", engine, answer, None)
        });
        if let Some(quantile) = &verdict.quantile {
            figures.push(Figure {
                measure: measure(quantile.quantile_percent),
                work: verdict.operation.clone(),
                value: time(quantile),
                alpha: finite(quantile.alpha),
                ..said("engine", engine, None, None)
            });
        }
    }
    if let Some(honesty) = &fsync.honesty {
        let because = Some(honesty.sentence.clone());
        let grade = Some(honesty.words());
        figures.push(Figure {
            is_open: matches!(honesty.grade, Grade::Unproven | Grade::Opaque),
            ..said("syncs", "durability", grade, because)
        });
    }
    // The verdict's quantile of the engine's row is there already.
    let is_of_engine = |row: &FsyncRow| {
        let engine = fsync.verdict.as_ref().filter(|verdict| verdict.quantile.is_some());
        engine.is_some_and(|engine| row.id.strip_prefix("engine.") == Some(&engine.engine))
    };
    let of_rows = fsync
        .rows
        .iter()
        .flat_map(|row| of_row(row).into_iter().filter(|one| one.is_judged || !is_of_engine(row)));
    figures.extend(of_rows);
    figures.extend(fsync.comparisons.iter().map(|one| Figure {
        measure: Measure::Ratio,
        work: format!("{} against {}", one.row, one.against),
        value: ratio(one.interval),
        alpha: finite(one.alpha),
        fault: (one.conclusion == Difference::Void).then(|| "is void".to_owned()),
        ..said("rows against each other", &one.question, None, None)
    }));
    figures
}

/// The measure of a quantile.
fn measure(percent: f64) -> Measure {
    match percent {
        50.0 => Measure::Median,
        99.0 => Measure::P99,
        99.9 => Measure::P999,
        _ => Measure::Quantile,
    }
}

fn time(quantile: &Tail) -> RunValue {
    RunValue::Latency {
        value_ns: Some(quantile.value_ns),
        low_ns: quantile.low_ns,
        high_ns: quantile.high_ns,
    }
}

fn of_row(row: &FsyncRow) -> Vec<Figure> {
    let name = match row.group {
        RowGroup::Wal => row.label.clone(),
        group => format!("{}, {}", title(group), row.label.trim()),
    };
    let FsyncRow { id, path, method, place, write_bytes, writes_per_operation, .. } = row;
    let work = format!("{id} {path:?} {method:?} {place} {write_bytes} {writes_per_operation}");
    let fault = match (&row.unavailable, row.errors.first()) {
        (Some(reason), _) | (None, Some(reason)) => Some(format!("did not measure it: {reason}")),
        (None, None) => None,
    };
    [(Measure::Median, 50.0, row.median_ns), (Measure::P99, 99.0, row.p99_ns)]
        .map(|(measure, percent, value_ns)| {
            let tail = row.tails.iter().find(|tail| tail.quantile_percent == percent);
            let bare = RunValue::Latency { value_ns, low_ns: None, high_ns: None };
            Figure {
                measure,
                work: work.clone(),
                value: tail.map_or(bare, time),
                alpha: tail.and_then(|tail| finite(tail.alpha)),
                is_judged: measure == Measure::Median,
                fault: fault.clone(),
                ..said("latency", &name, None, None)
            }
        })
        .into()
}

fn of_probe(probe: &Probe) -> Vec<Figure> {
    if probe.dry_run {
        return Vec::new();
    }
    let Answers { alignment, size, chunk, members, depth, turn, turns } = &probe.answers;
    let bytes = |bytes: u64| format!("{} ({bytes} B)", units::prefix::Exact(bytes));
    let reads = |depth: &FoundDepth| {
        format!("{}{}", depth.reads, if depth.is_of_member { " on each member" } else { "" })
    };
    let mut figures = vec![
        answer("granule", alignment, |it| {
            format!("{}, first at {}", bytes(it.bytes), bytes(it.origin_bytes))
        }),
        answer("write size", size, |it| bytes(it.bytes)),
        answer("chunk", chunk, |it| bytes(it.bytes)),
        answer("members", members, |it| it.count.to_string()),
        answer("queue depth", depth, reads),
        answer("misaligned write", turns, |it| format!("{} turns, {}", it.turns, it.policy.word())),
    ];
    if let Some(found) = &turn.value {
        figures.push(Figure {
            measure: Measure::Median,
            value: RunValue::Latency {
                value_ns: Some(found.turn_ns),
                low_ns: Some(found.low_ns),
                high_ns: Some(found.high_ns),
            },
            alpha: turn.alpha,
            ..said("answers", "turn of the platter", None, None)
        });
    }
    figures
}

/// Returns what was answered, by what, and how sure that is.
fn answer<T>(name: &str, answer: &ProbeAnswer<T>, words: impl Fn(&T) -> String) -> Figure {
    let mut because = match &answer.value {
        Some(_) => answer.said_by.clone(),
        None => answer.reason.clone().or_else(|| answer.why.map(|why| why.word().to_owned())),
    };
    if let (Some(because), Some(alpha)) = (&mut because, answer.alpha) {
        let _ = write!(because, "; wrong with a probability of at most {alpha:.1e}");
    }
    Figure {
        alpha: answer.alpha,
        ..said("answers", name, answer.value.as_ref().map(words), because)
    }
}
