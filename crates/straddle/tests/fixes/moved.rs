//! Partitions: `straddle plan` says how, its script does it.

use crate::case::{Case, Fix};
use crate::work_directory::Bench;

const MIB: u64 = 1 << 20;
const FIRST: u64 = 63 * 512;

/// A disk with one partition at sector 63 of this type, which holds what `make` makes.
fn one(bench: &Bench, kind: &str, make: &str, length_bytes: u64) {
    let sectors = length_bytes.div_euclid(512);
    let disk = length_bytes + 8 * MIB;
    bench.table("disk.raw", disk, &format!("label: dos\nstart=63,size={sectors},type={kind}\n"));
    bench.file_system("fs", length_bytes, make);
    bench.place("fs", "disk.raw", FIRST);
}

const fn at_63(name: &'static str, tools: &'static str, make: fn(&Bench)) -> Case {
    Case::typed("ST101", name, tools, "512e", "disk.raw", make)
}

const fn on(name: &'static str, on: &'static str) -> Case {
    Case::typed("ST101", name, "", on, "disk.raw", |bench| {
        bench.table("disk.raw", 64 * MIB, "label: dos\nstart=2050,size=57344,type=7\n");
        bench.bytes("disk.raw", 2050 * 512, 57_344 * 512);
    })
}

/// An ext4 at 1 MiB of a disk with this table, whose partition is a sector longer.
fn odd_end(bench: &Bench, table: &str) {
    bench.table("disk.raw", 32 * MIB, table);
    bench.shell("truncate -s 10240000 fs && mkfs.ext4 -q -F fs");
    bench.place("fs", "disk.raw", MIB);
}

/// A GPT with a name, attributes and a UUID in each entry.
fn named(bench: &Bench, starts: [u64; 2]) {
    let entry = |start: u64, name: &str, uuid: &str| {
        format!(
            "start={start},size=20000,name=\"{name}\",uuid={uuid},attrs=\"LegacyBIOSBootable GUID:60\"\n"
        )
    };
    let script = [
        "label: gpt\n".to_owned(),
        entry(starts[0], "one of two", "12345678-9ABC-4DEF-8123-456789ABCDEF"),
        entry(starts[1], "swap", "22345678-9ABC-4DEF-8123-456789ABCDEF"),
    ]
    .concat();
    bench.table("disk.raw", 32 * MIB, &script);
    for start in starts {
        bench.bytes("disk.raw", start * 512, 20_000 * 512);
    }
}

/// An image in another format, of a disk with a partition at sector 63.
fn guest(bench: &Bench, name: &str, format: &str) {
    one(bench, "83", "mkfs.ext4 -q -F", 16 * MIB);
    bench.shell(&format!("qemu-img convert -O {format} disk.raw {name}"));
}

const fn image(
    name: &'static str,
    target: &'static str,
    copy: &'static str,
    make: fn(&Bench),
) -> Case {
    Case::typed("ST102", name, "mkfs.ext4 qemu-img", "", target, make).only("", copy)
}

/// Steps that `straddle plan` gives for a slice with a BSD label, followed by hand: the slice is
/// made again where it says, and its label in it.
const SLICE_AGAIN: &str = r#"
    set -e
    place=$(straddle plan disk.raw --on 512e | tr '\n' ' ' | tr -s ' ' |
        sed -E 's/.* recreate it at sector ([0-9]+) .* with ([0-9]+) sectors, restore.*/start=\1,size=\2/')
    printf 'label: dos\n%s,type=a5\n' "$place" | sfdisk -q --wipe always disk.raw
    printf 'b\ny\nw\n' | fdisk disk.raw
"#;

pub(crate) const CASES: &[Case] = &[
    Case {
        fix: Fix::Done("straddle plan disk.raw", SLICE_AGAIN),
        ..at_63("a slice with a BSD label, type a5", "fdisk", |bench| {
            bench.table("disk.raw", 64 * MIB, "label: dos\nstart=63,size=100000,type=a5\n");
            bench.shell(r"printf 'b\ny\nw\n' | fdisk disk.raw");
        })
    },
    at_63("ext4, type 83", "mkfs.ext4", |bench| one(bench, "83", "mkfs.ext4 -q -F", 16 * MIB)),
    at_63("NTFS, type 07", "mkntfs", |bench| one(bench, "7", "mkntfs -qQFs 512 -p 63", 16 * MIB)),
    at_63("FAT16, type 06", "mkfs.fat", |bench| one(bench, "6", "mkfs.fat -F 16 -h 63", 16 * MIB)),
    at_63("FAT32, type 0c", "mkfs.fat", |bench| one(bench, "c", "mkfs.fat -F 32 -h 63", 64 * MIB)),
    at_63("XFS", "mkfs.xfs", |bench| one(bench, "83", "mkfs.xfs -q", 320 * MIB)),
    at_63("btrfs", "mkfs.btrfs", |bench| one(bench, "83", "mkfs.btrfs -q", 128 * MIB)),
    at_63("f2fs", "mkfs.f2fs", |bench| one(bench, "83", "mkfs.f2fs -q", 64 * MIB)),
    at_63("swap, type 82", "mkswap", |bench| one(bench, "82", "mkswap", 16 * MIB)),
    at_63("LUKS1", "cryptsetup", |bench| {
        bench.shell("printf secret >key");
        let make = "cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000 \
            --align-payload 8 --key-file key";
        one(bench, "83", make, 16 * MIB);
    }),
    at_63("LUKS2", "cryptsetup", |bench| {
        bench.shell("printf secret >key");
        let make = "cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 \
            --pbkdf-force-iterations 1000 --offset 32768 --key-file key";
        one(bench, "83", make, 24 * MIB);
    }),
    at_63("LVM, type 8e", "lvm", |bench| {
        let lvm = testkit::Lvm::on(&[16 * MIB]);
        lvm.run(&["pvcreate", lvm.device(0)]);
        lvm.run(&["vgcreate", "group", lvm.device(0)]);
        lvm.run(&["lvcreate", "-an", "-Zn", "-Wn", "-l2", "-nhome", "group"]);
        let image = testkit::scratch::text(&lvm.images()[0]);
        bench.shell(&format!("cp --sparse=always {image} pv"));
        one(bench, "8e", "true", 16 * MIB);
        bench.place("pv", "disk.raw", FIRST);
    }),
    at_63("md member, type fd", "", |bench| {
        let sample = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../format/tests/heads/md-1.2-raid5-in-partition.bin"
        );
        one(bench, "fd", "true", 16 * MIB);
        bench.shell(&format!("cp {sample} member"));
        bench.place("member", "disk.raw", FIRST);
    }),
    at_63("bcache", "make-bcache", |bench| one(bench, "83", "make-bcache -B", 16 * MIB)),
    Case::typed("ST102", "the example of the README", "mkfs.ext4", "", "disk.raw", |bench| {
        bench.table("disk.raw", 64 * MIB, "start=63, type=83\n");
        bench.shell("mkfs.ext4 -q -E offset=32256 disk.raw 65504k");
    }),
    at_63("unknown bytes, bootable", "", |bench| {
        bench.table("disk.raw", 32 * MIB, "label: dos\nstart=63,size=40000,type=da,bootable\n");
        bench.bytes("disk.raw", FIRST, 40_000 * 512);
    }),
    at_63("two logical partitions", "", |bench| {
        let script = "label: dos\nstart=63,size=20000\nstart=20063,size=60000,type=5\n\
            start=20126,size=20000\nstart=40189,size=20000,type=82\n";
        bench.table("disk.raw", 48 * MIB, script);
        for start in [63, 20_126, 40_189] {
            bench.bytes("disk.raw", start * 512, 20_000 * 512);
        }
    }),
    at_63("four primary partitions", "", |bench| {
        let script = "label: dos\nstart=63,size=16065\nstart=16128,size=16065,type=7\n\
            start=32193,size=16065,type=82\nstart=48258,size=16065,type=8e\n";
        bench.table("disk.raw", 48 * MIB, script);
        for start in [63, 16_128, 32_193, 48_258] {
            bench.bytes("disk.raw", start * 512, 16_065 * 512);
        }
    }),
    at_63("a GPT with names and attributes", "", |bench| named(bench, [2051, 22_052])),
    at_63("a hybrid table", "sgdisk", |bench| {
        named(bench, [2051, 22_052]);
        bench.shell("sgdisk -h 1 disk.raw");
    }),
    on("granule of 16 KiB", "granule=16K"),
    on("granule of 4 MiB", "granule=4M"),
    on("a jumpered disk", "512e,origin=3584"),
    on("a stripe of three disks", "512e,stripe=64Kx3+1"),
    Case::typed("ST102", "a dos table", "mkfs.ext4", "", "disk.raw", |bench| {
        one(bench, "83", "mkfs.ext4 -q -F", 16 * MIB);
    }),
    Case::typed("ST102", "a name with a blank", "", "", "'my disk.raw'", |bench| {
        bench.table("my disk.raw", 32 * MIB, "label: dos\nstart=63,size=40000\n");
        bench.bytes("my disk.raw", FIRST, 40_000 * 512);
    }),
    image("qcow2", "disk.qcow2", "disk.qcow2.raw", |bench| guest(bench, "disk.qcow2", "qcow2")),
    image("a fixed VHD", "disk.vhd", "disk.vhd.raw", |bench| {
        guest(bench, "disk.vhd", "vpc -o subformat=fixed,force_size=on");
    }),
    image("VMDK", "disk.vmdk", "disk.vmdk.raw", |bench| guest(bench, "disk.vmdk", "vmdk")),
    image("VHDX", "disk.vhdx", "disk.vhdx.raw", |bench| guest(bench, "disk.vhdx", "vhdx")),
    Case::typed("ST102", "a PV whose data is off", "lvm", "", "disk.raw", |bench| {
        let lvm = testkit::Lvm::on(&[16 * MIB]);
        lvm.run(&["pvcreate", "--dataalignmentoffset", "1536b", lvm.device(0)]);
        let image = testkit::scratch::text(&lvm.images()[0]);
        bench.shell(&format!("cp --sparse=always {image} pv"));
        bench.table("disk.raw", 32 * MIB, "label: dos\nstart=2048,size=32768,type=8e\n");
        bench.place("pv", "disk.raw", MIB);
    })
    .only("straddle plan", "disk.raw"),
    Case::typed("ST106", "an odd end", "mkfs.ext4", "512e", "disk.raw", |bench| {
        odd_end(bench, "label: gpt\nstart=2048,size=20001,name=odd\n");
    }),
    Case::typed("ST106", "an odd end before another", "mkfs.ext4", "512e", "disk.raw", |bench| {
        odd_end(bench, "label: gpt\nstart=2048,size=20001\nstart=22528,size=20480\n");
    }),
    Case::typed("ST108", "a short first partition", "", "512e", "disk.raw", |bench| {
        bench.table(
            "disk.raw",
            32 * MIB,
            "label: gpt\nstart=2048,size=2049\nstart=4097,size=20480\n",
        );
        bench.bytes("disk.raw", MIB, 2048 * 512);
        bench.bytes("disk.raw", 4097 * 512, 20_480 * 512);
    }),
    Case::typed(
        "ST201",
        "a start within a chunk",
        "",
        "512e,stripe=256Kx4+1",
        "disk.raw",
        |bench| {
            bench.table("disk.raw", 32 * MIB, "label: gpt\nstart=2304,size=20480,name=data\n");
            bench.bytes("disk.raw", 2304 * 512, 20_480 * 512);
        },
    ),
    Case::typed("ST202", "1 MiB on three disks", "", "512e,stripe=512Kx3+1", "disk.raw", |bench| {
        bench.table("disk.raw", 32 * MIB, "label: gpt\nstart=2048,size=20480,name=data\n");
        bench.bytes("disk.raw", MIB, 20_480 * 512);
    }),
    Case::typed("ST301", "a GPT on a 4Kn disk", "", "4Kn", "disk.raw", |bench| {
        bench.table("disk.raw", 32 * MIB, "label: gpt\nstart=2048,size=20480,name=data\n");
        bench.bytes("disk.raw", MIB, 20_480 * 512);
    })
    .only("straddle plan", "disk.raw"),
    Case::typed("ST301", "an odd start on a 4Kn disk", "", "4Kn", "disk.raw", |bench| {
        bench.table("disk.raw", 32 * MIB, "label: gpt\nstart=2049,size=20480,name=data\n");
        bench.bytes("disk.raw", 2049 * 512, 20_480 * 512);
    })
    .only("straddle plan", "disk.raw"),
    Case::typed("ST301", "a GPT of 4096 on a 512e disk", "", "512e", "disk.raw", |bench| {
        bench.image("disk.raw", 32 * MIB);
        let disk = bench.attach("disk.raw", 4096);
        let script = "label: gpt\nstart=256,size=2560,name=data\n";
        testkit::tool::run_with_input(
            "sfdisk",
            &["-q", testkit::scratch::text(disk.path())],
            script,
        );
        drop(disk);
        bench.bytes("disk.raw", MIB, 20_480 * 512);
    })
    .only("straddle plan", "disk.raw"),
    Case::typed("ST305", "LUKS in an odd partition", "cryptsetup", "512e", "disk.raw", |bench| {
        bench.shell("printf secret >key");
        bench.table("disk.raw", 48 * MIB, "label: gpt\nstart=2048,size=65536\n");
        let make = "cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 \
            --pbkdf-force-iterations 1000 --sector-size 4096 --offset 32768 --key-file key";
        bench.file_system("fs", 32 * MIB, make);
        bench.place("fs", "disk.raw", MIB);
        bench.shell("sfdisk -d disk.raw | sed 's/65536/65537/' | sfdisk -q disk.raw");
    }),
];
