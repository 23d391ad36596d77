//! Whether durable writes are fast enough for an engine, on the page.

use maud::{Markup, html};

use super::phrase::{Tone, chip, head, notes, say, time, time_or_unknown, wide};
use crate::bench::figures::{UNKNOWN, interval_title, number};
use crate::fsync::{Ceiling, EngineLimit, FsyncVerdict, QuantileInterval};

const ROWS_MAX: usize = 20;

/// The whole verdict.
pub(super) fn verdict(verdict: &FsyncVerdict) -> Markup {
    let (tone, word) = word(verdict);
    html! {
        h3 { "Fast enough for " (say(&verdict.engine)) "?" }
        p { (chip(tone, &word)) " " (say(&verdict.sentence)) }
        @if let Some(reason) = &verdict.not_durable {
            p { strong { "A completed sync is none here: " } (say(reason)) }
        }
        @if verdict.has_rare_stalls {
            p { "Most writes are fast enough and few take far too long: contention, or credits for "
                "bursts that are used up." }
        }
        @if !verdict.next.is_empty() { p { strong { "Next: " } (say(&verdict.next)) } }
        @for quantile in verdict.quantile.iter().chain(&verdict.few) { p { (measured(quantile)) } }
        @if let Some(samples) = verdict.samples_to_settle {
            p { "About " (samples) " durable writes are likely to settle it." }
        }
        @if !verdict.pattern.is_empty() {
            p.quiet { "The engine's write pattern: " (say(&verdict.pattern)) (each(verdict)) }
        }
        @if !verdict.limits.is_empty() {
            (wide("Limits", &["Over it", "Of", "Limit", "Above it", "Source"], &html! {
                @for one in verdict.limits.iter().take(ROWS_MAX) { (limit(one)) }
            }))
        }
        @if !verdict.ceilings.is_empty() {
            (wide("What is possible at best", &["Of", "Ceiling", "Assuming"], &html! {
                @for one in verdict.ceilings.iter().take(ROWS_MAX) { (ceiling(one)) }
            }))
        }
        (notes(&verdict.notes))
    }
}

/// The verdict as its word, and how good that is.
pub(super) fn word(verdict: &FsyncVerdict) -> (Tone, String) {
    match verdict.verdict.as_str() {
        "pass" => (Tone::Good, "PASS".to_owned()),
        "warn" => (Tone::Care, "WARN".to_owned()),
        "fail" => (Tone::Bad, "FAIL".to_owned()),
        "not-enough-evidence" => (Tone::Care, "not enough evidence".to_owned()),
        other => (Tone::Care, say(other)),
    }
}

fn measured(quantile: &QuantileInterval) -> String {
    let end = |end: Option<u64>| end.map_or("not known".to_owned(), time);
    format!(
        "Measured: {} is {}; {} from {} to {}, from {} latencies, which are worth {} independent \
         ones. {}",
        percent(quantile.quantile_percent),
        time(quantile.value_ns),
        interval_title(quantile.alpha),
        end(quantile.low_ns),
        end(quantile.high_ns),
        quantile.samples,
        quantile.effective_samples,
        say(&quantile.method)
    )
}

/// `; each is one write + fdatasync`.
fn each(verdict: &FsyncVerdict) -> String {
    match verdict.operation.is_empty() {
        true => String::new(),
        false => format!("; each is one {}", say(&verdict.operation)),
    }
}

/// `p99`, `p99.9`.
fn percent(quantile: f64) -> String {
    format!("p{quantile}")
}

fn limit(limit: &EngineLimit) -> Markup {
    let is_unsaid = limit.is_ours && !limit.source.starts_with("ours");
    html! {
        tr {
            (head(&limit.grade))
            td { (percent(limit.quantile_percent)) }
            td { (time(limit.limit_ns)) }
            td { (say(&limit.sentence)) }
            td { @if is_unsaid { "straddle's own: " } (say(&limit.source)) }
        }
    }
}

fn ceiling(ceiling: &Ceiling) -> Markup {
    let rate = ceiling.operations_per_second.map(|rate| format!("{}/s", number(rate)));
    let figure = rate.or_else(|| ceiling.latency_ns.map(|it| time_or_unknown(Some(it))));
    html! {
        tr {
            (head(&ceiling.name))
            td { (figure.unwrap_or(UNKNOWN.to_owned())) }
            td { (say(&ceiling.assumption)) }
        }
    }
}
