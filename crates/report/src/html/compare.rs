//! A result of `straddle compare` on the page.

use maud::{Markup, html};

use super::phrase::{Tone, chip, head, more, notes, pairs, say, time, time_or_unknown, wide};
use crate::bench::figures::{Ratio, UNKNOWN, number};
use crate::bench::{
    CompareAnswer, ComparedArm, ComparedExperiment, ComparedRatio, ComparedRun, Comparing, Figures,
    Interval,
};
use crate::words::count;

const EXPERIMENTS_MAX: usize = 48;
const ROWS_MAX: usize = 40;

/// All of one result.
pub(super) fn section(comparing: &Comparing) -> Markup {
    let run = |run: &ComparedRun| format!("{}, {}", say(&run.path), say(&run.started));
    html! {
        (pairs(&[
            ("Before", Some(run(&comparing.before))),
            ("After", Some(run(&comparing.after))),
            ("straddle", Some(say(&comparing.version))),
        ]))
        @if !comparing.setting.is_empty() {
            (wide("What differs in the settings", &["Setting", "Before", "After"], &html! {
                @for setting in comparing.setting.iter().take(ROWS_MAX) {
                    tr {
                        (head(&setting.key))
                        td { (setting.before.as_deref().map_or(UNKNOWN.to_owned(), say)) }
                        td { (setting.after.as_deref().map_or(UNKNOWN.to_owned(), say)) }
                    }
                }
            }))
        }
        @for experiment in comparing.experiments.iter().take(EXPERIMENTS_MAX) { (one(experiment)) }
        (more(comparing.experiments.len().saturating_sub(EXPERIMENTS_MAX), "experiments"))
        (alone("Only before", &comparing.only_before))
        (alone("Only after", &comparing.only_after))
        (notes(&comparing.notes))
    }
}

fn alone(label: &str, titles: &[String]) -> Markup {
    html! {
        @if !titles.is_empty() {
            h3 { (label) }
            ul.notes { @for title in titles.iter().take(ROWS_MAX) { li { (say(title)) } } }
        }
    }
}

fn one(experiment: &ComparedExperiment) -> Markup {
    html! {
        h3 { (say(&experiment.title)) }
        p {
            (chip(tone(experiment.answer), experiment.answer.words())) " Before: "
            (say(&experiment.verdict_before)) "; after: " (say(&experiment.verdict_after)) "."
        }
        (wide("Ratios to the baseline, within each run",
            &["Arm", "Before", "Its interval", "After", "Its interval", "Answer"],
            &html! { @for one in experiment.ratios.iter().take(ROWS_MAX) { (ratio(one)) } }))
        (wide("Latencies of the two runs, which are not paired",
            &["Arm", "Median before", "Median after", "Times", "p99 before", "p99 after"],
            &html! { @for one in experiment.arms.iter().take(ROWS_MAX) { (arm(one)) } }))
    }
}

fn ratio(one: &ComparedRatio) -> Markup {
    let [before, after] = [one.before, one.after].map(|interval| interval.map(figure));
    html! {
        tr {
            (head(&one.arm))
            @for side in [before, after] {
                td { (side.map_or(UNKNOWN.to_owned(), Ratio::figure)) }
                td { (side.map_or(UNKNOWN.to_owned(), Ratio::interval)) }
            }
            td {
                (chip(tone(one.answer), one.answer.words()))
                @if let Some(reason) = &one.reason { " " (say(reason)) }
            }
        }
    }
}

fn figure(interval: Interval) -> Ratio {
    Ratio {
        ratio: interval.ratio.unwrap_or(f64::NAN),
        low: interval.low.unwrap_or(f64::NAN),
        high: interval.high,
    }
}

fn arm(one: &ComparedArm) -> Markup {
    let median = |figures: Option<Figures>| time_or_unknown(figures.and_then(|it| it.median_ns));
    let p99 = |figures: Option<Figures>| figures.and_then(|it| it.p99_ns).map(time);
    html! {
        tr {
            (head(&one.arm))
            td { (median(one.before)) }
            td { (median(one.after)) }
            td { (one.median_ratio.map_or(UNKNOWN.to_owned(), number)) }
            td { (p99(one.before).unwrap_or(UNKNOWN.to_owned())) }
            td { (p99(one.after).unwrap_or(UNKNOWN.to_owned())) }
        }
    }
}

fn tone(answer: CompareAnswer) -> Tone {
    match answer {
        CompareAnswer::Same => Tone::Good,
        CompareAnswer::CannotTell => Tone::Care,
        CompareAnswer::Differs => Tone::Bad,
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn summary(comparing: &Comparing) -> (Tone, String) {
    let summary = comparing.summary;
    let tone = match (summary.differs, summary.cannot_tell, summary.compared) {
        (1.., _, _) => Tone::Bad,
        (0, 1.., _) | (0, 0, 0) => Tone::Care,
        _ => Tone::Good,
    };
    (
        tone,
        format!("{} compared, {} differ", count(summary.compared, "experiment"), summary.differs),
    )
}
