//! Results of `straddle probe`: the contract behind its `--json`, what is saved of it, and the view
//! for people.
//!
//! Every number carries its unit in its key. What was not identified is `null` with a reason.
//! Adding fields is compatible; anything else raises the number in [`PROBE_SCHEMA`].

mod kernel_version;
mod measured_drive;
mod next_step;
mod progress;
mod saved;
mod table;
mod tool_values;

use measure::Interval;
use measure::probe::{PanelKind, Reading, TurnPolicy, Unidentified};
use serde::{Deserialize, Serialize};
use units::Source;

use crate::envelope::Envelope;

pub use kernel_version::KernelVersion;
pub use measured_drive::{
    DriveClaims, DriveFormat, MEASURED_DRIVE_LICENSE, MEASURED_DRIVE_MARK, MEASURED_DRIVE_SCHEMA,
    MeasuredDrive, MeasuredUnit,
};
pub use next_step::next;
pub use progress::probing;
pub use saved::{
    GRANULE_BYTES_MAX, SAVED_BYTES_MAX, SAVED_SCHEMA, Saved, SavedFault, SavedGranule,
    SavedIdentity, saved_json, saved_parse,
};
pub use table::probe_table;
pub use tool_values::{Tool, ToolHost, tools};

/// The schema's name and version.
pub const PROBE_SCHEMA: &str = "straddle.probe/1";

/// Result of a run of `straddle probe`, or with `--dry-run` would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Probe {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The seed that decided all orders and places.
    pub seed: u64,
    /// Duration of all of it, in nanoseconds.
    pub elapsed_ns: u64,
    /// True if it only says what it would do.
    pub dry_run: bool,
    /// Target that was probed.
    pub target: ProbeTarget,
    /// Budget and use.
    pub spent: Spent,
    /// Findings.
    pub answers: Answers,
    /// Values that the kernel reports, and whether they are right.
    pub reported: Reported,
    /// Every comparison, in the order in which it was made.
    pub comparisons: Vec<ProbeComparison>,
    /// Values to type into tools, for what was found.
    pub tools: Vec<Tool>,
    /// Fate of the result.
    pub kept: ResultFate,
}

/// Target that was probed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeTarget {
    /// Path as it was given; harmless to print.
    pub path: String,
    /// The layers under it, the topmost first, each in a few words.
    pub layers: Vec<String>,
    /// The kernel's name of the drive; `null` where there are several, or it is not known.
    pub drive: Option<String>,
    /// The drive's model; `null` when not known.
    pub model: Option<String>,
    /// The version of the drive's firmware; `null` when not known.
    pub firmware: Option<String>,
    /// The drive's length in bytes; `null` when not known, and in results of older versions.
    #[serde(default)]
    pub capacity_bytes: Option<u64>,
    /// True if durable writes were made, and not reads alone.
    pub writes: bool,
    /// Length written or read, in bytes.
    pub length_bytes: u64,
}

/// Budget and use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// The most bytes that it may write, the scratch file included.
    pub bytes_max: u64,
    /// The bytes that it wrote.
    pub written_bytes: u64,
    /// The most seconds that it may take.
    pub seconds_max: u64,
    /// The operations that it made.
    pub operations: u64,
}

/// An answer, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeAnswer<T> {
    /// Value found; `null` where it is not identifiable.
    pub value: Option<T>,
    /// The probability that it is wrong, at most, summed over the comparisons that say it.
    pub alpha: Option<f64>,
    /// The comparisons that say it, in one sentence.
    pub said_by: Option<String>,
    /// Why there is none.
    pub why: Option<Unidentified>,
    /// The same in words.
    pub reason: Option<String>,
}

impl<T> ProbeAnswer<T> {
    /// Not tried, and why.
    #[must_use]
    pub fn not_tried(reason: &str) -> ProbeAnswer<T> {
        ProbeAnswer {
            value: None,
            alpha: None,
            said_by: None,
            why: Some(Unidentified::NotTried),
            reason: Some(reason.to_owned()),
        }
    }

    /// Not asked by the version that wrote the document.
    fn not_asked() -> ProbeAnswer<T> {
        ProbeAnswer::not_tried("the version of straddle that probed did not look for it")
    }
}

/// All answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answers {
    /// Place where a write must start to cost no read-modify-write.
    pub alignment: ProbeAnswer<FoundAlignment>,
    /// Of what its length must be a multiple.
    pub size: ProbeAnswer<FoundBytes>,
    /// The bytes that lie on one member of an array before the next one's come.
    pub chunk: ProbeAnswer<FoundBytes>,
    /// Number of members reads go round.
    pub members: ProbeAnswer<FoundCount>,
    /// Number of reads the drive, or each member of an array, has at once.
    #[serde(default = "ProbeAnswer::<FoundDepth>::not_asked")]
    pub depth: ProbeAnswer<FoundDepth>,
    /// Duration of a turn of the platter.
    pub turn: ProbeAnswer<FoundTurn>,
    /// Number of turns a misaligned write takes.
    pub turns: ProbeAnswer<FoundTurns>,
}

impl Answers {
    /// None, for the same reason.
    #[must_use]
    pub fn not_tried(reason: &str) -> Answers {
        Answers {
            alignment: ProbeAnswer::not_tried(reason),
            size: ProbeAnswer::not_tried(reason),
            chunk: ProbeAnswer::not_tried(reason),
            members: ProbeAnswer::not_tried(reason),
            depth: ProbeAnswer::not_tried(reason),
            turn: ProbeAnswer::not_tried(reason),
            turns: ProbeAnswer::not_tried(reason),
        }
    }

    /// Returns whether anything was found.
    #[must_use]
    pub fn found_any(&self) -> bool {
        self.alignment.value.is_some()
            || self.chunk.value.is_some()
            || self.depth.value.is_some()
            || self.turn.value.is_some()
    }
}

/// Place where writes must start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundAlignment {
    /// Every so many bytes.
    pub bytes: u64,
    /// The drive's address of the first such place, in bytes.
    pub origin_bytes: u64,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundBytes {
    /// In bytes.
    pub bytes: u64,
}

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundCount {
    /// Number of them.
    pub count: u64,
}

/// Number of reads in flight at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundDepth {
    /// Number of them.
    pub reads: u64,
    /// True if each member of an array has so many, and not the drive.
    pub is_of_member: bool,
}

/// Duration of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundTurn {
    /// The median, in nanoseconds.
    pub turn_ns: u64,
    /// The interval's lower bound, in nanoseconds.
    pub low_ns: u64,
    /// The interval's upper bound, in nanoseconds.
    pub high_ns: u64,
}

/// Number of turns a misaligned write takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundTurns {
    /// 2, 3 or 4.
    pub turns: u8,
    /// The interval's lower bound, in turns.
    pub low_turns: f64,
    /// The interval's upper bound, in turns.
    pub high_turns: f64,
    /// Policy of firmware that takes so many.
    pub policy: TurnPolicy,
}

/// Values that the kernel reports of the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reported {
    /// `logical_block_size`, in bytes.
    pub logical_sector_bytes: Option<u64>,
    /// `physical_block_size`, in bytes.
    pub physical_sector_bytes: Option<u64>,
    /// True if `physical_block_size` is another number than the granule that was found; `null`
    /// where none was.
    pub physical_sector_lies: Option<bool>,
    /// The granule that the stack would be judged by without what was found, in bytes.
    pub granule_bytes: Option<u64>,
    /// Source of that one.
    pub granule_source: Option<Source>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeComparison {
    /// Question that it belongs to.
    pub panel: PanelKind,
    /// Arm that was compared.
    pub arm: String,
    /// With what.
    pub against: String,
    /// Ratio of the times, the median of the blocks, with its interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The blocks that count.
    pub blocks: u64,
    /// Conclusion.
    pub reading: Reading,
}

/// Fate of the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultFate {
    /// The file in which it is saved, for `straddle check`; `null` where it is not.
    pub file: Option<String>,
    /// Why it is not saved.
    pub reason: Option<String>,
}

/// The document as JSON, with its line feed.
#[must_use]
pub fn probe_json(probe: &Probe) -> String {
    crate::json::pretty(probe)
}
