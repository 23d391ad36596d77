//! Damage that one command mends, and marks that one lists.

use crate::case::{Case, Fix};
use crate::work_directory::Bench;

const MIB: u64 = 1 << 20;
const TABLE: &str = "label: gpt\nstart=2048,size=20480,name=one\nstart=22528,size=20480,name=two\n";

fn disk(bench: &Bench) {
    bench.table("disk.raw", 32 * MIB, TABLE);
    bench.bytes("disk.raw", MIB, 20_480 * 512);
    bench.bytes("disk.raw", 11 * MIB, 20_480 * 512);
    bench.shell("cp --sparse=always disk.raw sound");
}

fn table_of_large_sectors(bench: &Bench) {
    bench.image("disk.raw", 32 * MIB);
    let disk = bench.attach("disk.raw", 4096);
    let script = "label: gpt\nstart=256,size=2560,name=data\n";
    testkit::tool::run_with_input("sfdisk", &["-q", testkit::scratch::text(disk.path())], script);
    drop(disk);
    bench.bytes("disk.raw", MIB, 20_480 * 512);
    bench.shell("cp --sparse=always disk.raw sound");
}

/// A disk of which `count` bytes are other ones.
fn damaged(bench: &Bench, at: u64, count: u64) {
    disk(bench);
    bench.shell(&format!(
        "tr '\\0' '\\252' </dev/zero | dd of=disk.raw bs=1 count={count} seek={at} conv=notrunc status=none"
    ));
}

const fn gpt(rule: &'static str, name: &'static str, make: fn(&Bench)) -> Case {
    Case::typed(rule, name, "sfdisk", "", "disk.raw", make)
}

pub(crate) const CASES: &[Case] = &[
    gpt("ST107", "a GPT in a file of odd length", |bench| {
        disk(bench);
        bench.shell("truncate -s +100 disk.raw");
    })
    .on("512e"),
    gpt("ST107", "a GPT with a broken first header in a file of odd length", |bench| {
        damaged(bench, 512 + 16, 1);
        bench.shell("truncate -s +100 disk.raw");
    })
    .on("512e"),
    Case::typed("ST107", "a dos table in a file of odd length", "", "4Kn", "disk.raw", |bench| {
        bench.table("disk.raw", 32 * MIB, "label: dos\nstart=2048,size=40960\n");
        bench.shell("truncate -s +512 disk.raw");
    }),
    Case::typed("ST305", "LUKS in a file of odd length", "cryptsetup", "", "disk.raw", |bench| {
        bench.shell("printf secret >key");
        let make = "cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 \
            --pbkdf-force-iterations 1000 --sector-size 4096 --offset 32768 --key-file key";
        bench.file_system("disk.raw", 32 * MIB, make);
        bench.shell("truncate -s +512 disk.raw");
    }),
    Case::typed("ST401", "the footer of a fixed VHD", "qemu-img", "", "disk.vhd", |bench| {
        bench.table("guest", 24 * MIB, "label: dos\nstart=2048,size=40960\n");
        bench.bytes("guest", MIB, 40_960 * 512);
        bench.shell(
            "qemu-img convert -O vpc -o subformat=fixed,force_size=on guest disk.vhd; rm guest
            printf '\\1' | dd of=disk.vhd bs=1 seek=$((24 * 1048576 + 64)) conv=notrunc status=none",
        );
    })
    .only("head -c", "disk.vhd.raw"),
    gpt("ST401", "the primary header", |bench| damaged(bench, 512 + 16, 1)),
    gpt("ST401", "the primary entries", |bench| damaged(bench, 1024 + 56, 8)),
    Case {
        fix: Fix::Done(
            "end the table before it: sgdisk -S 56 disk.raw",
            "sgdisk -S 56 disk.raw; grep -q 'eGON.BT0 loader' disk.raw",
        ),
        ..Case::typed("ST401", "a loader in unused entries", "sgdisk", "", "disk.raw", |bench| {
            disk(bench);
            bench.shell(
                "printf 'eGON.BT0 loader' | dd of=disk.raw bs=1 seek=8196 conv=notrunc status=none",
            );
        })
    },
    gpt("ST401", "the backup header", |bench| damaged(bench, 32 * MIB - 512 + 16, 1)),
    gpt("ST401", "the backup entries", |bench| damaged(bench, 32 * MIB - 33 * 512, 8)),
    gpt("ST402", "no protective MBR", |bench| {
        disk(bench);
        bench.shell("dd if=/dev/zero of=disk.raw bs=512 count=1 conv=notrunc status=none");
    }),
    gpt("ST402", "a protective MBR without its signature, after boot code", |bench| {
        disk(bench);
        bench.shell(
            "printf loader | dd of=disk.raw bs=1 seek=99 conv=notrunc status=none
            cp --sparse=always disk.raw sound
            printf '\\0\\0' | dd of=disk.raw bs=1 seek=510 conv=notrunc status=none",
        );
    }),
    Case::typed("ST403", "a dos table in a file that was cut short", "", "", "disk.raw", |bench| {
        bench.table(
            "disk.raw",
            32 * MIB,
            "label: dos\nstart=2048,size=20480\nstart=22528,size=40960\n",
        );
        bench.bytes("disk.raw", MIB, 20_480 * 512);
        bench.shell("truncate -s 20M disk.raw");
    }),
    gpt("ST406", "a disk that has grown", |bench| {
        disk(bench);
        bench.shell("truncate -s 40M disk.raw");
    }),
    gpt("ST406", "a grown disk whose protective MBR is active", |bench| {
        disk(bench);
        bench.shell("sfdisk -q -A disk.raw 1; truncate -s 40M disk.raw");
    }),
    gpt("ST406", "a disk that was cut short", |bench| {
        disk(bench);
        bench.shell("truncate -s 30M disk.raw");
    }),
    gpt("ST406", "no primary copy", |bench| {
        disk(bench);
        bench.shell("dd if=/dev/zero of=disk.raw bs=512 seek=1 count=33 conv=notrunc status=none");
    }),
    gpt("ST406", "other bytes in place of the primary header", |bench| damaged(bench, 512, 512)),
    gpt("ST406", "neither an MBR nor the backup copy", |bench| {
        disk(bench);
        bench.shell(
            "dd if=/dev/zero of=disk.raw bs=512 count=1 conv=notrunc status=none
            truncate -s -16896 disk.raw; truncate -s +16896 disk.raw",
        );
    }),
    gpt("ST406", "neither an MBR nor the primary copy", |bench| {
        disk(bench);
        bench.shell("dd if=/dev/zero of=disk.raw bs=512 count=34 conv=notrunc status=none");
    }),
    gpt("ST401", "a broken primary header on a disk that has grown", |bench| {
        damaged(bench, 512 + 16, 1);
        bench.shell("truncate -s 40M disk.raw");
    }),
    gpt("ST402", "no protective MBR before a table of 4096-byte sectors", |bench| {
        table_of_large_sectors(bench);
        bench.shell("dd if=/dev/zero of=disk.raw bs=512 count=1 conv=notrunc status=none");
    }),
    gpt("ST406", "no backup copy", |bench| {
        disk(bench);
        bench.shell("truncate -s -16896 disk.raw; truncate -s +16896 disk.raw");
    }),
    gpt("ST406", "a table of 4096-byte sectors that has grown", |bench| {
        table_of_large_sectors(bench);
        bench.shell("truncate -s 40M disk.raw");
    }),
    Case::typed("ST409", "a hybrid table", "sgdisk gdisk", "", "disk.raw", |bench| {
        disk(bench);
        bench.shell("sgdisk -h 1:2 disk.raw");
    }),
    Case {
        fix: Fix::Looked("wipefs"),
        ..Case::typed("ST410", "swap over ext4", "mkfs.ext4 mkswap", "", "disk.raw", |bench| {
            bench.file_system("disk.raw", 32 * MIB, "mkfs.ext4 -q -F");
            bench.shell(
                "dd if=disk.raw of=fs bs=4096 count=16 status=none; mkswap -q disk.raw; \
                dd if=fs of=disk.raw bs=1024 skip=1 seek=1 count=1 conv=notrunc status=none",
            );
        })
    },
];
