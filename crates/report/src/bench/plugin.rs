//! Cost of misalignment as a monitor sees it: a penalty is a warning, a missing verdict unknown.

use measure::{CostVerdict, VerdictLimits};
use stack::Severity;

use super::sentences::verdict;
use super::{Bench, Experiment};
use crate::monitor_answer::MonitorAnswer;
use crate::nagios::{Metric, PluginAnswer};
use crate::quantity_words::ViewWords;
use crate::view_options::Look;

/// Returns what a plugin says of `document`.
#[must_use]
pub fn bench_plugin(document: &Bench) -> PluginAnswer {
    let any = |verdict| document.experiments.iter().any(|one| one.verdict == verdict);
    let found = any(CostVerdict::Penalty).then_some(Severity::Warning);
    let unknown =
        document.experiments.is_empty() || any(CostVerdict::Void) || any(CostVerdict::Inconclusive);
    let refusal = document.envelope.refusal.as_ref();
    PluginAnswer {
        answer: MonitorAnswer::of_measurement(found, refusal, unknown),
        headline: said(document),
        metrics: metrics(document),
    }
}

/// Verdict of the worst comparison: a penalty, else one without a verdict, else the first.
fn said(document: &Bench) -> String {
    let look = Look::default();
    let words = ViewWords { look: &look };
    let rank = |one: &&Experiment| match one.verdict {
        CostVerdict::Penalty => 0,
        CostVerdict::Void | CostVerdict::Inconclusive => 1,
        CostVerdict::Small => 2,
        CostVerdict::NoPenalty => 3,
    };
    let path = words.text(&document.target.path);
    match (document.experiments.iter().min_by_key(rank), &document.envelope.refusal) {
        (Some(worst), _) => {
            let ((_, word), reason) = verdict(worst, words);
            format!("{path}, {}: {word} {reason}", words.text(&worst.title))
        }
        (None, Some(refusal)) => words.text(&refusal.message),
        (None, None) => format!("nothing was measured in {path}"),
    }
}

fn metrics(document: &Bench) -> Vec<Metric> {
    let is_one = document.experiments.len() == 1;
    let of = |(number, experiment): (usize, &Experiment)| {
        let prefix = if is_one { String::new() } else { format!("{}_", number + 1) };
        numbers(experiment, &prefix)
    };
    let mut metrics: Vec<Metric> = document.experiments.iter().enumerate().flat_map(of).collect();
    let written = document.experiments.iter().map(|one| one.written_bytes);
    metrics.extend([
        Metric::bytes("written", written.fold(0, u64::saturating_add)),
        Metric::seconds("time", document.elapsed_ns),
    ]);
    metrics
}

/// The median of each arm, and each ratio with the limit of a penalty.
fn numbers(experiment: &Experiment, prefix: &str) -> Vec<Metric> {
    let seen = experiment.arms.iter().filter(|arm| arm.count > 0);
    let medians =
        seen.map(|arm| Metric::latency(format!("{prefix}{}_median", arm.name), arm.median_ns));
    let known = experiment.comparisons.iter().filter(|one| one.interval.ratio.is_finite());
    let ratios = known.map(|one| Metric {
        value: format!("{:.4}", one.interval.ratio),
        warn: Some(format!("{}", VerdictLimits::default().penalty_above)),
        ..Metric::count(format!("{prefix}{}_ratio", one.arm), 0)
    });
    medians.chain(ratios).collect()
}
