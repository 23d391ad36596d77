//! Refusals of `straddle probe` before it writes, in a dry run as well.

use std::path::Path;
use std::process::Command;

use testkit::{Loop, Scratch, need_loops, need_tools};

use super::{document, straddle};

/// That the run and its dry run refuse `directory` alike, with `message`; the hint.
#[track_caller]
fn refused_alike(directory: &str, more: &[&str], message: &str) -> String {
    let state = Scratch::new();
    let mut hints = Vec::new();
    for dry in [&["--dry-run"][..], &[]] {
        let words = [&["probe", directory, "--json"], more, dry].concat();
        let output = straddle(state.path(), &words);
        let document = document(&output);
        assert_eq!(output.status.code(), Some(2), "{document:#}");
        let refusal = &document["refusal"];
        let said = refusal["message"].as_str().expect("a refusal");
        assert!(said.contains(message), "{said}");
        assert_eq!(document["spent"]["written_bytes"], 0, "{document:#}");
        hints.push(refusal["hint"].as_str().unwrap_or_default().to_owned());
    }
    assert_eq!(hints[0], hints[1]);
    hints.remove(0)
}

#[test]
fn what_is_no_file_system_of_a_drive_is_refused_by_the_dry_run_as_well() {
    for directory in ["/proc", "/sys"] {
        refused_alike(directory, &[], &format!("cannot make a file in {directory}"));
    }
}

#[test]
fn writing_to_the_device_of_a_directory_is_wrong_use_and_says_what_to_type() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("text");
    let message = format!(
        "cannot write to the device {directory}: a directory, and --write-device is for devices"
    );
    let hint = refused_alike(directory, &["--write-device"], &message);
    assert!(hint.contains(&format!("straddle probe {directory}")), "{hint}");
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
}

#[test]
fn a_file_system_without_direct_io_is_refused_before_the_scratch_file_is_written() {
    need_tools!("mkfs.ext4", "mount", "umount");
    need_loops!();
    let scratch = Scratch::new();
    let file = scratch.image("disk", 200 << 20);
    testkit::tool::run("mkfs.ext4", &["-q", file.to_str().expect("text")]);
    let device = Loop::attach(&file, 512);
    let mount = Mounted::new(device.path(), &scratch.path().join("mounted"), "data=journal");
    let hint = refused_alike(mount.directory(), &[], "no direct I/O there");
    assert!(hint.contains("ext4 or XFS"), "{hint}");
}

#[test]
fn btrfs_is_refused_with_a_hint_that_helps_compressed_or_not() {
    need_tools!("mkfs.btrfs", "mount", "umount");
    need_loops!();
    let scratch = Scratch::new();
    let file = scratch.image("disk", 400 << 20);
    testkit::tool::run("mkfs.btrfs", &["-q", file.to_str().expect("text")]);
    let device = Loop::attach(&file, 512);
    let cases = [("rw", "btrfs turns direct I/O"), ("compress=zstd", "compress")];
    for (options, message) in cases {
        let point = scratch.path().join(options);
        let mount = Mounted::new(device.path(), &point, options);
        let hint = refused_alike(mount.directory(), &[], message);
        assert_eq!(hint, "name a directory on ext4 or XFS on the same drive", "{options}");
    }
}

/// A device that is mounted until this is dropped.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn new(device: &Path, point: &Path, options: &str) -> Mounted {
        std::fs::create_dir(point).expect("the point is made");
        let [device, name] = [device, point].map(|path| path.to_str().expect("text"));
        testkit::tool::run("mount", &["-o", options, device, name]);
        Mounted(point.to_owned())
    }

    fn directory(&self) -> &str {
        self.0.to_str().expect("text")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
