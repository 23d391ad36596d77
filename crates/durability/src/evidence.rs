//! Evidence about a path on which syncs complete: its layers, their counts, times. The process that
//! syncs is in `process_evidence.rs`.

use serde::{Deserialize, Serialize};
use units::Known;

use super::process_evidence::{Here, Process};

/// All that was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The directory that syncs were tried in, harmless to print.
    pub directory: String,
    /// The layers, from the file system down; each names those that it lies on.
    pub layers: Vec<PathLayer>,
    /// Times of our own syncs; empty where none were made.
    pub times: Times,
    /// Why not all of them could be made, or none; `None` where all were.
    pub untried: Option<Untried>,
    /// Facts about the process that asks, and so about all that it starts.
    pub here: Here,
    /// Facts about the process that was asked about; `None` when none was.
    pub process: Option<Process>,
}

/// Why syncs were not made that were to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untried {
    /// The attempt, its object and the kernel's error text.
    pub reason: String,
    /// True if it was lack of room: the file system is full, or a quota is reached.
    pub has_no_room: bool,
    /// Advice, where there is any.
    pub advice: Option<String>,
}

/// One level of the path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathLayer {
    /// Its name, harmless to print: `ext4`, `dm-0`, `vda`.
    pub name: String,
    /// Kind of the layer.
    pub kind: SyncLayerKind,
    /// The layers that it lies on, as places in [`Evidence::layers`], all after its own.
    pub below: Vec<usize>,
    /// True if the kernel takes its cache to be volatile and sends flushes, from
    /// `queue/write_cache`.
    pub write_back: Known<bool>,
    /// True if the kernel uses forced unit access, from `queue/fua`.
    pub forced_unit_access: Known<bool>,
    /// Its counts while syncs were made; `Err` says why it counts no flushes.
    pub counted: Result<LayerCounts, String>,
}

/// Kind of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncLayerKind {
    /// A file system on block devices, or on another file system: an overlay on that of its upper
    /// directory.
    FileSystem {
        /// The kernel's word: `ext4`.
        kind: String,
        /// The options of its mount, as the kernel shows them.
        options: Vec<String>,
        /// The mount point, harmless to print.
        mount_point: String,
    },
    /// Memory: `tmpfs`, `zram`, `ram disk`.
    Memory(String),
    /// Something that hides what is below: `fuse.sshfs`, `nfs4`, an overlay whose upper directory
    /// is not seen; with the options of its mount.
    Opaque {
        /// The kernel's word.
        kind: String,
        /// The options of its mount.
        options: Vec<String>,
        /// Why what is below could not be followed; empty where nothing of its kind can be.
        reason: String,
    },
    /// A file, behind a loop device.
    File,
    /// A loop device; whether it passes the page cache by, where that is known.
    Loop(Option<bool>),
    /// A partition of a device.
    Partition,
    /// Another device on devices: `md raid1`, `dm crypt`.
    Mapped(String),
    /// A drive as far as this machine sees.
    Drive(Box<DriveWord>),
    /// Unknown; the text says why.
    Lost(String),
}

/// Reports of a drive about itself, and its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveWord {
    /// True if it is one that another machine's software makes up: virtio, Xen, Hyper-V.
    pub is_virtual: bool,
    /// Its medium, by its own word; a virtual disk and a bridge tell the kernel anything.
    pub medium: Medium,
    /// True if it has a write cache that loses its content with power, by its own word.
    pub volatile_cache: Known<bool>,
    /// Its power-loss protection.
    pub protection: Protection,
    /// Why that is so: which page says it, or why it is not known.
    pub protection_source: String,
    /// The life used by the maker's estimate, in percent; it may be over 100.
    pub life_used_percent: Known<u8>,
    /// Its warnings, beside its protection.
    pub warnings: Vec<Warning>,
}

/// A warning in a drive's own health log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The fault: `its media take no more writes`.
    pub says: &'static str,
    /// The field that says so.
    pub source: &'static str,
    /// Advice.
    pub change: &'static str,
}

/// A drive's medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// It turns, so often a minute.
    Rotating(u16),
    /// Flash, or other memory that stays.
    Solid,
    /// It does not say.
    Unknown,
}

/// Ability of a drive to save its cache when power fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Its own test went well.
    Good,
    /// Its own test failed.
    Failed,
    /// Nothing says so.
    #[default]
    Unknown,
}

units::words!(Protection);

/// Counts of a layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerCounts {
    /// While bytes that were there were written again and synced.
    pub overwrites: Vec<CountedWindow>,
    /// While a file grew and was synced.
    pub appends: Vec<CountedWindow>,
    /// While a file with nothing to write was synced.
    pub empty: Vec<CountedWindow>,
}

/// Counts of a layer while some syncs were made, one after the other, and just before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountedWindow {
    /// The syncs.
    pub syncs: u64,
    /// Flushes completed meanwhile, others' included.
    pub flushes: u64,
    /// Writes completed meanwhile, others' included.
    pub writes: u64,
    /// Flushes completed in a time as long before, when no sync of ours was made: others'.
    pub idle_flushes: u64,
}

/// Times of calls, in nanoseconds. Each list is in order of time taken, but for the pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Bytes that were there written again, and fdatasync.
    pub overwrite: Vec<u64>,
    /// A file made longer, and fdatasync.
    pub append: Vec<u64>,
    /// fsync with nothing to write.
    pub empty: Vec<u64>,
    /// A write without any sync.
    pub write: Vec<u64>,
    /// The same bytes written again by two methods, one right after the other, either first by
    /// turns: with fdatasync, and by a write that is durable itself (`RWF_DSYNC`).
    pub pairs: Vec<(u64, u64)>,
}

impl Times {
    /// Returns how many syncs were made.
    #[must_use]
    pub fn syncs(&self) -> usize {
        let alone = self.overwrite.len() + self.append.len() + self.empty.len();
        alone + 2 * self.pairs.len()
    }
}

impl Evidence {
    /// The layers that lie on nothing.
    pub(crate) fn bottoms(&self) -> impl Iterator<Item = &PathLayer> {
        self.layers.iter().filter(|layer| layer.below.is_empty())
    }

    /// Everything under the layer at `place`, itself left out, each once.
    #[must_use]
    pub fn under(&self, place: usize) -> Vec<&PathLayer> {
        let mut wanted = vec![false; self.layers.len()];
        let below = |place: usize| self.layers.get(place).into_iter().flat_map(|it| &it.below);
        let mut ahead: Vec<usize> = below(place).copied().collect();
        while let Some(next) = ahead.pop() {
            let Some(seen) = wanted.get_mut(next) else { continue };
            if !std::mem::replace(seen, true) {
                ahead.extend(below(next));
            }
        }
        self.layers.iter().zip(wanted).filter_map(|(layer, is)| is.then_some(layer)).collect()
    }
}

/// The middle of a list in order; `None` of an empty one.
#[must_use]
pub fn median(times_ns: &[u64]) -> Option<u64> {
    times_ns.get(times_ns.len().div_euclid(2)).copied()
}
