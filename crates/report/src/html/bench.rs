//! A result of `straddle bench` on the page.

use maud::{Markup, html};
use measure::{CostVerdict, Interval};

use super::chart::{Caption, Curve, Dot, factors, pair_by_pair};
use super::elements::{
    Tone, chip, folded, more, notes, pairs, refused, say, time, time_or_unknown, words,
};
use super::headline::Headline;
use super::latency::{CurveGroup, latencies};
use super::run_facts;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{Row, figure, head, row, table};
use crate::bench::evenness::{control_interval, is_uneven, reach};
use crate::bench::figure_rounding::{
    UNKNOWN, interval_title, number, ratio_bounds, ratio_figure, turns,
};
use crate::bench::sentences;
use crate::bench::{Arm, Bench, Comparison, Experiment, ScratchFacts, WorkloadOrder};
use crate::refusal::Refusal;

/// The most experiments that are drawn, and the most arms in a table.
const EXPERIMENTS_MAX: usize = 24;
const ARMS_MAX: usize = 32;

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, bench: &Bench) -> Markup {
    let all = &bench.experiments[..bench.experiments.len().min(EXPERIMENTS_MAX)];
    html! {
        @if let Some(Refusal { message, hint, .. }) = &bench.envelope.refusal {
            (refused("nothing measured", message, hint.as_deref()))
        }
        div.columns {
            @match all {
                [only] => {
                    div { (one(bench, only)) (forest(id, all)) }
                    div { (curves(&format!("{id}-l"), only)) }
                },
                _ => {
                    div { (forest(id, all)) }
                    @for (at, experiment) in all.iter().enumerate() {
                        div {
                            (one(bench, experiment))
                            (curves(&format!("{id}-l{at}"), experiment))
                        }
                    }
                },
            }
        }
        (more(bench.experiments.len() - all.len(), "experiments"))
        (notes(&others_notes(bench)))
        @if !all.is_empty() { (folded("Method", &method(all))) }
        (folded("Machine and command", &html! {
            (pairs(&run_facts::of_bench(bench).rows))
            @if let Some(scratch) = &bench.scratch { p { (written(scratch)) } }
        }))
    }
}

fn written(scratch: &ScratchFacts) -> String {
    let address = scratch.drive_address_bytes.map(|at| format!(" at byte {at} of the drive"));
    format!(
        "Scratch file: {} in {}{}, removed afterwards.",
        words().size(scratch.length_bytes),
        say(&scratch.place),
        address.unwrap_or_default()
    )
}

/// The ratios of all experiments with their intervals, on one axis.
fn forest(id: &str, experiments: &[Experiment]) -> Markup {
    let several = experiments.len() > 1;
    let dot = |experiment: &Experiment, comparison: &Comparison| {
        let Interval { ratio, low, high } = comparison.interval;
        let name = if several { &experiment.title } else { &comparison.arm };
        let odd = experiment.verdict == CostVerdict::Penalty && ratio > 1.0;
        Dot { name: name.clone(), at: ratio, line: [low, high], odd }
    };
    // Of many experiments each has its first: controls are in their tables.
    let shown = if several { 1 } else { usize::MAX };
    let rows = experiments
        .iter()
        .flat_map(|it| it.comparisons.iter().take(shown).map(move |one| dot(it, one)));
    let caption = Caption {
        id: format!("{id}-f"),
        title: "Ratio to aligned".to_owned(),
        description: "A dot for each ratio, a line for its interval: left of 1 is faster, right \
                      of it slower. Red: a penalty."
            .to_owned(),
    };
    factors(&caption, &rows.collect::<Vec<Dot>>())
}

fn one(bench: &Bench, experiment: &Experiment) -> Markup {
    let (_, reason) = sentences::verdict(experiment, words());
    let (tone, word) = verdict(experiment);
    html! {
        h3 { (say(&experiment.title)) }
        // Of one alone the page says so above.
        @if bench.experiments.len() > 1 { p { (chip(tone, &word)) " " (say(&reason)) } }
        @if let Some(predicted) = &experiment.predicted {
            p { (say(&sentences::predicted(predicted, bench.target.granule_bytes, words()))) }
        }
        (arms(experiment))
    }
}

fn curves(id: &str, experiment: &Experiment) -> Markup {
    let seen = experiment.arms.iter().filter(|arm| arm.count > 0);
    let curves = seen.map(|arm| Curve { name: &arm.name, histogram: &arm.histogram }).collect();
    let caption = Caption {
        id: format!("{id}-p"),
        title: "Ratio pair by pair".to_owned(),
        description: "Pairs in order, the median of a few at each point. A control stays near 1; \
                      a slope is drift."
            .to_owned(),
    };
    let pairs = pair_by_pair(&caption, &experiment.comparisons, experiment.pairs);
    latencies(id, &[CurveGroup { title: "each arm".to_owned(), curves }], &[], &pairs)
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

/// Returns how it was measured: what all experiments share once, then each.
fn method(experiments: &[Experiment]) -> Markup {
    html! {
        p {
            "Each pair is one observation of every arm, in random order. The ratio is the \
             median of the pairs' ratios; its interval stays valid at any stopping \
             time. Controls repeat the baseline: if one differs, the run is void."
        }
        @for experiment in experiments {
            @if experiments.len() > 1 { h4 { (say(&experiment.title)) } }
            (pairs(&work(experiment)))
            @if experiment.regimes.len() > 1 {
                p { "The drive changed during the run: "
                    (say(&sentences::regime_list(experiment, words()))) "." }
            }
        }
    }
}

fn work(experiment: &Experiment) -> [(&'static str, Option<String>); 12] {
    let workload = &experiment.workload;
    let unit = match experiment.block_operations {
        0 | 1 => format!("one {}", say(&experiment.unit)),
        many => format!("one {} of {many} operations", say(&experiment.unit)),
    };
    let bytes = workload.operation_bytes.map(|bytes| words().exact(bytes));
    let command = workload.command.join(" ");
    let order = workload.order.map(|order| match order {
        WorkloadOrder::Cursor => "sequential".to_owned(),
        order => order.word().to_owned(),
    });
    let cache = if workload.direct { "bypassed (O_DIRECT)" } else { "used" };
    [
        ("Pairs", Some(experiment.pairs.to_string())),
        ("Pairs not counted (warm-up)", Some(experiment.discarded_pairs.to_string())),
        ("Observation", Some(unit)),
        ("Operation", Some(workload.action.word().to_owned())),
        ("Bytes per operation", bytes),
        ("Sync", Some(workload.sync.word().to_owned())),
        ("Queue depth", Some(workload.depth.to_string())),
        ("Order", order),
        ("Page cache", Some(cache.to_owned())),
        ("Command", Some(say(&command)).filter(|text| !text.is_empty())),
        ("Written", Some(words().size(experiment.written_bytes))),
        ("Took", Some(time(experiment.elapsed_ns))),
    ]
}

/// A verdict as its word and how good that is.
pub(super) fn verdict(experiment: &Experiment) -> (Tone, String) {
    let (_, word) = sentences::verdict_word(experiment);
    let tone = match experiment.verdict {
        CostVerdict::Penalty => Tone::Bad,
        CostVerdict::NoPenalty if is_uneven(experiment) => Tone::Unknown,
        CostVerdict::NoPenalty => Tone::Good,
        CostVerdict::Small | CostVerdict::Inconclusive | CostVerdict::Void => Tone::Unknown,
    };
    let margin = (experiment.verdict == CostVerdict::NoPenalty).then(|| margin(experiment));
    (tone, word + &margin.flatten().unwrap_or_default())
}

/// ` within 1.5 %`: how far from 1 the ratio may be, never rounded down; `None` while it is not
/// known.
fn margin(experiment: &Experiment) -> Option<String> {
    let tenths = (reach(experiment.comparisons.first()?.interval) * 1000.0).ceil();
    tenths.is_finite().then(|| format!(" within {:.1} %", tenths.max(1.0) / 10.0))
}

/// The result in a few words: of several experiments the worst.
pub(super) fn headline(bench: &Bench) -> Headline {
    if bench.envelope.refusal.is_some() || bench.experiments.is_empty() {
        return Headline::new(Tone::Unknown, "nothing measured", "");
    }
    let worst = worst(bench);
    let (tone, word) = worst.map_or((Tone::Unknown, String::new()), verdict);
    let interval = worst.and_then(|one| one.comparisons.first()).map(|one| one.interval);
    let ratio = interval.map(|it| format!("ratio {} ({})", ratio_figure(it), ratio_bounds(it)));
    let of = match bench.experiments.len() {
        1 => String::new(),
        many => format!(", the worst of {many}"),
    };
    let control = worst.and_then(control).unwrap_or_default();
    Headline::new(tone, word, ratio.unwrap_or_default() + &control + &of)
}

/// `; control 1.00 (0.99 to 1.05)`: how far equal arms differ, beside the margin of no penalty.
fn control(experiment: &Experiment) -> Option<String> {
    if experiment.verdict != CostVerdict::NoPenalty {
        return None;
    }
    let interval = control_interval(experiment)?;
    Some(format!("; control {} ({})", ratio_figure(interval), ratio_bounds(interval)))
}

/// The note without the title before it, if it is on `experiment`.
fn note_on<'a>(experiment: &Experiment, note: &'a str) -> Option<&'a str> {
    note.strip_prefix(experiment.title.as_str())?.strip_prefix(": ")
}

/// Notes but for those on the worst experiment, which stand with its verdict.
fn others_notes(bench: &Bench) -> Vec<String> {
    let worst = worst(bench).filter(|_| bench.envelope.refusal.is_none());
    let is_said = |note: &str| worst.is_some_and(|worst| note_on(worst, note).is_some());
    bench.envelope.notes.iter().filter(|note| !is_said(note)).cloned().collect()
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
    let mut what = format!("{}: {}", say(&worst.title), sentence(&say(&reason)));
    for note in bench.envelope.notes.iter().filter_map(|note| note_on(worst, note)) {
        let mut note = sentence(&say(note));
        if let Some(first) = note.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        what += &format!(" {note}");
    }
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
