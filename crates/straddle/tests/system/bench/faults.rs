//! A drive that fails in the middle: no verdict comes of it, the error is named, nothing stays.
//!
//! The file system of a run lies on a loop device over a file of another file system. That one is
//! shut down, as when its drive is pulled out: from then on the kernel answers every read and write
//! of the device with EIO. A file system in user space fails as well, but only while the scratch file
//! is written: what lies on one is not measured, since nobody knows where it puts the bytes.

use std::fs;
use std::process::Command;

use serde_json::Value;
use testkit::fuse::Fuse;
use testkit::void_by_chance::says_void_by_chance;
use testkit::{Loop, Mount, Scratch, need_loops, need_tools, scratch::text, tool};

use super::disk::confirmation;
use super::run::{Going, RESTING, Ran, bench, command, going, said};
use super::volume::{Parts, Plan, Volume};

const SCRATCH_SECTORS: u64 = 16 << 11;
/// Sectors that a run has written when it is past preparing its file: more than the journal writes
/// for that.
const MEASURING_SECTORS: u64 = SCRATCH_SECTORS + (2 << 11);
/// The same of a probe.
const PROBE_SECTORS: u64 = (64 << 11) + (4 << 11);
/// More time and bytes than any run here gets.
const LONG: [&str; 4] = ["--seconds", "600", "--bytes-max", "64G"];
const SMALL: [&str; 2] = ["--scratch", "16M"];
/// Message of the kernel.
const EIO: &str = "Input/output error";
/// Its message of a file system that met that when it wrote its journal.
const EROFS: &str = "Read-only file system";
/// Its message of one of which the map of free blocks cannot be read.
const ENOSPC: &str = "No space left on device";

/// A file system, the drive of which can be pulled out. They go in this order.
struct Frail {
    inner: Parts,
    outer: Volume,
}

impl Frail {
    fn new() -> Frail {
        Frail::of(256 << 20)
    }

    /// One of so many bytes.
    fn of(length_bytes: u64) -> Frail {
        let outer = Plan { length_bytes: length_bytes * 2, ..Plan::EXT4 }.mounted();
        let directory = outer.path().join("inner");
        fs::create_dir(&directory).expect("a directory can be made");
        let inner = Plan { length_bytes, ..Plan::EXT4 }.within(&directory);
        Frail { inner, outer }
    }

    fn pull(&self) {
        tool::run("xfs_io", &["-x", "-c", "shutdown", self.outer.name()]);
    }

    /// The words of a shell that pull it out.
    fn pulling(&self) -> String {
        format!("xfs_io -x -c shutdown {}", self.outer.name())
    }

    /// Returns what a command says of which the drive goes when the counter is so far.
    #[track_caller]
    fn pulled(&self, command: &mut Command, counter: usize, more_sectors: u64) -> Ran {
        let count = || self.inner.counter(counter);
        let before = count();
        let mut going = Going::with(command);
        going.until("it is in the middle", || count() > before + more_sectors);
        self.pull();
        let ran = going.ended();
        self.holds_nothing();
        ran
    }

    /// No loop device is over a file of it, and nothing keeps it mounted.
    fn holds_nothing(&self) {
        assert_eq!(self.inner.loops(), Vec::<String>::new());
        tool::run("umount", &[self.inner.name()]);
    }
}

/// The same of a run of `bench` with these arguments.
#[track_caller]
fn pulled_run(arguments: &[&str], counter: usize, more_sectors: u64) -> Ran {
    let frail = Frail::new();
    let words = [&[frail.inner.name()], &LONG[..], arguments].concat();
    frail.pulled(&mut command(&words), counter, more_sectors)
}

/// Returns whether it says in the kernel's words that the drive failed.
fn names_fault(ran: &Ran) -> bool {
    let said = format!("{}{}", ran.out, ran.errors);
    [EIO, EROFS, ENOSPC].iter().any(|word| said.contains(word))
}

/// It says that it failed, and of what, and calls nothing by a verdict.
#[track_caller]
fn void(ran: &Ran) {
    assert!(UNMEASURED.contains(&ran.status), "{ran:?}");
    assert!(names_fault(ran), "{ran:?}");
    for verdict in ["Penalty", "No penalty", "Small"] {
        assert!(!ran.out.contains(verdict), "{ran:?}");
    }
}

/// Exit codes without a verdict: it could not be measured at all, or what was measured is void.
const UNMEASURED: [Option<i32>; 2] = [Some(2), Some(5)];

/// The counters of a device: what was read and what was written, in sectors.
const READ: usize = 2;
const WRITTEN: usize = 6;

#[test]
fn writes_that_fail_in_the_middle_void_the_comparison_and_are_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    for arguments in [&[][..], &["--sync", "dsync"], &["--depth", "8", "--sync", "none"]] {
        let ran =
            pulled_run(&[&SMALL, &RESTING[..], arguments].concat(), WRITTEN, MEASURING_SECTORS);
        void(&ran);
        // At a greater depth it may still find out how much a block holds.
        assert!(ran.out.contains("Void: ") || arguments.contains(&"--depth"), "{ran:?}");
    }
}

#[test]
fn a_probe_whose_drive_goes_is_no_verdict_and_names_the_error() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    let probe = |frail: &Frail| {
        let mut probe = testkit::running_program::by_signals(env!("CARGO_BIN_EXE_straddle"));
        probe.args(["probe", frail.inner.name(), "--no-save", "--seconds", "60"]);
        probe
    };
    let frail = Frail::new();
    let ran = frail.pulled(&mut probe(&frail), WRITTEN, PROBE_SECTORS);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.errors.contains("cannot finish the measurement: "), "{ran:?}");
    assert!(ran.errors.contains(EIO) || ran.errors.contains(EROFS), "{ran:?}");
}

#[test]
fn reads_that_fail_in_the_middle_void_the_comparison_and_are_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    // More than is read to find out where the file is.
    let ran = pulled_run(&[&SMALL, &RESTING[..], &["--read", "--json"]].concat(), READ, 4 << 11);
    void(&ran);
    let document: Value = ran.document();
    let experiment = &document["experiments"][0];
    assert_eq!(experiment["verdict"], "void", "{document:#}");
    let reason = experiment["reason"].as_str().expect("it is a text");
    assert!(reason.contains(": a read of 1048576 bytes at offset "), "{reason}");
}

#[test]
fn a_drive_that_vanishes_while_the_scratch_file_is_written_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    // So long that it is not whole when the drive goes.
    let frail = Frail::of(4 << 30);
    let words = [frail.inner.name(), "--scratch", "2G"];
    let ran = frail.pulled(&mut command(&[&words[..], &LONG].concat()), WRITTEN, 4000);
    void(&ran);
    assert!(said(&ran).starts_with("error: ") && ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_file_system_that_is_shut_down_beneath_its_scratch_file_gives_no_verdict() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    let volume = Plan::EXT4.mounted();
    let before = volume.written_sectors();
    let mut going = going(&[&[volume.name()], &LONG[..], &SMALL, &RESTING].concat());
    going.until("it measures", || volume.written_sectors() > before + MEASURING_SECTORS);
    tool::run("xfs_io", &["-x", "-c", "shutdown", volume.name()]);
    void(&going.ended());
    assert!(volume.loops().is_empty());
    tool::run("umount", &[volume.name()]);
}

#[test]
fn jobs_and_suites_on_a_drive_that_vanishes_give_no_verdict_and_leave_no_device() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    let scratch = Scratch::new();
    let plain = scratch.file("plain", b"[x]\nrw=write\nbs=4k\nfsync=1\n");
    let on_ext4 = scratch.file("ext4", b"[x]\nrw=write\nbs=4k\nfsync=1\ndirectory=/x\n");
    let mixed = scratch.file("mixed", b"[x]\nrw=randrw\nbs=4k\ndirect=1\n");
    for (arguments, more_sectors) in [
        (&["--share", "25", "--scratch", "16M", "--job", text(&plain)][..], MEASURING_SECTORS),
        (&["--share", "25", "--scratch", "16M", "--job", text(&mixed)], MEASURING_SECTORS),
        (&["--scratch", "96M", "--job", text(&on_ext4)], (96 << 11) + (24 << 11)),
        (&["--scratch", "120M", "--suite", "--fs", "ext4"], (120 << 11) + (16 << 11)),
    ] {
        void(&pulled_run(arguments, WRITTEN, more_sectors));
    }
}

#[test]
fn what_a_command_wrote_and_the_drive_did_not_take_is_an_error_though_the_command_had_none() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io", "dd");
    for (place, words) in [
        ("{device}", "dd if=/dev/zero of={device} bs=64k count=16 status=none; "),
        ("{mount}", "dd if=/dev/zero of={mount}/x bs=64k count=16 status=none; "),
    ] {
        let frail = Frail::new();
        let script = format!("{words}{}", frail.pulling());
        let ran = bench(
            &[&[frail.inner.name()], &LONG[..], &["--scratch", "96M", "--", "sh", "-c", &script]]
                .concat(),
        );
        assert!(UNMEASURED.contains(&ran.status), "{place}: {ran:?}");
        let said = format!("{}{}", ran.out, ran.errors);
        assert!(said.contains(EIO), "{place}: {ran:?}");
        frail.holds_nothing();
    }
}

#[test]
fn a_command_that_fills_its_file_system_is_shown_with_what_it_said() {
    need_loops!();
    need_tools!("mkfs.ext4", "dd");
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let words = ["dd", "if=/dev/zero", "of={mount}/x", "bs=1M"];
    let ran = bench(&[&[volume.name(), "--scratch", "48M", "--"], &words[..]].concat());
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("dd failed with exit status 1"), "{ran:?}");
    assert!(ran.errors.contains("No space left on device"), "{ran:?}");
    volume.is_clean_again(&before);
}

#[test]
fn a_file_system_that_others_fill_meanwhile_disturbs_nothing_that_is_written_already() {
    need_loops!();
    need_tools!("mkfs.ext4", "dd");
    let volume = Plan { length_bytes: 256 << 20, ..Plan::EXT4 }.mounted();
    let before = volume.written_sectors();
    let arguments = ["--scratch", "16M", "--share", "10", "--size", "256K", "--pairs", "40"];
    let mut going = going(&[&[volume.name()], &LONG[..], &arguments].concat());
    going.until("it measures", || volume.written_sectors() > before + MEASURING_SECTORS);
    let full = format!("of={}", text(&volume.path().join("full")));
    let filled = tool::output("dd", &["if=/dev/zero", &full, "bs=1M"]);
    assert!(String::from_utf8_lossy(&filled.stderr).contains("No space left"), "{filled:?}");
    let ran = going.ended();
    // A control may differ by chance; what was written is where it was.
    assert!(!ran.out.contains("moved") && ran.out.contains("pair by pair"), "{ran:?}");
    assert!(!ran.out.contains("Void") || says_void_by_chance(&ran.out), "{ran:?}");
    assert!(volume.loops().is_empty());
}

#[test]
fn a_raw_device_that_vanishes_is_named_when_it_is_read_and_when_it_is_written() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io", "lsblk");
    let vanished = |writes: bool, counter: usize, more_sectors: u64| {
        let outer = Plan::EXT4.mounted();
        let image = outer.path().join("image");
        fs::write(&image, vec![0; 32 << 20]).expect("an image can be written");
        tool::run("sync", &["--file-system", text(&image)]);
        let device = Loop::attach(&image, 512);
        let confirm = confirmation(device.path());
        let mut arguments = [&[text(device.path())], &LONG[..], &SMALL, &RESTING].concat();
        if writes {
            arguments.extend(["--write-device", "--confirm", &confirm]);
        }
        let count = || super::volume::counter(&device, counter);
        let before = count();
        let mut going = going(&arguments);
        going.until("it is in the middle", || count() > before + more_sectors);
        tool::run("xfs_io", &["-x", "-c", "shutdown", outer.name()]);
        going.ended()
    };
    for (writes, counter, more_sectors) in [(false, READ, 200), (true, WRITTEN, 400)] {
        void(&vanished(writes, counter, more_sectors));
    }
}

#[test]
fn a_file_in_user_space_is_not_measured_on_and_one_that_fails_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let scratch = Scratch::new();
    let image = scratch.image("image", 256 << 20);
    let Some(fuse) = Fuse::over(&image, &scratch.path().join("fuse")) else {
        testkit::skip("needs /dev/fuse");
        return;
    };
    let said = bench(&[text(fuse.file().parent().expect("it is in a directory"))]);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(
        said.errors.contains("fuse is a program") && said.errors.contains("hint: "),
        "{said:?}"
    );
    let device = Loop::attach(&fuse.file(), 512);
    tool::run("mkfs.ext4", &["-q", text(device.path())]);
    let mount = Mount::new("ext4", "", text(device.path()), &scratch.path().join("mounted"));
    let name = text(mount.path());
    let above = bench(&[name, "--scratch", "16M"]);
    assert_eq!(above.status, Some(2), "{above:?}");
    assert!(above.errors.contains("it is on fuse"), "{above:?}");
    let before = fuse.writes();
    let mut going = going(&[name, "--scratch", "128M"]);
    going.until("it writes", || fuse.writes() > before + 32);
    fuse.fail();
    void(&going.ended());
    tool::run("umount", &[name]);
}
