//! Workload of a measurement, for programs.

use serde::{Deserialize, Serialize};

/// Work that was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workload {
    /// Work that was done.
    pub action: OperationDirection,
    /// Bytes an operation; `null` for commands.
    pub operation_bytes: Option<u64>,
    /// Method that made it durable, after each `sync_every` writes.
    pub sync: Sync,
    /// Number of writes a sync follows; 1 where each does, 0 where none does.
    pub sync_every: u64,
    /// Operations in flight.
    pub depth: u64,
    /// In which order; `null` for commands.
    pub order: Option<WorkloadOrder>,
    /// True if the page cache was passed by.
    pub direct: bool,
    /// The command that ran once for each pair and arm; empty otherwise.
    pub command: Vec<String>,
}

/// Direction of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OperationDirection {
    /// They read.
    #[default]
    Read,
    /// They write.
    Write,
    /// Some read, some write.
    Mixed,
    /// A command runs.
    Command,
}

units::words!(OperationDirection);

/// Method that makes a write durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// Nothing.
    #[default]
    None,
    /// `fdatasync` after it.
    Fdatasync,
    /// `fsync` after it.
    Fsync,
    /// `RWF_DSYNC`, or a file opened with `O_DSYNC`.
    Dsync,
    /// `RWF_SYNC`, or a file opened with `O_SYNC`.
    Sync,
}

units::words!(Sync);

/// The order of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadOrder {
    /// Each takes the next granules.
    Cursor,
    /// At random.
    Random,
    /// That of the file that lists them.
    File,
}

units::words!(WorkloadOrder);
