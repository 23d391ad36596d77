//! Stripes that are specified to file systems.

use crate::case::Case;
use crate::work_directory::Bench;

const MIB: u64 = 1 << 20;

/// Puts files into the file system in `disk.raw`.
fn filled(bench: &Bench, offset: u64) {
    bench.shell(&format!(
        "echo {offset} >offset; mkdir at; mount -o loop,offset={offset} disk.raw at; \
         (cd at; mkdir d; seq 1 9999 >d/numbers; date >now); umount at"
    ));
}

fn ext4(bench: &Bench, geometry: &str) {
    let make = format!("mkfs.ext4 -q -F -b 4096 -E {geometry}");
    bench.file_system("disk.raw", 64 * MIB, &make);
    filled(bench, 0);
}

fn xfs(bench: &Bench, geometry: &str) {
    bench.file_system("disk.raw", 1024 * MIB, &format!("mkfs.xfs -q -f -d {geometry}"));
    filled(bench, 0);
}

/// XFS again, with what is printed: XFS as on an array takes it from the words alone.
fn xfs_again(bench: &Bench, words: &str) {
    bench.file_system("disk.raw", 1024 * MIB, &format!("{words} -q -f"));
}

/// XFS with one field of its stripe changed, so that Linux refuses to mount it; its files are those
/// of `sound`.
fn refused_xfs(bench: &Bench, field: &str, blocks: u64) {
    xfs(bench, "su=64k,sw=3");
    bench.shell("cp --sparse=always disk.raw sound");
    bench.shell(&format!("xfs_db -x -c 'sb 0' -c 'write -d {field} {blocks}' disk.raw"));
}

const fn refused(name: &'static str, options: &'static str, make: fn(&Bench)) -> Case {
    Case::typed("ST205", name, "mkfs.xfs xfs_db", "512e", "disk.raw", make).tuned(options)
}

pub(crate) const CASES: &[Case] = &[
    Case::typed(
        "ST204",
        "ext4 in an image",
        "mkfs.ext4 tune2fs",
        "512e,stripe=64Kx3+1",
        "disk.raw",
        |bench| {
            ext4(bench, "stride=16,stripe_width=32");
        },
    )
    .tuned("tune2fs"),
    Case::typed(
        "ST204",
        "ext4 in a partition",
        "mkfs.ext4 tune2fs",
        "512e,stripe=64Kx4+1",
        "disk.raw",
        |bench| {
            bench.table("disk.raw", 32 * MIB, "label: gpt\nstart=2048,size=32768\n");
            bench.file_system(
                "fs",
                16 * MIB,
                "mkfs.ext4 -q -F -b 4096 -E stride=16,stripe_width=32",
            );
            bench.place("fs", "disk.raw", MIB);
            filled(bench, MIB);
        },
    )
    .tuned("tune2fs"),
    Case::typed(
        "ST205",
        "ext4 with a width of hundreds of disks",
        "mkfs.ext4 tune2fs",
        "512e",
        "disk.raw",
        |bench| {
            ext4(bench, "stride=16,stripe_width=10752");
        },
    )
    .tuned("tune2fs"),
    Case::typed(
        "ST205",
        "ext4 with a width that its stride does not divide",
        "mkfs.ext4 tune2fs",
        "512e",
        "disk.raw",
        |bench| {
            ext4(bench, "stride=32,stripe_width=48");
        },
    )
    .tuned("tune2fs"),
    Case::typed(
        "ST204",
        "XFS whose chunk stays",
        "mkfs.xfs",
        "512e,stripe=64Kx5+1",
        "disk.raw",
        |bench| {
            xfs(bench, "su=64k,sw=3");
        },
    )
    .tuned("mount"),
    Case::recreated(
        "ST204",
        "XFS whose root inode would move",
        "mkfs.xfs",
        "512e,stripe=512Kx3+1",
        |bench| xfs(bench, "su=64k,sw=3"),
        xfs_again,
    ),
    refused("a width that its unit does not divide", "sunit=128,swidth=256", |bench| {
        refused_xfs(bench, "width", 40);
    }),
    refused("a width below its unit", "sunit=128,swidth=128", |bench| {
        refused_xfs(bench, "width", 8);
    }),
    refused("no width", "sunit=128,swidth=128", |bench| {
        refused_xfs(bench, "width", 0);
    }),
];
