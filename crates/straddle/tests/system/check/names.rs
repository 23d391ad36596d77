//! Names as long as a format takes, and many images: memory stays within a bound. The whole of it is
//! `cargo xtask soak names`.

use std::process::Stdio;

use testkit::long_names::images;
use testkit::{Scratch, need_tools, tool};

use super::run::text;

/// Memory that `straddle check` may take at most, in KiB.
const PEAK_KIB: u64 = 64 << 10;

/// The most memory that it takes with these words, in KiB.
fn peak_kib(words: &[&str]) -> u64 {
    let mut command = tool::command("time");
    command.args(["--quiet", "--format=peak %M", env!("CARGO_BIN_EXE_straddle"), "check"]);
    let ran = command.args(words).stdout(Stdio::null()).output().expect("time runs");
    assert!(matches!(ran.status.code(), Some(0 | 1 | 2 | 5)), "{words:?}: {ran:?}");
    let said = String::from_utf8_lossy(&ran.stderr);
    let peak = said.lines().find_map(|line| line.strip_prefix("peak "));
    peak.and_then(|kib| kib.parse().ok()).unwrap_or_else(|| panic!("{words:?}: {said}"))
}

#[test]
fn a_name_of_a_megabyte_takes_no_more_memory_than_is_allowed() {
    need_tools!("time");
    let scratch = Scratch::new();
    // Each image in one of the formats by turns; the soak takes all.
    let formats = [&["--explain"][..], &["--json"], &["--format", "sarif"]];
    for (named, format) in images(scratch.path(), 1 << 20).iter().zip(formats.iter().cycle()) {
        let peak = peak_kib(&[format, &[text(&named.path)][..]].concat());
        assert!(peak < PEAK_KIB, "{}, {format:?}: {peak} KiB", named.field);
    }
}

#[test]
fn hundreds_of_images_take_no_more_memory_than_is_allowed_in_any_format() {
    need_tools!("time");
    let scratch = Scratch::new();
    let images = images(scratch.path(), 64);
    let many = scratch.path().join("many");
    std::fs::create_dir(&many).expect("the scratch directory takes another");
    for (number, named) in (0..200).zip(images.iter().cycle()) {
        let path = many.join(format!("{number}"));
        std::fs::hard_link(&named.path, path).expect("the directory takes a name");
    }
    for format in ["table", "json", "jsonl", "sarif", "junit", "nagios", "npd"] {
        let peak = peak_kib(&["--format", format, text(&many)]);
        assert!(peak < PEAK_KIB, "{format}: {peak} KiB");
    }
}
