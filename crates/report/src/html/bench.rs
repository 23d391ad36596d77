//! A result of `straddle bench` on the page.

use maud::{Markup, html};
use measure::CostVerdict;

use super::chart::{Caption, narrowing};
use super::elements::{Tone, chip, more, notes, pairs, refused, say, time, time_or_unknown, words};
use super::latency::{Latency, latencies};
use super::run_facts;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{Row, figure, head, row, table};
use crate::bench::figure_rounding::{
    UNKNOWN, interval_title, number, ratio_bounds, ratio_figure, ratio_text, turns,
};
use crate::bench::sentences;
use crate::bench::{Arm, Bench, Experiment, ScratchFacts, WorkloadOrder};
use crate::refusal::Refusal;

/// The most experiments that are drawn, and the most arms in a table.
const EXPERIMENTS_MAX: usize = 24;
const ARMS_MAX: usize = 32;

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, bench: &Bench) -> Markup {
    html! {
        (pairs(&run_facts::of_bench(bench).rows))
        @if let Some(scratch) = &bench.scratch { p { (written(scratch)) } }
        @if let Some(Refusal { message, hint, .. }) = &bench.envelope.refusal {
            (refused("nothing measured", message, hint.as_deref()))
        }
        @for (at, experiment) in bench.experiments.iter().take(EXPERIMENTS_MAX).enumerate() {
            (one(&format!("{id}-e{at}"), bench, experiment))
        }
        (more(bench.experiments.len().saturating_sub(EXPERIMENTS_MAX), "experiments"))
        (notes(&bench.envelope.notes))
    }
}

fn written(scratch: &ScratchFacts) -> String {
    let address = scratch.drive_address_bytes.map(|at| format!(" at byte {at} of the drive"));
    format!(
        "Scratch file: {} in {}{}, gone when it was over.",
        words().size(scratch.length_bytes),
        say(&scratch.place),
        address.unwrap_or_default()
    )
}

fn one(id: &str, bench: &Bench, experiment: &Experiment) -> Markup {
    let (_, reason) = sentences::verdict(experiment, words());
    let (tone, word) = verdict(experiment);
    let seen = experiment.arms.iter().filter(|arm| arm.count > 0);
    let shown: Vec<Latency<'_>> = seen.map(latency).collect();
    html! {
        h3 { (say(&experiment.title)) }
        p { (chip(tone, &word)) " " (say(&reason)) }
        @if let Some(predicted) = &experiment.predicted {
            p { (say(&sentences::predicted(predicted, bench.target.granule_bytes, words()))) }
        }
        (arms(experiment))
        (narrowed(id, experiment))
        (latencies(&format!("{id}-l"), &shown))
        (method(experiment))
    }
}

fn latency(arm: &Arm) -> Latency<'_> {
    Latency {
        name: &arm.name,
        count: arm.count,
        median_ns: arm.median_ns,
        p99_ns: arm.p99_ns,
        histogram: &arm.histogram,
    }
}

fn arms(experiment: &Experiment) -> Markup {
    let interval = interval_title(experiment.alpha);
    let heads = ["Arm", "Median", "p99", "Disk turns", "Operations/s", "Ratio", &interval, "Shift"];
    html! {
        (table("Arms, the baseline first", &heads,
            experiment.arms.iter().take(ARMS_MAX).map(|arm| of_arm(experiment, arm))))
        (more(experiment.arms.len().saturating_sub(ARMS_MAX), "arms"))
    }
}

fn of_arm(experiment: &Experiment, arm: &Arm) -> Row {
    let comparison = experiment.comparisons.iter().find(|one| one.arm == arm.name);
    let ratio = comparison.map(|one| one.interval);
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let median = (arm.count > 0).then(|| time(arm.median_ns));
    row([
        head(&arm.name),
        figure(or_unknown(median)),
        figure(time_or_unknown(arm.p99_ns)),
        figure(or_unknown(arm.turns.map(turns))),
        figure(or_unknown(arm.operations_per_second.map(number))),
        figure(or_unknown(ratio.map(ratio_figure))),
        figure(or_unknown(ratio.map(ratio_bounds))),
        figure(words().exact(arm.shift_bytes)),
    ])
}

fn narrowed(id: &str, experiment: &Experiment) -> Markup {
    let Some(comparison) = experiment.comparisons.first() else { return Markup::default() };
    let ratio = comparison.interval;
    let caption = Caption {
        id: format!("{id}-n"),
        title: format!("Ratio of {} to {}", say(&comparison.arm), say(&comparison.against)),
        description: format!(
            "How the ratio (line) and its {} (band) narrowed, pair by pair, to {} after {} \
             pairs. The thin line is 1, no difference.",
            interval_title(experiment.alpha),
            ratio_text(ratio),
            experiment.pairs
        ),
    };
    narrowing(&caption, &experiment.narrowing)
}

/// Returns how it was measured.
fn method(experiment: &Experiment) -> Markup {
    let workload = &experiment.workload;
    let unit = match experiment.block_operations {
        0 | 1 => format!("one {}", say(&experiment.unit)),
        many => format!("one {} of {many} operations", say(&experiment.unit)),
    };
    let bytes = workload.operation_bytes.map(|bytes| words().exact(bytes));
    let command = workload.command.join(" ");
    let rows = [
        ("Pairs", Some(experiment.pairs.to_string())),
        ("Pairs not counted (warm-up)", Some(experiment.discarded_pairs.to_string())),
        ("An observation is", Some(unit)),
        ("Done", Some(workload.action.word().to_owned())),
        ("Bytes an operation", bytes),
        ("Made durable by", Some(workload.sync.word().to_owned())),
        ("In flight", Some(workload.depth.to_string())),
        (
            "Order",
            workload.order.map(|order| match order {
                WorkloadOrder::Cursor => "sequential".to_owned(),
                order => order.word().to_owned(),
            }),
        ),
        (
            "Page cache",
            Some(if workload.direct { "bypassed (O_DIRECT)" } else { "used" }.to_owned()),
        ),
        ("Command", Some(say(&command)).filter(|text| !text.is_empty())),
        ("Written", Some(words().size(experiment.written_bytes))),
        ("Took", Some(time(experiment.elapsed_ns))),
    ];
    html! {
        details open {
            summary { "Method" }
            p {
                "Each pair is one observation of every arm, in random order. The ratio is the \
                 median of the pairs' ratios; its interval stays valid at any stopping \
                 time. Controls repeat the baseline: if one differs, the run is void."
            }
            (pairs(&rows))
            @if experiment.regimes.len() > 1 {
                p { "The drive changed during the run: "
                    (say(&sentences::regime_list(experiment, words()))) "." }
            }
        }
    }
}

/// A verdict as its word and how good that is.
pub(super) fn verdict(experiment: &Experiment) -> (Tone, String) {
    let (_, word) = sentences::verdict_word(experiment.verdict);
    let tone = match experiment.verdict {
        CostVerdict::Penalty => Tone::Bad,
        CostVerdict::NoPenalty => Tone::Good,
        CostVerdict::Small | CostVerdict::Inconclusive | CostVerdict::Void => Tone::Care,
    };
    (tone, word)
}

/// The result in a few words, for the table of all files.
pub(super) fn summary(bench: &Bench) -> (Tone, String) {
    if bench.envelope.refusal.is_some() || bench.experiments.is_empty() {
        return (Tone::Care, "nothing measured".to_owned());
    }
    let worst = worst(bench);
    let (tone, word) = worst.map_or((Tone::Care, String::new()), verdict);
    let ratio = worst.and_then(|one| one.comparisons.first()).map(|one| one.interval);
    let ratio = ratio.map(|it| format!(", ratio {}", ratio_figure(it))).unwrap_or_default();
    (tone, format!("{word}{ratio}"))
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(bench: &Bench) -> ShortAnswer {
    if let Some(refusal) = &bench.envelope.refusal {
        return ShortAnswer::refused("nothing was measured", refusal);
    }
    let Some(worst) = worst(bench) else {
        return ShortAnswer::new(Rank::Unknown, "Nothing was measured.");
    };
    let (_, reason) = sentences::verdict(worst, words());
    let what = format!("{}: {}", say(&worst.title), sentence(&say(&reason)));
    match worst.verdict {
        CostVerdict::Penalty => {
            let path = &bench.target.path;
            let what = format!(
                "{what} That is what misalignment would cost there, not that anything is \
                 misaligned."
            );
            let next = format!("straddle check {path} says whether anything is");
            ShortAnswer::new(Rank::Care, what).next(Some(&next))
        }
        CostVerdict::NoPenalty => ShortAnswer::new(Rank::Good, what),
        CostVerdict::Small | CostVerdict::Inconclusive | CostVerdict::Void => {
            ShortAnswer::new(Rank::Unknown, what)
        }
    }
}

/// The experiment that matters most.
fn worst(bench: &Bench) -> Option<&Experiment> {
    bench.experiments.iter().max_by_key(|one| verdict(one).0)
}
