//! A result of `straddle compare` on the page.

use maud::{Markup, html};

use super::gist::{Gist, Rank};
use super::phrase::{Tone, chip, more, notes, pairs, say, time, time_or_unknown};
use super::table::{Row, cell, figure, head, row, table};
use crate::bench::figures::{Ratio, UNKNOWN, number};
use crate::bench::{
    CompareAnswer, ComparedArm, ComparedExperiment, ComparedRatio, ComparedRun, Comparing, Figures,
    Interval,
};
use crate::words::count;

const EXPERIMENTS_MAX: usize = 48;
const ROWS_MAX: usize = 40;
const RATIO_HEADS: [&str; 6] =
    ["Arm", "Before", "Interval before", "After", "Interval after", "Answer"];
const ARM_HEADS: [&str; 6] =
    ["Arm", "Median before", "Median after", "Times", "p99 before", "p99 after"];

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
            (table("What differs in the settings", &["Setting", "Before", "After"],
                comparing.setting.iter().take(ROWS_MAX).map(|setting| row([
                    head(&setting.key),
                    cell(setting.before.as_deref().map_or(UNKNOWN.to_owned(), say)),
                    cell(setting.after.as_deref().map_or(UNKNOWN.to_owned(), say)),
                ]))))
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
        (table("Ratios to the baseline, within each run", &RATIO_HEADS,
            experiment.ratios.iter().take(ROWS_MAX).map(ratio)))
        (table("Latencies of the two runs, which are not paired", &ARM_HEADS,
            experiment.arms.iter().take(ROWS_MAX).map(arm)))
    }
}

fn ratio(one: &ComparedRatio) -> Row {
    let [before, after] = [one.before, one.after].map(|interval| interval.map(side));
    let times = |side: Option<Ratio>| figure(side.map_or(UNKNOWN.to_owned(), Ratio::figure));
    let interval = |side: Option<Ratio>| figure(side.map_or(UNKNOWN.to_owned(), Ratio::interval));
    let answer = html! {
        (chip(tone(one.answer), one.answer.words()))
        @if let Some(reason) = &one.reason { " " (say(reason)) }
    };
    row([
        head(&one.arm),
        times(before),
        interval(before),
        times(after),
        interval(after),
        cell(answer),
    ])
}

fn side(interval: Interval) -> Ratio {
    Ratio {
        ratio: interval.ratio.unwrap_or(f64::NAN),
        low: interval.low.unwrap_or(f64::NAN),
        high: interval.high,
    }
}

fn arm(one: &ComparedArm) -> Row {
    let median = |figures: Option<Figures>| time_or_unknown(figures.and_then(|it| it.median_ns));
    let p99 = |figures: Option<Figures>| figures.and_then(|it| it.p99_ns).map(time);
    row([
        head(&one.arm),
        figure(median(one.before)),
        figure(median(one.after)),
        figure(one.median_ratio.map_or(UNKNOWN.to_owned(), number)),
        figure(p99(one.before).unwrap_or(UNKNOWN.to_owned())),
        figure(p99(one.after).unwrap_or(UNKNOWN.to_owned())),
    ])
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

/// The result in a sentence, with what to do next.
pub(super) fn gist(comparing: &Comparing) -> Gist {
    let of = |answer: CompareAnswer| {
        comparing.experiments.iter().filter(move |one| one.answer == answer)
    };
    let (differs, unknown) =
        (of(CompareAnswer::Differs).count(), of(CompareAnswer::CannotTell).count());
    let title = |one: &ComparedExperiment| {
        format!(
            "{}: before {}, after {}.",
            say(&one.title),
            say(&one.verdict_before),
            say(&one.verdict_after)
        )
    };
    match (of(CompareAnswer::Differs).next(), of(CompareAnswer::CannotTell).next()) {
        (Some(one), _) => Gist::new(Rank::Care, format!("{differs} differ. {}", title(one))),
        (None, Some(one)) => {
            Gist::new(Rank::Unknown, format!("{unknown} cannot be told apart. {}", title(one)))
        }
        (None, None) if comparing.experiments.is_empty() => {
            Gist::new(Rank::Unknown, "The two have no experiment in common.")
        }
        (None, None) => Gist::new(Rank::Good, "The two runs do not differ."),
    }
}
