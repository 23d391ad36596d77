//! Whether a completed sync is real: what speaks for it, what against it, what would change that.

use durability::{Direction, Grade, Protection};
use serde::{Deserialize, Serialize};

/// How far a completed sync can be trusted, with the evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Honesty {
    /// Trust in a completed sync.
    pub grade: Grade,
    /// The grade as one sentence.
    pub sentence: String,
    /// What was seen, the weightiest first.
    pub evidence: Vec<Evidence>,
    /// What would change the grade: what to do, without a full stop, since most end with a command.
    pub would_change: Vec<String>,
    /// Flushes for each sync at every layer, the topmost first.
    pub layers: Vec<LayerFlushes>,
    /// What the drive says of itself, of several the one that has the worst to tell; `null` where
    /// there is none.
    pub drive: Option<DriveWord>,
    /// What was seen of a running process; `null` without `--pid`.
    pub process: Option<ProcessWord>,
}

/// One thing that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// A stable name: `barrier-off`, `no-flush`, `in-memory`, `implausible-time`.
    pub code: String,
    /// Which way it points.
    pub direction: Direction,
    /// What was seen, as a sentence.
    pub sentence: String,
    /// Who says so.
    pub source: String,
}

/// What one layer counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerFlushes {
    /// The layer's name: `sda`.
    pub name: String,
    /// What it is: `file system`, `partition`, `dm crypt`, `loop`, `drive`, `memory`.
    pub kind: String,
    /// Flushes completed while syncs were made; `null` where it does not count.
    pub flushes: Option<u64>,
    /// Writes completed meanwhile; `null` where it does not count.
    pub writes: Option<u64>,
    /// The syncs made meanwhile.
    pub syncs: u64,
    /// Flushes for each sync of bytes that were written again, the fewest of any quiet moment;
    /// `null` where it does not count.
    pub flushes_per_sync: Option<f64>,
    /// The same while a file grew; `null` as above.
    pub append_flushes_per_sync: Option<f64>,
    /// The same with nothing to write, which some file systems skip; `null` as above.
    pub empty_flushes_per_sync: Option<f64>,
    /// The kernel's `queue/write_cache`: `write back` or `write through`; `null` when not known.
    pub write_cache: Option<String>,
    /// True if the kernel uses forced unit access here; `null` when not known.
    pub forced_unit_access: Option<bool>,
}

/// What a drive says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveWord {
    /// Power-loss protection.
    pub power_loss_protection: Protection,
    /// Who says so, or why it is not known.
    pub power_loss_source: String,
    /// How much of its rated life is used, in percent (may be over 100); `null` when not known.
    pub life_used_percent: Option<u64>,
    /// Who says so, or why it is not known.
    pub life_source: String,
}

/// What was seen of a running process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessWord {
    /// Its number.
    pub pid: u64,
    /// Its name, harmless to print.
    pub name: String,
    /// What may keep its syncs from the kernel, a sentence each; empty where nothing was seen.
    pub suppressors: Vec<String>,
    /// What was looked at, a sentence each.
    pub looked_at: Vec<String>,
    /// What could not be looked at, and why, a sentence each; empty where nothing was left out.
    pub unknown: Vec<String>,
}
