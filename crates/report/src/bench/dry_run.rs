//! Forecast of a run, before it does it: bytes, time, wear, impact.

use serde::Serialize;
use units::Source;
use units::prefix::Size;

use super::figures::share;
use super::grid::{cell, flowing, labeled, prose, quiet};
use crate::envelope::Envelope;
use crate::line::NAME;
use crate::look::Look;
use crate::words::{ViewWords, count};

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
    let words = ViewWords { look };
    let limit = look.columns();
    let mut page = String::new();
    let mut on = vec![(NAME, words.text(&plan.place))];
    on.extend(plan.layers.iter().map(|layer| cell(format!("on {}", words.text(layer)))));
    flowing(on, limit, &mut page);
    let mut row = |label: &str, text: String| labeled(label, vec![cell(text)], limit, &mut page);
    row("granule", granule(plan, words));
    let scratch = match plan.scratch_bytes {
        0 => "none".to_owned(),
        bytes => words.size(bytes),
    };
    row("scratch", scratch);
    row(
        "written",
        match plan.written_bytes_max {
            0 => "nothing".to_owned(),
            bytes => format!("{} at most", words.size(bytes)),
        },
    );
    row("time", format!("{} at most", count(plan.seconds_max, "second")));
    row("wear", words.text(&plan.wear));
    for sentence in &plan.impact {
        row("impact", words.text(sentence));
    }
    let many = u64::try_from(plan.experiments.len()).unwrap_or(u64::MAX);
    prose(quiet(""), &format!("{}:", count(many, "experiment")), limit, &mut page);
    for (number, title) in (1_u64..).zip(&plan.experiments) {
        labeled(&format!("{number}"), vec![cell(words.text(title))], limit, &mut page);
    }
    for note in &plan.envelope.notes {
        prose((NAME, "note:".to_owned()), &words.text(note), limit, &mut page);
    }
    prose(quiet(""), "dry run: nothing was written, nothing was measured", limit, &mut page);
    page
}

/// `4 KiB from 512 B on (sysfs)`.
fn granule(plan: &DryRun, words: ViewWords<'_>) -> String {
    let Some(bytes) = plan.granule_bytes else { return "not known".to_owned() };
    let mut text = words.exact(bytes);
    match plan.granule_origin_bytes {
        None => text += " from an address that is not known",
        Some(0) => {}
        Some(origin) => text += &format!(" from {} on", words.exact(origin)),
    }
    if let Some(source) = plan.granule_source {
        text += &format!(" ({source})");
    }
    text
}
