//! Results of `straddle watch`: the contract behind its `--json`, the table for people, and metrics
//! for a monitor.
//!
//! Every number carries its unit in its key. Unknown is `null` beside a reason. Adding fields is
//! compatible; anything else raises the number in [`WATCH_SCHEMA`].

use measure::live::{Consequence, OffWriter, WriterIdentity};
use serde::{Deserialize, Serialize};
use units::Source;

use crate::check_document::Fact;
use crate::envelope::Envelope;

mod cause_words;
mod plugin;
mod prometheus;
mod rate;
mod table;
mod writer_rows;

pub use plugin::{OffLimits, watch_plugin};
pub use prometheus::textfile;
pub use table::table;

/// The schema's name and version.
pub const WATCH_SCHEMA: &str = "straddle.watch/1";

/// Work of the machine on some devices, and how it fits their granules.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watch {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Time that was watched, in nanoseconds.
    pub watched_ns: u64,
    /// Those whose writes off the granule are counted.
    pub scope: WatchScope,
    /// The devices, in the order in which they were named.
    pub devices: Vec<WatchedDevice>,
    /// Calls that sync, of the process that was named; `null` where none was.
    pub syncs: Option<SyncCalls>,
}

/// Those whose operations are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "whose", rename_all = "kebab-case")]
pub enum WatchScope {
    /// Everything on this machine.
    Machine,
    /// A process, its threads, and the processes that it started.
    Process {
        /// Its number.
        process_id: u32,
        /// Its name, harmless to print.
        name: String,
    },
    /// A control group and those in it.
    Group {
        /// Its path, harmless to print.
        path: String,
    },
}

/// A device that was watched.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedDevice {
    /// The kernel's name; harmless to print.
    pub name: String,
    /// Kind of device, in a few words; harmless to print.
    pub title: String,
    /// The granule that verdicts use, in bytes; `null` where it is not known.
    pub granule_bytes: Option<u64>,
    /// Address at which the first granule starts, in bytes.
    pub granule_origin_bytes: u64,
    /// Origin of the granule.
    pub granule_source: Option<Source>,
    /// Kind of work that counts are of.
    pub counted: CountedWork,
    /// Operations on the device and on the layers above it, the device first.
    pub traffic: Vec<LayerTraffic>,
    /// Operations off multiples of some sizes, the smallest first; empty where none were counted.
    pub off: Vec<OffCount>,
    /// Writes by their lengths, the shortest first; empty where none were counted.
    pub write_lengths: Vec<LengthCount>,
    /// Why neither was counted; `null` where they were.
    pub off_unknown: Option<String>,
    /// Writers off the granule, those with the most writes first, from a sample.
    pub writers: Vec<OffWriter<WriterIdentity>>,
    /// Why they are not known; `null` where a sample was taken.
    pub writers_unknown: Option<String>,
    /// The sample; `null` where none was taken.
    pub sample: Option<OffSample>,
    /// Granules that the drive has to read first because of writes off the granule: the count of
    /// those writes by what the sampled ones cost; `null` where there is no sample.
    pub extra_reads: Option<u64>,
    /// Causes that can be named, that of the most writes first.
    pub consequences: Vec<Consequence>,
    /// The drive's own word since the watch began, from its pages: rates in bytes a second, write
    /// amplification, years left, writes off its own unit, and the unit that fits them. Empty where
    /// it has none.
    pub wear: Vec<Fact>,
}

/// Kind of work that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountedWork {
    /// Requests that go to the drive, after merging.
    Requests,
    /// Bios: pieces of work as they are handed in, before merging.
    Bios,
}

units::words!(CountedWork);

/// Operations on one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerTraffic {
    /// The kernel's name of the layer's device; harmless to print.
    pub name: String,
    /// Kind of layer, in a word: `disk`, `partition`, `loop`.
    pub kind: String,
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed, by the kernel's own counters: flushes without data are among them.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Flushes completed; `null` where the kernel does not count them (before Linux 5.5).
    pub flushes: Option<u64>,
    /// Layers that lie right on this one and are listed.
    pub above: Vec<String>,
    /// Bytes written here for each byte that was written to the layers right above; `null` where
    /// none are listed, nothing was written to them, or one is a loop device over a file: other
    /// files of this device are written too.
    pub written_per_byte_above: Option<f64>,
}

/// Writes of at most some length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LengthCount {
    /// The length in bytes.
    pub up_to_bytes: u64,
    /// Writes of at most that length.
    pub writes: u64,
    /// All writes in the same time; flushes without data are none.
    pub all_writes: u64,
    /// The time in which they were counted, in nanoseconds; `null` where that was always.
    pub taken_ns: Option<u64>,
}

/// Operations that start or end off multiples of a size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffCount {
    /// The size in bytes.
    pub unit_bytes: u64,
    /// True for the granule that verdicts use.
    pub is_granule: bool,
    /// Writes off it.
    pub writes: u64,
    /// Reads off it.
    pub reads: u64,
    /// All writes that were counted in the same way, in the same time; flushes without data are
    /// none.
    pub all_writes: u64,
    /// All reads that were counted in the same way, in the same time.
    pub all_reads: u64,
    /// Time for which this size was counted, in nanoseconds; `null` where that was all the time, as
    /// it is for the granule. Other sizes rest while a device is busy.
    pub taken_ns: Option<u64>,
    /// Events that were lost; 0 where the kernel counted. `null` where it does not tell.
    pub lost: Option<u64>,
}

/// Sample of writes off the granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffSample {
    /// Number of writes in it.
    pub writes: u64,
    /// Time for which it was taken, in nanoseconds.
    pub taken_ns: u64,
    /// Events that found no room meanwhile; `null` where the kernel does not tell.
    pub lost: Option<u64>,
}

/// Calls that sync, of one process and those that it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncCalls {
    /// Number of each call.
    pub calls: Vec<SyncCall>,
    /// Why some were not counted; `null` where all were.
    pub unknown: Option<String>,
}

/// Number of calls of one system call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncCall {
    /// Name of the system call: `fdatasync`.
    pub name: String,
    /// Number of calls.
    pub calls: u64,
}

impl Watch {
    /// The whole document, with its last line feed.
    #[must_use]
    pub fn json(&self) -> String {
        crate::json::pretty(self)
    }

    /// The whole document on one line, with its line feed.
    #[must_use]
    pub fn json_line(&self) -> String {
        crate::json::line(self)
    }
}
