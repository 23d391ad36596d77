//! Verdict on completed syncs, on the page.

use durability::{Direction, Grade};
use maud::{Markup, html};

use super::elements::{Tone, chip, folded, notes, pairs, say};
use super::short_answer::Rank;
use super::table::{Row, cell, figure, head, named, row, table, told};
use crate::bench::figure_rounding::{UNKNOWN, number};
use crate::fsync::{DriveWord, Evidence, Honesty, LayerFlushes, ProcessWord};

const ROWS_MAX: usize = 40;
const LAYER_HEADS: [&str; 10] = [
    "Layer",
    "Kind",
    "Flushes",
    "Writes",
    "Syncs",
    "Flushes per sync",
    "Flushes per append and sync",
    "Flushes per empty sync",
    "Write cache",
    "FUA",
];

/// The grade with all that speaks for and against it.
pub(super) fn honesty(honesty: &Honesty) -> Markup {
    let (tone, word) = word(honesty);
    html! {
        h3 { "Is a completed fsync real?" }
        p { (chip(tone, &word)) " " (say(&honesty.sentence)) }
        @if !honesty.evidence.is_empty() {
            (table("Evidence, strongest first", &["Direction", "Evidence", "Source"],
                honesty.evidence.iter().take(ROWS_MAX).map(evidence)))
        }
        @if !honesty.would_change.is_empty() {
            h4 { "To be more certain" }
            (notes(&honesty.would_change))
        }
        @if !honesty.layers.is_empty() {
            (folded("Flushes at every layer", &table("The topmost layer first", &LAYER_HEADS,
                honesty.layers.iter().take(ROWS_MAX).map(layer))))
        }
        @if let Some(drive) = &honesty.drive { (of_drive(drive)) }
        @if let Some(process) = &honesty.process { (of_process(process)) }
    }
}

/// The grade in words, and how good that is.
pub(super) fn word(honesty: &Honesty) -> (Tone, String) {
    let tone = match honesty.grade {
        Grade::Consistent if honesty.is_in_guest() => Tone::Unknown,
        Grade::Consistent => Tone::Good,
        Grade::Unproven | Grade::Opaque => Tone::Unknown,
        Grade::Suspect | Grade::NotDurable => Tone::Bad,
    };
    (tone, honesty.words())
}

fn evidence(one: &Evidence) -> Row {
    let tone = match one.direction {
        Direction::For => Tone::Good,
        Direction::Against => Tone::Bad,
        Direction::Open => Tone::Plain,
    };
    let seen = html! { (say(&one.sentence)) " " span.quiet { (say(&one.code)) } };
    row([named(chip(tone, one.label())), cell(seen), told(&one.source)])
}

fn layer(one: &LayerFlushes) -> Row {
    let count = |number: Option<u64>| number.map_or(UNKNOWN.to_owned(), |it| it.to_string());
    let rate = |rate: Option<f64>| rate.map_or(UNKNOWN.to_owned(), number);
    let fua = one.forced_unit_access.map(|yes| if yes { "yes" } else { "no" });
    row([
        head(&one.name),
        told(&one.kind),
        figure(count(one.flushes)),
        figure(count(one.writes)),
        // Where nothing counts flushes, none were looked for.
        figure(one.flushes.map_or(UNKNOWN.to_owned(), |_| one.syncs.to_string())),
        figure(rate(one.flushes_per_sync)),
        figure(rate(one.append_flushes_per_sync)),
        figure(rate(one.empty_flushes_per_sync)),
        cell(one.write_cache.as_deref().map_or(UNKNOWN.to_owned(), say)),
        cell(fua.unwrap_or(UNKNOWN)),
    ])
}

fn of_drive(drive: &DriveWord) -> Markup {
    let life =
        drive.life_used_percent.map_or("not known".to_owned(), |used| format!("{used} % used"));
    let protection = said(drive.power_loss_protection.word(), &drive.power_loss_source);
    html! {
        h4 { "What the drive reports" }
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
        @match (process.suppressors.is_empty(), process.unknown.is_empty()) {
            (true, true) => p { "Nothing visible intercepts its syncs." },
            (true, false) => p { "Unknown: whether its syncs reach the kernel." },
            (false, _) => {},
        }
        (notes(&process.suppressors))
        @if !process.unknown.is_empty() {
            p { (chip(Tone::Unknown, "not known")) " Parts that could not be read:" }
            (notes(&process.unknown))
        }
        @if !process.looked_at.is_empty() {
            p.quiet { (say(&process.looked_at.join(" "))) }
        }
    }
}

/// Returns how much the grade wants to be looked at.
pub(super) fn rank(honesty: &Honesty) -> Rank {
    match honesty.grade {
        Grade::Consistent if honesty.is_in_guest() => Rank::Guest,
        Grade::Consistent => Rank::Good,
        Grade::Suspect | Grade::NotDurable => Rank::Loss,
        Grade::Unproven | Grade::Opaque => Rank::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_could_not_be_seen_whole_is_not_said_to_sync() {
        let seen = ProcessWord { pid: 7, name: "db".to_owned(), ..ProcessWord::default() };
        let hidden = ProcessWord { unknown: vec!["its libraries".to_owned()], ..seen.clone() };
        let nothing = "Nothing visible intercepts";
        assert!(of_process(&seen).into_string().contains(nothing));
        let page = of_process(&hidden).into_string();
        assert!(!page.contains(nothing) && page.contains("Unknown: whether"), "{page}");
    }
}
