//! Layers that are made again with the words that are printed.

use testkit::scratch;

use crate::case::Case;
use crate::work_directory::Bench;

const MIB: u64 = 1 << 20;

/// A file system, as the words say, in a new disk.
fn again(bench: &Bench, words: &str) {
    bench.file_system("disk.raw", 64 * MIB, words);
}

/// Does what [`again`] does, quietly over what is there, for tools that ask.
fn forced(bench: &Bench, words: &str) {
    bench.file_system("disk.raw", 512 * MIB, &format!("{words} -q -f"));
}

/// A file system on a disk with sectors of 4096 bytes, which its tool sees.
fn on_4kn(bench: &Bench, words: &str) {
    bench.image("disk.raw", 64 * MIB);
    let disk = bench.attach("disk.raw", 4096);
    let tool = words.split_once(" on the disk itself").map_or(words, |(tool, _)| tool);
    bench.shell(&format!("{tool} {} >/dev/null", scratch::text(disk.path())));
}

fn luks(bench: &Bench, words: &str) {
    bench.shell("printf secret >key");
    let quick = "-q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file key";
    bench.file_system("disk.raw", 64 * MIB, &format!("{words} {quick}"));
}

/// A physical volume as the words say, in a group with two volumes.
fn lvm(bench: &Bench, words: &str) {
    let (volume, group) = words.split_once(" and ").unwrap_or((words, "vgcreate"));
    let lvm = testkit::Lvm::on(&[64 * MIB]);
    let run = |words: &str, rest: &[&str]| {
        let words: Vec<&str> = words.split(' ').chain(rest.iter().copied()).collect();
        lvm.run(&words);
    };
    run(volume, &[lvm.device(0)]);
    run(group, &["group", lvm.device(0)]);
    for name in ["-none", "-ntwo"] {
        run("lvcreate -an -Zn -Wn -l2", &[name, "group"]);
    }
    bench.shell(&format!("cp --sparse=always {} disk.raw", scratch::text(&lvm.images()[0])));
}

/// Two physical volumes with a striped volume, as the words say.
fn striped(bench: &Bench, words: &str) {
    let lvm = testkit::Lvm::on(&[32 * MIB, 32 * MIB]);
    for number in 0..2 {
        lvm.run(&["pvcreate", lvm.device(number)]);
    }
    lvm.run(&["vgcreate", "group", lvm.device(0), lvm.device(1)]);
    let words: Vec<&str> = words.split(' ').collect();
    lvm.run(&[&words[..], &["-an", "-Zn", "-Wn", "-i2", "-l4", "-nwide", "group"]].concat());
    for (number, image) in lvm.images().iter().enumerate() {
        let image = scratch::text(image);
        bench.shell(&format!("cp --sparse=always {image} disk{number}.raw"));
    }
}

const fn file_system(
    rule: &'static str,
    name: &'static str,
    tool: &'static str,
    on: &'static str,
    make: fn(&Bench),
) -> Case {
    Case::recreated(rule, name, tool, on, make, again)
}

pub(crate) const CASES: &[Case] = &[
    Case::recreated(
        "ST101",
        "LUKS2 off a granule",
        "cryptsetup",
        "granule=24K",
        |bench| luks(bench, "cryptsetup luksFormat --offset 32776"),
        luks,
    ),
    Case::recreated(
        "ST101",
        "LUKS1 off a granule",
        "cryptsetup",
        "granule=16K",
        |bench| luks(bench, "cryptsetup luksFormat --type luks1 --align-payload 8"),
        luks,
    ),
    Case::recreated(
        "ST101",
        "a physical volume off the granule",
        "lvm",
        "granule=4M",
        |bench| lvm(bench, "pvcreate --dataalignment 1m"),
        lvm,
    ),
    Case::recreated(
        "ST101",
        "bcache at 8 KiB",
        "make-bcache",
        "granule=16K",
        |bench| bench.file_system("disk.raw", 64 * MIB, "make-bcache -B"),
        again,
    ),
    Case::recreated(
        "ST201",
        "bcache within a chunk",
        "make-bcache",
        "512e,stripe=64Kx3+1",
        |bench| bench.file_system("disk.raw", 64 * MIB, "make-bcache -B"),
        again,
    ),
    Case::recreated(
        "ST201",
        "a physical volume within a chunk",
        "lvm",
        "512e,stripe=384Kx2+1",
        |bench| lvm(bench, "pvcreate --dataalignment 64k"),
        lvm,
    ),
    Case::recreated(
        "ST202",
        "a physical volume at 1 MiB on three disks",
        "lvm",
        "512e,stripe=512Kx3+1",
        |bench| lvm(bench, "pvcreate --dataalignment 1m"),
        lvm,
    ),
    Case {
        target: "disk0.raw disk1.raw",
        ..Case::recreated(
            "ST203",
            "chunks below the granule",
            "lvm",
            "granule=16K",
            |bench| striped(bench, "lvcreate -I 4"),
            striped,
        )
    },
    file_system("ST105", "FAT made with -a", "mkfs.fat", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat -F 32 -a -s 1 -R 33")
    }),
    file_system("ST309", "FAT32 of 16,000 clusters", "mkfs.fat", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat -F 32 -s 8")
    }),
    file_system("ST105", "FAT on a granule of 16 KiB", "mkfs.fat", "granule=16K", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat")
    }),
    file_system("ST105", "exFAT on a granule of 4 MiB", "mkfs.exfat", "granule=4M", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.exfat")
    }),
    Case::recreated(
        "ST302",
        "XFS of 512",
        "mkfs.xfs",
        "4Kn",
        |bench| bench.file_system("disk.raw", 512 * MIB, "mkfs.xfs -q -s size=512"),
        forced,
    ),
    file_system("ST302", "FAT of 512", "mkfs.fat", "4Kn", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat -F 16")
    }),
    Case::recreated(
        "ST302",
        "exFAT of 512",
        "mkfs.exfat",
        "4Kn",
        |bench| bench.file_system("disk.raw", 64 * MIB, "mkfs.exfat"),
        on_4kn,
    ),
    file_system("ST105", "UDF of 2 KiB", "mkfs.udf", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.udf -b 2048")
    }),
    file_system("ST303", "UDF of 512", "mkfs.udf", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.udf -b 512")
    }),
    file_system("ST303", "the log of an ext4 of 1 KiB", "mke2fs", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mke2fs -q -F -O journal_dev -b 1024")
    }),
    file_system("ST302", "ext4 of 1 KiB", "mkfs.ext4", "4Kn", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.ext4 -q -F -b 1024")
    }),
    file_system("ST303", "ext4 of 1 KiB", "mkfs.ext4", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.ext4 -q -F -b 1024")
    }),
    file_system("ST303", "ext2 of 2 KiB", "mkfs.ext2", "", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.ext2 -q -F -b 2048")
    }),
    Case::recreated(
        "ST303",
        "XFS of 1 KiB",
        "mkfs.xfs",
        "512e",
        |bench| bench.file_system("disk.raw", 512 * MIB, "mkfs.xfs -q -b size=1024"),
        forced,
    ),
    Case::recreated(
        "ST303",
        "ext4 on a granule of 16 KiB",
        "mkfs.ext4 mkfs.xfs",
        "granule=16K",
        |bench| bench.file_system("disk.raw", 512 * MIB, "mkfs.ext4 -q -F -b 4096"),
        forced,
    ),
    file_system("ST303", "FAT16 on a 4Kn disk", "mkfs.fat", "4Kn", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat -F 16 -s 2")
    }),
    Case::recreated(
        "ST303",
        "FAT32 of 1 GiB on a 4Kn disk",
        "mkfs.fat",
        "4Kn",
        |bench| bench.file_system("disk.raw", 1024 * MIB, "mkfs.fat -F 32 -s 2"),
        |bench, words| bench.file_system("disk.raw", 1024 * MIB, words),
    ),
    file_system("ST303", "FAT on a granule of 16 KiB", "mkfs.fat", "4Kn,granule=16K", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat -S 4096 -s 1")
    }),
    file_system("ST105", "FAT made with -a, on a 4Kn disk", "mkfs.fat", "4Kn", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.fat -F 32 -a -s 1 -R 33")
    }),
    file_system("ST303", "FAT with clusters of 512", "mkfs.fat", "512e", |bench| {
        bench.file_system("disk.raw", 16 * MIB, "mkfs.fat -F 16 -s 1")
    }),
    file_system("ST303", "exFAT with clusters of 512", "mkfs.exfat", "512e", |bench| {
        bench.file_system("disk.raw", 64 * MIB, "mkfs.exfat -c 512")
    }),
    Case::recreated(
        "ST303",
        "NTFS with clusters of 512",
        "mkntfs",
        "512e",
        |bench| bench.file_system("disk.raw", 64 * MIB, "mkntfs -qQF -c 512"),
        |bench, words| bench.file_system("disk.raw", 64 * MIB, &format!("{words} -qQF")),
    ),
    Case::recreated(
        "ST304",
        "LUKS1",
        "cryptsetup",
        "512e",
        |bench| luks(bench, "cryptsetup luksFormat --type luks1"),
        luks,
    ),
    Case::recreated(
        "ST304",
        "LUKS2 of 512",
        "cryptsetup",
        "512e",
        |bench| luks(bench, "cryptsetup luksFormat --type luks2 --sector-size 512"),
        luks,
    ),
];
