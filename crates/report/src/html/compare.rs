//! A result of `straddle compare` on the page.

use maud::{Markup, html};

use super::elements::{Tone, chip, more, notes, pairs, say, time};
use super::headline::Headline;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{Row, cell, figure, head, row, table};
use crate::bench::figure_rounding::{UNKNOWN, number};
use crate::compare::{CompareAnswer, ComparedRow, ComparedRun, Comparing, RunValue, multiple};
use crate::quantity_words::count;

const ROWS_MAX: usize = 200;
const HEADS: [&str; 7] = ["Row", "Of", "Measure", "Before", "After", "After / before", "Answer"];

/// All of one result.
pub(super) fn section(comparing: &Comparing) -> Markup {
    html! {
        (pairs(&[
            ("Before", Some(run(&comparing.before))),
            ("After", Some(run(&comparing.after))),
            ("straddle", Some(say(&comparing.envelope.version))),
        ]))
        (notes(&comparing.warnings))
        @if !comparing.setting.is_empty() {
            (table("What differs in the settings", &["Setting", "Before", "After"],
                comparing.setting.iter().take(ROWS_MAX).map(|setting| row([
                    head(&setting.key),
                    cell(setting.before.as_deref().map_or(UNKNOWN.to_owned(), say)),
                    cell(setting.after.as_deref().map_or(UNKNOWN.to_owned(), say)),
                ]))))
        }
        @if !comparing.rows.is_empty() {
            (table("Figures of both results", &HEADS,
                comparing.rows.iter().take(ROWS_MAX).map(line)))
        }
        (more(comparing.rows.len().saturating_sub(ROWS_MAX), "rows"))
        (alone("Only before", &comparing.only_before))
        (alone("Only after", &comparing.only_after))
        (notes(&comparing.envelope.notes))
    }
}

fn run(run: &ComparedRun) -> String {
    let parts =
        [run.host.as_deref(), Some(&run.started), run.drive.as_deref(), run.model.as_deref()];
    let parts = parts.into_iter().flatten().chain([run.path.as_str()]);
    parts.filter(|part| !part.is_empty()).map(say).collect::<Vec<_>>().join(", ")
}

fn alone(label: &str, names: &[String]) -> Markup {
    html! {
        @if !names.is_empty() {
            h3 { (label) }
            ul.notes { @for name in names.iter().take(ROWS_MAX) { li { (say(name)) } } }
        }
    }
}

fn line(one: &ComparedRow) -> Row {
    let value = |measured: &RunValue| match measured {
        RunValue::Latency { value_ns, .. } => value_ns.map(time),
        RunValue::Ratio { interval } => Some(number(interval.ratio)),
        RunValue::Said { said, .. } => said.as_deref().map(say),
    };
    let [before, after] =
        [&one.before, &one.after].map(|side| value(side).unwrap_or(UNKNOWN.to_owned()));
    let answer = html! {
        (chip(tone(one.answer), one.result()))
        @if let Some(reason) = &one.reason { " " (say(reason)) }
    };
    row([
        head(&one.name),
        cell(say(&one.group)),
        cell(one.measure.word()),
        figure(before),
        figure(after),
        figure(say(&multiple(one))),
        cell(answer),
    ])
}

fn tone(answer: CompareAnswer) -> Tone {
    match answer {
        CompareAnswer::Same => Tone::Good,
        CompareAnswer::CannotTell => Tone::Unknown,
        CompareAnswer::Differs => Tone::Bad,
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(comparing: &Comparing) -> Headline {
    let summary = comparing.summary;
    let word = match comparing.answer {
        CompareAnswer::Same => "no difference detected",
        CompareAnswer::CannotTell => "cannot tell",
        CompareAnswer::Differs => "differs",
    };
    let compared = count(summary.compared, "value");
    let figures = format!("{compared} compared, {} differ", summary.differs);
    Headline::new(tone(comparing.answer), word, figures)
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(comparing: &Comparing) -> ShortAnswer {
    let rank = match comparing.answer {
        CompareAnswer::Same => Rank::Good,
        CompareAnswer::CannotTell => Rank::Unknown,
        CompareAnswer::Differs => Rank::Care,
    };
    let mut said = say(&comparing.sentence);
    if let Some(first) = said.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    ShortAnswer::new(rank, sentence(&said))
}
