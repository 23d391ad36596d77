//! The facts about a file system, whichever it is.

use units::{ByteRange, DiskText};

use super::read_only_kinds::is_read_only_kind;
use super::xfs_stripe::XfsPlaces;

/// Facts of a superblock that matter for layout. Everything is in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The name that `mount -t` and `blkid` use: `ext4`, `xfs`, `vfat`, `zfs_member`, `swap`.
    pub kind: &'static str,
    /// True if it is made whole and never written in place: ISO 9660, squashfs, a UDF that says so.
    pub is_read_only: bool,
    /// A variant that users know by name: `FAT16`, `2` for an XFS without CRCs and so on.
    pub variant: Option<String>,
    /// The volume's label.
    pub label: Option<DiskText>,
    /// The UUID or serial as `blkid` prints it.
    pub id: Option<String>,
    /// The unit in which it writes: block, UFS fragment; FAT, exFAT and NTFS cluster.
    pub block_bytes: Option<u64>,
    /// The unit in which it allocates, where that is several blocks: ext4 with bigalloc, OCFS2,
    /// UFS block.
    pub cluster_bytes: Option<u64>,
    /// Number of its clusters, where its type follows from that (FAT).
    pub clusters: Option<u64>,
    /// The smallest unit it reads or writes, which must not be below the device's logical sector:
    /// XFS and btrfs sector size, FAT, exFAT and NTFS bytes per sector, 2^ashift.
    pub sector_bytes: Option<u64>,
    /// Its total size, when the superblock says.
    pub size_bytes: Option<u64>,
    /// Place where the area that its blocks or clusters count from starts, from the volume's start:
    /// 0 for most; the cluster heap for FAT and exFAT; 4 MiB for ZFS.
    pub data_offset_bytes: u64,
    /// Ranges of its journal or log, where that lies inside and its place is known.
    pub journal: Vec<ByteRange>,
    /// The RAID geometry that it was told.
    pub stripe: Option<FsStripe>,
    /// Place where an XFS keeps what a new stripe unit must fit.
    pub xfs: Option<XfsPlaces>,
    /// Place where it believes its partition starts on the disk (NTFS, FAT hidden sectors; exFAT
    /// partition offset), when it says so and that is not 0.
    pub partition_offset_bytes: Option<u64>,
    /// Its parts on other devices, or theirs in it.
    pub beside: Option<Beside>,
    /// Other fields worth showing, each a term of that file system and its value in the term's
    /// unit.
    pub details: Vec<(&'static str, String)>,
}

/// The names by which a file system and its parts on other devices know each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Its log is on another device, which has this UUID.
    LogOn(String),
    /// It is the log of those that name this UUID.
    LogOf(String),
    /// It is one of several devices that hold a file system.
    OneOf {
        /// Number of devices that hold it.
        of: u64,
        /// The file system's UUID.
        uuid: String,
        /// The device's number, which no other has.
        number: u64,
    },
}

/// RAID geometry as a file system keeps it, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsStripe {
    /// Chunk on one disk: ext4 stride, XFS sunit; 0 when only a width is set.
    pub unit_bytes: u64,
    /// All data disks: ext4 stripe width, XFS swidth; 0 when only a unit is set.
    pub width_bytes: u64,
}

impl FileSystem {
    /// A file system of `kind` of which nothing is known yet.
    #[must_use]
    pub fn named(kind: &'static str) -> FileSystem {
        FileSystem {
            kind,
            is_read_only: is_read_only_kind(kind),
            variant: None,
            label: None,
            id: None,
            block_bytes: None,
            cluster_bytes: None,
            clusters: None,
            sector_bytes: None,
            size_bytes: None,
            data_offset_bytes: 0,
            journal: Vec::new(),
            stripe: None,
            xfs: None,
            partition_offset_bytes: None,
            beside: None,
            details: Vec::new(),
        }
    }

    /// The unit in which it allocates: cluster, or block where it has none.
    #[must_use]
    pub fn allocated_bytes(&self) -> Option<u64> {
        self.cluster_bytes.or(self.block_bytes)
    }

    /// A file system of `kind` that reads, writes and allocates blocks of `block_bytes`.
    #[must_use]
    pub fn of_blocks(kind: &'static str, block_bytes: u64) -> FileSystem {
        let block_bytes = Some(block_bytes);
        FileSystem { block_bytes, sector_bytes: block_bytes, ..FileSystem::named(kind) }
    }
}
