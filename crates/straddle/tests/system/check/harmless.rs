//! Nothing is written: targets are opened read only and hash the same before and after.

use std::os::unix::fs::MetadataExt as _;

use testkit::{Loop, Scratch, need_loops, need_tools, tool};

use super::run::{partitioned, straddle, text};

const MIB: u64 = 1 << 20;

/// The disk images that the field's tools make, one of each kind that is at hand.
fn images(scratch: &Scratch) -> Vec<std::path::PathBuf> {
    let mut images = vec![partitioned(
        scratch,
        "gpt.raw",
        64 * MIB,
        "label: gpt\nstart=2048, size=20480\nstart=40000\n",
    )];
    images.push(partitioned(scratch, "mbr.raw", 64 * MIB, "label: dos\nstart=63\n"));
    let ext = scratch.image("ext.raw", 64 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", text(&ext)]);
    images.push(ext);
    for format in ["qcow2", "vpc", "vdi", "vmdk", "vhdx"] {
        let image = scratch.path().join(format!("disk.{format}"));
        tool::run("qemu-img", &["convert", "-O", format, text(&images[0]), text(&image)]);
        images.push(image);
    }
    images
}

#[test]
fn every_image_is_the_same_to_the_byte_and_the_second_after_a_check() {
    need_tools!("sfdisk", "mkfs.ext4", "qemu-img", "sha256sum");
    let scratch = Scratch::new();
    let images = images(&scratch);
    let state = || -> Vec<(String, i64, i64, u64)> {
        let of = |path: &std::path::PathBuf| {
            let data = std::fs::metadata(path).unwrap();
            let hash = tool::run("sha256sum", &[text(path)]);
            // Blocks too: a sparse file must stay sparse.
            (hash, data.mtime(), data.mtime_nsec(), data.blocks())
        };
        images.iter().map(of).collect()
    };
    // Writeback changes the number of blocks, so finish it before counting.
    images.iter().for_each(|path| std::fs::File::open(path).unwrap().sync_all().unwrap());
    let before = state();
    let paths: Vec<&str> = images.iter().map(|path| text(path)).collect();
    for options in [&["check", "--explain"][..], &["check", "--json"]] {
        let mut arguments = options.to_vec();
        arguments.extend(&paths);
        let output = straddle(&arguments);
        assert!(
            output.status.code().is_some_and(|code| matches!(code, 0 | 1 | 5)),
            "{:?}",
            output.status
        );
    }
    assert_eq!(state(), before);
}

#[test]
fn a_device_that_can_only_be_read_is_checked_like_any_other() {
    need_tools!("sfdisk");
    need_loops!();
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let disk = Loop::attach_read_only(&image);
    let output = straddle(&["check", text(disk.path())]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn every_target_is_opened_for_reading_only() {
    need_tools!("sfdisk", "strace");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let trace = scratch.path().join("trace");
    let binary = env!("CARGO_BIN_EXE_straddle");
    let arguments = [
        "-f",
        "-e",
        "trace=open,openat,openat2,creat",
        "-o",
        text(&trace),
        binary,
        "check",
        text(&image),
    ];
    tool::run("strace", &arguments);
    let calls = std::fs::read_to_string(&trace).unwrap();
    let target: Vec<&str> = calls.lines().filter(|line| line.contains("disk.raw")).collect();
    assert!(!target.is_empty(), "{calls}");
    for call in target {
        assert!(call.contains("O_RDONLY"), "{call}");
    }
    for call in calls.lines() {
        assert!(!call.contains("O_WRONLY") && !call.contains("O_RDWR"), "{call}");
    }
}
