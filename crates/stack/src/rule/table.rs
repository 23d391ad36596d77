//! The one table of rules: code, name, why it matters, how to fix it. Help, documentation and
//! `straddle explain` read it.

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable code.
    pub code: &'static str,
    /// What fired, in one line.
    pub title: &'static str,
    /// Why it matters, and how severity is chosen.
    pub why: &'static str,
    /// How to put it right in general; findings name the values of their case.
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
        why: "A drive writes whole granules (its physical sectors, or an SSD's mapping units). \
            When a \
              layer starts off their boundaries, each aligned write of the layers above covers two \
              of \
              them in part, and the drive must read both before it writes them: a \
              read-modify-write. \
              A 7200 rpm disk pays a turn for each. A warning where one write costs any such extra \
              read; an error where it is two or more on rotating media or on parity RAID.",
        fix: "Partitions: straddle plan DISK moves them and keeps data, types, names and \
              numbers. Volumes are recreated, which erases them, so back up first: pvcreate \
              --dataalignment, mdadm --data-offset, cryptsetup --offset, make-bcache --data- \
              offset.",
    },
    Rule {
        code: "ST102",
        title: "start is not on a 4 KiB granule, which is assumed",
        why: "The disk reports 512 bytes and nothing confirms it, or there is no disk at all but \
            an \
              image. Drives sold since 2011 nearly all have granules of 4 KiB or more, and many \
              still \
              report 512. Judged at 4 KiB, this start is off. Since that is an assumption, it is a \
              warning and never an error.",
        fix: "straddle plan DISK. If the disk truly has 512-byte sectors, say so: --on 512n.",
    },
    Rule {
        code: "ST103",
        title: "misaligned, but put right further up",
        why: "The layer starts off a boundary, yet what lies on it adds an offset that brings the \
            data \
              back onto one: exFAT and f2fs count their partition's start in, and cryptsetup does \
              so \
              on a device that reports its offset. Tools that test partition starts alone call \
              this \
              wrong. It costs nothing.",
        fix: "Nothing to do. Copying the content to an aligned partition would break it: \
              recreate it there and restore its files.",
    },
    Rule {
        code: "ST104",
        title: "misaligned, but rarely written",
        why: "BIOS boot partitions, EFI system partitions and reserved areas are written a few \
              times in their life. ISO 9660, squashfs, EROFS, cramfs, romfs and a UDF that says so \
              are made whole and never written in place, and so are the parts of a bootable ISO. \
              Their alignment is not worth a warning.",
        fix: "Nothing to do.",
    },
    Rule {
        code: "ST105",
        title: "data area of a file system is not on a granule",
        why: "The partition is where it should be, but the area from which clusters are counted \
            (FAT's \
              data area, exFAT's cluster heap) starts behind tables of odd length, so that every \
              cluster is off.",
        fix: "Back up, recreate, restore: mkfs.fat aligns unless -a is given or the volume is \
              tiny; mkfs.exfat --boundary-align takes a boundary of up to the granule and \
              more.",
    },
    Rule {
        code: "ST106",
        title: "end is not on a granule",
        why: "The last granule is shared with what follows, and layers that need whole granules \
              (LUKS with 4096-byte sectors, a 4Kn virtual disk) refuse the length, often only \
              after a \
              later resize.",
        fix: "straddle plan DISK.",
    },
    Rule {
        code: "ST107",
        title: "disk size is no whole number of logical sectors",
        why: "An image whose length is no multiple of the sectors of the disk on which it will \
              land loses its tail: the backup GPT is then not where it is looked for. An error \
              where --on names the disk, else a warning for 512-byte sectors.",
        fix: "Extend the image to a whole number of MiB and move the backup table: truncate \
              -s, sgdisk -e. Never shorten it.",
    },
    Rule {
        code: "ST108",
        title: "a partition of odd length pushes the next one off",
        why: "The partition itself is aligned; those behind it are not, because it is not a whole \
              number of granules long and they begin where it ends.",
        fix: "straddle plan DISK. For the next image: systemd-repart --grain-size=1M, or \
              explicit starts on whole MiB.",
    },
    Rule {
        code: "ST201",
        title: "start is not on a chunk",
        why: "An I/O of a chunk's length then takes two members instead of one: at depth, random \
            I/O \
              on RAID 0 loses up to half its rate. On parity RAID, full stripes are missed as \
              well. \
              Info on RAID 0, 1 and 10; a warning on parity.",
        fix: "Partitions: straddle plan DISK. Volumes: back up, recreate with pvcreate \
              --dataalignment FULLSTRIPE, restore.",
    },
    Rule {
        code: "ST202",
        title: "start is on a chunk, but not on a full stripe",
        why: "Writes of a full stripe that the layers above make cover parts of two stripes. On \
              parity RAID each part is a read-modify-write of data and parity. The kernel's \
              alignment_offset never shows this: it ignores optimal_io_size. Info without parity; \
              a \
              warning with it.",
        fix: "Partitions: straddle plan DISK. Volumes: back up, recreate with pvcreate \
              --dataalignment, restore. With three data disks 1 MiB is no multiple of the full \
              stripe: 3 MiB is.",
    },
    Rule {
        code: "ST203",
        title: "chunk is no multiple of the granule",
        why: "The array tears granules apart: neighbouring chunks of one granule lie on different \
              members, so every chunk written is a read-modify-write on its drive.",
        fix: "Back up, recreate the array with a chunk that is a multiple of the granule \
              (mdadm --chunk=, lvcreate -I), restore.",
    },
    Rule {
        code: "ST204",
        title: "file system was told another stripe than lies beneath",
        why: "XFS and ext4 spread their allocations by the geometry that they were told, often \
            that \
              of a former array. Stale geometry costs full stripes on parity RAID and can stop a \
              mount.",
        fix: "ext4: tune2fs -E stride=,stripe_width=. XFS: mount once with sunit= and swidth=, \
              where Linux keeps them; elsewhere back up, recreate with mkfs.xfs -d su=,sw=, \
              restore.",
    },
    Rule {
        code: "ST205",
        title: "file system's stripe geometry contradicts itself",
        why: "A stripe unit without a width, or a width that the unit does not divide, makes XFS \
              refuse to mount after some repairs and migrations.",
        fix: "ext4: tune2fs -E stride=,stripe_width=. XFS: mount once with sunit= and swidth=, \
              where Linux keeps them; elsewhere back up, recreate with mkfs.xfs -d su=,sw=, \
              restore.",
    },
    Rule {
        code: "ST301",
        title: "partition table counts in other sectors than the disk has",
        why: "A GPT is looked for in sector 1, and an MBR's numbers count sectors: on a disk of \
            the \
              other size the table is not found, or all partitions are eight times off. It happens \
              to \
              images written to 4Kn disks and to disks moved between USB bridges.",
        fix: "straddle plan DISK writes the table for the disk's sectors at the same byte \
              addresses; or present the disk with the old size: losetup --sector-size, \
              logical_block_size= in QEMU.",
    },
    Rule {
        code: "ST302",
        title: "works in sectors smaller than the disk's",
        why: "The kernel refuses I/O below a logical sector, so this cannot be mounted or opened \
            on \
              that disk.",
        fix: "Back up, recreate with the disk's sector, restore: mkfs.xfs -s size=, mkfs.fat \
              -S, mkfs.ext4 -b, zpool -o ashift=. LUKS and NTFS of 512-byte sectors open all \
              the same.",
    },
    Rule {
        code: "ST303",
        title: "blocks are smaller than the granule",
        why: "Even a perfectly aligned write of one block covers a granule only in part. A warning \
              where the granule is reported or told, info where it is assumed.",
        fix: "Back up, recreate with blocks of at least the granule, restore: mkfs.ext4 -b, \
              mkfs.xfs -b size=, mkfs.fat -s.",
    },
    Rule {
        code: "ST304",
        title: "LUKS encrypts sectors smaller than the granule",
        why: "Eight encryptions for each page instead of one, and the container offers 512-byte \
              sectors over a drive of 4 KiB, so that layers above may write less than a granule.",
        fix: "Back up, recreate with cryptsetup luksFormat --sector-size 4096, restore. Only \
              where what is in it takes 4096-byte sectors.",
    },
    Rule {
        code: "ST305",
        title: "LUKS data is no whole number of its sectors",
        why: "The kernel will not map it: \"Device size is not aligned to requested sector size\". \
            It \
              appears after a partition was grown to an odd end, on the next boot.",
        fix: "Make the device longer, to a whole MiB: straddle plan DISK, or truncate -s for \
              an image. Making it shorter cuts off data.",
    },
    Rule {
        code: "ST306",
        title: "ashift is below the granule",
        why: "ZFS writes units of 2^ashift bytes for the life of the vdev; each smaller than a \
            granule \
              is a read-modify-write.",
        fix: "Back up, recreate the pool with zpool create -o ashift=12 (4 KiB) or more, \
              restore; ashift of a vdev cannot be changed.",
    },
    Rule {
        code: "ST307",
        title: "boot from a disk with 4096-byte sectors",
        why: "BIOS boot code reads 512-byte sectors and does not start from a 4Kn disk. Some \
            firmware \
              and boot loaders do not read an EFI system partition whose FAT has other sectors \
              than \
              the disk, or none of 4096 at all.",
        fix: "Boot by UEFI, from a FAT made for the disk's sectors, and try that the firmware \
              reads it before you rely on it.",
    },
    Rule {
        code: "ST308",
        title: "members have different logical sectors",
        why: "The whole takes the larger size. File systems made on the smaller one may no longer \
              mount, and LVM refuses the mix by default.",
        fix: "Keep members of one sector size in an array or volume group.",
    },
    Rule {
        code: "ST401",
        title: "checksum does not fit",
        why: "The structure was damaged or edited by something that did not know it. What is shown \
              may be wrong.",
        fix: "GPT: sgdisk -e writes both copies from the sound one. Elsewhere compare with the \
              other copy where there is one, and repair with the format's own tool, on a copy \
              first.",
    },
    Rule {
        code: "ST402",
        title: "field holds a value that the format does not allow",
        why: "The structure was damaged, or made by a tool with a fault. What follows from the \
            field \
              may be wrong.",
        fix: "Repair with the format's own tool, on a copy first.",
    },
    Rule {
        code: "ST403",
        title: "lies outside of what holds it",
        why: "A partition or table that ends behind its disk loses data when that part is written. \
              It happens to truncated images and to disks replaced by smaller ones.",
        fix: "Extend the disk or image to what the table needs (truncate -s), and restore what \
              was cut off from a backup; or shrink the content and then the partition.",
    },
    Rule {
        code: "ST404",
        title: "two things claim the same bytes",
        why: "Writing one destroys the other.",
        fix: "Find out which is in use before you change anything: wipefs and blkid -p list, \
              and change nothing.",
    },
    Rule {
        code: "ST405",
        title: "a chain does not end",
        why: "Links lead back to where they came from. The rest cannot be listed; other tools may \
            hang.",
        fix: "Restore the chain from a backup (sfdisk --dump, vgcfgrestore, qemu-img rebase).",
    },
    Rule {
        code: "ST406",
        title: "copies differ",
        why: "Two copies of the same thing say different things, or one is missing: which one \
            counts \
              depends on the tool.",
        fix: "GPT: sgdisk -e writes both copies from the sound one, the backup at the end of \
              the disk. An image that was cut short is first made as long as it was: truncate \
              -s. Where both copies are sound and differ, choose by hand: gdisk's recovery \
              menu.",
    },
    Rule {
        code: "ST407",
        title: "needed bytes could not be read",
        why: "What stands in them is unknown, and nothing is guessed.",
        fix: "Read as root; see the kernel's log for I/O errors. A capture (--sysroot) holds no \
              bytes of disks: check on that machine, as root.",
    },
    Rule {
        code: "ST408",
        title: "feature that is not known here",
        why: "Something stays unknown because this version of straddle does not read it.",
        fix: "Look with the format's own tool.",
    },
    Rule {
        code: "ST409",
        title: "hybrid MBR",
        why: "Two tables describe the disk. Linux uses the GPT where the MBR has a 0xEE entry; \
            other \
              systems may use the MBR, and tools that change one leave the other behind.",
        fix: "Keep it only where an old system needs it.",
    },
    Rule {
        code: "ST410",
        title: "several signatures",
        why: "An older content was not wiped. Which one is used depends on the tool, and automatic \
              mounting may refuse.",
        fix: "wipefs DEVICE lists them and changes nothing. Remove one only when you know what \
              it was, with a backup: wipefs --backup -o OFFSET ERASES it.",
    },
    Rule {
        code: "ST411",
        title: "devices of an array or file system are missing",
        why: "What they hold is unknown: members of an array, devices of a btrfs, the device that \
              holds the log of an ext4 or XFS. Alignment is judged on the devices at hand. Of a \
              degraded array the missing ones are gone.",
        fix: "Give all devices: straddle check /dev/sd[a-d]1. To a degraded array add a new \
              one, which ERASES that disk: mdadm /dev/md0 --add /dev/sdX1",
    },
    Rule {
        code: "ST412",
        title: "partitions are half moved",
        why: "A script of straddle plan is at work on this disk, or was stopped. Parts of the \
              partitions that move are in the script's directory; the rest lies in old and new \
              places. The old partition table still stands. Whatever else writes a table, a file \
              system or a boot sector here loses data, and so does another plan.",
        fix: "Finish it, DIR being the directory that is named: sh DIR/resume.sh DISK. Without \
              that directory the data cannot be put together: restore the backup.",
    },
    Rule {
        code: "ST501",
        title: "image format shifts the guest's data",
        why: "The format puts something of odd length before the data: a dynamic VHD has a bitmap \
            of \
              512 bytes before each block, so that alignment drifts by 512 bytes from block to \
              block; \
              some VDI and VMDK files start their data off a boundary. A perfectly partitioned \
              guest \
              is misaligned on the host.",
        fix: "qemu-img convert into a new file: -O qcow2, or raw; a VHD that has to stay one: \
              -O vpc -o subformat=fixed.",
    },
    Rule {
        code: "ST502",
        title: "image allocates units smaller than the granule",
        why: "Neighbouring clusters of one granule can lie anywhere in the file, so that each \
            write is \
              a read-modify-write on the host.",
        fix: "qemu-img convert -O qcow2 -o cluster_size=64K into a new file.",
    },
    Rule {
        code: "ST503",
        title: "file that the image needs was not read",
        why: "What lies in a backing file, data file or extent is unknown. Files outside of the \
              image's directory are read only where the user asks for that.",
        fix: "Put it where the image says it is: qemu-img info --backing-chain. Outside of the \
              image's directory: straddle check --follow-references IMAGE.",
    },
    Rule {
        code: "ST504",
        title: "compressed image",
        why: "Compressed clusters have no alignment, and each write to one moves it.",
        fix: "Convert before use, into a new file: qemu-img convert -O raw.",
    },
    Rule {
        code: "ST505",
        title: "image's file lies off the granule of its host",
        why: "A guest that is aligned within its image is not aligned on the drive when the \
            image's \
              own file is not: each aligned write of the guest then covers granules of the host in \
              part. The file's extents lie on blocks of its file system, so that or what it is on \
              begins off the granule.",
        fix: "straddle trace IMAGE shows what starts off the granule on the host; straddle \
              plan that disk.",
    },
    Rule {
        code: "ST601",
        title: "the kernel says that stacking failed",
        why: "alignment_offset is -1: the members' boundaries do not meet, so the kernel cannot \
            say \
              where an aligned start would be. Several tools turn -1 into 0 and stay quiet.",
        fix: "Find the member that starts off its boundary: its own finding says what to do.",
    },
    Rule {
        code: "ST602",
        title: "optimal_io_size cannot be right",
        why: "USB bridges report 65535 sectors for \"no limit\". Partitioners and cryptsetup then \
              align to 33553920 bytes, which is no multiple of 4 KiB.",
        fix: "Ignore it: parted -a minimal, starts at multiples of 1 MiB.",
    },
    Rule {
        code: "ST603",
        title: "physical_block_size cannot be right",
        why: "The value is no power of two, below the logical sector, or larger than any drive's. \
            It \
              is not used.",
        fix: "Give the true disk with --on, and look for newer firmware of the bridge.",
    },
    Rule {
        code: "ST604",
        title: "partition is not on a zone",
        why: "On a zoned drive, a partition must start and end with a zone, or its first and last \
              zones cannot be used.",
        fix: "Back up, recreate it where a zone starts (the finding says the sector), restore. \
              No tool moves a partition in place on such a drive.",
    },
    Rule {
        code: "ST605",
        title: "file system believes that it is elsewhere",
        why: "The offset of the partition stands in the boot sector (NTFS and FAT hidden sectors, \
              exFAT partition offset) and differs from the table: it was copied, or the table was \
              changed. Linux does not mind; boot code does.",
        fix: "Nothing to do for Linux. Where Windows must boot from it: its own repair \
              (bootrec /fixboot).",
    },
    Rule {
        code: "ST606",
        title: "sources disagree",
        why: "The kernel's files, its ioctls, and the drive's own answers (NVMe, SCSI, ATA) give \
              different values for the same thing, so at least one reader of them is misled. \
              Libraries and bridges have done so before: a USB bridge that hides a drive's \
              4096-byte sectors misleads every partitioner. Each sentence says which value is \
              used.",
        fix: "Give the true disk with --on; look for a newer kernel or firmware.",
    },
    Rule {
        code: "ST607",
        title: "drive is known to report what is not so",
        why: "Others found that this model says something wrong of itself, and told so where \
              anyone can read it. What was found is believed, and only where the drive says the \
              very thing that is wrong.",
        fix: "Give the true disk with --on where more is known of it.",
    },
    Rule {
        code: "ST608",
        title: "start is not on a discard unit",
        why: "Only whole discard units (discard_granularity) are given back to a drive or to the \
              pool of a thin volume. What lies before the first whole unit of the partition, and \
              behind the last, never is. It costs space or spare area at the ends, not speed.",
        fix: "Nothing to do. When the partition is recreated, start it at a multiple of the \
              unit.",
    },
    Rule {
        code: "ST609",
        title: "drive calls another format faster",
        why: "An NVMe drive grades its formats by relative performance (RP). That is a hint of its \
              maker, and no measurement. Larger blocks often save the drive work; they also need \
              systems that take 4096-byte sectors.",
        fix: "Measure first. Then back up, nvme format --lbaf=N, which ERASES the drive, \
              restore.",
    },
    Rule {
        code: "ST610",
        title: "drive's own answer cannot be right",
        why: "A field of an Identify or SCSI answer contradicts another, or is beyond what any \
              drive has. What cannot be right is not used.",
        fix: "Look for newer firmware of the drive or of the bridge before it.",
    },
    Rule {
        code: "ST701",
        title: "read-ahead follows a size that cannot be right",
        why: "Linux reads ahead twice optimal_io_size. A bridge or a virtual disk that reports a \
            size \
              without sense there (32 MiB and more are seen) makes every random read of a buffered \
              file fetch megabytes: memory fills, latency rises. A warning.",
        fix: "Set it by hand, and for good by a udev rule: blockdev --setra 256 DEVICE (512-byte \
            units).",
    },
    Rule {
        code: "ST702",
        title: "loop device has smaller sectors than what its file is on",
        why: "A loop device offers sectors of 512 bytes unless it is told otherwise. Where its \
            file \
              lies on sectors of 4096 bytes, direct I/O to the file is refused or falls back to \
              the \
              page cache, and each write of 512 bytes becomes a read-modify-write there. A \
              warning.",
        fix: "losetup --sector-size 4096 --direct-io=on presents another disk: back up, \
              recreate its table and file systems on that, restore.",
    },
    Rule {
        code: "ST703",
        title: "flushes stop above a drive with a volatile cache",
        why: "A device that says `write through` gets no flush from the kernel. When a drive \
            beneath it \
              keeps writes in a volatile cache (`write back`), a completed fsync may still be lost \
              with \
              the power. Somebody set queue/write_cache by hand, or a layer passes flushes on only \
              when it was made so. A warning.",
        fix: "echo write back > /sys/block/DEVICE/queue/write_cache, unless the drive's cache is \
              protected against power loss and says so.",
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
        }
        assert_eq!(rule("st101").map(|rule| rule.code), Some("ST101"));
    }
}
