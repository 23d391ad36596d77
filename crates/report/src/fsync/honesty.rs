//! Verdict on completed syncs: what speaks for it, what against it, what would change that.

use durability::{Direction, Grade, Protection};
use serde::{Deserialize, Serialize};

/// Grade of completed syncs, with the evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Honesty {
    /// Grade of completed syncs.
    pub grade: Grade,
    /// The grade as one sentence.
    pub sentence: String,
    /// Evidence, the weightiest first.
    pub evidence: Vec<Evidence>,
    /// Changes that would change the grade, without a full stop, since most end with a command.
    pub would_change: Vec<String>,
    /// Flushes for each sync at every layer, the topmost first.
    pub layers: Vec<LayerFlushes>,
    /// Words of the drive about itself, of several the one that has the worst to tell; `null` where
    /// there is none.
    pub drive: Option<DriveWord>,
    /// Observations of a running process; `null` without `--pid`.
    pub process: Option<ProcessWord>,
}

/// Code of the evidence that a disk is virtual.
const VIRTUAL_DRIVE: &str = "virtual-drive";
/// Code of the evidence that a process writes where syncs were tried.
const WRITES_HERE: &str = "writes-here";

impl Honesty {
    /// Returns whether a disk is virtual: its host may drop what the guest has synced.
    #[must_use]
    pub fn is_in_guest(&self) -> bool {
        self.evidence.iter().any(|one| one.code == VIRTUAL_DRIVE)
    }

    /// Returns the grade in words: `looks durable`, `not durable`.
    #[must_use]
    pub fn words(&self) -> String {
        match self.grade {
            Grade::Consistent if self.is_in_guest() => "looks durable from inside this VM",
            Grade::Consistent => "looks durable",
            grade => return grade.word().replace('-', " "),
        }
        .to_owned()
    }
}

/// One thing that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// A stable name: `barrier-off`, `no-flush`, `in-memory`, `implausible-time`.
    pub code: String,
    /// Direction of it.
    pub direction: Direction,
    /// Observation in a sentence.
    pub sentence: String,
    /// Source.
    pub source: String,
}

impl Evidence {
    /// Returns its label for people: its direction, but of where a process writes, which says
    /// nothing of durability.
    #[must_use]
    pub(crate) fn label(&self) -> &'static str {
        match (self.direction, &*self.code) {
            (Direction::For, WRITES_HERE) => "applies to",
            (direction, _) => direction.label(),
        }
    }
}

/// Counters of one layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerFlushes {
    /// The layer's name: `sda`.
    pub name: String,
    /// Kind: `file system`, `partition`, `dm crypt`, `loop`, `drive`, `memory`.
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

/// Words of a drive about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveWord {
    /// Power-loss protection.
    pub power_loss_protection: Protection,
    /// Source, or why it is not known.
    pub power_loss_source: String,
    /// Used part of its rated life, in percent (may be over 100); `null` when not known.
    pub life_used_percent: Option<u64>,
    /// Source, or why it is not known.
    pub life_source: String,
}

/// Observations of a running process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessWord {
    /// Its number.
    pub pid: u64,
    /// Its name, harmless to print.
    pub name: String,
    /// Obstacles that may keep its syncs from the kernel, a sentence each; empty where nothing was
    /// seen.
    pub suppressors: Vec<String>,
    /// Things looked at, a sentence each.
    pub looked_at: Vec<String>,
    /// Things that could not be looked at, and why, a sentence each; empty where nothing was left
    /// out.
    pub unknown: Vec<String>,
}
