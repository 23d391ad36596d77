//! Forecast of a run, said before anything is written: bytes, time, wear, impact.

use serde::{Deserialize, Serialize};

use super::FsyncTarget;
use crate::bench::grid::{cell, flowing, labeled};
use crate::colored_line::NAME;
use crate::envelope::Envelope;
use crate::quantity_words::{ViewWords, count, count_of};
use crate::text_page::TextPage;
use crate::view_options::Look;

/// The schema's name and version of the dry run.
pub const FSYNC_PLAN_SCHEMA: &str = "straddle.fsync.plan/1";

/// Bytes that a run writes at most, and the impact on others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forecast {
    /// Number of bytes the scratch files take meanwhile, at most.
    pub scratch_bytes: u64,
    /// Number of bytes written at most, the scratch files included.
    pub written_bytes_max: u64,
    /// Duration at most, in seconds.
    pub seconds_max: u64,
    /// Share of the drive's life: one sentence.
    pub wear: String,
    /// Impact on others of the machine: a sentence each.
    pub impact: Vec<String>,
}

/// Answer of `straddle fsync --dry-run`: what would be done, and that nothing was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FsyncPlan {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Target that would be measured.
    pub target: FsyncTarget,
    /// Forecast of what would be written, for how long, and what it means.
    pub forecast: Forecast,
    /// The rows that would be measured: group, label and path.
    pub rows: Vec<String>,
}

/// The document as JSON, with its line feed.
#[must_use]
pub fn fsync_plan_json(plan: &FsyncPlan) -> String {
    crate::json::pretty(plan)
}

/// Returns what would be done as text, with its last line feed; the last line says that nothing
/// was.
#[must_use]
pub fn fsync_plan_text(plan: &FsyncPlan, look: &Look) -> String {
    let mut page = TextPage::new(look);
    target(&plan.target, page.words, page.limit, &mut page.text);
    page.forecast(&plan.forecast);
    let rows = match plan.rows.len() {
        0 => "no row: only syncs of a small file are tried".to_owned(),
        many => format!("{}:", count_of(many, "row")),
    };
    page.planned(&rows, &plan.rows, &plan.envelope.notes);
    page.text
}

/// The line that says what is measured: the directory, and the layers under it.
pub(super) fn target(target: &FsyncTarget, words: ViewWords<'_>, limit: usize, page: &mut String) {
    let mut on = vec![(NAME, words.text(&target.path))];
    if target.layers.is_empty() && !target.filesystem.is_empty() {
        on.push(cell(format!("on {}", words.text(&target.filesystem))));
    }
    for layer in &target.layers {
        let title = if layer.title.is_empty() { &layer.kind } else { &layer.title };
        let (name, title) = (words.text(&layer.name), words.text(title));
        on.push(cell(match title.is_empty() || title == name {
            true => format!("on {name}"),
            false => format!("on {name}: {title}"),
        }));
    }
    flowing(on, limit, page);
    let options: Vec<String> = target.mount_options.iter().map(|one| words.text(one)).collect();
    if !options.is_empty() {
        let options = cell(format!("{} {}", words.text(&target.filesystem), options.join(",")));
        labeled("mounted", vec![options], limit, page);
    }
    if let Some(unknown) = &target.unknown {
        labeled("drive", vec![cell(words.text(unknown))], limit, page);
    }
}

impl TextPage<'_> {
    /// Writes what is going to be written, and what that means.
    pub(crate) fn forecast(&mut self, forecast: &Forecast) {
        let words = self.words;
        let size = |bytes: u64, none: &str, most: &str| match bytes {
            0 => none.to_owned(),
            bytes => words.size(bytes) + most,
        };
        let mut row = |label: &str, text: String| self.labeled(label, vec![cell(text)]);
        row("scratch", size(forecast.scratch_bytes, "none", ""));
        row("written", size(forecast.written_bytes_max, "nothing", " at most"));
        row("time", format!("{} at most", count(forecast.seconds_max, "second")));
        row("wear", words.text(&forecast.wear));
        for sentence in &forecast.impact {
            row("impact", words.text(sentence));
        }
    }
}
