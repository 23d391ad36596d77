//! The one table of rules: code, name, why it matters, how to fix it. Help, documentation and
//! `straddle explain` read it.

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable code.
    pub code: &'static str,
    /// One line that says what fired.
    pub title: &'static str,
    /// Why it matters, and how severity is chosen.
    pub why: &'static str,
    /// General way to mend it; findings name the values of their case.
    pub fix: &'static str,
}

/// The rule of a code, in any letter case; `None` when there is none.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Every rule, by code. ST1 is about starts and ends, ST2 about stripes, ST3 about sector sizes,
/// ST4 about damage, ST5 about images, ST6 about what drives report, ST7 about the running kernel.
pub const RULES: &[Rule] = &[
    Rule {
        code: "ST101",
        title: "start is not on a granule",
        why: "Drives write whole granules: physical sectors, or the mapping units of an SSD. Here \
              each write that is aligned within the layer covers two granules in part, so the \
              drive must first read both. On a hard disk of 7200 rpm that costs at least one turn, \
              8.3 ms. Severity: warning; error if each write costs two or more extra \
              read-modify-writes and the drive is a hard disk or belongs to a parity RAID.",
        fix: "Partitions: straddle plan DISK --script prints a script that moves them and keeps \
              data, types, names and numbers. \
              Volumes must be recreated, which erases them, so back up first: pvcreate \
              --dataalignment, mdadm --data-offset, cryptsetup --offset, make-bcache \
              --data-offset.",
    },
    Rule {
        code: "ST102",
        title: "start is not on a 4 KiB granule (granule assumed)",
        why: "The granule is not known: the target is an image, or a disk whose report of 512 \
              bytes nothing confirms. Most drives sold since 2011 have granules of 4 KiB or more, \
              and many of them still report 512. With granules of 4 KiB, this start is \
              misaligned. Since the \
              granule is only assumed, the severity is never more than warning.",
        fix: "straddle plan DISK. If the disk really has 512-byte sectors, check with --on 512n.",
    },
    Rule {
        code: "ST103",
        title: "start is misaligned, but a layer above corrects it",
        why: "The layer above adds an offset that makes its data aligned again. exFAT and f2fs do \
              so for any start of their partition, and cryptsetup does so on a device that reports \
              its offset. The start costs nothing, although tools that check only partition starts \
              report it.",
        fix: "Nothing to do. Do not copy the content to an aligned partition, where it would be \
              misaligned: recreate it there and restore its files.",
    },
    Rule {
        code: "ST104",
        title: "off its granule, chunk or full stripe, but rarely written",
        why: "BIOS boot partitions, EFI system partitions and reserved areas are written a few \
              times in their life. ISO 9660 and the parts of a bootable ISO, squashfs, EROFS, \
              cramfs, romfs and a UDF marked read-only are never written in place. So they do not \
              count in the verdict of their disk.",
        fix: "Nothing to do.",
    },
    Rule {
        code: "ST105",
        title: "data area of the file system does not start on a granule",
        why: "The partition is aligned, but the tables before the data area have an odd length, so \
              every cluster is misaligned (FAT's data area, exFAT's cluster heap).",
        fix: "Back up, recreate, restore. mkfs.fat aligns the data area, except with -a or on a \
              tiny volume; mkfs.exfat needs --boundary-align with the granule or more.",
    },
    Rule {
        code: "ST106",
        title: "end is not on a granule",
        why: "The partition shares its last granule with the next one. Layers that need whole \
              granules (LUKS with 4096-byte sectors, a 4Kn virtual disk) refuse the length, often \
              only after a later resize.",
        fix: "No action needed. To see whether the end can be moved: straddle plan DISK.",
    },
    Rule {
        code: "ST107",
        title: "disk size is not a multiple of the logical sector size",
        why: "On a disk with larger sectors, the last bytes of the image are lost, so tools do not \
              find the backup GPT. Severity: error if --on names the disk; otherwise warning, \
              judged at 512-byte sectors.",
        fix: "Extend the image to a whole number of MiB and move the backup table, by the \
              commands that straddle check prints. Never shorten it.",
    },
    Rule {
        code: "ST108",
        title: "partition of odd length misaligns the next one",
        why: "The partition starts aligned, but its length is not a multiple of the granule. \
              Partitions that follow without a gap start misaligned.",
        fix: "straddle plan DISK. For the next image: systemd-repart --grain-size=1M, or \
              explicit starts on whole MiB.",
    },
    Rule {
        code: "ST201",
        title: "start is not on a chunk",
        why: "Each I/O as long as a chunk uses two members instead of one. With many operations in \
              flight, RAID 0 loses up to half of its random I/O rate. Parity RAID also misses full \
              stripes. Severity: info on RAID 0, 1 and 10; warning on parity RAID.",
        fix: "Partitions: straddle plan DISK. Volumes: back up, recreate with pvcreate \
              --dataalignment FULLSTRIPE, restore.",
    },
    Rule {
        code: "ST202",
        title: "start is on a chunk, but not on a full stripe",
        why: "Each write as long as a full stripe covers two stripes in part. On parity RAID, each \
              part is a read-modify-write. The kernel's alignment_offset never shows this, since \
              it ignores optimal_io_size. Severity: info without parity; warning with parity.",
        fix: "Partitions: straddle plan DISK. Volumes: back up, recreate with pvcreate \
              --dataalignment, restore. With three data disks, 1 MiB is not a multiple of \
              the full stripe; 3 MiB is.",
    },
    Rule {
        code: "ST203",
        title: "chunk size is not a multiple of the granule",
        why: "Chunks end inside a granule of their drive. So each write of a chunk is a \
              read-modify-write on that drive.",
        fix: "Back up, recreate the array with a chunk that is a multiple of the granule \
              (mdadm --chunk=, lvcreate -I), restore.",
    },
    Rule {
        code: "ST204",
        title: "stripe geometry of the file system does not match the array",
        why: "XFS and ext4 store a stripe geometry when they are made, and place their data by it. \
              Often it is the geometry of a former array. On parity RAID, writes then miss full \
              stripes; sometimes the file system cannot be mounted.",
        fix: "ext4: tune2fs -E stride=,stripe_width=. XFS: mount once with sunit= and swidth=, if \
              Linux keeps these values; otherwise back up, recreate with mkfs.xfs -d su=,sw=, \
              restore.",
    },
    Rule {
        code: "ST205",
        title: "stripe geometry of the file system contradicts itself",
        why: "The stripe unit or width is missing, or the width is not a multiple of the unit. \
              Linux refuses to mount an XFS with these values, often after a system upgrade. \
              Severity: warning; error if Linux refuses to mount it.",
        fix: "ext4: tune2fs -E stride=,stripe_width=. XFS: mount once with sunit= and swidth=, in \
              512-byte sectors; Linux 6.9 and later then writes them to the superblock. If no unit \
              keeps the root inode in place: back up, recreate with mkfs.xfs -d su=,sw=, restore.",
    },
    Rule {
        code: "ST301",
        title: "partition table was written for a different sector size",
        why: "A GPT is in sector 1, and an MBR counts in sectors. With the wrong sector size, the \
              table is not found, or every start is wrong by a factor of eight. Usual causes: an \
              image written to a 4Kn disk, or a disk moved between USB bridges.",
        fix: "straddle plan DISK --script prints a script that writes a table for the disk's \
              sectors and keeps all byte addresses. Or present the disk with the old size: \
              losetup --sector-size, logical_block_size= in QEMU.",
    },
    Rule {
        code: "ST302",
        title: "sector size is below the logical sector of the disk",
        why: "The kernel refuses I/O smaller than a logical sector. The file system or container \
              cannot be mounted or opened on this disk.",
        fix: "Back up, recreate with the disk's sector size, restore: mkfs.xfs -s size=, mkfs.fat \
              -S, mkfs.ext4 -b, zpool -o ashift=. LUKS and NTFS with 512-byte sectors can be \
              opened nevertheless.",
    },
    Rule {
        code: "ST303",
        title: "block size is not a multiple of the granule",
        why: "Even an aligned write of one block covers part of a granule: a smaller block always \
              does, and so does a larger one that is not a multiple of it (4 KiB blocks on a \
              granule of 3 KiB). Severity: warning if the granule is reported or specified; info \
              if it is assumed.",
        fix: "Back up, recreate with blocks that are a multiple of the granule, restore: mkfs.ext4 \
              -b, mkfs.xfs -b size=, mkfs.fat -s. If no block of the file system is so large, \
              nothing is to be done, and the finding is an info.",
    },
    Rule {
        code: "ST304",
        title: "LUKS sector size is smaller than the granule",
        why: "LUKS runs eight encryptions per page instead of one. The container also offers \
              512-byte sectors on a 4 KiB drive, so layers above may write less than a granule.",
        fix: "Back up, recreate with cryptsetup luksFormat --sector-size 4096, restore. Do this \
              only if the contents support 4096-byte sectors.",
    },
    Rule {
        code: "ST305",
        title: "LUKS data size is not a multiple of its sector size",
        why: "The kernel refuses to map the data: \"Device size is not aligned to requested sector \
              size\". Usual cause: a partition was grown to an odd end; the error appears at the \
              next boot.",
        fix: "Partitions: straddle plan DISK cuts the end to whole sectors, or moves it to the \
              next boundary. No byte is lost: the kernel never maps a part of a LUKS sector. An \
              image that holds only the container: make it longer with truncate -s.",
    },
    Rule {
        code: "ST306",
        title: "blocks of 2^ashift bytes are not a multiple of the granule",
        why: "ZFS writes in units of 2^ashift bytes for the life of the vdev. Each write smaller \
              than a granule is a read-modify-write.",
        fix: "Back up, recreate the pool with zpool create -o ashift=12 (4 KiB) or more, \
              restore; ashift of a vdev cannot be changed.",
    },
    Rule {
        code: "ST307",
        title: "may not boot from a disk with 4096-byte sectors",
        why: "BIOS boot code reads 512-byte sectors and does not start from a 4Kn disk. Some \
              firmware and boot loaders cannot read an EFI system partition with 4096-byte \
              sectors, or with FAT sectors that differ from the disk's. Severity: warning; info if \
              the EFI system partition holds a FAT with the disk's sectors.",
        fix: "Boot by UEFI, from a FAT file system made for the disk's sectors. Test that the \
              firmware can read it before you rely on it.",
    },
    Rule {
        code: "ST308",
        title: "members have different logical sector sizes",
        why: "The array takes the largest size, so file systems made on smaller sectors may no \
              longer mount. By default, LVM refuses to mix sizes.",
        fix: "Keep members of one sector size in an array or volume group.",
    },
    Rule {
        code: "ST309",
        title: "FAT32 with too few clusters",
        why: "The type of a FAT follows from its number of clusters: below 65525 it is FAT16, \
              below 4085 FAT12. Linux goes by the boot sector, but UEFI firmware, Windows and \
              others refuse a FAT32 with fewer. Usual cause: mkfs.fat -F 32 on a small partition \
              of a disk with 4096-byte sectors.",
        fix: "Back up, recreate with mkfs.fat -F 16, restore. An EFI system partition of 260 MiB \
              or more can be FAT32 on any disk.",
    },
    Rule {
        code: "ST310",
        title: "block size differs from the memory page size",
        why: "Kernels refuse to mount btrfs, ext4 or NILFS2 whose blocks are larger than a memory \
              page, and F2FS or swap of another page size. Machines with pages of 16 or 64 KiB \
              (some ARM and POWER kernels) make such blocks by default. Some newer kernels accept \
              larger blocks.",
        fix: "Use it on a machine with that page size (getconf PAGESIZE). To move the data: back \
              up there, recreate with 4096-byte blocks (mkfs.btrfs -s 4096), restore.",
    },
    Rule {
        code: "ST401",
        title: "checksum does not match",
        why: "The structure is damaged, or a tool edited it without updating the checksum. The \
              values shown may be wrong.",
        fix: "GPT: type the command that straddle check prints (see ST406). Other formats: compare \
              with the other copy, if there is one, and repair with the format's own tool; try \
              that on a copy first.",
    },
    Rule {
        code: "ST402",
        title: "field value is not allowed by the format",
        why: "The structure is damaged, or a faulty tool wrote it. Everything derived from this \
              field may be wrong.",
        fix: "Only the protective MBR of a GPT is lost: type the command that straddle check \
              prints. Otherwise repair with the format's own tool; try that on a copy first.",
    },
    Rule {
        code: "ST403",
        title: "extends past the end of its container",
        why: "A partition or table that ends past the end of its disk loses data when that part \
              is written. Usual causes: a truncated image, or a replacement disk that is smaller.",
        fix: "Extend the disk or image to what the table needs (truncate -s), and restore what \
              was cut off from a backup; or shrink the content and then the partition.",
    },
    Rule {
        code: "ST404",
        title: "overlapping contents",
        why: "Two structures claim the same bytes. Writing one destroys the other.",
        fix: "Find out which one is in use before you change anything: wipefs and blkid -p list \
              both and change nothing.",
    },
    Rule {
        code: "ST405",
        title: "chain of links loops",
        why: "Links lead back to an earlier entry, so the rest cannot be listed. Other tools may \
              hang.",
        fix: "Restore the chain from a backup (sfdisk --dump, vgcfgrestore, qemu-img rebase).",
    },
    Rule {
        code: "ST406",
        title: "copies of a structure disagree, or one is missing",
        why: "Copies of one structure (such as the primary and backup GPT) differ. Different tools \
              use different copies.",
        fix: "GPT: type the command that straddle check prints: sfdisk --relocate gpt-bak-std, \
              with more around it where the first copy is broken. (Where that is so and the disk \
              has grown, sgdisk -e writes an empty table; elsewhere it moves entries over what \
              lies before the first usable sector.) First extend a truncated image to its old \
              size: truncate -s. In a VHD, VDI, VMDK or qcow2: copy the disk to a raw file, \
              repair that, and convert it back. If both copies are sound but \
              differ, choose by hand: gdisk's recovery menu.",
    },
    Rule {
        code: "ST407",
        title: "needed bytes could not be read",
        why: "The contents of these bytes are unknown, and straddle does not guess.",
        fix: "Run straddle as root; look for I/O errors in the kernel's log. A capture (--sysroot) \
              holds no bytes of disks: check on that machine, as root.",
    },
    Rule {
        code: "ST408",
        title: "content not read",
        why: "The content is compressed, encrypted, or uses a feature that this version of \
              straddle does not read. Results that depend on it stay unknown.",
        fix: "Decompress or convert it with the format's own tool, then check the result.",
    },
    Rule {
        code: "ST409",
        title: "hybrid MBR",
        why: "Linux uses the GPT if the MBR has a 0xEE entry; other systems may use the MBR. \
              Tools that change one table leave the other unchanged.",
        fix: "Keep it if a system needs it: one that boots by BIOS, a Raspberry Pi, an old macOS \
              or Windows.",
    },
    Rule {
        code: "ST410",
        title: "several signatures",
        why: "An older signature was not wiped. Different tools use different signatures, and \
              automatic mounting may refuse. straddle judges the one that the kernel, libblkid \
              and the format's own tool use: sector 0 and primary copies before backups and \
              secondary headers. Where these tools disagree (ST404), the verdict is unknown, \
              unless both have the same one.",
        fix: "wipefs DEVICE lists them and changes nothing. Remove one only when you know what \
              it was, with a backup: wipefs --backup -o OFFSET ERASES it.",
    },
    Rule {
        code: "ST411",
        title: "devices of an array or file system are missing",
        why: "Members of an array, devices of a btrfs, or an external log of ext4 or XFS were not \
              given, or a degraded array has lost them. Alignment is judged only on the devices \
              that are present.",
        fix: "Give all devices: straddle check /dev/sd[a-d]1. Adding a new member to a degraded \
              array ERASES that disk: mdadm /dev/md0 --add /dev/sdX1",
    },
    Rule {
        code: "ST412",
        title: "partitions are half moved",
        why: "A script of straddle plan is running on this disk, or was stopped. Data is partly in \
              the script's directory, partly in old and partly in new places; the partition table \
              is still the old one. Anything else that writes a table, a file system or a boot \
              sector now loses data, and so does another plan.",
        fix: "Finish the move from the directory that the finding names: sh DIR/resume.sh DISK. \
              If that directory is lost, restore the backup.",
    },
    Rule {
        code: "ST413",
        title: "no partition table lists the volumes on the disk",
        why: "The partition table is lost or empty, and file systems or containers are where a \
              partitioner puts them: at sector 63, at a whole MiB up to 1088 MiB, after each \
              other; or a copy of a superblock is left. So the disk is not empty, and a new table \
              with other starts, \
              or a file system in them, destroys what is there. Other volumes may be on it that \
              straddle does not look for.",
        fix: "Write nothing to the disk. Where straddle knows the start and length of each volume, \
              it prints an sfdisk command that lists them in a copy. Otherwise restore the table \
              from a backup (sfdisk --dump), or search a copy of the disk with testdisk.",
    },
    Rule {
        code: "ST414",
        title: "first superblock of a file system is lost",
        why: "The file system takes the whole disk, and its first superblock or boot sector is \
              gone; a copy is left. So the disk is not empty, it is not mounted either, and a \
              partition table or a new file system destroys what is there.",
        fix: "Write nothing to the disk. Of an image straddle prints a command that restores the \
              superblock in a copy. Of a disk, copy it first, then use e2fsck -b BLOCK -B SIZE, \
              xfs_repair, btrfs-select-super -s 1 or ntfsfix; for FAT32 and exFAT, dd the backup \
              of the boot sector to its start (sector 6, one sector; sector 12, twelve sectors).",
    },
    Rule {
        code: "ST501",
        title: "image format misaligns guest data",
        why: "The format stores a header or a bitmap before the guest's data, and its length is \
              not a multiple of 4 KiB. A dynamic VHD puts a 512-byte bitmap before each \
              block; some VDI and VMDK files start their data off a boundary. An aligned guest is \
              then \
              misaligned on the host.",
        fix: "qemu-img convert into a new file: -O qcow2, or -O raw. To keep a VHD: \
              -O vpc -o subformat=fixed,force_size=on. With ST406 on the same image, follow the \
              steps of ST406: they end in an aligned image.",
    },
    Rule {
        code: "ST502",
        title: "cluster size of the image is smaller than the granule",
        why: "Several clusters share one granule of the host. So each write of a cluster is a \
              read-modify-write on the host.",
        fix: "qemu-img convert -O qcow2 -o cluster_size=64K into a new file.",
    },
    Rule {
        code: "ST503",
        title: "file that the image needs was not read",
        why: "The contents of a backing file, data file or extent are unknown. straddle reads \
              files outside the image's directory only on request.",
        fix: "Put the file where the image expects it: qemu-img info --backing-chain. Outside the \
              image's directory: straddle check --follow-references IMAGE.",
    },
    Rule {
        code: "ST504",
        title: "compressed image",
        why: "Compressed clusters have no alignment. A write to such a cluster stores it \
              elsewhere.",
        fix: "Before use, convert the image into a new, uncompressed file: qemu-img convert \
              without -c, to raw or to the same format.",
    },
    Rule {
        code: "ST505",
        title: "image file is misaligned on its host",
        why: "The host's file system with the image, or a layer under it, does not start on a \
              granule. So even an aligned write of the guest starts and ends inside a granule of \
              the host.",
        fix: "straddle trace IMAGE shows which layer of the host is misaligned; then run straddle \
              plan on the host's disk.",
    },
    Rule {
        code: "ST601",
        title: "kernel reports that stacking failed",
        why: "alignment_offset is -1: the members' boundaries do not match, so no start is \
              aligned on all of them. Several tools silently turn -1 into 0.",
        fix: "Find the misaligned member: its own finding has the fix.",
    },
    Rule {
        code: "ST602",
        title: "optimal_io_size cannot be right",
        why: "USB bridges report 65535 sectors for \"no limit\". Partitioners and cryptsetup then \
              align to 33553920 bytes, which is not a multiple of 4 KiB.",
        fix: "Ignore the value: parted -a minimal, starts at multiples of 1 MiB.",
    },
    Rule {
        code: "ST603",
        title: "physical_block_size cannot be right",
        why: "The value is not a power of two, is smaller than the logical sector, or is larger \
              than any drive's. straddle ignores it.",
        fix: "Specify the true geometry with --on, and look for newer bridge firmware.",
    },
    Rule {
        code: "ST604",
        title: "partition is not on a zone boundary",
        why: "On a zoned drive a partition must start and end on zone boundaries. Otherwise its \
              first and last zones cannot be used.",
        fix: "Back up, recreate it where a zone starts (the finding says the sector), restore. \
              No tool moves a partition in place on such a drive.",
    },
    Rule {
        code: "ST605",
        title: "boot sector has a different partition offset",
        why: "NTFS, FAT and exFAT record the partition's offset; here it differs from the table, \
              because the file system was copied or the table changed. Linux ignores the field; \
              boot code uses it.",
        fix: "Nothing to do for Linux. For Windows boot: bootrec /fixboot.",
    },
    Rule {
        code: "ST606",
        title: "sources disagree",
        why: "The kernel's files, its ioctls and the drive's own answers (NVMe, SCSI, ATA) give \
              different values, so some tools use a wrong one. Example: a USB bridge that hides \
              4096-byte sectors misleads every partitioner. The finding names the value that \
              straddle uses.",
        fix: "Specify the true geometry with --on; look for a newer kernel or firmware.",
    },
    Rule {
        code: "ST607",
        title: "this drive model is known to misreport its geometry",
        why: "Published reports of this model contradict what the model reports. straddle uses the \
              published value, but only if the drive reports the value that is known to be wrong.",
        fix: "Specify the true geometry with --on if you know it.",
    },
    Rule {
        code: "ST608",
        title: "start is not on a discard unit",
        why: "A discard frees only whole discard units (discard_granularity) of a drive or a thin \
              pool; the partial units at both ends are never freed. That costs space or spare \
              area, not speed.",
        fix: "Nothing to do. When the partition is recreated, start it at a multiple of the \
              unit.",
    },
    Rule {
        code: "ST609",
        title: "drive reports a faster LBA format",
        why: "The value is the maker's hint, not a measurement (NVMe relative performance, RP). \
              Larger blocks often save the drive work, but need systems that support 4096-byte \
              sectors.",
        fix: "Measure first. Then back up, nvme format --lbaf=N, which ERASES the drive, \
              restore.",
    },
    Rule {
        code: "ST610",
        title: "answer of the drive itself cannot be right",
        why: "A field of an Identify or SCSI answer contradicts another, or is beyond any real \
              drive. straddle ignores it.",
        fix: "Look for newer firmware for the drive or its bridge.",
    },
    Rule {
        code: "ST611",
        title: "discards stop above the drive",
        why: "The drives take discards, but a layer above them takes none or hands none down. So \
              fstrim and the mount option discard free nothing on the drive. LUKS does so by \
              default: whoever reads the drive could otherwise see which blocks are free. \
              Severity: info; warning if a file system above is mounted with discard.",
        fix: "LUKS2: cryptsetup refresh --allow-discards --persistent NAME, if that may be seen. \
              LUKS1: --allow-discards, and discard in /etc/crypttab. Thin pool: lvchange \
              --discards passdown VG/POOL. RAID 4, 5 and 6: leave it, unless every member is sure \
              to read zeros after a discard.",
    },
    Rule {
        code: "ST701",
        title: "read-ahead is based on a size that cannot be right",
        why: "Linux reads ahead twice optimal_io_size, and some bridges and virtual disks report \
              32 MiB and more. Every random read of a buffered file then fetches megabytes, which \
              fills memory and raises latency. Severity: warning.",
        fix: "blockdev --setra 256 DEVICE (512-byte units); a udev rule makes it permanent.",
    },
    Rule {
        code: "ST702",
        title: "loop device has smaller sectors than the device of its file",
        why: "Loop devices have 512-byte sectors by default. If the file is on a device with \
              4096-byte sectors, direct I/O is refused or uses the page cache, and each 512-byte \
              write is a read-modify-write. Severity: warning.",
        fix: "losetup --sector-size 4096 --direct-io=on changes the sector size, so first back up; \
              then recreate the table and file systems, and restore.",
    },
    Rule {
        code: "ST703",
        title: "flushes stop above a drive with a volatile cache",
        why: "The kernel sends no flush to a device that reports `write through`. If a drive under \
              it has a volatile cache (`write back`), a power loss can lose a completed fsync. \
              Usual causes: queue/write_cache was set by hand, or a layer was made without flush \
              support. Severity: warning.",
        fix: "echo write back > /sys/block/DEVICE/queue/write_cache, unless the drive reports \
              power-loss protection for its cache.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_sorted_and_complete() {
        assert!(RULES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for rule in RULES {
            assert!(!rule.title.is_empty() && !rule.why.is_empty() && !rule.fix.is_empty());
            assert!(rule.code.starts_with("ST") && rule.code.len() == 5);
            // Nagios takes quotes out of what a plugin says.
            assert!(!rule.title.contains(['\'', '"']), "{}", rule.title);
        }
        assert_eq!(rule("st101").map(|rule| rule.code), Some("ST101"));
    }
}
