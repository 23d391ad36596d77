//! Forecast of a run, before it does it: bytes, time, wear, impact.

use serde::Serialize;
use units::Source;
use units::prefix::Size;

use super::grid::{cell, flowing};
use crate::colored_line::NAME;
use crate::envelope::Envelope;
use crate::fsync::Forecast;
use crate::quantity_words::{count_of, share};
use crate::text_page::TextPage;
use crate::view_options::Look;

/// The schema's name and version.
pub const PLAN_SCHEMA: &str = "straddle.bench.plan/1";

/// Answer of `straddle bench --dry-run`: what would be done, and that nothing was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DryRun {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Place where the scratch file would be, or the device.
    pub place: String,
    /// The layers under it, the topmost first, each in a few words.
    pub layers: Vec<String>,
    /// The granule against which arms would be placed, in bytes; `null` when not known.
    pub granule_bytes: Option<u64>,
    /// The address at which the first granule starts, in bytes; `null` when not known.
    pub granule_origin_bytes: Option<u64>,
    /// Source; `null` when nobody says so.
    pub granule_source: Option<Source>,
    /// The length of the scratch file in bytes; 0 where there is none.
    pub scratch_bytes: u64,
    /// Number of bytes written at most, the scratch file included.
    pub written_bytes_max: u64,
    /// Duration at most, in seconds.
    pub seconds_max: u64,
    /// Comparisons that would be made, in order.
    pub experiments: Vec<String>,
    /// Share of the drive's life: one sentence, see [`wear`].
    pub wear: String,
    /// Impact on others of the machine: a sentence each.
    pub impact: Vec<String>,
}

/// Returns what writing so many bytes means for a drive, in one sentence: their share of its
/// capacity. The endurance rating is unknown, and said so.
#[must_use]
pub fn wear(written_bytes_max: u64, drive_bytes: Option<u64>) -> String {
    if written_bytes_max == 0 {
        return "nothing is written".to_owned();
    }
    let written = format!("writes at most {}", Size(written_bytes_max));
    let rated = "drive endurance rating unknown";
    match drive_bytes {
        Some(bytes) if bytes > 0 => {
            let share = share(written_bytes_max, bytes);
            format!("{written}, {share} of the drive's {}; {rated}", Size(bytes))
        }
        _ => format!("{written}; drive capacity unknown; {rated}"),
    }
}

/// The document as JSON, with its line feed.
#[must_use]
pub fn dry_run_json(plan: &DryRun) -> String {
    crate::json::ended(serde_json::to_string_pretty(plan))
}

/// Returns what would be done as text, with its last line feed; the last line says that nothing
/// was.
#[must_use]
pub fn dry_run_text(plan: &DryRun, look: &Look) -> String {
    let mut page = TextPage::new(look);
    let words = page.words;
    let mut on = vec![(NAME, words.text(&plan.place))];
    on.extend(plan.layers.iter().map(|layer| cell(format!("on {}", words.text(layer)))));
    flowing(on, page.limit, &mut page.text);
    let granule = words.granule(plan.granule_bytes, plan.granule_origin_bytes, plan.granule_source);
    page.labeled("granule", vec![cell(granule)]);
    page.forecast(&Forecast {
        scratch_bytes: plan.scratch_bytes,
        written_bytes_max: plan.written_bytes_max,
        seconds_max: plan.seconds_max,
        wear: plan.wear.clone(),
        impact: plan.impact.clone(),
    });
    let heading = format!("{}:", count_of(plan.experiments.len(), "experiment"));
    page.planned(&heading, &plan.experiments, &plan.envelope.notes);
    page.text
}
