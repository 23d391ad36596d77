//! Ends of volumes, kind by kind: a kind of which something is found from the end keeps its length.
//!
//! One idea: all that is not known to count from its start keeps its length too.

/// Content that a file system or volume has at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeEnd {
    /// Nothing: all of it is found from its start, so its end may move.
    Free,
    /// Something that is found from its end.
    Superblock,
    /// Not known.
    Unknown,
}

/// Kinds, what is at their end, and the evidence: what that is, and where it is written.
type Row = (&'static [&'static str], VolumeEnd, &'static str);

const fn free(kinds: &'static [&'static str], source: &'static str) -> Row {
    (kinds, VolumeEnd::Free, source)
}

const fn superblock(kinds: &'static [&'static str], source: &'static str) -> Row {
    (kinds, VolumeEnd::Superblock, source)
}

const fn unknown(kinds: &'static [&'static str], source: &'static str) -> Row {
    (kinds, VolumeEnd::Unknown, source)
}

/// All kinds. Paths without a project are of Linux.
const KINDS: &[Row] = &[
    free(&["ext2", "ext3", "ext4"], "copies start groups: fs/ext4/super.c"),
    free(&["jbd"], "one superblock, at the start: fs/jbd2/journal.c"),
    free(&["xfs"], "copies start allocation groups: fs/xfs/libxfs/xfs_ag.c"),
    free(&["xfs_external_log"], "its length is in the superblock: fs/xfs/xfs_log.c"),
    free(&["btrfs"], "copies at 64 MiB and 256 GiB: fs/btrfs/disk-io.h"),
    superblock(&["ntfs"], "a copy of the boot sector in the last sector: fs/ntfs3/super.c"),
    free(&["vfat"], "a copy of the boot sector at its start: Microsoft, FAT specification"),
    free(&["exfat"], "the backup boot region is sector 12: Microsoft, exFAT specification"),
    free(&["f2fs"], "both superblocks are at the start: fs/f2fs/super.c"),
    free(&["swap"], "one header, at the start: include/linux/swap.h"),
    unknown(&["swsuspend"], "an image of memory; it is not moved either"),
    superblock(&["zfs_member"], "two of four labels are at the end: OpenZFS, vdev_label.c"),
    superblock(&["udf"], "anchors in the last block and 256 before it: ECMA-167, fs/udf/super.c"),
    free(&["iso9660"], "descriptors from sector 16 on: ECMA-119, fs/isofs/inode.c"),
    free(&["squashfs", "squashfs3"], "offsets in the superblock: fs/squashfs/super.c"),
    free(&["erofs"], "one superblock, at 1024: fs/erofs/super.c"),
    free(&["cramfs"], "one superblock, at the start: fs/cramfs/inode.c"),
    free(&["romfs"], "one superblock, at the start: fs/romfs/super.c"),
    free(&["jfs"], "the log and the work area, placed by the superblock: fs/jfs/jfs_mount.c"),
    free(&["reiserfs", "reiser4"], "one superblock, at 64 KiB: fs/reiserfs/super.c"),
    superblock(&["nilfs2"], "a second superblock 4 to 8 KiB before the end: nilfs2_ondisk.h"),
    free(&["apfs"], "checkpoint areas, placed by block 0: Apple File System Reference"),
    superblock(&["hfs"], "a copy of the master block 1024 before the end: fs/hfs/mdb.c"),
    superblock(&["hfsplus"], "a copy of the header 1024 before the end: TN1150"),
    free(&["ufs"], "copies in cylinder groups: FreeBSD, sys/ufs/ffs/fs.h"),
    free(&["minix"], "one superblock, at 1024: fs/minix/inode.c"),
    free(&["gfs", "gfs2"], "one superblock, at 64 KiB: include/uapi/linux/gfs2_ondisk.h"),
    free(&["ocfs2"], "copies at 1 GiB times powers of 4: fs/ocfs2/ocfs2_fs.h"),
    superblock(&["bcachefs"], "a superblock at the end: bcachefs-tools, docs/ondiskformat.rst"),
    unknown(&["BitLocker"], "metadata by address, and the end of an NTFS: libbde, BDE format"),
    superblock(&["ReFS"], "a copy of the boot sector in the last sector: libfsrefs, ReFS format"),
    superblock(&["drbd"], "metadata in the last 4 KiB: drivers/block/drbd/drbd_int.h"),
    unknown(&["cs_fvault2"], "its header holds the volume's size: libfvde, FVDE format"),
    unknown(&["ceph_bluestore"], "its label holds the device's size: Ceph, BlueStore.cc"),
    unknown(&["vdo"], "its superblock holds the device's size: drivers/md/dm-vdo/vdo.c"),
    unknown(&["stratis"], "its header holds the device's size: Stratis Software Design"),
    unknown(&["LVM1_member"], "its header holds the device's size: LVM2, lib/format1/disk-rep.h"),
    unknown(&["zonefs"], "the device's zones are its files: fs/zonefs/super.c"),
    unknown(&["DM_snapshot_cow"], "exceptions up to its end: drivers/md/dm-snap-persistent.c"),
    unknown(&["DM_verity_hash"], "a length that the data decide: cryptsetup, lib/verity"),
    unknown(
        &[
            "VMFS_volume_member",
            "VMFS",
            "oracleasm",
            "ocfs",
            "mpool",
            "drbdmanage_control_volume",
            "drbdproxy_datalog",
            "befs",
            "bfs",
            "vxfs",
            "exfs",
            "hpfs",
            "ubi",
            "ubifs",
        ],
        "known by name only: its length is not read, and its end was not looked up",
    ),
];

/// Returns what the file system or volume `kind`, as blkid names it, has at its end.
#[must_use]
pub fn volume_end(kind: &str) -> VolumeEnd {
    let known = KINDS.iter().find(|(kinds, ..)| kinds.contains(&kind));
    known.map_or(VolumeEnd::Unknown, |&(_, end, _)| end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::{Class, MagicPlace, NAMED};

    #[test]
    fn every_kind_is_listed_once_with_its_source_and_no_named_one_is_free_to_change() {
        let all: Vec<&str> = KINDS.iter().flat_map(|(kinds, ..)| *kinds).copied().collect();
        let count = |kind: &str| all.iter().filter(|&&one| one == kind).count();
        assert!(all.iter().all(|kind| count(kind) == 1), "{all:?}");
        assert!(KINDS.iter().all(|(.., source)| source.contains(':') || source.contains(';')));
        for entry in NAMED.iter().filter(|entry| entry.class == Class::FileSystem) {
            assert_eq!(count(entry.kind), 1, "{}", entry.kind);
            assert_ne!(volume_end(entry.kind), VolumeEnd::Free, "{}", entry.kind);
            let is_at_end = matches!(entry.place, MagicPlace::End(..) | MagicPlace::EndSectors(_));
            assert!(!is_at_end || volume_end(entry.kind) == VolumeEnd::Superblock);
        }
    }

    #[test]
    fn a_kind_that_nobody_knows_is_not_free_to_change() {
        assert_eq!(volume_end("something new"), VolumeEnd::Unknown);
        for kind in ["ext4", "xfs", "btrfs", "vfat", "exfat", "f2fs", "swap"] {
            assert_eq!(volume_end(kind), VolumeEnd::Free, "{kind}");
        }
    }
}
