//! Stacks of known truth on this machine: what must be caught, and what must pass.
//!
//! Other tests use the same drive, and whoever syncs all file systems flushes those of a test. A
//! look may not be able to tell then, which it says; it may never cry wolf.

use std::path::Path;
use std::process::{Command, Stdio};

use durability::{Direction, Grade};
use report::fsync::{Fsync, FsyncVerdict, Honesty, fsync_parse};
use testkit::fuse::Fuse;
use testkit::{Loop, Mount, Scratch, Zram, need_loops, need_tools, scratch::text, suppress, tool};

mod overlay;
mod process;
mod server;
mod volume;

use volume::{Volume, WithLog};

/// Output of one run, and its exit status.
struct Looked {
    document: Fsync,
    status: Option<i32>,
    errors: String,
}

/// `straddle fsync` without its rows; it takes on the seccomp filters of who calls.
fn ran(directory: &Path, more: &[&str]) -> Looked {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.arg("fsync").arg(directory).args(["--rows", "none", "--json"]).args(more);
    let output = command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output();
    let output = output.expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = String::from_utf8(output.stdout).expect("it prints UTF-8");
    let document = fsync_parse(&document).unwrap_or_else(|error| panic!("{error:?}: {errors}"));
    Looked { document, status: output.status.code(), errors }
}

/// The verdict on the engine `a` of this profile.
fn ran_for(directory: &Path, profile: &Path) -> FsyncVerdict {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.arg("fsync").arg(directory).args(["--for", "a", "--profile"]).arg(profile);
    command.args(["--json", "--seed", "1", "--seconds", "6"]);
    let output = command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output();
    let output = output.expect("the binary runs");
    let document = String::from_utf8(output.stdout).expect("it prints UTF-8");
    let document = fsync_parse(&document).expect("it prints a document");
    document.verdict.unwrap_or_else(|| panic!("it judged: {:?}", document.envelope.refusal))
}

/// Returns what was found, with the exit status that belongs to the grade.
#[track_caller]
fn looked(directory: &Path) -> Honesty {
    with(directory, &[])
}

#[track_caller]
fn with(directory: &Path, more: &[&str]) -> Honesty {
    let ran = ran(directory, more);
    let found = ran.document.honesty.unwrap_or_else(|| panic!("it looked: {}", ran.errors));
    let expected = if found.grade == Grade::NotDurable { 1 } else { 0 };
    assert_eq!(ran.status, Some(expected), "{found:#?}");
    found
}

#[track_caller]
fn check(found: &Honesty, grade: &str, code: &str) {
    assert_eq!(found.grade.word(), grade, "{found:#?}");
    assert!(found.evidence.iter().any(|one| one.code == code), "{code}: {found:#?}");
}

/// It passes: consistent, or not to be told where others flush a device below as often or leave no
/// time for syncs; and never the same code that a lie has. What is on a loop device is seen to
/// reach that, if nobody else flushes it.
#[track_caller]
fn passes(found: &Honesty) {
    let others = [sentences(found, "others-flush"), sentences(found, "not-counted")].concat();
    let is_unclear = found.grade == Grade::Unproven && !others.is_empty();
    assert!(found.grade == Grade::Consistent || is_unclear, "{found:#?}");
    assert!(found.evidence.iter().all(|one| one.direction != Direction::Against), "{found:#?}");
    if let Some(own) = found.layers.iter().find(|layer| layer.kind.starts_with("loop")) {
        let completes = format!("{} completes ", own.name);
        let is_own = |sentence: &&str| sentence.starts_with(&completes);
        let is_disturbed = others.iter().any(|sentence| sentence.contains(&own.name));
        assert!(is_disturbed || sentences(found, "flushed").iter().any(is_own), "{found:#?}");
    }
}

/// The sentences of the evidence with this code.
fn sentences<'a>(found: &'a Honesty, code: &str) -> Vec<&'a str> {
    let evidence = found.evidence.iter().filter(|one| one.code == code);
    evidence.map(|one| one.sentence.as_str()).collect()
}

#[test]
fn ext4_xfs_and_btrfs_on_a_direct_loop_pass() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mount", "umount");
    for kind in ["ext4", "xfs", "btrfs"] {
        let volume = Volume::new(kind, "");
        let found = looked(volume.path());
        let names: Vec<&str> = found.layers.iter().map(|layer| layer.kind.as_str()).collect();
        assert_eq!(names[..3], ["file system", "loop, direct", "file"], "{found:#?}");
        if found.layers.last().is_some_and(|layer| layer.kind == "memory") {
            testkit::skip("needs a temporary directory on a drive");
            return;
        }
        passes(&found);
    }
}

#[test]
fn ext4_without_barriers_is_caught_by_its_mount_and_by_the_counter() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::new("ext4", "barrier=0");
    let found = looked(volume.path());
    check(&found, "not-durable", "barrier-off");
    check(&found, "not-durable", "no-flush");
    // How quick a sync is says nothing of a drive that it does not flush.
    let timed = found.evidence.iter().find(|one| one.code.starts_with("faster-than"));
    assert!(timed.is_none(), "{found:#?}");
    let btrfs = tool::find("mkfs.btrfs").map(|_| Volume::new("btrfs", "nobarrier"));
    if let Some(volume) = btrfs {
        check(&looked(volume.path()), "not-durable", "no-flush");
    }
}

#[test]
fn memory_is_caught_also_below_a_loop_device() {
    let Some(memory) = Scratch::in_memory() else {
        testkit::skip("needs /dev/shm");
        return;
    };
    check(&looked(memory.path()), "not-durable", "in-memory");
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mount", "umount");
    for kind in ["ext4", "xfs", "btrfs"] {
        let volume = Volume::within(kind, "", memory.path());
        let found = looked(volume.path());
        check(&found, "not-durable", "in-memory");
        // Flushes do come to the loop device, and end in memory.
        let layer = found.layers.iter().find(|layer| layer.kind.starts_with("loop"));
        assert!(layer.expect("a loop").flushes_per_sync >= Some(1.0), "{found:#?}");
    }
}

#[test]
fn a_log_in_memory_is_caught_though_the_files_lie_on_a_drive_and_one_on_a_drive_passes() {
    let Some(memory) = Scratch::in_memory() else {
        testkit::skip("needs /dev/shm");
        return;
    };
    need_loops!();
    need_tools!("mke2fs", "mkfs.ext4", "mkfs.xfs", "mount", "umount");
    let drive = Scratch::new();
    for kind in ["ext4", "xfs"] {
        let lost = WithLog::new(kind, memory.path());
        check(&looked(lost.path()), "not-durable", "in-memory");
        drop(lost);
        let kept = WithLog::new(kind, drive.path());
        let found = looked(kept.path());
        assert_eq!(found.layers.iter().filter(|layer| layer.kind.starts_with("loop")).count(), 2);
        if found.layers.iter().any(|layer| layer.kind == "memory") {
            testkit::skip("needs a temporary directory on a drive");
            return;
        }
        passes(&found);
    }
}

#[test]
fn zram_that_declares_write_through_is_caught() {
    testkit::need_full_tier!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let Some(zram) = Zram::new(128 << 20) else {
        testkit::skip("needs root and zram");
        return;
    };
    tool::run("mkfs.ext4", &["-q", "-F", text(zram.node())]);
    let scratch = Scratch::new();
    let mount = Mount::new("ext4", "", text(zram.node()), &scratch.path().join("mounted"));
    let found = looked(mount.path());
    check(&found, "not-durable", "in-memory");
    let layer = found.layers.last().expect("zram is the last");
    assert_eq!(layer.write_cache.as_deref(), Some("write through"), "{found:#?}");
}

#[test]
fn syncs_that_a_filter_suppresses_are_caught_within_it() {
    // A filter is of one thread, and ends with it.
    let inside = || {
        let scratch = Scratch::new();
        suppress::syncs().then(|| looked(scratch.path()))
    };
    let Some(found) = std::thread::spawn(inside).join().expect("it does not panic") else {
        testkit::skip("needs seccomp filters");
        return;
    };
    check(&found, "not-durable", "sync-suppressed");
    check(&found, "not-durable", "sync-refused");
    let first = &found.evidence[0];
    assert!(first.sentence.contains("fsync, fdatasync"), "{found:#?}");
    assert!(first.sentence.contains("seccomp filter"), "{found:#?}");
}

#[test]
fn a_file_system_in_user_space_is_opaque() {
    testkit::need_full_tier!();
    let scratch = Scratch::new();
    let back = scratch.image("back", 1 << 20);
    let Some(fuse) = Fuse::over(&back, &scratch.path().join("mounted")) else {
        testkit::skip("needs root and FUSE");
        return;
    };
    let found = looked(fuse.path());
    check(&found, "opaque", "opaque-layer");
    assert_eq!(found.sentence, "opaque layer (fuse): no flush seen below it, unproven.");
    let tried = found.evidence.iter().all(|one| one.code != "not-tried");
    assert!(tried && fuse.writes() > 0, "{found:#?}");
}

#[test]
fn people_are_shown_the_grade_its_reasons_and_each_layer() {
    let Some(memory) = Scratch::in_memory() else {
        testkit::skip("needs /dev/shm");
        return;
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.arg("fsync").arg(memory.path()).args(["--rows", "none"]);
    let output = command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output();
    let said = String::from_utf8(output.expect("the binary runs").stdout).expect("UTF-8");
    assert!(said.starts_with("sync is not durable: "), "{said}");
    for words in ["against  tmpfs is memory", "next:  keep", "flushes per sync"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// The codes of what leaves the question open.
fn open(found: &Honesty) -> Vec<&str> {
    let open = found.evidence.iter().filter(|one| one.direction == Direction::Open);
    open.map(|one| one.code.as_str()).collect()
}

#[test]
fn a_full_file_system_is_named_with_what_to_do_and_nobody_else_is_blamed() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::new("ext4", "");
    let filler = volume.path().join("filler");
    let mut file = std::fs::File::create(&filler).expect("a file can be made");
    let piece = vec![1_u8; 1 << 20];
    for length in [piece.len(), 4096] {
        while std::io::Write::write_all(&mut file, &piece[..length]).is_ok() {}
    }
    let found = looked(volume.path());
    assert_eq!(found.grade, Grade::Unproven, "{found:#?}");
    let said = &found.sentence;
    assert!(said.contains("no sync could be tried here") && said.contains("No space left"));
    assert!(found.would_change[0].starts_with("free some space there"), "{found:#?}");
    let codes = open(&found);
    assert!(!codes.contains(&"others-flush") && !codes.contains(&"not-counted"), "{found:#?}");
    assert!(found.evidence.iter().all(|one| one.code != "flushed"), "{found:#?}");

    // Room for the file, and for little more: what is there is written again, and nothing grows.
    let length = file.metadata().expect("it is there").len();
    file.set_len(length - (32 << 10)).and_then(|()| file.sync_all()).expect("it can be cut");
    let found = looked(volume.path());
    let part = found.evidence.iter().find(|one| one.code == "tried-in-part");
    let said = &part.unwrap_or_else(|| panic!("it is there: {found:#?}")).sentence;
    assert!(said.contains("syncs could be tried here") && said.contains("No space left"), "{said}");
    let own = found.layers.iter().find(|layer| layer.kind == "loop, direct").expect("a loop");
    assert!(own.flushes_per_sync >= Some(1.0), "{found:#?}");
    let blamed = format!("other programs flush {}", own.name);
    assert!(found.evidence.iter().all(|one| !one.sentence.starts_with(&blamed)), "{found:#?}");
}

#[test]
fn a_directory_that_takes_no_file_says_so_and_a_missing_one_is_refused() {
    let found = looked(Path::new("/proc/self"));
    check(&found, "not-durable", "in-memory");
    check(&found, "not-durable", "not-tried");
    let missing = ran(Path::new("/nonexistent"), &[]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.document.honesty.is_none() && missing.document.envelope.refusal.is_some());
}

#[test]
fn a_loop_through_the_page_cache_passes_too() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let scratch = Scratch::new();
    let image = scratch.image("image", 256 << 20);
    let device = Loop::attach(&image, 512);
    tool::run("mkfs.ext4", &["-q", "-F", text(device.path())]);
    let mount = Mount::new("ext4", "", text(device.path()), &scratch.path().join("mounted"));
    let found = looked(mount.path());
    if found.layers.last().is_some_and(|layer| layer.kind == "memory") {
        testkit::skip("needs a temporary directory on a drive");
        return;
    }
    assert!(found.layers.iter().any(|layer| layer.kind == "loop, through the page cache"));
    passes(&found);
}
