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
use super::run::{Going, Ran, bench, command, going, said, until};
use super::volume::{Parts, Plan, Volume};

const SCRATCH_SECTORS: u64 = 16 << 11;
/// Sectors that a probe has written when it is past preparing its file.
const PROBE_SECTORS: u64 = (64 << 11) + 2000;
/// More time than any run here gets.
const LONG: [&str; 2] = ["--seconds", "600"];
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
        let outer = Plan::EXT4.mounted();
        let directory = outer.path().join("inner");
        fs::create_dir(&directory).expect("a directory can be made");
        let inner = Plan { length_bytes: 256 << 20, ..Plan::EXT4 }.within(&directory);
        Frail { inner, outer }
    }

    fn pull(&self) {
        tool::run("xfs_io", &["-x", "-c", "shutdown", self.outer.name()]);
    }

    /// The words of a shell that pull it out.
    fn pulling(&self) -> String {
        format!("xfs_io -x -c shutdown {}", self.outer.name())
    }

    /// Returns what a command says of which the drive goes when the counter is so far; `None` where
    /// it was over before.
    fn pulled(&self, command: &mut Command, counter: usize, more_sectors: u64) -> Option<Ran> {
        let count = || self.inner.counter(counter);
        let before = count();
        let mut going = Going::with(command);
        until("it is in the middle, or over", || {
            !going.is_going() || count() > before + more_sectors
        });
        self.pull();
        let ran = going.ended();
        self.holds_nothing();
        names_fault(&ran).then_some(ran)
    }

    /// No loop device is over a file of it, and nothing keeps it mounted.
    fn holds_nothing(&self) {
        assert_eq!(self.inner.loops(), Vec::<String>::new());
        tool::run("umount", &[self.inner.name()]);
    }
}

/// Returns what a command says that is in the middle of it when the drive goes: the counter says
/// when. On a fast drive a run may be over before that, and another is tried.
#[track_caller]
fn pulled(command: impl Fn(&Frail) -> Command, counter: usize, more_sectors: u64) -> Ran {
    let tries = (0..TRIES).map(|_| Frail::new());
    let mut hit =
        tries.filter_map(|frail| frail.pulled(&mut command(&frail), counter, more_sectors));
    hit.next().expect("the drive goes while it is measured")
}

/// The same of a run of `bench` with these arguments.
#[track_caller]
fn pulled_run(arguments: &[&str], counter: usize, more_sectors: u64) -> Ran {
    let run = |frail: &Frail| command(&[&[frail.inner.name()], &LONG[..], arguments].concat());
    pulled(run, counter, more_sectors)
}

/// Number of drives that are pulled out until one goes in the middle of a run.
const TRIES: usize = 10;

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
        let arguments = [&SMALL, arguments].concat();
        // The journal's writes count too, so that a slow drive may go while the file is written.
        let is_void = (0..5).any(|_| {
            let ran = pulled_run(&arguments, WRITTEN, SCRATCH_SECTORS + 200);
            void(&ran);
            // At a greater depth it may still find out how much a block holds.
            ran.out.contains("Void: ") || arguments.len() == 6
        });
        assert!(is_void, "{arguments:?}: it never measured when the drive went");
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
    let ran = pulled(probe, WRITTEN, PROBE_SECTORS);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.errors.contains("cannot finish the measurement: "), "{ran:?}");
    assert!(ran.errors.contains(EIO) || ran.errors.contains(EROFS), "{ran:?}");
}

#[test]
fn reads_that_fail_in_the_middle_void_the_comparison_and_are_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    // What is read to find out where the file lies, and how much a block holds, counts too, and the
    // drive may go in that. Blocks at a depth take longer than it takes to pull it out.
    for doubled in 0..8 {
        let arguments = ["--scratch", "16M", "--read", "--depth", "8", "--json"];
        let ran = pulled_run(&arguments, READ, 800 << doubled);
        void(&ran);
        let document: Value = ran.document();
        let experiment = &document["experiments"][0];
        if experiment.is_null() {
            continue;
        }
        assert_eq!(experiment["verdict"], "void", "{document:#}");
        let reason = experiment["reason"].as_str().expect("it is a text");
        assert!(reason.contains(": a read of 4096 bytes at offset "), "{reason}");
        return;
    }
    panic!("the drive was never measured when it went");
}

#[test]
fn a_drive_that_vanishes_while_the_scratch_file_is_written_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    let ran = pulled_run(&["--scratch", "128M"], WRITTEN, 4000);
    void(&ran);
    assert!(said(&ran).starts_with("error: ") && ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_file_system_that_is_shut_down_beneath_its_scratch_file_gives_no_verdict() {
    need_loops!();
    need_tools!("mkfs.ext4", "xfs_io");
    let shut_down = || {
        let volume = Plan::EXT4.mounted();
        let before = volume.written_sectors();
        let mut going = going(&[&[volume.name()], &LONG[..], &SMALL].concat());
        until("it measures, or is over", || {
            !going.is_going() || volume.written_sectors() > before + SCRATCH_SECTORS + 200
        });
        tool::run("xfs_io", &["-x", "-c", "shutdown", volume.name()]);
        let ran = going.ended();
        assert!(volume.loops().is_empty());
        tool::run("umount", &[volume.name()]);
        ran
    };
    let ran = std::iter::repeat_with(shut_down).take(TRIES).find(names_fault);
    void(&ran.expect("it goes down while it is measured"));
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
        (&["--scratch", "16M", "--job", text(&plain)][..], SCRATCH_SECTORS + 200),
        (&["--scratch", "16M", "--job", text(&mixed)], SCRATCH_SECTORS + 200),
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
    let arguments = ["--scratch", "16M", "--seconds", "600", "--pairs", "120"];
    let mut going = going(&[&[volume.name()], &arguments[..]].concat());
    going.until("it measures", || volume.written_sectors() > before + SCRATCH_SECTORS + 100);
    let full = format!("of={}", text(&volume.path().join("full")));
    let filled = tool::output("dd", &["if=/dev/zero", &full, "bs=1M"]);
    assert!(String::from_utf8_lossy(&filled.stderr).contains("No space left"), "{filled:?}");
    let ran = going.ended();
    // A control may differ by chance; what was written lies where it lay.
    assert!(!ran.out.contains("moved") && !ran.out.contains("Penalty"), "{ran:?}");
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
        let mut arguments = vec![text(device.path()), "--scratch", "16M", "--seconds", "600"];
        if writes {
            arguments.extend(["--write-device", "--confirm", &confirm]);
        }
        let count = || super::volume::counter(&device, counter);
        let before = count();
        let mut going = going(&arguments);
        until("it is in the middle, or over", || {
            !going.is_going() || count() > before + more_sectors
        });
        tool::run("xfs_io", &["-x", "-c", "shutdown", outer.name()]);
        going.ended()
    };
    for (writes, counter, more_sectors) in [(false, READ, 200), (true, WRITTEN, 400)] {
        // On a fast device a run may be over before it vanishes.
        let runs = std::iter::repeat_with(|| vanished(writes, counter, more_sectors));
        let ran = runs.take(TRIES).find(names_fault);
        void(&ran.expect("it vanishes while it is measured"));
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
