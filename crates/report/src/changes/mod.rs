//! Changes between two looks: the contract behind `straddle check --watch --json`.
//!
//! Two looks at a target are compared layer by layer. A layer is the same one when its kind, its
//! name and the path of layers beneath it are the same. Nothing here reads anything: the earlier
//! look is a [`Baseline`], made from bytes that may be hostile.

mod baseline;
mod compare;
mod compared_values;
mod layer_matching;
mod view;

use serde::Serialize;

use crate::envelope::Envelope;
use crate::monitor_answer::MonitorAnswer;
use stack::{Severity, Verdict};

pub use baseline::{Baseline, ComparedTarget, check_parse};
pub use view::{changes_closing, changes_headline, changes_metrics, changes_tree};

/// The schema's name and version.
pub const CHANGES_SCHEMA: &str = "straddle.check.changes/1";

/// Everything that changed since the baseline.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The version of straddle that wrote the baseline.
    pub baseline_version: String,
    /// Targets that changed or were not judged; vanished ones last.
    pub targets: Vec<TargetChange>,
    /// Counts over all targets.
    pub summary: ChangeSummary,
}

/// Counts over all targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeSummary {
    /// Targets looked at now, and those that vanished.
    pub targets: u64,
    /// Targets without any change.
    pub unchanged: u64,
    /// Targets that the baseline does not have.
    pub appeared: u64,
    /// Targets that only the baseline has.
    pub vanished: u64,
    /// Targets of which something became worse.
    pub worse: u64,
    /// Targets of which something became better and nothing worse.
    pub better: u64,
    /// Targets that changed in something that is neither better nor worse, or lost content.
    pub changed: u64,
    /// Targets that were not judged, and of which no known part became worse.
    pub unknown: u64,
    /// Those among them that the baseline's look could not judge either.
    pub still_unknown: u64,
    /// Wall time of the whole run in nanoseconds.
    pub elapsed_ns: u64,
}

/// Direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// Only the later look has it.
    Appeared,
    /// Only the earlier look has it.
    Vanished,
    /// It was worse before.
    Better,
    /// It was better before.
    Worse,
    /// It is another value, which is neither.
    Changed,
    /// The later look could not judge it.
    Unknown,
}

units::words!(Trend);

/// Changes of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetChange {
    /// The target's name.
    pub target: String,
    /// Direction as a whole: worse where any part of it did.
    pub trend: Trend,
    /// Its verdict in the baseline; `null` where it is not there.
    pub verdict_before: Option<Verdict>,
    /// Its verdict now; `null` where it vanished.
    pub verdict_after: Option<Verdict>,
    /// True if it could be judged now.
    pub answered: bool,
    /// Why it was not judged, or what of it is gone; `null` otherwise.
    pub reason: Option<String>,
    /// Subject of the change.
    pub changes: Vec<Change>,
}

impl TargetChange {
    /// Returns whether neither look could judge the target, and nothing else of it changed.
    #[must_use]
    pub fn is_still_unknown(&self) -> bool {
        self.changes.is_empty() && self.verdict_before == Some(Verdict::Unknown)
    }

    /// Returns what it means where changes matter from `least` on; `None` for never. What became
    /// better never matters, nor does a finding that went with its content.
    #[must_use]
    pub fn answer(&self, least: Option<Severity>) -> MonitorAnswer {
        let is_over = |change: &Change| {
            change.trend == Trend::Better
                || (change.trend == Trend::Vanished && change.subject == Subject::Finding)
        };
        let matters = self.changes.iter().filter(|change| !is_over(change));
        let worst = matters.map(|change| change.severity).max();
        let found = worst.filter(|_| least.is_some() && worst >= least);
        MonitorAnswer { found, unopened: false, unknown: !self.answered }
    }
}

/// Subject of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A layer that appeared or vanished.
    Layer,
    /// The verdict on a layer or on the target.
    Verdict,
    /// A finding of a rule.
    Finding,
    /// A value of a layer.
    Fact,
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The layer's name behind the names of those beneath it: `sda/sda1`; `null` for the target.
    pub layer: Option<String>,
    /// Subject of the change.
    pub subject: Subject,
    /// The layer's kind, `verdict`, the finding's code (the earlier one where another of its
    /// subject took its place), or the fact's key with its unit.
    pub key: String,
    /// Direction of the change.
    pub trend: Trend,
    /// Severity: a finding as its rule says, anything else as info.
    pub severity: Severity,
    /// Title of the finding or the layer, for people; may be empty.
    pub title: String,
    /// Value before; `null` when it was not there.
    pub before: Option<SeenValue>,
    /// Value now; `null` when it is not there.
    pub after: Option<SeenValue>,
}

/// A value as one look saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenValue {
    /// The value; `null` when it is unknown.
    pub value: Option<String>,
    /// Place where it was learnt; `null` when unknown or when it was computed.
    pub source: Option<String>,
    /// Why it is unknown or what it follows from; `null` where there is nothing to say.
    pub reason: Option<String>,
}

impl ChangeSummary {
    /// Counts one target more: what changed of it, or `None` for nothing.
    pub fn add(&mut self, change: Option<&TargetChange>) {
        self.targets += 1;
        self.still_unknown += u64::from(change.is_some_and(TargetChange::is_still_unknown));
        let count = match change.map(|change| change.trend) {
            None => &mut self.unchanged,
            Some(Trend::Appeared) => &mut self.appeared,
            Some(Trend::Vanished) => &mut self.vanished,
            Some(Trend::Worse) => &mut self.worse,
            Some(Trend::Better) => &mut self.better,
            Some(Trend::Changed) => &mut self.changed,
            Some(Trend::Unknown) => &mut self.unknown,
        };
        *count += 1;
    }
}

/// The document as JSON with its line feed: indented, or on one line.
#[must_use]
pub fn changes_json(changes: &Changes, indented: bool) -> String {
    crate::json::ended(match indented {
        true => serde_json::to_string_pretty(changes),
        false => serde_json::to_string(changes),
    })
}
