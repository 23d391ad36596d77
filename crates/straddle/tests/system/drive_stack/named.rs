//! Names that `--stack` may give, and what is said where it names something else.

use std::path::Path;

use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use super::arrays::{RAID5, member};
use super::{SECTOR, costs, image, layers, refused, simulated};

#[test]
fn a_directory_costs_what_its_images_cost_when_they_are_named_together() {
    let scratch = Scratch::new();
    let members: Vec<_> =
        (0..RAID5.members).map(|number| member(&scratch, RAID5, number)).collect();
    let rest: Vec<&str> = members[1..].iter().map(|path| text(path)).collect();
    let named = simulated(text(&members[0]), &rest);
    for (name, bytes) in [("notes.txt", &b"what this array is for"[..]), ("empty.raw", b"")] {
        std::fs::write(scratch.path().join(name), bytes).expect("it is ours");
    }
    let found = simulated(text(scratch.path()), &[]);
    assert_eq!(found["arms"], named["arms"]);
    assert_eq!(found["arms"][1]["leaves"].as_array().map(Vec::len), Some(4));
    let notes = found["notes"].to_string();
    assert!(notes.contains("skipped 2 files of the directory"), "{notes}");
    assert!(notes.contains("member3.raw") && !notes.contains("notes.txt"), "{notes}");
}

#[test]
fn a_directory_with_one_image_is_that_image() {
    let scratch = Scratch::new();
    image(&scratch, &[(63, 16384)]);
    let found = layers(&simulated(text(scratch.path()), &[]));
    assert_eq!(found.len(), 1, "{found:?}");
    costs(&found[0], "disk.raw#1", 63 * SECTOR, 3.0);
    let numbered = layers(&simulated(&format!("{}#1", text(scratch.path())), &[]));
    assert_eq!(numbered, found);
}

/// Checks that the refusal at `path` says all of `expected`, with one step to take.
#[track_caller]
fn check(path: &Path, expected: &[&str]) {
    let said = refused(text(path), &[]);
    let tried = format!("error: cannot simulate on {}: ", text(path));
    assert!(said.starts_with(&tried), "{said}");
    assert_eq!(said.matches("hint: ").count(), 1, "{said}");
    expected.iter().for_each(|part| assert!(said.contains(part), "{part}: {said}"));
}

#[test]
fn what_is_no_stack_is_refused_with_what_was_tried_and_what_to_name() {
    need_tools!("mkfifo");
    let scratch = Scratch::new();
    let directory = |name: &str| {
        let path = scratch.path().join(name);
        std::fs::create_dir(&path).expect("it is ours");
        path
    };
    let empty = directory("empty");
    check(&empty, &["no disk image is in it", "hint: name a directory of disk images"]);
    assert!(!refused(text(&empty), &[]).contains("cannot check"), "nothing was to be checked");
    let prose = directory("prose");
    std::fs::write(prose.join("a.txt"), "no disk is here").expect("it is ours");
    check(&prose, &["no partition, volume or file system is recognized", "straddle check"]);
    let many = directory("many");
    for number in 0..65 {
        std::fs::write(many.join(number.to_string()), "no disk").expect("it is ours");
    }
    check(
        &many,
        &["it holds 65 files", "more than 64", "hint: name the files that belong together"],
    );
    let pipe = scratch.path().join("pipe");
    tool::run("mkfifo", &[text(&pipe)]);
    check(&pipe, &["it is a FIFO", "hint: copy what it carries into a file first"]);
    check(Path::new("/dev/null"), &["it is a character device", "hint: disks are block devices"]);
    let missing = scratch.path().join("nothing.raw");
    check(&missing, &["No such file or directory", "hint: check the path"]);
    check(
        Path::new("/proc"),
        &["on no block device", "hint: name an image, a directory of images, or a device"],
    );
}
