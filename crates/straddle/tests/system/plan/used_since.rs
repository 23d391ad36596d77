//! Disks that were used after a script stopped: it writes nothing that it saved before.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::Ran;
use testkit::{Loop, Mount, Scratch, need_loops, need_tools, scratch, tool};

use super::{confirmed, half_moved, scratch_in_memory, with_dd, written};

/// Lines of a `dd` that fails where the script marks the disk.
const NO_MARK: &str = "case \"$*\" in *if=*/mark*) exit 1 ;; esac";
/// Lines of a `dd` that fails once it has marked the disk.
const NOTHING_AFTER_MARK: &str = "case \"$*\" in *if=*/mark*) /bin/dd \"$@\"; exit 1 ;; esac";
/// Lines of a `dd` that changes the file system before each part of 1 MiB that is read.
const OTHER_HEAD: &str = "case \"$*\" in *count=1048576*) date +%N | \
    /bin/dd of=\"$PARTITION\" bs=4096 seek=1 conv=notrunc,fsync status=none ;; esac";

/// A disk with an ext4 on an odd start, and its script.
struct Case {
    scratch: Scratch,
    disk: PathBuf,
    script: PathBuf,
}

impl Case {
    fn new() -> Case {
        let scratch = scratch_in_memory();
        let disk = scratch.image("disk.raw", 64 << 20);
        let name = scratch::text(&disk);
        tool::run_with_input("sfdisk", &["-q", name], "label: dos\nstart=63, size=100000\n");
        tool::run("mkfs.ext4", &["-q", "-F", "-E", "offset=32256", name, "50000k"]);
        let script = scratch.path().join("plan.sh");
        assert_eq!(written(&disk, &script).status, Some(0));
        Case { scratch, disk, script }
    }

    /// The script for `disk`, to be typed.
    fn typed(&self, disk: &Path) -> Command {
        let mut command = Command::new("sh");
        confirmed(&mut command, &self.script, disk).arg(self.scratch.path().join("work"));
        command
    }

    /// Stops the script before it marks the disk, which stays as it was.
    fn stop_before_the_mark(&self) {
        let before = std::fs::read(&self.disk).expect("it is read");
        let path = with_dd(&self.scratch, NO_MARK);
        let ran = Ran::of(self.typed(&self.disk).env("PATH", path));
        assert!(ran.status == Some(4) && ran.out.contains("mark the disk"), "{ran:?}");
        assert!(before == std::fs::read(&self.disk).expect("it is read"));
    }

    /// Mounts the file system of `disk`, and makes the files `names` on it.
    fn make_files(&self, disk: &Path, names: std::ops::Range<u32>) {
        let device = Loop::attach(disk, 512);
        let partition = device.partition(1);
        let point = self.scratch.path().join("mounted");
        let mount = Mount::new("ext4", "", scratch::text(&partition), &point);
        for name in names {
            std::fs::write(point.join(name.to_string()), name.to_string()).expect("written");
        }
        drop(mount);
    }

    /// Expects the files `names`, and a sound file system, on `disk`.
    fn has_files(&self, disk: &Path, names: std::ops::Range<u32>) {
        let device = Loop::attach(disk, 512);
        let partition = device.partition(1);
        tool::run("e2fsck", &["-fn", scratch::text(&partition)]);
        let point = self.scratch.path().join("mounted");
        let mount = Mount::new("ext4", "ro", scratch::text(&partition), &point);
        for name in names {
            let held = std::fs::read_to_string(point.join(name.to_string()));
            assert_eq!(held.expect("the file is there"), name.to_string());
        }
        drop(mount);
    }
}

#[test]
fn a_disk_that_was_used_after_a_script_stopped_before_its_mark_keeps_what_was_written() {
    need_loops!();
    need_tools!("sfdisk", "mkfs.ext4", "e2fsck", "partx");
    let case = Case::new();
    case.stop_before_the_mark();
    case.make_files(&case.disk, 0..300);
    let ran = Ran::of(&mut case.typed(&case.disk));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    case.has_files(&case.disk, 0..300);
}

#[test]
fn what_was_saved_of_a_disk_is_not_written_to_a_copy_of_it() {
    need_loops!();
    need_tools!("sfdisk", "mkfs.ext4", "e2fsck", "partx");
    let case = Case::new();
    let copy = case.scratch.path().join("copy.raw");
    scratch::copy(&case.disk, &copy);
    case.make_files(&copy, 0..300);
    case.stop_before_the_mark();
    let ran = Ran::of(&mut case.typed(&copy));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    case.has_files(&copy, 0..300);
}

#[test]
fn a_script_that_stopped_between_its_mark_and_its_record_of_it_goes_on() {
    need_tools!("sfdisk", "mkfs.ext4");
    let case = Case::new();
    let whole = case.scratch.path().join("whole.raw");
    scratch::copy(&case.disk, &whole);
    let path = with_dd(&case.scratch, NOTHING_AFTER_MARK);
    let ran = Ran::of(case.typed(&case.disk).env("PATH", path));
    assert_eq!(ran.status, Some(4), "{ran:?}");
    let kept = half_moved(&whole, &case.disk, &[]).expect("the disk is marked");
    let ran = Ran::of(Command::new("sh").arg(kept.join("resume.sh")).arg(&case.disk));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    std::fs::remove_dir_all(kept).expect("it is removed");
    let ran = Ran::of(&mut case.typed(&whole));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let [stopped, never] =
        [&case.disk, &whole].map(|path| std::fs::read(path).expect("it is read"));
    assert!(stopped == never, "boot code and all");
}

#[test]
fn a_disk_that_changes_while_its_first_bytes_are_saved_is_not_marked() {
    need_loops!();
    need_tools!("sfdisk", "mkfs.ext4", "partx");
    let case = Case::new();
    let device = Loop::attach(&case.disk, 512);
    let partition = device.partition(1);
    let mut command = case.typed(device.path());
    command.env("PATH", with_dd(&case.scratch, OTHER_HEAD)).env("PARTITION", &partition);
    let ran = Ran::of(&mut command);
    assert_eq!(ran.status, Some(4), "{ran:?}");
    assert!(ran.errors.contains("changed while"), "{ran:?}");
    assert_eq!(half_moved(&case.disk, &case.disk, &[]), None);
    let ran = Ran::of(&mut case.typed(device.path()));
    assert_eq!(ran.status, Some(0), "{ran:?}");
}
