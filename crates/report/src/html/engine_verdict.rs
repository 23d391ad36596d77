//! Verdict on the speed of durable writes for an engine, on the page.

use maud::{Markup, html};
use measure::Tail;
use measure::engine_verdict::Fitness;
use measure::tail_quantile::METHOD;

use super::chart::Limit;
use super::elements::{Tone, folded, notes, say, time, time_or_unknown, words};
use super::headline::Headline;
use super::short_answer::Rank;
use super::table::{Row, cell, figure, head, row, table, told};
use crate::bench::figure_rounding::{UNKNOWN, chosen_time, interval_title, number, time_bounds};
use crate::fsync::{Ceiling, EngineLimit, FsyncVerdict};

const ROWS_MAX: usize = 20;

/// The whole verdict.
pub(super) fn verdict(verdict: &FsyncVerdict) -> Markup {
    html! {
        h3 { "Fast enough for " (say(&verdict.engine)) "?" }
        @if let Some(reason) = &verdict.not_durable {
            p { strong { "Syncs are not durable here: " } (say(reason)) }
        }
        @if verdict.has_rare_stalls {
            p { "Most writes are fast enough, but a few take far too long: other load on the "
                "drive, or used-up burst credits." }
        }
        @for quantile in verdict.quantile.iter().chain(&verdict.few) { p { (measured(quantile)) } }
        @if verdict.quantile.is_some() { p.quiet { "How: " (METHOD) "." } }
        @if !verdict.pattern.is_empty() {
            p.quiet { "The engine's write pattern: " (say(&verdict.pattern)) (each(verdict)) }
        }
        @if !verdict.limits.is_empty() {
            (table("Limits", &["Verdict", "Quantile", "When above", "Means", "Source"],
                verdict.limits.iter().take(ROWS_MAX).map(limit)))
        }
        @if !verdict.ceilings.is_empty() {
            (folded("What is possible at best", &table("Ceilings", &["Of", "Ceiling", "Assuming"],
                verdict.ceilings.iter().take(ROWS_MAX).map(ceiling))))
        }
        @if !verdict.notes.is_empty() { (folded("About this engine", &notes(&verdict.notes))) }
    }
}

/// The verdict, and the measured quantile against the limit that decided it.
pub(super) fn headline(verdict: &FsyncVerdict) -> Headline {
    let (tone, word) = word(verdict);
    let figures = verdict.quantile.as_ref().map(|measured| {
        let p = measured.quantile_percent;
        let limit = decisive(verdict, measured).map(|it| format!(", limit {}", time(it.limit_ns)));
        format!("p{p} {}{}", time(measured.value_ns), limit.unwrap_or_default())
    });
    let word = format!("{word} for {}", say(&verdict.engine));
    Headline::new(tone, word, figures.unwrap_or_default())
}

/// The greatest limit that `measured` is above; where it is above none, the least.
fn decisive<'a>(verdict: &'a FsyncVerdict, measured: &Tail) -> Option<&'a EngineLimit> {
    let same = || {
        let of = measured.quantile_percent;
        verdict.limits.iter().filter(move |limit| limit.quantile_percent == of)
    };
    let above = same().filter(|limit| limit.limit_ns < measured.value_ns);
    above.max_by_key(|it| it.limit_ns).or_else(|| same().min_by_key(|it| it.limit_ns))
}

/// The limits as lines of a chart.
pub(super) fn limit_lines(verdict: &FsyncVerdict) -> Vec<Limit> {
    const LINES: usize = 3;
    let line = |limit: &EngineLimit| {
        let name = format!("{} {}", limit.grade.word(), chosen_time(limit.limit_ns, words()));
        (name, limit.limit_ns, if limit.grade == Fitness::Fail { Tone::Bad } else { Tone::Care })
    };
    verdict.limits.iter().take(LINES).map(line).collect()
}

/// The verdict as its word, and how good that is.
pub(super) fn word(verdict: &FsyncVerdict) -> (Tone, String) {
    match verdict.verdict {
        Fitness::Pass => (Tone::Good, "PASS".to_owned()),
        Fitness::Warn => (Tone::Care, "WARN".to_owned()),
        Fitness::Fail => (Tone::Bad, "FAIL".to_owned()),
        Fitness::NotEnough if is_near(verdict) => {
            (Tone::Care, "not enough evidence, near WARN".to_owned())
        }
        Fitness::NotEnough => (Tone::Unknown, "not enough evidence".to_owned()),
    }
}

/// Returns whether something was measured, and no longer run would settle on which side of the
/// limit it is: to be treated as a warning.
fn is_near(verdict: &FsyncVerdict) -> bool {
    let is_bounded = |tail: &Tail| tail.high_ns.is_some();
    verdict.samples_to_settle.is_none() && verdict.quantile.as_ref().is_some_and(is_bounded)
}

fn measured(quantile: &Tail) -> String {
    format!(
        "Measured: p{} is {} ({}: {}), from {} latencies (effective sample size {}).",
        quantile.quantile_percent,
        time(quantile.value_ns),
        interval_title(quantile.alpha),
        time_bounds(quantile, words()),
        quantile.samples,
        quantile.effective_samples,
    )
}

/// `; each is one write + fdatasync`.
fn each(verdict: &FsyncVerdict) -> String {
    match verdict.operation.is_empty() {
        true => String::new(),
        false => format!("; each is one {}", say(&verdict.operation)),
    }
}

fn limit(limit: &EngineLimit) -> Row {
    row([
        head(limit.grade.word()),
        figure(format!("p{}", limit.quantile_percent)),
        figure(time(limit.limit_ns)),
        told(&limit.sentence),
        cell(say(&limit.source)),
    ])
}

fn ceiling(ceiling: &Ceiling) -> Row {
    let rate = ceiling.operations_per_second.map(|rate| format!("{}/s", number(rate)));
    let value = rate.or_else(|| ceiling.latency_ns.map(|it| time_or_unknown(Some(it))));
    row([
        head(&ceiling.name),
        figure(value.unwrap_or(UNKNOWN.to_owned())),
        told(&ceiling.assumption),
    ])
}

/// Returns how much the verdict wants to be looked at.
pub(super) fn rank(verdict: &FsyncVerdict) -> Rank {
    match verdict.verdict {
        _ if verdict.not_durable.is_some() => Rank::Loss,
        Fitness::Pass => Rank::Good,
        Fitness::Warn => Rank::Care,
        Fitness::Fail => Rank::Failing,
        Fitness::NotEnough if is_near(verdict) => Rank::Care,
        Fitness::NotEnough => Rank::Unknown,
    }
}
