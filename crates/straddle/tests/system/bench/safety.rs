//! Raw devices that must not be written to: each reason, by the binary, with everything else right.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

use testkit::{Loop, Mount, Scratch, Swap, need_loops, need_tools, scratch::text, tool};

use super::disk::{Disk, confirmation, zfs_label};
use super::run::{Ran, bench};

/// Few and small writes.
const SMALL: [&str; 4] = ["--scratch", "4M", "--pairs", "4"];
/// `O_EXCL` of open(2).
const EXCLUSIVELY: i32 = 0o200;

/// Returns what is said when `node` is to be written to and `confirm` names it. It must be a refusal for
/// safety, before anything was opened for writing.
fn refusal(node: &Path, confirm: &str) -> String {
    let scratch = Scratch::new();
    let calls = scratch.path().join("calls");
    let binary = env!("CARGO_BIN_EXE_straddle");
    let words = ["-f", "-e", "trace=open,openat,openat2,creat", "-o", text(&calls), binary];
    let arguments = ["bench", text(node), "--write-device", "--confirm", confirm];
    let ran: Ran = tool::output("strace", &[&words[..], &arguments, &SMALL].concat()).into();
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.out.is_empty(), "{ran:?}");
    assert!(ran.errors.starts_with("error: "), "{ran:?}");
    let calls = fs::read_to_string(&calls).expect("strace wrote it");
    assert!(calls.contains(text(node)), "{calls}");
    for call in calls.lines() {
        assert!(!call.contains("O_RDWR") && !call.contains("O_WRONLY"), "{call}");
    }
    ran.errors
}

/// The disk is refused with these words, and is as it was.
#[track_caller]
fn refused(disk: &Disk, words: &[&str]) {
    refused_as(disk, disk.device.path(), words);
}

/// Asserts what [`refused`] does, by another name or a part of it.
#[track_caller]
fn refused_as(disk: &Disk, node: &Path, words: &[&str]) {
    let before = disk.hash();
    let said = refusal(node, &confirmation(node));
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(disk.hash(), before, "{said}");
}

#[test]
fn a_blank_device_that_is_named_right_is_written_to_and_one_that_is_not_is_not() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    let disk = Disk::solid();
    let before = disk.hash();
    for wrong in ["", "yes", disk.name(), &format!("{}1", disk.confirmation())] {
        let said = refusal(disk.device.path(), wrong);
        let reason =
            if wrong.is_empty() { "--confirm is missing" } else { "--confirm does not name" };
        assert!(said.contains(reason), "{said}");
        let said = said.replace(&format!("`{wrong}` was given"), "");
        assert!(!said.contains(&disk.confirmation()), "the right words are not told: {said}");
    }
    assert_eq!(disk.hash(), before);
    let right = disk.confirmation();
    let ran = bench(&[&[disk.name(), "--write-device", "--confirm", &right], &SMALL[..]].concat());
    assert_eq!(ran.status, Some(5), "four pairs are too few: {ran:?}");
    assert!(ran.out.contains("No verdict: "), "{ran:?}");
    assert!(ran.errors.starts_with("note: overwrites the first "), "it is announced: {ran:?}");
    assert_ne!(disk.hash(), before, "so the refusals above are due to their words");
}

#[test]
fn a_dry_run_of_writing_refuses_what_the_run_would_refuse_and_writes_nothing() {
    need_loops!();
    need_tools!("mkfs.ext4", "sha256sum");
    let disk = Disk::made(&["mkfs.ext4", "-q"]);
    let before = disk.hash();
    let right = disk.confirmation();
    let dry = ["--write-device", "--dry-run", "--confirm"];
    let said = bench(&[&[disk.name()], &dry[..], &[&right]].concat());
    assert_eq!(said.status, Some(3), "{said:?}");
    assert!(said.errors.contains("there is data on"), "{said:?}");
    assert_eq!(disk.hash(), before);
    let blank = Disk::solid();
    let before = blank.hash();
    let wrong = bench(&[&[blank.name()], &dry[..], &["yes"]].concat());
    assert_eq!(wrong.status, Some(3), "{wrong:?}");
    let right = blank.confirmation();
    // It writes nothing, so that it needs no words.
    let unsaid = bench(&[blank.name(), "--write-device", "--dry-run"]);
    let plan = bench(&[&[blank.name()], &dry[..], &[&right]].concat());
    for plan in [unsaid, plan] {
        assert_eq!(plan.status, Some(0), "{plan:?}");
        assert!(plan.out.contains("overwritten and lost"), "{plan:?}");
    }
    assert_eq!(blank.hash(), before);
}

#[test]
fn a_device_is_only_read_where_nobody_asked_for_writing() {
    need_loops!();
    need_tools!("strace", "sha256sum");
    let disk = Disk::solid();
    let before = disk.hash();
    let ran = bench(&[disk.name(), "--pairs", "8"]);
    assert!(ran.out.contains("random read"), "{ran:?}");
    assert_eq!(disk.hash(), before);
    let unconfirmed = bench(&[disk.name(), "--write-device"]);
    assert_eq!(unconfirmed.status, Some(3), "{unconfirmed:?}");
    assert!(unconfirmed.errors.contains("--confirm"), "{unconfirmed:?}");
    assert_eq!(disk.hash(), before);
}

#[test]
fn a_mounted_device_is_refused_also_through_a_symlink() {
    need_loops!();
    need_tools!("mkfs.ext4", "strace", "sha256sum", "lsblk");
    // All that it writes by itself is written before hashes are taken.
    let disk = Disk::made(&["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
    let point = disk.scratch.path().join("mounted");
    let _mount = Mount::new("ext4", "", disk.name(), &point);
    tool::run("sync", &["--file-system", text(&point)]);
    let link = disk.scratch.path().join("link");
    symlink(disk.name(), &link).expect("a link can be made");
    let words = ["is in use", "is mounted on", "hint: ", text(&point)];
    refused(&disk, &words);
    refused_as(&disk, &link, &words);
}

#[test]
fn the_disk_of_a_mounted_partition_is_refused() {
    need_loops!();
    need_tools!("mkfs.ext4", "sfdisk", "partx", "strace", "sha256sum", "lsblk");
    let disk = Disk::solid();
    let script = "label: dos\nstart=2048, size=65536\nstart=67584\n";
    tool::run_with_input("sfdisk", &["-q", "--no-reread", disk.name()], script);
    let (first, second) = (disk.device.partition(1), disk.device.partition(2));
    // All that it writes by itself is written before hashes are taken.
    let now = "lazy_itable_init=0,lazy_journal_init=0";
    tool::run("mkfs.ext4", &["-q", "-E", now, text(&first)]);
    let point = disk.scratch.path().join("mounted");
    let _mount = Mount::new("ext4", "", text(&first), &point);
    tool::run("sync", &["--file-system", text(&point)]);
    refused(&disk, &["its partition", text(&first), "is mounted on"]);
    refused_as(&disk, &first, &["is mounted on"]);
    // Its neighbor shares no byte with it.
    let right = confirmation(&second);
    let arguments = [text(&second), "--write-device", "--confirm", &right];
    let ran = bench(&[&arguments, &SMALL[..]].concat());
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.out.contains("No verdict: "), "{ran:?}");
}

#[test]
fn a_device_that_is_swapped_to_is_refused() {
    need_loops!();
    need_tools!("mkswap", "swapon", "swapoff", "strace", "sha256sum", "lsblk");
    let disk = Disk::blank();
    let Some(_swap) = Swap::on(disk.device.path()) else {
        testkit::skip("the kernel does not swap to loop devices here");
        return;
    };
    // The kernel may swap out to it meanwhile, but never into the page of its header.
    let header = || {
        let mut page = [0; 4096];
        File::open(disk.name())
            .and_then(|mut file| file.read_exact(&mut page))
            .expect("it is read");
        page
    };
    let before = header();
    let said = refusal(disk.device.path(), &disk.confirmation());
    for word in ["the kernel swaps to", "hint: swapoff"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(header(), before, "{said}");
}

#[test]
fn every_signature_is_a_refusal_that_names_it() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    for (head, word) in [
        ("md-raid5", "a member of an md array"),
        ("lvm-on-md", "a physical volume of LVM"),
        ("luks2", "a LUKS container"),
        ("bcache-backing", "a bcache device"),
        ("gpt", "a partition table (gpt)"),
        ("mbr", "a partition table (dos)"),
        ("swap", "swap"),
        ("ext4", "ext4"),
        ("xfs", "xfs"),
        ("btrfs", "btrfs"),
        ("ntfs", "ntfs"),
        ("fat32", "vfat"),
    ] {
        refused(&Disk::with_head(head), &["there is data on", word, "hint: "]);
    }
}

#[test]
fn a_member_of_a_zfs_pool_is_refused_also_where_only_one_label_is_left() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    for number in 0..4 {
        let disk = Disk::blank();
        let area = if number < 2 { 0 } else { super::disk::DISK_BYTES - (1 << 20) };
        disk.put(area + number * (256 << 10) + (16 << 10), &zfs_label());
        refused(&disk, &["there is data on", "zfs_member"]);
    }
}

#[test]
fn what_no_parser_reads_is_refused_by_its_mark_alone() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    let end = super::disk::DISK_BYTES;
    for (at, mark, name) in [
        (end - 512, &[0xde, 0x11, 0xde, 0x11][..], "ddf_raid_member"),
        (end - 257 * 512, &[0x11, 0xde, 0x11, 0xde], "ddf_raid_member"),
        (0, b"HM\x01\0", "LVM1_member"),
        (32_769, b"CD001", "iso9660"),
        (508, &[0xda, 0xbe], "sun"),
    ] {
        let disk = Disk::blank();
        disk.put(at, mark);
        refused(&disk, &["there is data on", name]);
    }
}

#[test]
fn what_tools_make_is_refused_as_what_was_packed_is() {
    need_loops!();
    need_tools!("sfdisk", "mkfs.ext4", "mkfs.xfs", "strace", "sha256sum", "lsblk");
    refused(&Disk::made(&["mkfs.ext4", "-q"]), &["ext4 data"]);
    let disk = Disk::blank();
    tool::run_with_input("sfdisk", &["-q", disk.name()], "label: gpt\n");
    refused(&disk, &["a partition table (gpt)"]);
}

#[test]
fn a_device_with_a_loop_over_it_or_beside_it_is_refused() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    let disk = Disk::blank();
    let above = Loop::attach(disk.device.path(), 512);
    refused(&disk, &["the loop device", text(above.path()), "losetup --detach"]);
    drop(above);
    let beside = Loop::attach(&disk.image, 512);
    refused(&disk, &["shows the same file", text(beside.path())]);
}

#[test]
fn a_device_that_somebody_holds_is_refused() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    let disk = Disk::blank();
    let held = File::options().read(true).custom_flags(EXCLUSIVELY).open(disk.name());
    let _held = held.expect("nobody else has it");
    // Only the kernel knows, and tells it who asks for a claim.
    let before = disk.hash();
    let right = disk.confirmation();
    let ran = bench(&[&[disk.name(), "--write-device", "--confirm", &right], &SMALL[..]].concat());
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("somebody holds it"), "{ran:?}");
    assert_eq!(disk.hash(), before);
}

#[test]
fn a_device_that_can_only_be_read_is_refused() {
    need_loops!();
    need_tools!("strace", "sha256sum", "lsblk");
    let scratch = Scratch::new();
    let device = Loop::attach_read_only(&scratch.image("image", 8 << 20));
    let said = refusal(device.path(), &confirmation(device.path()));
    assert!(said.contains("read-only"), "{said}");
}
