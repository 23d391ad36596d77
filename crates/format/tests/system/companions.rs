//! The other devices that real tools write into superblocks.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use format::filesystem::{Companion, companions};
use testkit::scratch::{FileDisk, text};
use testkit::{Loop, Scratch, need_loops, need_tools, tool};

/// Returns what the file system of `kind` names that `make` made of two devices, the first its own.
fn named(kind: &str, make: impl Fn(&str, &str)) -> (Vec<Companion>, Loop) {
    let scratch = Scratch::new();
    let images = ["own", "other"].map(|name| scratch.image(name, 256 << 20));
    let [own, other] = [0, 1].map(|place| Loop::attach(&images[place], 512));
    make(text(own.path()), text(other.path()));
    let found = companions(&FileDisk::open(&images[0]), kind).unwrap();
    (found, other)
}

fn number(device: &Path) -> Companion {
    let number = std::fs::metadata(device).unwrap().rdev();
    let [major, minor] = [number >> 8 & 0xfff, number & 0xff].map(u32::try_from);
    Companion::Number { major: major.unwrap(), minor: minor.unwrap() }
}

#[test]
fn jfs_names_the_device_of_its_log_by_number_and_none_where_it_has_its_own() {
    need_loops!();
    need_tools!("mkfs.jfs");
    let (found, log) =
        named("jfs", |own, log| drop(tool::run("mkfs.jfs", &["-q", "-j", log, own])));
    assert_eq!(found, [number(log.path())]);
    let (found, _) = named("jfs", |own, _| drop(tool::run("mkfs.jfs", &["-q", own])));
    assert_eq!(found, []);
}

#[test]
fn reiserfs_names_the_device_of_its_journal_by_number_and_none_where_it_has_its_own() {
    need_loops!();
    need_tools!("mkfs.reiserfs");
    let make = |arguments: &[&str]| drop(tool::run("mkfs.reiserfs", arguments));
    let (found, log) = named("reiserfs", |own, log| make(&["-q", "-ff", "-j", log, own]));
    assert_eq!(found, [number(log.path())]);
    let (found, _) = named("reiserfs", |own, _| make(&["-q", "-ff", own]));
    assert_eq!(found, []);
}

#[test]
fn f2fs_names_its_other_devices_by_path_and_none_where_it_has_one() {
    need_loops!();
    need_tools!("mkfs.f2fs");
    let make = |arguments: &[&str]| drop(tool::run("mkfs.f2fs", arguments));
    let (found, other) = named("f2fs", |own, other| make(&["-f", "-q", "-c", other, own]));
    assert_eq!(found, [Companion::Path(text(other.path()).into())]);
    let (found, _) = named("f2fs", |own, _| make(&["-f", "-q", own]));
    assert_eq!(found, []);
}
