//! Changes for people and for monitors.

use anstyle::Style;

use super::{Change, ChangeSummary, SeenValue, Subject, TargetChange, Trend};
use crate::bench::figure_rounding::time;
use crate::colored_line::{BAD, CARE, Flow, Line, PLAIN};
use crate::monitor_answer::MonitorState;
use crate::nagios::Metric;
use crate::quantity_words::{ViewWords, count, quantity};
use crate::text::wrap;
use crate::view_options::Look;
use crate::worst_targets::Note;
use stack::Severity;
use units::prefix::Exact;

/// A target and a line for each thing that changed of it; empty where it is unknown as before.
#[must_use]
pub fn changes_tree(change: &TargetChange, look: &Look) -> String {
    let words = ViewWords { look };
    if change.is_still_unknown() {
        // As it was: the last line counts it.
        return String::new();
    }
    let mut text = String::new();
    // What became worse is in the lines below: the reason is another one.
    let joint = if change.trend == Trend::Worse { ", and " } else { ": " };
    let reason = change.reason.as_ref().map(|reason| format!("{joint}{}", words.text(reason)));
    let head = format!("{}{}", change.trend.word(), reason.unwrap_or_default());
    let flow = Flow { margin: "", indent: LABEL, limit: look.limit() };
    let pieces = [(PLAIN, words.text(&change.target)), (style(change.trend), head)];
    flow.write(Line::default(), pieces, &mut text);
    for one in &change.changes {
        let mut line = Line::default();
        line.push(style(one.trend), &format!("  {}", one.trend.word()));
        line.advance(LABEL, 0);
        flow.write(line, [(PLAIN, self::line(one, words))], &mut text);
    }
    text
}

/// Columns for the word before each change.
const LABEL: usize = 11;

fn style(trend: Trend) -> Style {
    match trend {
        Trend::Worse => BAD,
        Trend::Unknown | Trend::Vanished => CARE,
        _ => PLAIN,
    }
}

/// `sda/sda1: ST101 error: partition start is not on a sector`.
fn line(change: &Change, words: ViewWords<'_>) -> String {
    let layer = change.layer.as_deref().unwrap_or("target");
    let values = values(change, words);
    let what = match (change.subject, &change.after) {
        (Subject::Finding, Some(_)) => format!("{} {values}: {}", change.key, change.title),
        (Subject::Finding, None) => format!("{} {values} is gone: {}", change.key, change.title),
        (Subject::Layer, _) if change.title.is_empty() => change.key.clone(),
        (Subject::Layer, _) => format!("{} ({})", change.key, change.title),
        (Subject::Verdict, None) => format!("its last verdict was {values}"),
        (Subject::Verdict | Subject::Fact, _) => {
            format!("{} {values}{}", quantity(&change.key), moved(change).unwrap_or_default())
        }
    };
    words.text(&format!("{layer}: {what}"))
}

/// ` (+512 B)`: the distance of a start or a length that changed.
fn moved(change: &Change) -> Option<String> {
    let [before, after] = place(change)?;
    let sign = if after < before { '-' } else { '+' };
    Some(format!(" ({sign}{})", Exact(after.abs_diff(before))))
}

/// `4 KiB (sysfs) -> 512 B (ioctl)`; one side alone where there is no other.
fn values(change: &Change, words: ViewWords<'_>) -> String {
    let seen = |one: &SeenValue| seen(one, value(one, &change.key, words));
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if let Some(sizes) = place(change) => {
            let [old, new] = words.exact_pair(sizes);
            format!("{} -> {}", self::seen(before, Some(old)), self::seen(after, Some(new)))
        }
        (Some(before), Some(after)) => format!("{} -> {}", seen(before), seen(after)),
        (Some(one), None) | (None, Some(one)) => seen(one),
        (None, None) => String::new(),
    }
}

/// A start or a length in bytes, before and after; `None` for a change of anything else.
fn place(change: &Change) -> Option<[u64; 2]> {
    let number = |seen: &Option<SeenValue>| seen.as_ref()?.value.as_ref()?.parse::<u64>().ok();
    let sizes = [number(&change.before)?, number(&change.after)?];
    matches!(&*change.key, "start-bytes" | "length-bytes").then_some(sizes)
}

fn value(seen: &SeenValue, key: &str, words: ViewWords<'_>) -> Option<String> {
    seen.value.as_ref().map(|value| words.value(key, value))
}

fn seen(seen: &SeenValue, value: Option<String>) -> String {
    match (value, &seen.source, &seen.reason) {
        (Some(value), Some(source), _) => format!("{value} ({source})"),
        (Some(value), None, _) => value,
        (None, _, Some(reason)) => format!("unknown ({reason})"),
        (None, _, None) => "unknown".to_owned(),
    }
}

/// The line that counts: `3 targets compared with a baseline of straddle 0.1.0: 1 worse, ...`.
#[must_use]
pub fn changes_closing(summary: &ChangeSummary, baseline_version: &str, look: &Look) -> String {
    let words = ViewWords { look };
    let as_before = match summary.unchanged {
        0 => String::new(),
        same if same == summary.targets => String::new(),
        same => format!(", {same} as before"),
    };
    let line = format!(
        "{} compared with a baseline of straddle {}: {}{as_before}. Done in {}.",
        count(summary.targets, "target"),
        words.text(baseline_version),
        trends(summary),
        time(summary.elapsed_ns, words)
    );
    wrap(&line, look.limit()).join("\n") + "\n"
}

/// `2 worse, 1 vanished in 12 targets`.
#[must_use]
pub fn changes_headline(summary: &ChangeSummary) -> String {
    format!("{} in {}", trends(summary), count(summary.targets, "target"))
}

fn trends(summary: &ChangeSummary) -> String {
    let counts = [
        (summary.worse, "worse"),
        (summary.unknown.saturating_sub(summary.still_unknown), "unknown"),
        (summary.still_unknown, "unknown as before"),
        (summary.vanished, "vanished"),
        (summary.appeared, "appeared"),
        (summary.changed, "changed"),
        (summary.better, "better"),
    ];
    let said: Vec<String> = (counts.iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if said.is_empty() { "nothing changed".to_owned() } else { said.join(", ") }
}

/// The numbers of a comparison.
#[must_use]
pub fn changes_metrics(summary: &ChangeSummary) -> Vec<Metric> {
    let of_targets =
        |label, value| Metric { max: Some(summary.targets), ..Metric::count(label, value) };
    vec![
        Metric::count("targets", summary.targets),
        of_targets("worse", summary.worse),
        of_targets("unknown", summary.unknown),
        of_targets("vanished", summary.vanished),
        of_targets("appeared", summary.appeared),
        of_targets("changed", summary.changed),
        of_targets("better", summary.better),
        Metric::seconds("time", summary.elapsed_ns),
    ]
}

impl Note {
    /// Returns what is said of a target that changed, where changes matter from `least` on.
    #[must_use]
    pub fn of_change(change: &TargetChange, least: Option<Severity>, look: &Look) -> Note {
        let words = ViewWords { look };
        let state: MonitorState = change.answer(least).state();
        // What matters most: what became worse, and of that the worst.
        let first = (change.changes.iter())
            .filter(|one| one.trend != Trend::Better)
            .max_by_key(|one| (one.severity, one.trend == Trend::Worse))
            .or(change.changes.first());
        let what = match (&change.reason, first) {
            (Some(reason), _) if state == MonitorState::Unknown => reason.clone(),
            // The code comes first: the end is what a short message loses.
            (_, Some(first)) if first.subject == Subject::Finding => {
                let layer = first.layer.as_deref().map(|layer| format!("at {layer}: "));
                let layer = layer.unwrap_or_default();
                format!("{} {} {layer}{}", first.key, values(first, words), first.title)
            }
            (_, Some(first)) => line(first, words),
            (_, None) => String::new(),
        };
        let more = match change.changes.len() {
            0 | 1 => String::new(),
            count => format!("; {count} changes"),
        };
        let text = format!("{}: {}: {what}{more}", change.target, change.trend.word());
        Note::new(state, &text, words)
    }
}
