//! Verdict on the speed of durable writes for an engine, on the page.

use maud::{Markup, html};
use measure::Tail;
use measure::engine_verdict::Fitness;
use measure::tail_quantile::METHOD;

use super::elements::{Tone, chip, notes, say, time, time_or_unknown, words};
use super::short_answer::{Rank, sentence};
use super::table::{Row, cell, figure, head, row, table, told};
use crate::bench::figure_rounding::{UNKNOWN, interval_title, number, time_bounds};
use crate::fsync::{Ceiling, EngineLimit, FsyncVerdict};

const ROWS_MAX: usize = 20;

/// The whole verdict.
pub(super) fn verdict(verdict: &FsyncVerdict) -> Markup {
    let (tone, word) = word(verdict);
    html! {
        h3 { "Fast enough for " (say(&verdict.engine)) "?" }
        p { (chip(tone, &word)) " " (say(&verdict.sentence)) }
        @if let Some(reason) = &verdict.not_durable {
            p { strong { "Syncs are not durable here: " } (say(reason)) }
        }
        @if verdict.has_rare_stalls {
            p { "Most writes are fast enough, but a few take far too long: other load on the "
                "drive, or used-up burst credits." }
        }
        @if !verdict.next.is_empty() {
            p { strong { "Next: " } (sentence(&say(&verdict.next))) }
        }
        @for quantile in verdict.quantile.iter().chain(&verdict.few) { p { (measured(quantile)) } }
        @if !verdict.pattern.is_empty() {
            p.quiet { "The engine's write pattern: " (say(&verdict.pattern)) (each(verdict)) }
        }
        @if !verdict.limits.is_empty() {
            (table("Limits", &["Verdict above", "Quantile", "Limit", "Means", "Source"],
                verdict.limits.iter().take(ROWS_MAX).map(limit)))
        }
        @if !verdict.ceilings.is_empty() {
            (table("What is possible at best", &["Of", "At best", "Assuming"],
                verdict.ceilings.iter().take(ROWS_MAX).map(ceiling)))
        }
        (notes(&verdict.notes))
    }
}

/// The verdict as its word, and how good that is.
pub(super) fn word(verdict: &FsyncVerdict) -> (Tone, String) {
    match verdict.verdict {
        Fitness::Pass => (Tone::Good, "PASS".to_owned()),
        Fitness::Warn => (Tone::Care, "WARN".to_owned()),
        Fitness::Fail => (Tone::Bad, "FAIL".to_owned()),
        Fitness::NotEnough => (Tone::Care, "not enough evidence".to_owned()),
    }
}

fn measured(quantile: &Tail) -> String {
    format!(
        "Measured: p{} is {} ({}: {}), from {} latencies (effective sample size {}); {METHOD}.",
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
        Fitness::Fail => Rank::Wrong,
        Fitness::NotEnough => Rank::Unknown,
    }
}
