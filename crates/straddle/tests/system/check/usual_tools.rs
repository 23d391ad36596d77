//! Disks of which the tools in daily use say less than `straddle check`. The table of the README
//! names these tests.

use std::path::Path;

use testkit::{Scratch, need_tools, tool};

use super::run::{check, partitioned, text};

const MIB: u64 = 1 << 20;

/// Returns whether `parted align-check` accepts partition 1 of `image`.
fn parted_accepts(image: &Path, kind: &str) -> bool {
    tool::output("parted", &["-s", text(image), "align-check", kind, "1"]).status.success()
}

#[test]
fn fdisk_parted_and_lsblk_pass_what_check_finds() {
    need_tools!("sfdisk", "fdisk", "parted", "lsblk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=63\n");
    let listed = tool::run("fdisk", &["-l", text(&image)]);
    assert!(listed.contains("disk.raw1") && !listed.contains("boundary"), "{listed}");
    assert!(parted_accepts(&image, "minimal"));
    let listed = tool::output("lsblk", &[text(&image)]);
    assert!(String::from_utf8_lossy(&listed.stderr).contains("not a block device"), "{listed:?}");
    let checked = check(&[text(&image)]);
    assert_eq!(checked.verdict("partition", "#1"), "misaligned");
    assert_eq!(checked.status, 1);
    let image = partitioned(&scratch, "array.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    assert!(parted_accepts(&image, "minimal") && parted_accepts(&image, "optimal"));
    let checked = check(&[text(&image), "--on", "512e,stripe=512Kx3+1"]);
    assert_eq!(checked.verdict("partition", "#1"), "chunk-only");
    assert_eq!(checked.status, 1);
}

#[test]
fn fdisk_sees_no_partition_in_a_qcow2_and_check_judges_it() {
    need_tools!("sfdisk", "fdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=63\n");
    let image = scratch.path().join("disk.qcow2");
    tool::run("qemu-img", &["convert", "-O", "qcow2", text(&raw), text(&image)]);
    let listed = tool::run("fdisk", &["-l", text(&image)]);
    assert!(!listed.contains("Start"), "{listed}");
    assert_eq!(check(&[text(&image)]).verdict("partition", "#1"), "misaligned");
}
