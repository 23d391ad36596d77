//! File systems and swap: what they are called, their block size, and where their data lies.

use device::Disk;

use crate::Parsed;
use crate::heads::Heads;

mod apple;
mod bcachefs;
pub mod btrfs;
mod exfat;
mod ext;
mod external_devices;
mod f2fs;
mod facts;
mod fat;
mod field;
mod found;
mod gfs_ocfs2;
#[cfg(test)]
mod hostile;
mod iso9660;
mod jfs;
mod journal;
mod minix;
mod named;
mod nilfs2;
mod ntfs;
mod nvlist;
mod read_only_kinds;
mod reiserfs;
mod squashfs_erofs;
mod swap;
mod udf;
mod ufs;
mod volume_end;
mod xfs;
mod xfs_log;
mod xfs_stripe;
mod zfs;

pub(crate) use bcachefs::is_on as is_bcachefs;
pub use external_devices::{Companion, companions};
pub use facts::{Beside, FileSystem, FsStripe};
pub use read_only_kinds::is_read_only_kind;
pub use volume_end::{VolumeEnd, volume_end};
pub use xfs::REALTIME as XFS_REALTIME;
pub use xfs_stripe::XfsPlaces;

/// A reader: returns the file system that it finds on a volume.
pub(crate) type Reader = fn(&Heads<'_>) -> Option<Parsed<FileSystem>>;

/// The readers of what most disks hold, the likeliest first; each one's fuzz target has its name.
pub(crate) const COMMON: [(&str, Reader); 8] = [
    ("ext", ext::read),
    ("xfs", xfs::read),
    ("btrfs", btrfs::superblock::read),
    ("ntfs", ntfs::read),
    ("fat", fat::read),
    ("exfat", exfat::read),
    ("f2fs", f2fs::read),
    ("swap", swap::read),
];

/// The readers of what is met less often, much of it known by name only.
pub(crate) const RARE: [Reader; 18] = [
    zfs::read,
    udf::read,
    iso9660::read,
    squashfs_erofs::squashfs,
    squashfs_erofs::erofs,
    jfs::read,
    reiserfs::read,
    squashfs_erofs::cramfs,
    squashfs_erofs::romfs,
    nilfs2::read,
    apple::apfs,
    apple::hfs,
    ufs::read,
    minix::read,
    gfs_ocfs2::gfs,
    gfs_ocfs2::ocfs2,
    bcachefs::read,
    named::read,
];

/// Every file system and swap area whose signature is on `disk`, the likeliest first. More than one
/// means that an older one was not wiped, or that a hybrid (an ISO with a FAT) was meant.
#[must_use]
pub fn read(disk: &dyn Disk) -> Vec<Parsed<FileSystem>> {
    let heads = Heads::new(disk);
    let readers = COMMON.iter().map(|(_, read)| read).chain(&RARE);
    readers.filter_map(|read| read(&heads)).collect()
}
