//! The file systems that most disks hold.

use super::Reader;

mod btrfs;
mod exfat;
mod ext;
mod f2fs;
mod fat;
mod ntfs;
mod superblock;
mod swap;
mod xfs;

pub(super) use f2fs::devices as f2fs_devices;

/// The readers, the likeliest first.
pub(super) const READERS: &[Reader] = &[
    Reader { name: "ext", read: ext::read },
    Reader { name: "xfs", read: xfs::read },
    Reader { name: "btrfs", read: btrfs::read },
    Reader { name: "ntfs", read: ntfs::read },
    Reader { name: "fat", read: fat::read },
    Reader { name: "exfat", read: exfat::read },
    Reader { name: "f2fs", read: f2fs::read },
    Reader { name: "swap", read: swap::read },
];
