//! One level of a stack.

use device::FileIdentity;
use format::Problem;
use format::filesystem::FileSystem;
use format::image::Image;
use format::lost_table::LostVolume;
use format::member::bcache::Bcache;
use format::member::integrity::Integrity;
use format::member::luks::Luks;
use format::member::lvm::{LogicalVolume, PhysicalVolume};
use format::member::md::MdMember;
use format::named::Named;
use format::table::{Partition, PartitionTable};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use units::{Known, Source};

use crate::drive::KernelDrive;
use crate::kernel::DeviceLimits;
use crate::mapping::Mapping;

use crate::unit::Units;

/// Kind of a layer, with what was read of it.
#[derive(Clone, Debug)]
pub enum LayerKind {
    /// A block device: what the kernel calls a disk.
    Drive(Box<KernelDrive>),
    /// A regular file that holds a disk's bytes.
    ImageFile,
    /// The guest's disk within an image format.
    ImageFormat(Rc<Image>),
    /// A partition of the table on the layer below.
    Partition(Box<Partition>, PartitionTableInfo),
    /// A partition that only the kernel tells of: the disk's own table could not be read.
    KernelPartition,
    /// A device-mapper, bcache or other stacked device that only the kernel tells of.
    Mapped(Mapped),
    /// A file system that only the kernel tells of, by its type: it is mounted, and its bytes could
    /// not be read.
    Mounted(String),
    /// A member's data within an md array.
    MdMember(Box<MdMember>),
    /// An md array.
    MdArray(Box<MdMember>),
    /// An LVM physical volume; it maps whole.
    LvmPhysical(Box<PhysicalVolume>),
    /// An LVM logical volume.
    LvmLogical(Box<LogicalVolume>),
    /// The data of a LUKS container.
    Luks(Box<Luks>),
    /// The data of a bcache backing device, or a cache device.
    Bcache(Box<Bcache>),
    /// The data of a dm-integrity device.
    Integrity(Box<Integrity>),
    /// A file system.
    FileSystem(Box<FileSystem>),
    /// A swap area.
    Swap(Box<FileSystem>),
    /// A member of an array, or a partition table, that is named and not read.
    Named(&'static Named),
    /// A file of a mounted file system.
    File,
}

/// Kind of a layer, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LayerType {
    /// A block device: what the kernel calls a disk.
    Drive,
    /// A regular file that holds a disk's bytes.
    ImageFile,
    /// The guest's disk within an image format.
    ImageFormat,
    /// A partition.
    Partition,
    /// A member of an md array.
    MdMember,
    /// An md array.
    MdArray,
    /// An LVM physical volume.
    LvmPv,
    /// An LVM logical volume.
    LvmLv,
    /// A LUKS container.
    Luks,
    /// A bcache device.
    Bcache,
    /// A dm-integrity device.
    DmIntegrity,
    /// Another device of device-mapper.
    Dm,
    /// Several paths to one device.
    Multipath,
    /// A loop device.
    Loop,
    /// A device of a kind that is not known here.
    Device,
    /// A file system.
    FileSystem,
    /// A swap area.
    Swap,
    /// A member of an array, or a partition table, that is named and not read.
    Unread,
    /// A file of a mounted file system.
    File,
}

units::words!(LayerType);

/// Facts of a disk on which nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Nothing is on it yet: why that is believed.
    Empty(String),
    /// Something may be on it: why it is not known.
    Unknown(String),
    /// Volumes are on it, and no partition table lists them.
    Lost(Vec<LostVolume>),
}

/// Place where an image's file lies on its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// Its layers, the uppermost first: `ext4 on sda1 on sda`; or why that is not known.
    pub on: Result<String, String>,
    /// By how much it is off a granule beneath, in a sentence; `None` where it is on.
    pub off: Option<String>,
}

/// Kind of a stacked device, as far as the kernel tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// That of the layer that its bytes would show, where known.
    pub kind: LayerType,
    /// Function of the device, in a few words: `crypt`, `linear`, `thin`.
    pub what: String,
}

/// Facts of its table that a partition needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionTableInfo {
    /// The table's kind.
    pub kind: format::table::TableKind,
    /// The sector in which it counts.
    pub sector: units::SectorSize,
}

impl LayerKind {
    /// Returns what it is, in a word.
    #[must_use]
    pub fn kind(&self) -> LayerType {
        match self {
            LayerKind::Drive(_) => LayerType::Drive,
            LayerKind::ImageFile => LayerType::ImageFile,
            LayerKind::ImageFormat(_) => LayerType::ImageFormat,
            LayerKind::Partition(..) | LayerKind::KernelPartition => LayerType::Partition,
            LayerKind::Mapped(mapped) => mapped.kind,
            LayerKind::MdMember(_) => LayerType::MdMember,
            LayerKind::MdArray(_) => LayerType::MdArray,
            LayerKind::LvmPhysical(_) => LayerType::LvmPv,
            LayerKind::LvmLogical(_) => LayerType::LvmLv,
            LayerKind::Luks(_) => LayerType::Luks,
            LayerKind::Bcache(_) => LayerType::Bcache,
            LayerKind::Integrity(_) => LayerType::DmIntegrity,
            LayerKind::FileSystem(_) | LayerKind::Mounted(_) => LayerType::FileSystem,
            LayerKind::Swap(_) => LayerType::Swap,
            LayerKind::Named(_) => LayerType::Unread,
            LayerKind::File => LayerType::File,
        }
    }

    /// The word for it in JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.kind().word()
    }
}

/// One level of a stack.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its kind.
    pub kind: LayerKind,
    /// Its name, as short as users know it; harmless to print.
    pub name: String,
    /// Its length in bytes.
    pub length_bytes: Known<u64>,
    /// Place where what is known of it comes from: its bytes, or the kernel.
    pub source: Source,
    /// The kernel's name of it where it is a block device: `sda1`, `md0`, `dm-3`.
    pub device: Option<String>,
    /// The kernel's report of it where it is a stacked device.
    pub limits: Option<Box<DeviceLimits>>,
    /// Place where an image's file lies on its host, where that was asked.
    pub host: Option<HostPlace>,
    /// Facts of it where it is a disk that was read and on which nothing was found.
    pub bare: Option<Bare>,
    /// Place where it is mounted; harmless to print.
    pub mount_points: Vec<String>,
    /// True if it is a file system that is mounted so that it discards what is deleted (`discard`).
    pub discards: bool,
    /// The path by which it was given, where it is a file; harmless to print, not quoted.
    pub path: Option<String>,
    /// Identity of the file where it is one.
    pub file: Option<FileIdentity>,
    /// Its mapping to the layers below.
    pub mapping: Mapping,
    /// The units that it must fit, or that it brings.
    pub units: Units,
    /// True if the user said that the stripe on it has parity.
    pub told_parity: bool,
    /// Partition tables found on it; more than one when a BSD label stands beside another.
    pub tables: Vec<PartitionTable>,
    /// The problems of its bytes.
    pub problems: Vec<Problem>,
    /// Other signatures found on it that are not the ones in force: what, and why they are not.
    pub also: Vec<String>,
    /// Two signatures of which nobody can tell which one is in force.
    pub contest: Option<Contest>,
}

/// Two signatures on the same bytes: a table, by which the stack goes on, and a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contest {
    /// The reason why nobody can tell which one is in force.
    pub reason: String,
    /// Place where the member's data starts, where all of it has one place.
    pub data_at_bytes: Option<u64>,
}

impl Layer {
    /// A layer with nothing but these known.
    #[must_use]
    pub fn new(kind: LayerKind, name: String, length_bytes: Known<u64>, mapping: Mapping) -> Layer {
        Layer {
            kind,
            name,
            length_bytes,
            source: Source::OnDisk,
            device: None,
            limits: None,
            host: None,
            bare: None,
            mount_points: Vec::new(),
            discards: false,
            path: None,
            file: None,
            mapping,
            units: Units::new(),
            told_parity: false,
            tables: Vec::new(),
            problems: Vec::new(),
            also: Vec::new(),
            contest: None,
        }
    }

    /// The length in bytes, or `None` when it is unknown.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.length_bytes.value().copied()
    }

    /// Returns how many members of it were not given, beside those that an array has lost.
    #[must_use]
    pub fn not_given(&self) -> usize {
        let gone = match &self.kind {
            LayerKind::MdArray(array) => usize::try_from(array.gone).unwrap_or(usize::MAX),
            _ => 0,
        };
        self.mapping.missing().saturating_sub(gone)
    }
}
