//! The verdict for people: the figure with its interval and the limit, what that means, what to do.

use measure::Tail;
use measure::engine_verdict::Fitness;
use measure::tail_quantile::METHOD;

use super::{Ceiling, EngineLimit, FsyncVerdict};
use crate::bench::figure_rounding::{UNKNOWN, chosen_time, number, time, time_bounds};
use crate::bench::grid::{Cell, cell, labeled, prose, quiet};
use crate::colored_line::{BAD, CARE, GAP, GOOD, Line, NAME, PLAIN};
use crate::quantity_words::ViewWords;
use crate::text::wrap;

/// The verdict in capitals, as installers print it.
pub(super) fn word(verdict: Fitness) -> &'static str {
    match verdict {
        Fitness::Pass => "PASS",
        Fitness::Warn => "WARN",
        Fitness::Fail => "FAIL",
        Fitness::NotEnough => "NOT ENOUGH EVIDENCE",
    }
}

/// Writes the answer and what to do.
pub(super) fn verdict(
    verdict: &FsyncVerdict,
    words: ViewWords<'_>,
    limit: usize,
    page: &mut String,
) {
    let style = match verdict.verdict {
        Fitness::Pass => GOOD,
        Fitness::Warn | Fitness::NotEnough => CARE,
        Fitness::Fail => BAD,
    };
    let word = (style, word(verdict.verdict).to_owned());
    hanging(word, &headline(verdict, words), limit, page);
    hanging(cell(""), &words.text(&verdict.sentence), limit, page);
    hanging((NAME, "next".to_owned()), &words.text(&verdict.next), limit, page);
}

/// Writes what follows from it and what it rests on; limits, notes and the evidence where they are
/// asked for.
pub(super) fn why(verdict: &FsyncVerdict, words: ViewWords<'_>, limit: usize, page: &mut String) {
    if words.look.explain {
        evidence(verdict, words, limit, page);
    }
    for ceiling in &verdict.ceilings {
        self::ceiling(ceiling, words, limit, page);
    }
    if words.look.explain {
        for note in &verdict.notes {
            prose((NAME, "note:".to_owned()), &words.text(note), limit, page);
        }
    }
}

/// The column in which a verdict's text begins.
const INDENT: usize = 6;

/// Writes `text` from [`INDENT`] on, with `head` before its first line; behind a longer one it
/// begins on a line of its own.
fn hanging((style, head): Cell, text: &str, limit: usize, page: &mut String) {
    let mut first = Line::default();
    first.push(style, &head);
    if first.width() + GAP > INDENT {
        std::mem::take(&mut first).end(page);
    }
    for part in wrap(text, limit.saturating_sub(INDENT)) {
        let mut line = std::mem::take(&mut first);
        line.advance(INDENT, 0);
        line.push(PLAIN, &part);
        line.end(page);
    }
}

/// `p99 of write + fdatasync is 14.2 ms (12.9 ms to 15.8 ms); etcd wants under 10.0 ms [...]`; or
/// why no speed is fast enough.
pub(super) fn headline(verdict: &FsyncVerdict, words: ViewWords<'_>) -> String {
    if let Some(reason) = &verdict.not_durable {
        return words.text(reason);
    }
    let engine = words.text(&verdict.engine);
    let Some(quantile) = &verdict.quantile else {
        return format!("nothing was measured for {engine}");
    };
    let operation = match verdict.operation.as_str() {
        "" => "a durable write".to_owned(),
        operation => words.text(operation),
    };
    let (percent, value) = (quantile.quantile_percent, time(quantile.value_ns, words));
    let mut line = match has_figure(quantile) {
        true => match (quantile.low_ns, quantile.high_ns) {
            (Some(low_ns), None) => format!(
                "p{percent} of {operation}: measured {value}; the true p{percent} is at least {}, \
                 with no upper limit yet",
                time(low_ns, words)
            ),
            _ => format!("p{percent} of {operation} is {value} ({})", time_bounds(quantile, words)),
        },
        // The nearest rank of so few is that of the slowest.
        false => {
            let samples = quantile.samples;
            format!(
                "too few writes for a p{percent} of {operation}: {samples}, the slowest {value}"
            )
        }
    };
    // Of a FAIL the limit that it is over, else the one that is wanted.
    let is_fail = verdict.verdict == Fitness::Fail;
    let grade = if is_fail { Fitness::Fail } else { Fitness::Warn };
    if let Some(limit) = verdict.limits.iter().find(|limit| limit.grade == grade) {
        let says = if is_fail { "is too slow over" } else { "wants under" };
        let (over, source) = (chosen_time(limit.limit_ns, words), source(limit, words));
        line += &format!("; {engine} {says} {over} [{source}]");
    }
    line
}

/// True if there are so many writes that not all of them are at or below the quantile's rank.
fn has_figure(quantile: &Tail) -> bool {
    let behind_percent = 100.0 - quantile.quantile_percent;
    // Far below 2^52, and what is not is many.
    let samples = u32::try_from(quantile.samples).unwrap_or(u32::MAX);
    f64::from(samples) * behind_percent >= 100.0 - 1e-9
}

/// An address alone, or the profile: what stands behind an address is for `--explain`.
fn source(limit: &EngineLimit, words: ViewWords<'_>) -> String {
    if limit.is_ours {
        return "set by the engine profile".to_owned();
    }
    words.text(limit.source.split_whitespace().next().unwrap_or(UNKNOWN))
}

/// Adds what the verdict rests on: the pattern, the samples, the limits with their sources.
fn evidence(verdict: &FsyncVerdict, words: ViewWords<'_>, limit: usize, page: &mut String) {
    labeled("pattern", vec![cell(words.text(&verdict.pattern))], limit, page);
    for quantile in verdict.quantile.iter().chain(&verdict.few) {
        let pieces = vec![
            cell(format!("{} ({})", time(quantile.value_ns, words), time_bounds(quantile, words))),
            cell(format!("{} writes", quantile.samples)),
            cell(format!("effective sample size {}", quantile.effective_samples)),
            quiet(METHOD.to_owned()),
        ];
        labeled(&format!("p{}", quantile.quantile_percent), pieces, limit, page);
    }
    for one in &verdict.limits {
        let says = format!(
            "{} above a p{} of {}",
            one.grade.word().to_uppercase(),
            one.quantile_percent,
            chosen_time(one.limit_ns, words)
        );
        labeled("limit", vec![cell(says), quiet(words.text(&one.source))], limit, page);
    }
}

fn ceiling(ceiling: &Ceiling, words: ViewWords<'_>, limit: usize, page: &mut String) {
    let rate = ceiling.operations_per_second.map(|rate| format!("{}/s", number(rate)));
    let latency = ceiling.latency_ns.map(|latency_ns| time(latency_ns, words));
    let mut pieces = vec![
        cell(words.text(&ceiling.name)),
        (NAME, rate.or(latency).unwrap_or_else(|| UNKNOWN.to_owned())),
    ];
    if words.look.explain {
        pieces.push(quiet(words.text(&ceiling.assumption)));
    }
    let is_rate = ceiling.operations_per_second.is_some();
    let label = if is_rate { "ceiling" } else { "at best" };
    labeled(label, pieces, limit, page);
}
