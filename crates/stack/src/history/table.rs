//! The defaults, with where each is written.

use std::ops::RangeInclusive;

use super::Layout;

/// What a tool did by default over a span of its versions.
#[derive(Debug, PartialEq, Eq)]
pub struct Default {
    /// The tool.
    pub tool: &'static str,
    /// The versions, as they stand behind the tool's name.
    pub versions: &'static str,
    /// When they were made.
    pub years: &'static str,
    /// Place where it put partitions.
    pub rule: &'static str,
    /// How that is recognized.
    pub layout: Layout,
    /// The lengths of disks, in bytes, on which it did so.
    pub disks_bytes: RangeInclusive<u64>,
    /// Place where that is written.
    pub source: &'static str,
}

const ANY: RangeInclusive<u64> = 0..=u64::MAX;
const FROM_800_GIB: RangeInclusive<u64> = 800 << 30..=u64::MAX;
const BELOW_800_GIB: RangeInclusive<u64> = 0..=(800 << 30) - 1;
const BELOW_4_GIB: RangeInclusive<u64> = 0..=(4 << 30) - 1;

const GDISK_NEWS: &str = "https://sourceforge.net/p/gptfdisk/code/ci/master/tree/NEWS";
const PARTED_NEWS: &str = "https://git.savannah.gnu.org/cgit/parted.git/tree/NEWS (2.2, 2.3)";
const WINDOWS_63: &str = "https://docs.microsoft.com/en-us/archive/blogs/askcore/\
    alignment-changes-in-windows-2008-and-2008-r2";
const WINDOWS_GPT: &str = "https://learn.microsoft.com/en-us/windows-hardware/manufacture/\
    desktop/windows-and-gpt-faq";

/// Every default, in groups of what they look like, the likelier ones first.
pub const DEFAULTS: &[Default] = &[
    Default {
        tool: "fdisk",
        versions: "before util-linux 2.18",
        years: "to 2010",
        rule: "Sector 63, then cylinders. 2.17 (January 2010) rounds to the minimum I/O size where \
            the kernel reports one. 2.17.1 and 2.17.2 offer sectors and, without DOS mode (option \
            -c or key c), 1 MiB; 2.18 (2010) makes that the default.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: "https://github.com/util-linux/util-linux/blob/master/Documentation/releases/\
            v2.18-ReleaseNotes",
    },
    Default {
        tool: "parted",
        versions: "before 2.2",
        years: "to 2010",
        rule: "Cylinders on MBR; 2.1 had --align, with cylinders as the default.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: PARTED_NEWS,
    },
    Default {
        tool: "Windows",
        versions: "2000 to XP and Server 2003",
        years: "2000 to 2008",
        rule: "Sector 63, then cylinders of 255 heads and 63 sectors: multiples of 16065.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: WINDOWS_63,
    },
    Default {
        tool: "cfdisk",
        versions: "before util-linux 2.25",
        years: "to 2014",
        rule: "Sector 63, then cylinders, until it was written anew over libfdisk.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: "https://github.com/util-linux/util-linux/blob/master/Documentation/releases/\
            v2.25-ReleaseNotes",
    },
    Default {
        tool: "sfdisk",
        versions: "before util-linux 2.26",
        years: "to 2015",
        rule: "Cylinders, unless sectors were asked for (-uS); the first partition one track in \
            with DOS compatibility. Written anew over libfdisk in 2.26, where sectors and 1 MiB \
            are the default.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: "https://github.com/util-linux/util-linux/blob/master/Documentation/releases/\
            v2.26-ReleaseNotes",
    },
    Default {
        tool: "Debian's and Ubuntu's installers",
        versions: "up to Debian 5 and Ubuntu 9.10",
        years: "to 2010",
        rule: "Cylinders, by libparted.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: "https://salsa.debian.org/installer-team/partman-base/-/blob/master/debian/\
            changelog (partman/alignment)",
    },
    Default {
        tool: "FreeBSD's fdisk and sysinstall",
        versions: "up to FreeBSD 8",
        years: "to 2012",
        rule: "Slices at sector 63 and at cylinders. Within a slice, disklabel puts partition a 16 \
            sectors in: 79 sectors from the disk's start, which is a multiple of nothing.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: "https://lists.freebsd.org/pipermail/freebsd-arch/2009-December/ (Motin, File \
            system blocks alignment)",
    },
    Default {
        tool: "MS-DOS FDISK",
        versions: "and Windows 95 to Me",
        years: "to 2000",
        rule: "The first partition begins at head 1 of cylinder 0, one track in: sector 63 where \
            the BIOS counts 63 sectors a track. The rest begin at cylinders; a logical partition \
            begins one track behind its own table.",
        layout: Layout::Cylinders,
        disks_bytes: ANY,
        source: "https://www.win.tue.nl/~aeb/linux/Large-Disk.html",
    },
    Default {
        tool: "FreeBSD's disklabel",
        versions: "(bsdlabel -w)",
        years: "to 2012",
        rule: "Partition a begins 16 sectors into its slice, behind the boot blocks.",
        layout: Layout::Label16,
        disks_bytes: ANY,
        source: "https://man.freebsd.org/cgi/man.cgi?query=bsdlabel&sektion=8",
    },
    Default {
        tool: "Solaris' fdisk",
        versions: "on x86, with an SMI label",
        years: "to 2010",
        rule: "The Solaris partition begins at cylinder 1, sector 16065; slices begin at cylinders \
            within it.",
        layout: Layout::SecondCylinder,
        disks_bytes: ANY,
        source: "https://osdude.wordpress.com/2010/09/10/aligning-solaris-x86-partitions-slices/",
    },
    Default {
        tool: "Solaris and illumos ZFS",
        versions: "with an EFI label",
        years: "from 2005",
        rule: "A whole disk given to zpool gets one slice at sector 256 (34 in early releases) and \
            a reserved one of 8 MiB at the end. ZFS on Linux begins at 2048.",
        layout: Layout::Sector256,
        disks_bytes: ANY,
        source: "https://github.com/illumos/illumos-gate/blob/master/usr/src/lib/libzfs/common/\
            libzfs_pool.c",
    },
    Default {
        tool: "gdisk",
        versions: "before 0.5.2",
        years: "2009",
        rule: "No alignment: the first free sector, 34 on disks with 512-byte sectors and 6 on \
            those with 4096, then wherever the partition in front ends.",
        layout: Layout::FirstFree,
        disks_bytes: ANY,
        source: GDISK_NEWS,
    },
    Default {
        tool: "gdisk and sgdisk",
        versions: "0.5.3 to 0.6.5",
        years: "2010",
        rule: "On disks below 800 GiB, no alignment beyond the physical sector that Linux 2.6.32 \
            and later report.",
        layout: Layout::FirstFree,
        disks_bytes: BELOW_800_GIB,
        source: GDISK_NEWS,
    },
    Default {
        tool: "parted",
        versions: "when told to begin at 0 or 34s",
        years: "all",
        rule: "A GPT partition that begins at 34 was asked for: many installers and scripts still \
            do so, and parted only warns.",
        layout: Layout::FirstFree,
        disks_bytes: ANY,
        source: "https://www.gnu.org/software/parted/manual/parted.html",
    },
    Default {
        tool: "gdisk",
        versions: "0.5.2",
        years: "2009",
        rule: "Multiples of 8 sectors; the first is 40.",
        layout: Layout::EightSectors,
        disks_bytes: ANY,
        source: GDISK_NEWS,
    },
    Default {
        tool: "gdisk and sgdisk",
        versions: "0.5.3 to 0.6.5",
        years: "2010",
        rule: "On disks of 800 GiB and more, multiples of 8 sectors; the first is 40.",
        layout: Layout::EightSectors,
        disks_bytes: FROM_800_GIB,
        source: GDISK_NEWS,
    },
    Default {
        tool: "FreeBSD's gpart",
        versions: "without -a 1m",
        years: "from 2012",
        rule: "Sector 40, the first that is a multiple of 4096 bytes behind the table, then \
            multiples of 8.",
        layout: Layout::EightSectors,
        disks_bytes: ANY,
        source: "https://man.freebsd.org/cgi/man.cgi?query=gpart&sektion=8",
    },
    Default {
        tool: "Mac OS X and macOS",
        versions: "Disk Utility, GPT",
        years: "from 2006",
        rule: "An EFI system partition of 200 MiB at sector 40, the first volume at 409640, both \
            multiples of 8. On small disks there is no EFI partition.",
        layout: Layout::Sector40Efi,
        disks_bytes: ANY,
        source: "https://flylib.com/books/en/3.126.1.157/1/",
    },
    Default {
        tool: "Windows",
        versions: "Server 2003 and XP x64, GPT",
        years: "2003 to 2008",
        rule: "A Microsoft reserved partition of 128 MiB at sector 34 and the first volume right \
            behind it, at 262178: misaligned.",
        layout: Layout::ReservedPacked,
        disks_bytes: ANY,
        source: WINDOWS_GPT,
    },
    Default {
        tool: "Windows",
        versions: "Vista to 8.1, GPT data disks",
        years: "2007 to 2015",
        rule: "A Microsoft reserved partition of 128 MiB at sector 34 (misaligned and never \
            written), the first volume at 129 MiB.",
        layout: Layout::Reserved128,
        disks_bytes: ANY,
        source: WINDOWS_GPT,
    },
    Default {
        tool: "Windows",
        versions: "10 and later, GPT data disks",
        years: "from 2015",
        rule: "A Microsoft reserved partition of 16 MiB from sector 34, the first volume at 16 \
            MiB.",
        layout: Layout::Reserved16,
        disks_bytes: ANY,
        source: WINDOWS_GPT,
    },
    Default {
        tool: "Windows",
        versions: "Vista and later, disks below 4 GB",
        years: "from 2007",
        rule: "64 KiB instead of 1 MiB; the values stand in the registry, under \
            Services\\VDS\\Alignment.",
        layout: Layout::Small64K,
        disks_bytes: BELOW_4_GIB,
        source: "https://frankdenneman.nl/2009/05/20/windows-2008-disk-alignment/",
    },
    Default {
        tool: "fdisk, parted and others",
        versions: "behind a USB bridge with optimal_io_size 33553920",
        years: "from 2010",
        rule: "Partitioners that believe the bridge align to 65535 sectors, which is a multiple of \
            no power of two. Today's fdisk drops that value, parted does not.",
        layout: Layout::Bogus65535,
        disks_bytes: ANY,
        source: "https://github.com/util-linux/util-linux/issues/1221",
    },
    Default {
        tool: "fdisk",
        versions: "from util-linux 2.18 on",
        years: "from 2010",
        rule: "Multiples of 1 MiB, or of the optimal I/O size where 1 MiB is none of it.",
        layout: Layout::Mebibyte,
        disks_bytes: ANY,
        source: "https://github.com/util-linux/util-linux/blob/master/libfdisk/src/alignment.c",
    },
    Default {
        tool: "parted",
        versions: "from 2.2 on",
        years: "from 2010",
        rule: "Multiples of 1 MiB, or of the optimal I/O size.",
        layout: Layout::Mebibyte,
        disks_bytes: ANY,
        source: PARTED_NEWS,
    },
    Default {
        tool: "gdisk and sgdisk",
        versions: "from 0.6.6 on",
        years: "from 2010",
        rule: "Multiples of 2048 sectors on an empty disk. On one with partitions, the largest \
            power of two that all of them fit, raised to 8 on disks above 596 GiB (300 GB since \
            0.7.0).",
        layout: Layout::Mebibyte,
        disks_bytes: ANY,
        source: GDISK_NEWS,
    },
    Default {
        tool: "Windows",
        versions: "Vista and later, MBR",
        years: "from 2007",
        rule: "Multiples of 1 MiB.",
        layout: Layout::Mebibyte,
        disks_bytes: ANY,
        source: WINDOWS_63,
    },
    Default {
        tool: "Debian's and Ubuntu's installers",
        versions: "from Debian 6 and Ubuntu 10.04 on",
        years: "from 2010",
        rule: "Multiples of 1 MiB. The extended partition begins 2 sectors before one, so that the \
            logical partition in it is on one: 501758 and 501760, for example.",
        layout: Layout::Mebibyte,
        disks_bytes: ANY,
        source: "https://salsa.debian.org/installer-team/partman-base/-/blob/master/debian/\
            changelog (partman/alignment)",
    },
];
