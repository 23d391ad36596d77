//! The table. Sources: util-linux, `libblkid/src/superblocks` and `libblkid/src/partitions`; Linux,
//! `block/partitions/{aix,amiga,atari,ibm,karma,ldm,mac,sysv68,ultrix}.[ch]`,
//! `drivers/md/dm-snap-persistent.c`, `drivers/md/dm-vdo`, `fs/zonefs/zonefs.h`,
//! `fs/befs/befs_fs_types.h`, `fs/hpfs/hpfs.h`, `include/uapi/linux/bfs_fs.h`,
//! `drivers/block/drbd/drbd_meta_data.c`, `fs/ubifs/ubifs-media.h`, `drivers/mtd/ubi/ubi-media.h`;
//! parted, `libparted/labels/{pc98,rdb}.c`; SNIA, "Common RAID Disk Data Format"; mdadm,
//! `super-intel.c`; `Ceph`, `src/os/bluestore/BlueStore.cc`; "Stratis Software Design", section
//! "Static header"; Microsoft, "ReFS" boot sector and `BitLocker` volume header; QEMU,
//! `docs/interop/{qed_spec.rst,parallels.txt}`, `block/{bochs,vmdk,dmg}.c`; libewf's format
//! documentation; RFC 1952 (gzip), RFC 8878 (Zstandard); `xz-file-format.txt`; LZ4 frame format;
//! APPNOTE.TXT (ZIP); `7zFormat.txt`; POSIX, ustar; Android, `libsparse/sparse_format.h`; Proxmox,
//! `vma_spec.txt`; Partclone, `IMAGE_FORMATS.md`.

use super::Class::{FileSystem, Image, Packed, Raid, Table};
use super::MagicPlace::{End, EndSectors, Sectors, Start, Starts};
use super::{Class, MagicPlace, Named, SizeField};

/// An entry whose mark is all that is known of it.
const fn entry(
    kind: &'static str,
    what: &'static str,
    class: Class,
    place: MagicPlace,
    mark: &'static [u8],
) -> Named {
    let also = &[];
    Named { kind, what, class, place, mark, also, label: None, uuid_bytes: None, size: None }
}

const fn system(kind: &'static str, at_bytes: u64, mark: &'static [u8]) -> Named {
    entry(kind, kind, FileSystem, Start(at_bytes), mark)
}

/// A member of an array whose metadata stand in a sector so many bytes before the end.
const fn raid(
    kind: &'static str,
    what: &'static str,
    end_bytes: u64,
    mark: &'static [u8],
) -> Named {
    entry(kind, what, Raid, End(end_bytes, SECTOR_BYTES), mark)
}

const fn ddf(mark: &'static [u8]) -> Named {
    entry("ddf_raid_member", "DDF RAID member", Raid, EndSectors(&[1, 257]), mark)
}

const fn highpoint(kind: &'static str, place: MagicPlace, mark: &'static [u8]) -> Named {
    entry(kind, "HighPoint RAID member", Raid, place, mark)
}

const fn table(
    kind: &'static str,
    what: &'static str,
    at_bytes: u64,
    mark: &'static [u8],
) -> Named {
    entry(kind, what, Table, Start(at_bytes), mark)
}

const fn dasd(mark: &'static [u8]) -> Named {
    let place = Starts(&[512, 1024, 4096, 8192]);
    entry("dasd", "DASD disk label (IBM Z)", Table, place, mark)
}

const fn atari(mark: &'static [u8]) -> Named {
    table("atari", "Atari disk label (AHDI)", 454, mark)
}

const fn packed(what: &'static str, mark: &'static [u8], command: &'static str) -> Named {
    entry(what, what, Packed(command), Start(0), mark)
}

const fn image(what: &'static str, mark: &'static [u8], size: Option<SizeField>) -> Named {
    Named { size, ..entry(what, what, Image(CONVERT), Start(0), mark) }
}

const fn little(at_bytes: u64, width: usize, unit_bytes: u64) -> Option<SizeField> {
    Some(SizeField { at_bytes, width, is_big_endian: false, unit_bytes })
}

const fn big(at_bytes: u64, width: usize, unit_bytes: u64) -> Option<SizeField> {
    Some(SizeField { at_bytes, width, is_big_endian: true, unit_bytes })
}

/// The sector in which old formats count.
const SECTOR_BYTES: u64 = 512;

const CONVERT: &str = "qemu-img convert -O raw FILE NEW";
const UNZIP: &str = "unzip -n FILE";
const UNTAR: &str = "tar -xkf FILE";
const UNCPIO: &str = "mkdir NEW && cpio -id --no-absolute-filenames -D NEW < FILE";

/// The sectors before the end in which Promise's metadata may stand.
const PROMISE: MagicPlace =
    EndSectors(&[16, 63, 255, 256, 399, 591, 675, 735, 911, 951, 974, 991, 3087]);
const IMSM: &[u8] = b"Intel Raid ISM Cfg Sig. ";

/// The signature of each of the two headers of a Stratis block device.
const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";

/// DRBD's metadata: the signature stands 60 bytes into the last whole 4 KiB.
const DRBD: MagicPlace = End(4096 - 60, 4096);

/// The GUID in the header of a `BitLocker` volume, 4967d63b-2e29-4ad8-8399-f6a339e3d001, as stored.
pub(crate) const BITLOCKER: &[u8] = &[
    0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a, 0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3, 0xd0, 0x01,
];

/// The fields behind the signature of a BeFS: its byte order, and a second signature.
const BEFS_LITTLE: &[(u64, &[u8])] = &[(4, b"EGIB"), (36, &[0x31, 0x10, 0x12, 0xdd])];
const BEFS_BIG: &[(u64, &[u8])] = &[(4, b"BIGE"), (36, &[0xdd, 0x12, 0x10, 0x31])];

/// All that is known by name, in the order in which it is asked for.
pub const NAMED: &[Named] = &[
    Named { also: &[(507, &[0x55, 0xaa])], ..system("BitLocker", 3, b"-FVE-FS-") },
    // On a removable drive it looks like a FAT, but for its GUID.
    Named { also: &[(421, BITLOCKER)], ..system("BitLocker", 3, b"MSWIN4.1") },
    Named { also: &[(13, b"FSRS")], ..system("ReFS", 3, b"ReFS\0\0\0\0\0") },
    // A version follows, which is a small number.
    Named {
        also: &[(5, &[0, 0, 0])],
        ..system("VMFS_volume_member", 0x10_0000, &[0x0d, 0xd0, 0x01, 0xc0])
    },
    Named { also: &[(5, &[0, 0, 0])], ..system("VMFS", 0x20_0000, &[0x5e, 0xf1, 0xab, 0x2f]) },
    system("ceph_bluestore", 0, b"bluestore block device"),
    Named { label: Some((40, 24)), ..system("oracleasm", 32, b"ORCLDISK") },
    system("ocfs", 8192, b"OracleCFS"),
    system("vdo", 0, b"dmvdo001"),
    system("mpool", 0, b"mpoolDev"),
    system("drbdmanage_control_volume", 0, b"$DRBDMGR=q"),
    system("drbdproxy_datalog", 0, b"DRBDdlh*"),
    // A version and the type of the block.
    Named { also: &[(80, b"CS")], ..system("cs_fvault2", 8, &[1, 0, 0x10, 0]) },
    system("LVM1_member", 0, b"HM\x01\0"),
    system("LVM1_member", 0, b"HM\x02\0"),
    system("DM_verity_hash", 0, b"verity\0\0"),
    // Valid and version are both 1.
    Named { also: &[(4, &[1, 0, 0, 0, 1, 0, 0, 0])], ..system("DM_snapshot_cow", 0, b"SnAp") },
    entry("stratis", "stratis", FileSystem, Starts(&[516, 9 * 512 + 4]), STRATIS),
    entry("drbd", "DRBD metadata", FileSystem, DRBD, &[0x83, 0x74, 0x02, 0x6b]),
    entry("drbd", "DRBD metadata", FileSystem, DRBD, &[0x83, 0x74, 0x02, 0x6c]),
    entry("drbd", "DRBD metadata", FileSystem, DRBD, &[0x83, 0x74, 0x02, 0x6d]),
    Named { label: Some((8, 64)), uuid_bytes: Some(72), ..system("zonefs", 0, b"SFOZ") },
    Named { label: Some((512, 32)), also: BEFS_LITTLE, ..system("befs", 544, b"1SFB") },
    Named { label: Some((512, 32)), also: BEFS_BIG, ..system("befs", 544, b"BFS1") },
    Named { label: Some((0, 32)), also: BEFS_LITTLE, ..system("befs", 32, b"1SFB") },
    Named { label: Some((0, 32)), also: BEFS_BIG, ..system("befs", 32, b"BFS1") },
    // Where the data starts, a version and a block size: small numbers.
    Named { also: &[(6, &[0, 0])], ..system("bfs", 0, &[0xce, 0xfa, 0xad, 0x1b]) },
    Named { also: &[(5, &[0, 0, 0])], ..system("vxfs", 1024, &[0xf5, 0xfc, 0x01, 0xa5]) },
    Named { also: &[(4, &[0, 0])], ..system("exfs", 0, b"EXFS") },
    Named {
        also: &[(4, &[0xc5, 0xe9, 0x53, 0xfa])],
        ..system("hpfs", 8192, &[0x49, 0xe8, 0x95, 0xf9])
    },
    // The version of an erase counter header; the type of a superblock node.
    system("ubi", 0, b"UBI#\x01\0\0\0"),
    Named { also: &[(20, &[6])], ..system("ubifs", 0, &[0x31, 0x18, 0x10, 0x06]) },
    // The anchor is two sectors before the end, of whichever size.
    entry("isw_raid_member", "Intel RAID member (IMSM)", Raid, EndSectors(&[2, 16]), IMSM),
    ddf(&[0xde, 0x11, 0xde, 0x11]),
    ddf(&[0x11, 0xde, 0x11, 0xde]),
    raid("adaptec_raid_member", "Adaptec RAID member", 512, &[0x37, 0xfc, 0x4d, 0x1e]),
    raid("lsi_mega_raid_member", "LSI MegaRAID member", 512, b"$XIDE$"),
    raid("nvidia_raid_member", "NVIDIA RAID member", 1024, b"NVIDIA"),
    raid("silicon_medley_raid_member", "Silicon Image RAID member", 512 - 0x60, &[0, 0, 0, 0x2f]),
    highpoint("hpt45x_raid_member", End(11 * 512, 512), &[0xf3, 0x16, 0x78, 0x5a]),
    highpoint("hpt45x_raid_member", End(11 * 512, 512), &[0xfd, 0x16, 0x78, 0x5a]),
    highpoint("hpt37x_raid_member", Start(4640), &[0xf0, 0x16, 0x78, 0x5a]),
    highpoint("hpt37x_raid_member", Start(4640), &[0xfd, 0x16, 0x78, 0x5a]),
    entry(
        "promise_fasttrack_raid_member",
        "Promise FastTrak RAID member",
        Raid,
        PROMISE,
        b"Promise Technology, Inc.",
    ),
    // Entries of the map follow the driver descriptor, in sectors of 512 or 2048 bytes.
    Named { also: &[(512, b"PM\0\0")], ..table("mac", "Apple partition map", 0, b"ER") },
    Named { also: &[(2048, b"PM\0\0")], ..table("mac", "Apple partition map", 0, b"ER") },
    table("mac", "Apple partition map", 512, b"PM\0\0"),
    entry("amiga", "Amiga disk label (RDB)", Table, Sectors(16), b"RDSK"),
    // The volume label is in the second or third block, of 512 to 4096 bytes; EBCDIC.
    dasd(&[0xe5, 0xd6, 0xd3, 0xf1]),
    dasd(&[0xd3, 0xd5, 0xe7, 0xf1]),
    dasd(&[0xc3, 0xd4, 0xe2, 0xf1]),
    // The first of four entries of 12 bytes: used (and bootable), and who uses it.
    atari(b"\x01GEM"),
    atari(b"\x81GEM"),
    atari(b"\x01BGM"),
    atari(b"\x81BGM"),
    atari(b"\x01LNX"),
    atari(b"\x81LNX"),
    atari(b"\x01SWP"),
    atari(b"\x01RAW"),
    atari(b"\x01XGM"),
    table("pc98", "PC-98 disk label", 4, b"IPL1"),
    table("plan9", "Plan 9 disk label", 512, b"part "),
    table("unixware", "UnixWare disk label", 29 * 512, &[0x0d, 0x60, 0x5e, 0xca]),
    table("solaris", "Solaris disk label (x86)", 512 + 12, &[0xee, 0xde, 0x0d, 0x60]),
    table("ultrix", "Ultrix disk label", 16_384 - 72, &[0x57, 0x29, 0x03, 0]),
    table("sysv68", "Motorola System V disk label", 248, b"MOTOROLA"),
    table("aix", "AIX physical volume", 0, &[0xc9, 0xc2, 0xd4, 0xc1]),
    table("ldm", "Windows dynamic disk (LDM)", 6 * 512, b"PRIVHEAD"),
    Named { size: big(24, 8, 1), ..image("qcow version 1", b"QFI\xfb\0\0\0\x01", None) },
    image("QED", b"QED\0", little(48, 8, 1)),
    image("Parallels", b"WithoutFreeSpace", little(36, 4, 512)),
    image("Parallels", b"WithouFreSpacExt", little(36, 8, 512)),
    image("Bochs", b"Bochs Virtual HD Image", None),
    image("VMDK COWD", b"COWD\x01\0\0\0", little(12, 4, 512)),
    image("VMDK seSparse", b"\xbe\xba\xfe\xca\0\0\0\0\x01\0\0\0\x02\0\0\0", little(16, 8, 512)),
    Named {
        class: Image("ewfexport -u -q -f raw -t STEM FILE"),
        ..image("EWF (EnCase)", b"EVF\t\r\n\xff\0", None)
    },
    // The trailer's own length, 512, follows its magic and version.
    Named { place: End(512, 1), ..image("DMG", b"koly\0\0\0\x04\0\0\x02\0", big(492, 8, 512)) },
    Named {
        class: Image("simg2img FILE NEW"),
        ..image("Android sparse image", &[0x3a, 0xff, 0x26, 0xed, 1, 0], None)
    },
    Named {
        class: Image("vma extract FILE NEW"),
        ..image("Proxmox backup (VMA)", b"VMA\0\0\0\0\x01", None)
    },
    Named {
        class: Image("partclone.restore -s FILE -O NEW"),
        ..image("Partclone image", b"partclone-image", None)
    },
    packed("gzip-compressed", &[0x1f, 0x8b, 8], "gzip -dc FILE > NEW"),
    packed("xz-compressed", b"\xfd7zXZ\0", "xz -dc FILE > NEW"),
    packed("Zstandard-compressed", &[0x28, 0xb5, 0x2f, 0xfd], "zstd -dc FILE > NEW"),
    packed("bzip2-compressed", b"BZh", "bzip2 -dc FILE > NEW"),
    packed("LZ4-compressed", &[0x04, 0x22, 0x4d, 0x18], "lz4 -dc FILE > NEW"),
    packed("lzop-compressed", b"\x89LZO\0\r\n\x1a\n", "lzop -dc FILE > NEW"),
    packed("lzip-compressed", b"LZIP\x01", "lzip -dc FILE > NEW"),
    packed("ZIP archive", b"PK\x03\x04", UNZIP),
    packed("ZIP archive", b"PK\x05\x06\0\0\0\0", UNZIP),
    packed("7z archive", &[0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "7z x -aos FILE"),
    packed("RAR archive", b"Rar!\x1a\x07", "unrar x -o- FILE"),
    packed("WIM archive", b"MSWIM\0\0\0", "wimlib-imagex apply FILE NEW"),
    packed("cpio archive", b"070701", UNCPIO),
    packed("cpio archive", b"070702", UNCPIO),
    packed("cpio archive", b"070707", UNCPIO),
    entry("tar archive", "tar archive", Packed(UNTAR), Start(257), b"ustar"),
];
