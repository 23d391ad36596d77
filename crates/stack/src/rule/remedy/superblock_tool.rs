//! Tools that write the first superblock of a file system again from a copy.
//!
//! FAT's and exFAT's checkers refuse a volume without a boot sector, so that is copied.

use std::fmt;

use format::lost_table::SuperblockCopy;

/// A tool, and where the copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rule) enum SuperblockTool {
    /// The number and the size of the block that holds the copy.
    Ext(u64, u64),
    /// It searches for a copy itself.
    Xfs,
    /// The first copy.
    Btrfs,
    /// It takes the last sector of the volume.
    Ntfs,
    /// Bytes from the copy to it, and as many from the start.
    BootSectors(u64, u64),
}

impl SuperblockTool {
    /// The tool for the file system `kind`, which starts with its disk.
    pub(super) fn of(kind: &str, copy: SuperblockCopy) -> Option<SuperblockTool> {
        let at = copy.at_bytes;
        match (kind, copy.block_bytes) {
            (kind, Some(block)) if kind.starts_with("ext") && block > 0 => {
                Some(SuperblockTool::Ext(at.div_euclid(block), block))
            }
            ("xfs", _) => Some(SuperblockTool::Xfs),
            ("btrfs", _) if at == 64 << 20 => Some(SuperblockTool::Btrfs),
            ("ntfs", _) => Some(SuperblockTool::Ntfs),
            // The copy is 6 sectors from the start, and is one sector; of exFAT both are 12.
            ("vfat", _) => Some(SuperblockTool::BootSectors(at, at.div_euclid(6))),
            ("exfat", _) => Some(SuperblockTool::BootSectors(at, at)),
            _ => None,
        }
    }

    /// Writes the command for the file `disk`, of which `copy` is one.
    pub(super) fn write(self, f: &mut fmt::Formatter<'_>, disk: &str, copy: &str) -> fmt::Result {
        match self {
            SuperblockTool::Ext(block, bytes) => {
                write!(f, "e2fsck -f -y -b {block} -B {bytes} {copy}")
            }
            SuperblockTool::Xfs => write!(f, "xfs_repair -f {copy}"),
            SuperblockTool::Btrfs => write!(f, "btrfs-select-super -s 1 {copy}"),
            SuperblockTool::Ntfs => write!(f, "ntfsfix {copy}"),
            SuperblockTool::BootSectors(skip, bytes) => write!(
                f,
                "dd if={disk} of={copy} bs={bytes} skip={} count=1 conv=notrunc",
                skip.div_euclid(bytes.max(1))
            ),
        }
    }
}
