//! Each device is read as the kernel serves it: nothing comes out of another device's page cache.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;

use testkit::{Loop, Scratch, need_loops, need_tools, tool};

use super::run::{check, partitioned, text};

const MIB: u64 = 1 << 20;
const TABLE: &str = "label: gpt\nstart=2048, size=4096\nstart=8192\n";

#[test]
fn shows_the_file_system_that_replaced_another_on_a_disk_in_use() {
    need_tools!("sfdisk", "partx", "mkfs.fat", "mkfs.xfs");
    need_loops!();
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 400 * MIB, TABLE);
    let disk = Loop::attach(&image, 512);
    let part = disk.partition(2);
    // As long as somebody has the disk open its page cache stays.
    let _held = File::open(disk.path()).unwrap();
    tool::run("mkfs.fat", &["-F32", "-a", "-s1", "-R33", text(&part)]);
    tool::run("dd", &[&format!("if={}", text(disk.path())), "of=/dev/null", "bs=1M", "count=16"]);
    assert_eq!(check(&[text(disk.path())]).verdict("file-system", "vfat"), "misaligned");
    tool::run("mkfs.xfs", &["-q", "-f", text(&part)]);
    assert_eq!(check(&[text(disk.path())]).verdict("file-system", "xfs"), "aligned");
}

#[test]
fn shows_what_was_written_to_a_partition_and_not_synced_yet() {
    need_tools!("sfdisk", "partx");
    need_loops!();
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 400 * MIB, TABLE);
    let disk = Loop::attach(&image, 512);
    let part = disk.partition(2);
    let writer = OpenOptions::new().write(true).open(&part).unwrap();
    let _ = check(&[text(disk.path())]);
    writer.write_all_at(&[1, 0, 0, 0, 0xff, 0x1f, 0, 0], 1024).unwrap();
    writer.write_all_at(b"SWAPSPACE2", 4086).unwrap();
    check(&[text(disk.path())]).layer("swap", "swap");
}
