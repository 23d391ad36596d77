//! Results of drive models: of themselves, of a workload, and of what was published. The contract
//! behind the `--json` of `straddle drive`, and the views for people.
//!
//! Every number carries its unit in its key. Adding fields is compatible; anything else raises the
//! number in the schema's name.

mod list;
mod measured;
mod published;
mod served;
mod simulated;
mod torture;

use ::drive::published::LineOrigin;
use serde::{Deserialize, Serialize};

pub use list::{drive_list, drive_text};
pub use measured::{MeasuredLine, measured_lines};
pub use published::published_table;
pub(crate) use published::{bound, digits, error, range};
pub use served::{SERVED_SCHEMA, Served, served_json, served_line, served_text};
pub use simulated::simulation_table;
pub(crate) use simulated::{
    CUT_COLUMNS, CUT_HEADS, CUT_MEANING, LEAF_HEADS, PART_HEADS, cut_row, drive_name, leaf_row,
    part_row, place, rmw,
};

pub(crate) use torture::recorded;
pub use torture::{
    FAILURES_MAX, TORTURE_SCHEMA, Torture, TortureCounts, TortureFailure, torture_json,
    torture_text,
};

use crate::envelope::Envelope;
use crate::json::pretty;

/// The schema's name and version of a list of drives.
pub const DRIVES_SCHEMA: &str = "straddle.drives/1";
/// The schema's name and version of a simulation.
pub const SIMULATION_SCHEMA: &str = "straddle.simulation/1";
/// The schema's name and version of published numbers beside the models'.
pub const PUBLISHED_SCHEMA: &str = "straddle.published/1";

/// Drives that can be simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drives {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The drives.
    pub drives: Vec<DriveText>,
}

/// A drive that can be simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveText {
    /// Name that people type.
    pub name: String,
    /// Kind.
    pub title: String,
    /// Kind of model: `hard-disk`.
    pub kind: String,
    /// The drive that each member of an array or controller is; not there for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Its values.
    pub values: Vec<DriveValue>,
}

/// A value of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveValue {
    /// Name.
    pub key: String,
    /// Text as people write it: `16 ms`.
    pub value: String,
    /// `known`, `unconfirmed`, `assumed`, `calibrated` or `fitted`.
    pub label: String,
    /// By which published numbers it was calibrated or fitted; empty otherwise.
    pub by: String,
    /// Source.
    pub source: String,
}

/// A workload on drives that are simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Simulation {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The seed that decided all places.
    pub seed: u64,
    /// Work in words.
    pub workload: String,
    /// Each drive and place, in the order in which they were named.
    pub arms: Vec<SimulatedArm>,
}

/// A workload on one drive at one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedArm {
    /// The profile's name.
    pub drive: String,
    /// Changed values of the profile: `rmw=batched`.
    pub changed: Vec<String>,
    /// Variant, of those of `--what-if` it is: `aligned`; `null` without it.
    pub variant: Option<String>,
    /// By how many bytes everything was shifted.
    pub shift_bytes: u64,
    /// The layer of a stack that it was done in, or `aligned` for the same elsewhere; `null`
    /// without a stack.
    pub layer: Option<String>,
    /// True if it is the same at an aligned place, with which a layer of a stack is compared; not
    /// there where it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// The byte of the drive that the workload's place begins at; where the layer lies on several,
    /// that of the layer that spreads it over them.
    pub start_bytes: u64,
    /// Number of operations that ended.
    pub operations: u64,
    /// Number of them that failed.
    pub failed: u64,
    /// When the last one ended, in nanoseconds of simulated time.
    pub elapsed_ns: u64,
    /// Operations in a second.
    pub operations_per_second: f64,
    /// The mean of what they took, in nanoseconds.
    pub mean_ns: u64,
    /// Half took no longer, in nanoseconds; as all quantiles within 0.8 %.
    pub p50_ns: u64,
    /// 90 of 100 took no longer, in nanoseconds.
    pub p90_ns: u64,
    /// 99 of 100 took no longer, in nanoseconds.
    pub p99_ns: u64,
    /// 999 of 1000 took no longer, in nanoseconds.
    #[serde(default)]
    pub p999_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Its operations by job, and by reads and writes, where there are several; else not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<SimulatedPart>>,
    /// The arm that it is compared with, counted from 0: the first; in a stack the same workload
    /// at an aligned place.
    pub against: u32,
    /// Ratio of this arm's time for an operation to that arm's; 1 for an arm that is compared with
    /// itself.
    pub ratio: f64,
    /// Work of the drive; of several, the sum.
    pub did: SimulatedWork,
    /// Work of each drive under a layer that lies on several; else `null`.
    pub leaves: Option<Vec<SimulatedLeaf>>,
    /// State left by power cuts; not there where nobody asked for cuts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<SimulatedCuts>,
}

/// Reads or writes of one job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedPart {
    /// Name of the job; empty without a job file.
    pub job: String,
    /// True for its reads, false for its writes.
    pub reads: bool,
    /// Number of operations that ended.
    pub operations: u64,
    /// Number of them that failed.
    pub failed: u64,
    /// Operations in a second of the whole run.
    pub operations_per_second: f64,
    /// The mean of what they took, in nanoseconds.
    pub mean_ns: u64,
    /// Half took no longer, in nanoseconds; as all quantiles within 0.8 %.
    pub p50_ns: u64,
    /// 99 of 100 took no longer, in nanoseconds.
    pub p99_ns: u64,
    /// 999 of 1000 took no longer, in nanoseconds.
    pub p999_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

/// Work of one of several drives under a layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedLeaf {
    /// The drive or image file that it stands for.
    pub name: String,
    /// Bytes that it was told to read, old data and old parity included.
    pub read_bytes: u64,
    /// Bytes that it was told to write, parity included.
    pub written_bytes: u64,
    /// Work.
    pub did: SimulatedWork,
}

/// Remains of a workload after power cuts: sums over all cuts. Each cut is of the same run, at
/// another instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedCuts {
    /// Number of power cuts.
    pub cuts: u64,
    /// Cuts behind which something that was promised was missing.
    pub broken_cuts: u64,
    /// Writes that were acknowledged when the power went.
    pub acknowledged_writes: u64,
    /// Those among them that nothing was left of, though no later write took their place.
    pub lost_writes: u64,
    /// Those of which a part was left.
    pub torn_writes: u64,
    /// Writes that were promised: flushed, forced, or acknowledged by a drive that says it has no
    /// cache that forgets.
    pub promised_writes: u64,
    /// Those among them that were lost or torn; all other losses the drive was free to.
    pub broken_writes: u64,
    /// Logical sectors that were promised, or that nobody wrote, and are not there.
    pub missing_sectors: u64,
    /// Logical sectors that cannot be read, since they shared a physical sector with a write under
    /// way; the host had not written them.
    pub neighbour_sectors: u64,
    /// Logical sectors that cannot be read, and were being written.
    pub unreadable_sectors: u64,
    /// Logical sectors of which the mirrors differed.
    pub mirror_sectors: u64,
    /// Logical sectors whose parity did not fit what stood beside them: the write hole.
    pub parity_sectors: u64,
}

/// Work of a simulated drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulatedWork {
    /// Commands that ended.
    pub commands: u64,
    /// Runs read from the medium.
    pub medium_reads: u64,
    /// Runs written to the medium.
    pub medium_writes: u64,
    /// Parts of granules that were read so that they could be written whole.
    pub rmw_reads: u64,
    /// Parity chunks for which something was read first.
    pub parity_rmws: u64,
    /// Movements of the arm.
    pub seeks: u64,
    /// Nanoseconds that the arm moved.
    pub seek_ns: u64,
    /// Nanoseconds that the head waited for a sector.
    pub wait_ns: u64,
    /// Nanoseconds that sectors passed under the head.
    pub transfer_ns: u64,
    /// Nanoseconds in which the medium was busy.
    pub busy_ns: u64,
    /// Programs, each of a page on every plane of a die.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// Published numbers beside the models'.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The seed that decided all places.
    pub seed: u64,
    /// Each number, in the order of the articles.
    pub lines: Vec<PublishedLine>,
}

/// A published number beside the model's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedLine {
    /// Place where it was published.
    pub article: String,
    /// Subject of the measurement.
    pub what: String,
    /// The unit of both numbers.
    pub unit: String,
    /// Published number; of a range the lower end.
    pub published: f64,
    /// The upper end of a range; else as `published`.
    pub published_max: f64,
    /// Number of the model.
    pub model: f64,
    /// By how many percent the model is above.
    pub error_percent: f64,
    /// By how many percent it may be off.
    pub bound_percent: f64,
    /// Origin of the model's number; a fitted one does not count.
    pub label: LineOrigin,
    /// The profile of the drive; `null` where none is needed.
    pub drive: Option<String>,
    /// True if it is within its bound.
    pub within: bool,
    /// Why it is not, or what else a reader should know.
    pub note: Option<String>,
    /// The number that was measured on a served drive, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<f64>,
    /// By how many percent that is above what was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_error_percent: Option<f64>,
}

/// Standing of a published number and the model's to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublishedStanding {
    /// The model was made to meet it.
    Fitted,
    /// The model is within the bound.
    Within,
    /// It is not, and the reason is told.
    Explained,
    /// It is not.
    Outside,
}

impl PublishedLine {
    pub(crate) fn standing(&self) -> PublishedStanding {
        match (self.label, self.within, &self.note) {
            (LineOrigin::Fitted, ..) => PublishedStanding::Fitted,
            (_, true, _) => PublishedStanding::Within,
            (_, false, Some(_)) => PublishedStanding::Explained,
            (_, false, None) => PublishedStanding::Outside,
        }
    }
}

/// A list of drives as JSON, with its line feed.
#[must_use]
pub fn drives_json(drives: &Drives) -> String {
    pretty(drives)
}

/// A simulation as JSON, with its line feed.
#[must_use]
pub fn simulation_json(simulation: &Simulation) -> String {
    pretty(simulation)
}

/// Published numbers as JSON, with their line feed.
#[must_use]
pub fn published_json(published: &Published) -> String {
    pretty(published)
}
