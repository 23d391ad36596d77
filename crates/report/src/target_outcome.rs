//! Outcome of one target, in a word, and where it first goes wrong.

use anstyle::Style;

use crate::check_document::{Finding, LayerReport, Summary, Target};
use crate::colored_line::{BAD, verdict_style};
use crate::quantity_words::ViewWords;
use crate::text::shorten_middle;
use stack::{Severity, Verdict};

/// A verdict, or none because the target could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetOutcome {
    Judged(Verdict),
    Refused,
}

/// All outcomes in the order that they are counted aloud.
pub(crate) const OUTCOMES: [TargetOutcome; 8] = [
    TargetOutcome::Judged(Verdict::Aligned),
    TargetOutcome::Judged(Verdict::Empty),
    TargetOutcome::Judged(Verdict::ChunkOnly),
    TargetOutcome::Judged(Verdict::Misaligned),
    TargetOutcome::Judged(Verdict::Undefined),
    TargetOutcome::Judged(Verdict::NotExpressible),
    TargetOutcome::Judged(Verdict::Unknown),
    TargetOutcome::Refused,
];

impl TargetOutcome {
    pub(crate) fn of(target: &Target) -> TargetOutcome {
        match target.refusal {
            Some(_) => TargetOutcome::Refused,
            None => TargetOutcome::Judged(target.verdict),
        }
    }

    pub(crate) fn count(self, summary: &Summary) -> u64 {
        match self {
            TargetOutcome::Judged(Verdict::Unknown) => {
                summary.verdicts.unknown.saturating_sub(summary.broken_targets)
            }
            TargetOutcome::Judged(verdict) => summary.verdicts.of(verdict),
            TargetOutcome::Refused => summary.broken_targets,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            TargetOutcome::Judged(verdict) => verdict.words(),
            TargetOutcome::Refused => "could not be opened",
        }
    }

    pub(crate) fn style(self) -> Style {
        match self {
            TargetOutcome::Judged(verdict) => verdict_style(verdict),
            TargetOutcome::Refused => BAD,
        }
    }
}

/// Returns whether a target belongs among the bad ones: it could not be judged, its verdict is
/// unknown, or it has a finding of severity warning or worse.
#[must_use]
pub fn is_bad(target: &Target) -> bool {
    target.refusal.is_some()
        || target.verdict == Verdict::Unknown
        || target.findings.iter().any(|finding| finding.severity >= Severity::Warning)
}

/// The layer that first makes things bad.
pub(crate) fn first_bad(target: &Target) -> Option<&LayerReport> {
    target.layers.iter().find(|layer| layer.first_bad)
}

/// The finding that matters most: the first of the worst severity.
pub(crate) fn worst(target: &Target) -> Option<&Finding> {
    let severity = target.findings.iter().map(|finding| finding.severity).max()?;
    target.findings.iter().find(|finding| finding.severity == severity)
}

/// The finding that says why the verdict on the target is what it is: the worst one of alignment on
/// the layer that first goes wrong; `None` where there is none.
pub(crate) fn deciding(target: &Target) -> Option<&Finding> {
    let layer = first_bad(target)?.id;
    let is_about = |finding: &&Finding| {
        let code = &*finding.code;
        finding.layer == layer
            && (code.starts_with("ST1") || code.starts_with("ST2") || code == "ST501")
    };
    // The first of equals.
    target.findings.iter().filter(is_about).rev().max_by_key(|finding| finding.severity)
}

/// The findings that a row names: the one that decides its verdict, and the worst where that is of
/// a higher severity.
pub(crate) fn named(target: &Target) -> Vec<&Finding> {
    let (worst, deciding) = (worst(target), deciding(target));
    let is_worse = |worst: &&Finding| deciding.is_none_or(|it| it.severity < worst.severity);
    deciding.into_iter().chain(worst.filter(is_worse)).collect()
}

/// ` by 1.5 KiB at sda1`: by how much it first goes wrong, and in which layer.
pub(crate) fn place(layer: &LayerReport, words: ViewWords<'_>) -> String {
    let name = shorten_middle(&words.text(&layer.name), 40, words.glyphs().ellipsis);
    match &layer.misalignment {
        Some(by) => format!("{} at {name}", words.distance(layer, by)),
        None => format!(" at {name}"),
    }
}
