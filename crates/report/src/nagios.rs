//! A plugin's output for Nagios, Icinga, Naemon and their kin, of every command that has it.
//!
//! One status line with performance data behind a pipe, then long output, a line for each target
//! that matters, the worst first. Source: the Monitoring Plugins Development Guidelines, "Plugin
//! Output" and "Performance data"; for the length `MAX_PLUGIN_OUTPUT_LENGTH` (8192) of Nagios and
//! Naemon, of which the terminating NUL takes one.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::check_document::Summary;
use crate::monitor_answer::{MonitorAnswer, MonitorState};
use crate::quantity_words;
use crate::worst_targets::{Digest, clip};
use stack::Severity;

/// The longest output that every server of this family takes, in bytes.
const OUTPUT_BYTES: usize = 8191;
/// The longest words of the status line, in bytes: what a pager shows.
const STATUS_BYTES: usize = 320;
/// Room for the line that counts what was left out.
const TAIL_BYTES: usize = 96;

/// A number for graphs.
///
/// Written as `label=value[unit];[warn];[crit];[min];[max]`. A threshold `x` means that anything
/// above it alerts, as does anything below 0 (the guidelines' range `0:x`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its label, without spaces, quotes or `=`, so that it needs no quotes.
    pub label: Cow<'static, str>,
    /// Its value, in `unit`.
    pub value: String,
    /// `s` for seconds, `B` for bytes, `%`; empty for a ratio or a number of things. Counts start
    /// with each run, so none is a continuous counter (`c`).
    pub unit: &'static str,
    /// Value, in `unit`, above which it is a warning; `None` for never.
    pub warn: Option<String>,
    /// Value, in `unit`, above which it is critical; `None` for never.
    pub critical: Option<String>,
    /// The greatest possible value; `None` where there is none.
    pub max: Option<u64>,
}

impl Metric {
    /// A number of things, without thresholds. Of `label` only what needs no quotes is kept; other
    /// characters become `_`.
    #[must_use]
    pub fn count(label: impl Into<Cow<'static, str>>, value: u64) -> Metric {
        let (label, value) = (plain_label(label.into()), value.to_string());
        Metric { label, value, unit: "", warn: None, critical: None, max: None }
    }

    /// A time in seconds, to the millisecond, from nanoseconds; rounded up.
    #[must_use]
    pub fn seconds(label: &'static str, nanoseconds: u64) -> Metric {
        let milliseconds = nanoseconds.div_ceil(1_000_000);
        let value = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
        Metric { value, unit: "s", ..Metric::count(label, 0) }
    }

    /// A time in seconds, to the nanosecond.
    pub(crate) fn latency(label: String, nanoseconds: u64) -> Metric {
        Metric { value: exact_seconds(nanoseconds), unit: "s", ..Metric::count(label, 0) }
    }

    /// A number of bytes.
    pub(crate) fn bytes(label: impl Into<Cow<'static, str>>, bytes: u64) -> Metric {
        Metric { unit: "B", ..Metric::count(label, bytes) }
    }

    fn text(&self) -> String {
        let Metric { label, value, unit, warn, critical, max } = self;
        let threshold = |value: &Option<String>| value.clone().unwrap_or_default();
        let max = max.map(|max| format!(";{max}")).unwrap_or_default();
        format!("{label}={value}{unit};{};{};0{max}", threshold(warn), threshold(critical))
    }
}

/// Seconds to the nanosecond, without zeros at the end: `0.0041`, `10`.
pub(crate) fn exact_seconds(nanoseconds: u64) -> String {
    let text = format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn plain_label(label: Cow<'static, str>) -> Cow<'static, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
    match label.chars().all(is_plain) {
        true => label,
        false => label.replace(|letter| !is_plain(letter), "_").into(),
    }
}

/// Answer of one command, as a plugin gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginAnswer {
    /// Findings, and whether everything was judged.
    pub answer: MonitorAnswer,
    /// The verdict in plain words; harmless to print.
    pub headline: String,
    /// The numbers, with thresholds where a limit exists.
    pub metrics: Vec<Metric>,
}

impl PluginAnswer {
    /// Returns the same where a missing verdict is taken for a good one.
    #[must_use]
    pub fn allowing_unknown(self, is_allowed: bool) -> PluginAnswer {
        let unknown = self.answer.unknown && !is_allowed;
        PluginAnswer { answer: MonitorAnswer { unknown, ..self.answer }, ..self }
    }

    /// Returns the output: one status line with the numbers.
    #[must_use]
    pub fn text(&self) -> String {
        nagios(self.answer.state(), &self.headline, Digest::default(), &self.metrics)
    }
}

/// The numbers of a check, where findings matter from `least` on.
#[must_use]
pub fn metrics(summary: &Summary, least: Option<Severity>) -> Vec<Metric> {
    let matters = |severity| least.is_some_and(|least| severity >= least);
    let threshold = |severity| matters(severity).then(|| "0".to_owned());
    let of_targets =
        |label, value| Metric { max: Some(summary.targets), ..Metric::count(label, value) };
    vec![
        Metric::count("targets", summary.targets),
        of_targets("misaligned", summary.verdicts.misaligned),
        of_targets("unknown", not_judged(summary)),
        Metric { critical: threshold(Severity::Error), ..Metric::count("errors", summary.errors) },
        Metric {
            warn: threshold(Severity::Warning),
            ..Metric::count("warnings", summary.warnings)
        },
        Metric { warn: threshold(Severity::Info), ..Metric::count("infos", summary.infos) },
        Metric::seconds("time", summary.elapsed_ns),
    ]
}

/// Targets without a verdict.
fn not_judged(summary: &Summary) -> u64 {
    summary.verdicts.unknown
}

/// Returns what a check came to, in a few words: `1 error in 12 targets, 1 without a verdict`.
#[must_use]
pub fn headline(summary: &Summary) -> String {
    let findings =
        quantity_words::severities(summary.errors, summary.warnings, summary.infos).join(", ");
    let findings = if findings.is_empty() { "no findings".to_owned() } else { findings };
    let targets = quantity_words::count(summary.targets, "target");
    match not_judged(summary) {
        _ if summary.targets == 0 => "nothing to judge".to_owned(),
        0 => format!("{findings} in {targets}"),
        count => format!("{findings} in {targets}, {count} without a verdict"),
    }
}

/// The output of a plugin whose state is `state`. At most 8191 bytes; what is left out is counted.
#[must_use]
pub fn nagios(state: MonitorState, headline: &str, digest: Digest, metrics: &[Metric]) -> String {
    let (notes, count) = digest.settled();
    let first = notes.first().map(|note| format!("; {}", note.text)).unwrap_or_default();
    let status = clip(&harmless(&format!("{headline}{first}")), STATUS_BYTES);
    let numbers: Vec<String> = metrics.iter().map(Metric::text).collect();
    let mut output = format!("STRADDLE {} - {status}", state.word());
    if !numbers.is_empty() {
        let _ = write!(output, " | {}", numbers.join(" "));
    }
    output.push('\n');
    let mut shown = 0;
    for note in &notes {
        let line = format!("[{}] {}\n", note.state.word(), harmless(&note.text));
        let last = shown + 1 == count;
        let room = OUTPUT_BYTES - if last { 0 } else { TAIL_BYTES };
        if output.len() + line.len() > room {
            break;
        }
        output += &line;
        shown += 1;
    }
    if shown < count {
        let more = count - shown;
        let _ = writeln!(output, "{more} more; --format table shows all");
    }
    output
}

/// The output of a plugin that could not do its work: `message` says what was tried.
#[must_use]
pub fn nagios_failure(message: &str) -> String {
    let line = crate::text::one_line(message.trim());
    nagios(MonitorState::Unknown, &line, Digest::default(), &[])
}

/// `text` without what ends the words of a plugin (a pipe) and without what Nagios forbids in
/// macros by default, since shells read them (`illegal_macro_output_chars`): each as a character
/// that looks alike, or as an escape.
fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.replace("->", "to").chars() {
        match character {
            '`' | '\'' => safe.push('\u{2019}'),
            '"' => safe.push('\u{201d}'),
            '<' => safe.push('('),
            '>' => safe.push(')'),
            '~' | '$' | '&' | '|' => safe.extend(character.escape_unicode()),
            _ => safe.push(character),
        }
    }
    safe
}
