//! Free space: bytes outside of all partitions may be anything, and only zeros are taken.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::Ran;
use testkit::{Scratch, need_tools, scratch, tool};

use super::{plan, scratch_in_memory, straddle, typed};

const SECTOR: u64 = 512;
/// The first byte after a partition of 131008 sectors that starts at sector 63.
const END: u64 = (63 + 131_008) * SECTOR;

fn put(path: &Path, at: u64, bytes: &[u8]) {
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it opens");
    std::os::unix::fs::FileExt::write_all_at(&file, bytes, at).expect("it is written");
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is read")
}

/// A disk of `length` bytes with an ext4 that fills its one partition of an MBR, and `more`.
fn disk(scratch: &Scratch, length: u64, [start, size]: [u64; 2], more: &[(u64, &[u8])]) -> PathBuf {
    let disk = scratch.image("disk.raw", length);
    let name = scratch::text(&disk);
    let table = format!("label: dos\nstart={start}, size={size}\n");
    tool::run_with_input("sfdisk", &["-q", name], &table);
    ext4(&disk, start, size);
    for (at, bytes) in more {
        put(&disk, *at, bytes);
    }
    disk
}

fn ext4(disk: &Path, start: u64, size: u64) {
    let offset = format!("offset={}", start * SECTOR);
    let blocks = (size / 8).to_string();
    let name = scratch::text(disk);
    tool::run("mkfs.ext4", &["-qF", "-b", "4096", "-E", &offset, name, &blocks]);
}

/// Plans a disk in which nothing can move, and returns what stays and why.
#[track_caller]
fn stays(disk: &Path, on: &[&str]) -> String {
    let found = plan(disk, on);
    assert_eq!(found["changes"], false, "{found:#}");
    found["unmended"][0].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_partition_moves_away_from_what_follows_it_and_never_over_it() {
    need_tools!("sfdisk", "mkfs.ext4", "e2fsck");
    let drbd = [0x83, 0x74, 0x02, 0x6d];
    let cases = [
        // A GEOM mirror's label, in the last sector of the disk; DRBD's metadata; anything.
        (64 << 20, END, &b"GEOM::MIRROR\0\0\0\0"[..]),
        (80 << 20, END + 4096 - END % 4096 + 60, &drbd),
        (80 << 20, END + 100, b"a text"),
    ];
    for (length, at, what) in cases {
        let scratch = scratch_in_memory();
        let disk = disk(&scratch, length, [63, 131_008], &[(at, what)]);
        let before = bytes(&disk);
        let start = plan(&disk, &[])["partitions"][0]["new_start_bytes"].as_u64();
        // Below are only zeros; DRBD's metadata are not in the sector that the move takes.
        let aligned = if what == drbd { 64 } else { 56 };
        assert_eq!(start, Some(aligned * SECTOR));
        let ran = typed(&disk, &disk, &scratch, &[]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let (after, end) = (bytes(&disk), usize::try_from(END + 512).expect("it fits"));
        let at = usize::try_from(at).expect("it fits");
        assert!(after[at..at + what.len()] == *what && after[end..] == before[end..]);
        let offset = format!("{}?offset={}", scratch::text(&disk), aligned * SECTOR);
        tool::run("e2fsck", &["-fn", &offset]);
    }
}

#[test]
fn a_partition_between_bytes_that_are_not_zero_stays_and_the_plan_says_why() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    let more = [(62 * SECTOR + 7, &b"core.img"[..]), (END + 100, b"a text")];
    let disk = disk(&scratch, 80 << 20, [63, 131_008], &more);
    let left = stays(&disk, &[]);
    let reason =
        format!("stays misaligned: bytes that are not zero are in the way, at byte {}", END + 100);
    assert!(left.contains(&reason), "{left}");
    let before = bytes(&disk);
    let ran = typed(&disk, &disk, &scratch, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(before == bytes(&disk));
    let check = straddle(&["check", scratch::text(&disk)]);
    assert!(!check.out.contains("straddle plan"), "{check:?}");
}

#[test]
fn a_file_system_whose_partition_was_deleted_is_not_overwritten() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    let disk = disk(&scratch, 256 << 20, [2048, 204_800], &[]);
    ext4(&disk, 206_848, 204_800);
    let left = stays(&disk, &["--on", "512e,stripe=1Mx3+1"]);
    // Its superblock is 1024 bytes into it, and begins with the number of inodes.
    let reason =
        "stays off the full stripe: bytes that are not zero are in the way, at byte 10590720";
    assert_eq!((206_848 * SECTOR + 1024).div_euclid(10), 10_590_720);
    assert!(left.contains(reason), "{left}");
}

#[test]
fn the_script_refuses_a_disk_on_which_the_free_space_was_written_since() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    let disk = disk(&scratch, 80 << 20, [63, 131_008], &[]);
    let changed = scratch.path().join("changed.raw");
    scratch::copy(&disk, &changed);
    put(&changed, END + 100, b"a text");
    let before = bytes(&changed);
    let ran = typed(&disk, &changed, &scratch, &[]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(before == bytes(&changed));
}

#[test]
fn the_script_reads_all_of_the_free_space_that_it_takes() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    let disk = scratch.image("disk.raw", 400 << 20);
    let name = scratch::text(&disk);
    tool::run_with_input("sfdisk", &["-q", name], "label: dos\nstart=2048, size=400000\n");
    ext4(&disk, 2048, 20_000);
    let script = scratch.path().join("plan.sh");
    let words = ["plan", name, "--on", "granule=128M", "--script", "-o", scratch::text(&script)];
    assert_eq!(straddle(&words).status, Some(0));
    // 104 MiB after the partition's old end, in its new place.
    put(&disk, 300 << 20, b"a text");
    let before = bytes(&disk);
    let work = scratch.path().join("work");
    let ran = Ran::of(Command::new("sh").args([&script, &disk, &work]));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("holds data in the free space that this plan takes"), "{ran:?}");
    assert!(before == bytes(&disk));
}

#[test]
fn no_end_is_moved_over_bytes_that_are_not_zero() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    // Its content needs 204808 sectors, and three more would be on the granule.
    let disk = scratch.image("disk.raw", 160 << 20);
    let name = scratch::text(&disk);
    tool::run_with_input("sfdisk", &["-q", name], "label: dos\nstart=2048, size=204804\n");
    tool::run("mkfs.ext4", &["-qF", "-b", "1024", "-E", "offset=1048576", name, "102402"]);
    let end = plan(&disk, &[])["partitions"][0]["new_length_bytes"].as_u64();
    assert_eq!(end, Some(204_808 * SECTOR));
    let at = (2048 + 204_806) * SECTOR;
    put(&disk, at, b"a text");
    let left = stays(&disk, &[]);
    let reason =
        format!("stays off the granule: bytes that are not zero are in the way, at byte {at}");
    assert!(left.contains(&reason), "{left}");
}

#[test]
fn a_table_for_other_sectors_is_not_planned_over_a_boot_loader() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let table = "label: gpt\nstart=2048, size=81920\n";
    // After the entries, where the new ones end; and before the backup at the end of the disk.
    for at in [20_480, (64 << 20) - 20_480] {
        let disk = scratch.image("u.raw", 64 << 20);
        tool::run_with_input("sfdisk", &["-q", scratch::text(&disk)], table);
        let plan = ["plan", scratch::text(&disk), "--on", "4Kn"];
        assert_eq!(straddle(&plan).status, Some(0));
        put(&disk, at, b"U-Boot SPL");
        let ran = straddle(&plan);
        assert_eq!(ran.status, Some(5), "{ran:?}");
        assert!(ran.errors.contains(&format!("something unknown is at byte {at}")), "{ran:?}");
        let check = straddle(&["check", "--on", "4Kn", scratch::text(&disk)]);
        assert!(check.out.contains("no plan: something unknown"), "{check:?}");
        std::fs::remove_file(&disk).expect("it is removed");
    }
}
