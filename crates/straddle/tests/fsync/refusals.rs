//! What is refused, with which words, and that nothing is left of it.

use testkit::{Loop, Scratch, need_loops, need_tools, scratch::text, tool};

use crate::run::fsync;
use crate::volume::Volume;

#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let ran = fsync(arguments);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.starts_with("error: "), "{ran:?}");
    for word in words {
        assert!(ran.errors.contains(word), "{word}: {ran:?}");
    }
    assert!(ran.out.is_empty(), "{ran:?}");
}

#[test]
fn what_is_no_directory_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let file = scratch.file("file", b"x");
    refused(&["/nonexistent/x"], &["/nonexistent/x", "No such file", "hint: "]);
    refused(&[text(&file)], &["not a directory", "hint: straddle fsync"]);
    refused(&["/nonexistent/x", "--dry-run"], &["/nonexistent/x"]);
    assert_eq!(std::fs::read(&file).expect("it is there"), b"x");
}

#[test]
fn a_device_is_never_written() {
    need_loops!();
    let scratch = Scratch::new();
    let device = Loop::attach(&scratch.image("image", 8 << 20), 512);
    refused(&[text(device.path())], &["it is a device", "hint: "]);
}

#[test]
fn a_read_only_mount_is_refused() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount");
    let volume = Volume::ext4("");
    tool::run("mount", &["-o", "remount,ro", volume.name()]);
    refused(&[volume.name()], &["read-only"]);
    refused(&[volume.name(), "--dry-run"], &["read-only"]);
    refused(&[volume.name(), "--rows", "none"], &["read-only", "hint: mount it for writing"]);
    volume.is_clean();
}

#[test]
fn a_directory_in_which_no_file_can_be_is_refused_with_what_to_do() {
    let ran = fsync(&["/proc"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("error: cannot make a file in /proc"), "{ran:?}");
    assert!(ran.errors.contains("hint: name a directory"), "{ran:?}");
    assert!(ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_full_file_system_is_refused_before_anything_is_written() {
    need_loops!();
    let volume = Volume::in_memory("size=20m");
    refused(&[volume.name()], &["would leave too little"]);
    volume.is_clean();
}

#[test]
fn bytes_that_allow_nothing_are_refused_with_how_many_do() {
    let scratch = Scratch::new();
    let name = text(scratch.path());
    refused(&[name, "--bytes-max", "1M"], &["--bytes-max", "hint: "]);
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
}

#[test]
fn an_engine_that_nobody_knows_is_refused_before_anything_is_written() {
    let scratch = Scratch::new();
    refused(&[text(scratch.path()), "--for", "no\x1bsuch"], &["hint: "]);
}
