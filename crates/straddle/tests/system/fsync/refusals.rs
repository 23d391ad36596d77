//! Refusals, with which words, and that nothing is left of what is refused.

use testkit::{Loop, Scratch, need_loops, need_tools, scratch::text, tool};

use super::run::{PROFILE, fsync};
use super::volume::{Bound, Volume};

/// Returns what it said.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) -> String {
    let ran = fsync(arguments);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.starts_with("error: "), "{ran:?}");
    for word in words {
        assert!(ran.errors.contains(word), "{word}: {ran:?}");
    }
    assert!(ran.out.is_empty(), "{ran:?}");
    ran.errors
}

#[test]
fn what_is_no_directory_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let file = scratch.file("file", b"x");
    refused(&["/nonexistent/x"], &["/nonexistent/x", "No such file", "hint: "]);
    refused(&[text(&file)], &["not a directory", "hint: measure in its directory: straddle fsync"]);
    refused(&["/nonexistent/x", "--dry-run"], &["/nonexistent/x"]);
    assert_eq!(std::fs::read(&file).expect("it is there"), b"x");
}

#[test]
fn a_device_is_never_written() {
    need_loops!();
    let scratch = Scratch::new();
    let device = Loop::attach(&scratch.image("image", 8 << 20), 512);
    refused(&[text(device.path())], &["a device, not a directory", "hint: "]);
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
fn a_read_only_bind_mount_of_what_is_written_elsewhere_is_refused() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let volume = Volume::ext4("");
    let scratch = Scratch::new();
    let bound = Bound::read_only(volume.name(), scratch.path().join("bound"));
    refused(&[bound.name()], &["it is mounted read-only"]);
    let document: serde_json::Value =
        serde_json::from_str(&fsync(&[bound.name(), "--json"]).out).expect("JSON");
    assert_eq!(document["target"]["mount_options"][0], "ro", "{document:#}");
    drop(bound);
    volume.is_clean();
}

/// `refused` asserts that the error is the first word on standard error.
#[test]
fn no_word_of_writing_comes_before_a_refusal() {
    let (no_file, what_to_do) = ("error: cannot make a file in /proc", "hint: name a directory");
    let said = refused(&["/proc"], &[no_file, what_to_do]);
    assert!(!host::is_root() || !said.contains("sudo"), "no advice to who is root: {said}");
    refused(&["/proc", "--for", "etcd"], &[no_file, what_to_do]);
    let scratch = Scratch::new();
    let name = text(scratch.path());
    // No process has a number above the most that the kernel gives (proc_sys_kernel(5)).
    let nobody = ["no such process: 4194305", "hint: find it with"];
    refused(&[name, "--pid", "4194305"], &nobody);
    refused(&[name, "--pid", "4194305", "--rows", "none"], &nobody);
    refused(&[name, "--pid", "4194305", "--dry-run"], &nobody);
    // Where no file can be made, a look says what it can, and that it writes is not said.
    let looked = fsync(&["/proc", "--rows", "none"]);
    assert!(looked.out.contains("no sync could be tried"), "{looked:?}");
    assert_eq!(looked.errors, "", "{looked:?}");
}

#[test]
fn options_that_do_not_go_together_are_misuse_with_what_to_do() {
    let scratch = Scratch::new();
    let name = text(scratch.path());
    let none = [name, "--rows", "none"];
    refused(&[&none[..], &["--format", "fio-json"]].concat(), &["fio-json", "--format json"]);
    refused(&[&none[..], &["--sustained"]].concat(), &["--sustained", "hint: leave out one"]);
    let trips = vec!["1ms"; 100].join(",");
    refused(
        &[name, "--for", "etcd", "--rtt", &trips],
        &["100 round trips", "at most 99 other nodes"],
    );
    refused(&[name, "--for", ""], &["--for is empty", "straddle explain engines"]);
    refused(&[name, "--for", "etc"], &["cannot judge for `etc`", "etcd, openshift"]);
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
}

#[test]
fn two_profiles_of_one_name_are_refused_with_both_files() {
    let scratch = Scratch::new();
    let one = scratch.file("one.toml", PROFILE.as_bytes());
    let two = scratch.file("two.toml", PROFILE.as_bytes());
    let arguments = ["--for", "a", "--profile", text(&one), "--profile", text(&two)];
    let words =
        ["one.toml and ", "two.toml: both are profiles of `a`", "hint: leave out one of them"];
    refused(&[&[text(scratch.path())], &arguments[..]].concat(), &words);
}

#[test]
fn a_profile_whose_file_is_too_short_is_refused_with_both_figures() {
    let scratch = Scratch::new();
    let short = PROFILE.replace("4 KiB", "1 MiB").replace("16 MiB", "512 KiB");
    assert_ne!(short, PROFILE);
    let file = scratch.file("short.toml", short.as_bytes());
    let words = ["file is 524288 bytes", "one sync follows 1 of 1048576 bytes", "hint: make file"];
    refused(&[text(scratch.path()), "--for", "a", "--profile", text(&file)], &words);
}

#[test]
fn a_full_file_system_is_refused_before_anything_is_written() {
    need_loops!();
    let volume = Volume::in_memory("size=20m");
    refused(&[volume.name()], &["must stay free"]);
    volume.is_clean();
}

#[test]
fn bytes_that_allow_nothing_are_refused_with_how_many_do() {
    let scratch = Scratch::new();
    let name = text(scratch.path());
    refused(&[name, "--bytes-max", "1M"], &["--bytes-max", "hint: ", "--rows"]);
    // An engine has rows of its own, of which none can be left out.
    let said = refused(&[name, "--for", "etcd", "--bytes-max", "1M"], &["--bytes-max", "hint: "]);
    assert!(!said.contains("--rows"), "{said}");
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
}

#[test]
fn an_engine_that_nobody_knows_is_refused_before_anything_is_written() {
    let scratch = Scratch::new();
    refused(&[text(scratch.path()), "--for", "no\x1bsuch"], &["hint: "]);
}
