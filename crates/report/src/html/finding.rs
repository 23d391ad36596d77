//! The rules that fired: what was seen, what it costs, how to put it right.

use maud::{Markup, html};

use super::elements::{Tone, chip, more, say};
use crate::check_document::{Finding, Target};
use stack::Severity;

/// The most findings of a target, and the most lines of one, that are shown.
const FINDINGS_MAX: usize = 60;
const LINES_MAX: usize = 12;

/// The findings of `target`, the worst first.
pub(super) fn findings(target: &Target) -> Markup {
    html! {
        @if target.findings.is_empty() {
            p { "No rule fired." }
        } @else {
            ol.findings {
                @for finding in target.findings.iter().take(FINDINGS_MAX) {
                    (one(target, finding))
                }
            }
            (more(target.findings.len().saturating_sub(FINDINGS_MAX), "findings"))
        }
    }
}

fn one(target: &Target, finding: &Finding) -> Markup {
    let layer = target.layers.iter().find(|layer| layer.id == finding.layer);
    html! {
        li {
            p {
                (chip(tone(finding.severity), finding.severity.word())) " "
                strong { (say(&finding.code)) } " " (say(&finding.title))
                @if let Some(layer) = layer { " " span.quiet { "on " (say(&layer.name)) } }
            }
            dl {
                @if let Some(cost) = finding.cost.as_ref().filter(|it| !it.sentence.is_empty()) {
                    div { dt { "Cost" } dd { (say(&cost.sentence)) } }
                }
                (lines("Fix", &finding.remedies, true))
                (lines("Seen", &finding.evidence, false))
            }
        }
    }
}

fn lines(label: &str, lines: &[String], typed: bool) -> Markup {
    html! {
        @if !lines.is_empty() {
            div {
                dt { (label) }
                @for line in lines.iter().take(LINES_MAX) {
                    dd { @if typed { code { (say(line)) } } @else { (say(line)) } }
                }
            }
        }
    }
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Info => Tone::Plain,
        Severity::Warning => Tone::Care,
        Severity::Error => Tone::Bad,
    }
}
