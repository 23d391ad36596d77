//! Packages around a small program.

use std::path::Path;
use std::process::Command;

use testkit::{Scratch, need_tools, scratch::text, tool};

use super::packaged_file::PackagedFile;
use super::{archive, debian};

/// A script in place of straddle, and a page.
fn files() -> Vec<PackagedFile> {
    let file = |path: &str, is_program, bytes: &[u8]| PackagedFile {
        path: path.to_owned(),
        is_program,
        bytes: bytes.to_vec(),
    };
    vec![
        file("usr/bin/straddle", true, b"#!/bin/sh\necho straddle\n"),
        file("usr/share/man/man1/straddle.1.gz", false, b"page"),
    ]
}

/// All paths below `root` that are no directories.
fn below(root: &Path) -> Vec<String> {
    let root = text(root);
    let found = tool::run("find", &[root, "!", "-type", "d"]);
    let mut found: Vec<String> =
        found.lines().map(|path| path.trim_start_matches(root).to_owned()).collect();
    found.sort();
    found
}

#[test]
fn a_package_is_the_same_bytes_each_time() {
    let package = || debian::package(&files(), "1.2.3", 1_700_000_000).unwrap();
    assert_eq!(package(), package());
    let later = debian::package(&files(), "1.2.3", 1_700_000_001).unwrap();
    assert_ne!(package(), later);
}

#[test]
fn a_debian_package_is_installed_and_removed_and_nothing_of_it_stays() {
    need_tools!("dpkg", "find");
    let scratch = Scratch::new();
    let package = debian::package(&files(), "1.2.3", 1_700_000_000).unwrap();
    let package = scratch.file("straddle.deb", &package);
    let root = scratch.path().join("root");
    std::fs::create_dir_all(root.join("var/lib/dpkg/info")).unwrap();
    std::fs::create_dir_all(root.join("var/lib/dpkg/updates")).unwrap();
    std::fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let dpkg = |words: &[&str]| {
        let at = format!("--root={}", text(&root));
        let force = ["--force-not-root", "--force-bad-path", &at];
        tool::run("dpkg", &[&force[..], words].concat());
    };
    dpkg(&["--install", text(&package)]);
    let found = below(&root.join("usr"));
    assert_eq!(found, ["/bin/straddle", "/share/man/man1/straddle.1.gz"]);
    assert_eq!(tool::run(text(&root.join("usr/bin/straddle")), &[]), "straddle\n");
    dpkg(&["--purge", "straddle"]);
    assert!(!root.join("usr").exists(), "{:?}", below(&root));
}

#[test]
fn the_script_installs_what_the_checksums_promise_and_nothing_else() {
    need_tools!("sh", "sha256sum", "tar");
    let scratch = Scratch::new();
    let archive = archive::compressed(&files(), 1_700_000_000).unwrap();
    let archive = scratch.file("straddle.tar.gz", &archive);
    let script = crate::cargo::root().join("crates/xtask/packaging/install.sh");
    let prefix = scratch.path().join("prefix");
    let install = || {
        let mut command = Command::new("sh");
        command.arg(&script).arg(&archive).arg(&prefix).output().unwrap()
    };
    let output = install();
    assert_eq!(output.status.code(), Some(2), "no checksums: {output:?}");
    let sum = super::sum(&std::fs::read(&archive).unwrap());
    let sums = scratch.path().join("SHA256SUMS");
    std::fs::write(&sums, format!("{}  straddle.tar.gz\n", "0".repeat(64))).unwrap();
    let output = install();
    assert_eq!(output.status.code(), Some(1), "a wrong checksum: {output:?}");
    assert!(!prefix.exists(), "{output:?}");
    std::fs::write(&sums, format!("{sum}  straddle.tar.gz\n")).unwrap();
    let output = install();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(tool::run(text(&prefix.join("bin/straddle")), &[]), "straddle\n");
}
