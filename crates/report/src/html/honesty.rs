//! Whether a completed sync is real, on the page.

use maud::{Markup, html};

use super::phrase::{Tone, chip, head, notes, pairs, say, wide};
use crate::bench::figures::{UNKNOWN, number};
use crate::fsync::{DriveWord, Evidence, Honesty, LayerFlushes, ProcessWord};

const ROWS_MAX: usize = 40;

/// The grade with all that speaks for and against it.
pub(super) fn honesty(honesty: &Honesty) -> Markup {
    let (tone, word) = word(honesty);
    html! {
        h3 { "Is a completed fsync real?" }
        p { (chip(tone, &word)) " " (say(&honesty.sentence)) }
        @if !honesty.evidence.is_empty() {
            (wide("Evidence, the weightiest first",
                &["Speaks", "What was seen", "Who says so"],
                &html! { @for one in honesty.evidence.iter().take(ROWS_MAX) { (evidence(one)) } }))
        }
        @if !honesty.would_change.is_empty() {
            h4 { "What would change this" }
            (notes(&honesty.would_change))
        }
        @if !honesty.layers.is_empty() {
            (wide("Flushes at every layer, the topmost first",
                &["Layer", "Kind", "Flushes", "Writes", "Syncs", "Flushes per sync",
                    "Per append", "Per empty sync", "Write cache", "FUA"],
                &html! { @for one in honesty.layers.iter().take(ROWS_MAX) { (layer(one)) } }))
        }
        @if let Some(drive) = &honesty.drive { (of_drive(drive)) }
        @if let Some(process) = &honesty.process { (of_process(process)) }
    }
}

/// The grade in words, and how good that is.
pub(super) fn word(honesty: &Honesty) -> (Tone, String) {
    match honesty.grade.as_str() {
        "consistent" => (Tone::Good, "consistent with durable writes".to_owned()),
        "unproven" => (Tone::Care, "unproven".to_owned()),
        "opaque" => (Tone::Care, "opaque layer".to_owned()),
        "suspect" => (Tone::Bad, "suspect".to_owned()),
        "not-durable" => (Tone::Bad, "not durable".to_owned()),
        other => (Tone::Care, say(other)),
    }
}

fn evidence(one: &Evidence) -> Markup {
    let tone = match one.direction.as_str() {
        "for" => Tone::Good,
        "against" => Tone::Bad,
        _ => Tone::Plain,
    };
    html! {
        tr {
            th scope="row" { (chip(tone, &one.direction)) }
            td { (say(&one.sentence)) " " span.quiet { (say(&one.code)) } }
            td { (say(&one.source)) }
        }
    }
}

fn layer(one: &LayerFlushes) -> Markup {
    let count = |number: Option<u64>| number.map_or(UNKNOWN.to_owned(), |it| it.to_string());
    let rate = |rate: Option<f64>| rate.map_or(UNKNOWN.to_owned(), number);
    let fua = one.forced_unit_access.map(|yes| if yes { "yes" } else { "no" });
    html! {
        tr {
            (head(&one.name))
            td { (say(&one.kind)) }
            td { (count(one.flushes)) }
            td { (count(one.writes)) }
            td { (one.syncs) }
            td { (rate(one.flushes_per_sync)) }
            td { (rate(one.append_flushes_per_sync)) }
            td { (rate(one.empty_flushes_per_sync)) }
            td { (one.write_cache.as_deref().map_or(UNKNOWN.to_owned(), say)) }
            td { (fua.unwrap_or(UNKNOWN)) }
        }
    }
}

fn of_drive(drive: &DriveWord) -> Markup {
    let life =
        drive.life_used_percent.map_or("not known".to_owned(), |used| format!("{used} % used"));
    let protection = said(&drive.power_loss_protection, &drive.power_loss_source);
    html! {
        h4 { "What the drive says of itself" }
        (pairs(&[
            ("Power-loss protection", Some(protection)),
            ("Rated life", Some(said(&life, &drive.life_source))),
        ]))
    }
}

fn said(what: &str, source: &str) -> String {
    let what = say(what);
    if source.is_empty() { what } else { format!("{what} ({})", say(source)) }
}

fn of_process(process: &ProcessWord) -> Markup {
    html! {
        h4 { "Process " (process.pid) ", " (say(&process.name)) }
        @if process.suppressors.is_empty() {
            p { "Nothing was seen that keeps its syncs from the kernel." }
        }
        (notes(&process.suppressors))
    }
}
