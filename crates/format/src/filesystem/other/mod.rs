//! File systems met less often, many of them by name only.

use super::Reader;

mod apple;
mod bcachefs;
mod cluster;
mod field;
#[cfg(test)]
mod hostile;
mod iso9660;
mod jfs;
mod minix;
mod named;
mod nilfs2;
mod nvlist;
mod packed;
mod reiserfs;
mod udf;
mod ufs;
mod xfs_log;
mod zfs;

pub(crate) use bcachefs::is_on as is_bcachefs;
pub(super) use jfs::log_device as jfs_log_device;
pub(super) use reiserfs::log_device as reiserfs_log_device;

/// The readers, the likeliest first.
pub(super) const READERS: &[Reader] = &[
    Reader { name: "zfs", read: zfs::read },
    Reader { name: "udf", read: udf::read },
    Reader { name: "iso9660", read: iso9660::read },
    Reader { name: "squashfs", read: packed::squashfs },
    Reader { name: "erofs", read: packed::erofs },
    Reader { name: "jfs", read: jfs::read },
    Reader { name: "reiserfs", read: reiserfs::read },
    Reader { name: "cramfs", read: packed::cramfs },
    Reader { name: "romfs", read: packed::romfs },
    Reader { name: "nilfs2", read: nilfs2::read },
    Reader { name: "apfs", read: apple::apfs },
    Reader { name: "hfs", read: apple::hfs },
    Reader { name: "ufs", read: ufs::read },
    Reader { name: "minix", read: minix::read },
    Reader { name: "gfs", read: cluster::gfs },
    Reader { name: "ocfs2", read: cluster::ocfs2 },
    Reader { name: "bcachefs", read: bcachefs::read },
    Reader { name: "others", read: named::read },
];
