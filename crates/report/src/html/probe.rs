//! A result of `straddle probe` on the page.

use maud::{Markup, html};
use measure::probe::Reading;

use super::elements::{Tone, chip, folded, more, notes, pairs, refused, say, time, words};
use super::headline::Headline;
use super::run_facts;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{self, cell, figure, head, table, told};
use crate::bench::figure_rounding::{UNKNOWN, number, ratio_bounds, ratio_figure};
use crate::probe::{
    Answers, Probe, ProbeAnswer, ProbeComparison, Reported, ResultFate, Tool, next,
};

const ROWS_MAX: usize = 60;

/// All of one result.
pub(super) fn section(probe: &Probe) -> Markup {
    html! {
        @if let Some(refusal) = &probe.envelope.refusal {
            (refused("nothing probed", &refusal.message, refusal.hint.as_deref()))
        }
        @if probe.dry_run { p { (chip(Tone::Plain, "dry run")) " Nothing was probed." } }
        h3 { "What was found" }
        (answers(&probe.answers))
        (reported(&probe.reported))
        (tools(&probe.tools))
        @if let Some(next) = next(probe) { p { strong { "Next: " } (say(&next)) } }
        (kept(&probe.kept))
        (notes(&probe.envelope.notes))
        (folded("Method", &method(probe)))
        (folded("Machine and command", &pairs(&run_facts::of_probe(probe).rows)))
    }
}

/// One answer: what it is of, in words, and what else there is to it.
struct AnswerRow<'a> {
    of: &'static str,
    value: Option<String>,
    alpha: Option<f64>,
    said_by: Option<&'a str>,
    reason: Option<&'a str>,
}

fn row<'a, T>(
    of: &'static str,
    answer: &'a ProbeAnswer<T>,
    text: impl Fn(&T) -> String,
) -> AnswerRow<'a> {
    AnswerRow {
        of,
        value: answer.value.as_ref().map(text),
        alpha: answer.alpha,
        said_by: answer.said_by.as_deref(),
        reason: answer.reason.as_deref(),
    }
}

fn rows(answers: &Answers) -> Vec<AnswerRow<'_>> {
    let bytes = |bytes: u64| words().exact(bytes);
    vec![
        row("Write start, a multiple of", &answers.alignment, |it| match it.origin_bytes {
            0 => bytes(it.bytes),
            origin => format!("{} plus {}", bytes(it.bytes), bytes(origin)),
        }),
        row("Write length, a multiple of", &answers.size, |it| bytes(it.bytes)),
        row("Chunk of the array", &answers.chunk, |it| bytes(it.bytes)),
        row("Members of the array", &answers.members, |it| it.count.to_string()),
        row("Queue depth", &answers.depth, |it| match it.is_of_member {
            true => format!("{} on each member", it.reads),
            false => it.reads.to_string(),
        }),
        row("Time of a turn", &answers.turn, |it| {
            format!("{} ({} to {})", time(it.turn_ns), time(it.low_ns), time(it.high_ns))
        }),
        row("Turns of a misaligned write", &answers.turns, |it| {
            let (low, high) = (number(it.low_turns), number(it.high_turns));
            format!("{} ({low} to {high}), {}", it.turns, it.policy.word())
        }),
    ]
}

fn answers(answers: &Answers) -> Markup {
    html! {
        (table("Answers and their error probability",
            &["Question", "Answer", "Error probability", "Why"],
            rows(answers).iter().map(answered)))
    }
}

fn answered(answer: &AnswerRow<'_>) -> table::Row {
    table::row([
        head(answer.of),
        cell(answer.value.as_deref().unwrap_or("cannot tell")),
        cell(answer.alpha.map_or(UNKNOWN.to_owned(), at_most)),
        told(answer.said_by.or(answer.reason).unwrap_or_default()),
    ])
}

fn at_most(alpha: f64) -> String {
    format!("at most {}", number(alpha))
}

fn reported(reported: &Reported) -> Markup {
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| words().exact(bytes));
    let source = reported.granule_source;
    let granule = bytes(reported.granule_bytes)
        .map(|granule| source.map_or(granule.clone(), |by| format!("{granule} ({by})")));
    html! {
        h3 { "What the kernel reports" }
        (pairs(&[
            ("Logical sector", bytes(reported.logical_sector_bytes)),
            ("Physical sector", bytes(reported.physical_sector_bytes)),
            ("Granule without the probe", granule),
        ]))
        @match reported.physical_sector_lies {
            Some(true) => p {
                (chip(Tone::Bad, "differs"))
                " The kernel reports another physical sector than the granule that the probe found."
            },
            Some(false) => p {
                (chip(Tone::Good, "agrees"))
                " The reported physical sector is the granule that the probe found."
            },
            None => p.quiet { "The probe could neither confirm nor refute the reported values." },
        }
    }
}

fn tools(tools: &[Tool]) -> Markup {
    html! {
        @if !tools.is_empty() {
            h3 { "What to type" }
            (table("Values for each tool", &["Tool", "Value", "Note"],
                tools.iter().take(ROWS_MAX).map(typed)))
        }
    }
}

fn typed(tool: &Tool) -> table::Row {
    table::row([
        head(&tool.tool),
        cell(html! { code { (say(&tool.value)) } }),
        cell(tool.note.as_deref().map(say).unwrap_or_default()),
    ])
}

fn kept(kept: &ResultFate) -> Markup {
    html! {
        @if let Some(file) = &kept.file { p { "Saved in " (say(file)) ", for straddle check." } }
        @if let Some(reason) = &kept.reason { p.quiet { "Not saved: " (say(reason)) } }
    }
}

fn method(probe: &Probe) -> Markup {
    let spent = &probe.spent;
    let rows = [
        ("Written", Some(words().size(spent.written_bytes))),
        ("At most", Some(words().size(spent.bytes_max))),
        ("Operations", Some(spent.operations.to_string())),
        (
            "Method",
            Some(if probe.target.writes { "durable writes" } else { "reads only" }.to_owned()),
        ),
    ];
    html! {
        (pairs(&rows))
        @if !probe.comparisons.is_empty() {
            (table("Every comparison, in order",
                &["Question", "Compared", "Against", "Ratio", "Interval", "Repeats", "Result"],
                probe.comparisons.iter().take(ROWS_MAX).map(compared)))
            (more(probe.comparisons.len().saturating_sub(ROWS_MAX), "comparisons"))
        }
    }
}

fn compared(one: &ProbeComparison) -> table::Row {
    let ratio = one.interval;
    table::row([
        head(one.panel.word()),
        told(&one.arm),
        told(&one.against),
        figure(ratio_figure(ratio)),
        figure(ratio_bounds(ratio)),
        figure(one.blocks),
        told(&match one.reading {
            Reading::Open => "undecided".to_owned(),
            reading => reading.word().replace('-', " "),
        }),
    ])
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(probe: &Probe) -> Headline {
    if probe.envelope.refusal.is_some() || probe.dry_run {
        return Headline::new(Tone::Unknown, "nothing probed", "");
    }
    match &probe.answers.alignment.value {
        Some(found) => {
            let lies = probe.reported.physical_sector_lies == Some(true);
            let tone = if lies { Tone::Bad } else { Tone::Good };
            let but = if lies { "not what is reported" } else { "" };
            Headline::new(tone, format!("granule {}", words().exact(found.bytes)), but)
        }
        None => Headline::new(Tone::Unknown, "cannot tell", "the granule"),
    }
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(probe: &Probe) -> ShortAnswer {
    if let Some(refusal) = &probe.envelope.refusal {
        return ShortAnswer::refused("nothing was probed", refusal);
    }
    let next = next(probe);
    match &probe.answers.alignment.value {
        _ if probe.dry_run => ShortAnswer::new(Rank::Plain, "A dry run: nothing was probed."),
        Some(found) if probe.reported.physical_sector_lies == Some(true) => {
            let reported = probe.reported.physical_sector_bytes;
            let what = format!(
                "The drive writes {} as one unit, but reports {}.",
                words().exact(found.bytes),
                reported.map_or("nothing".to_owned(), |bytes| words().exact(bytes))
            );
            let type_it = probe.tools.first().map(|it| format!("{}: {}", it.tool, it.value));
            ShortAnswer::new(Rank::Care, what).next(type_it.as_deref())
        }
        Some(found) => ShortAnswer::new(
            Rank::Good,
            format!("The drive writes {} as one unit.", words().exact(found.bytes)),
        ),
        None => {
            let reason = probe.answers.alignment.reason.as_deref().unwrap_or("it was not tried");
            let what = format!("The granule is unknown: {}", say(reason));
            ShortAnswer::new(Rank::Unknown, sentence(&what)).next(next.as_deref())
        }
    }
}
