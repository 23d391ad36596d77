//! Packages around a small program.

use std::path::Path;
use std::process::Command;

use testkit::{Scratch, need_tools, scratch::text, tool};

use super::packaged_file::{self, PackagedFile, compressed};
use super::{architecture, archive, debian, rpm};

/// A time of the packages, in seconds since 1970.
const TIME: u64 = 1_700_000_000;

/// A script in place of straddle: it prints a manual page and completions.
const SCRIPT: &str = r"#!/bin/sh
case $2 in
  man) printf '.TH straddle 1\n.SH NAME\nstraddle \\- test\n' > $4/straddle.1 ;;
  *) echo straddle $3 ;;
esac
";

/// All files of a package around the script.
fn files() -> Vec<PackagedFile> {
    let scratch = Scratch::new();
    let program = scratch.file("straddle", SCRIPT.as_bytes());
    tool::run("chmod", &["755", text(&program)]);
    packaged_file::all(&program, &program).unwrap()
}

fn of_debian(files: &[PackagedFile], time: u64) -> Vec<u8> {
    let files = debian::files(files, "1.2.3", time).unwrap();
    debian::package(&files, architecture::ALL[0], "1.2.3", time).unwrap()
}

fn of_rpm(files: &[PackagedFile], time: u64) -> Vec<u8> {
    rpm::package(files, architecture::ALL[0], "1.2.3", time).unwrap()
}

/// Paths of `files`, below a root.
fn paths(files: &[PackagedFile]) -> Vec<String> {
    files.iter().map(|file| format!("/{}", file.path)).collect()
}

/// All paths below `directory` of `root` that are no directories themselves.
fn below(root: &Path, directory: &str) -> Vec<String> {
    let found = tool::run("find", &[text(&root.join(directory)), "!", "-type", "d"]);
    let mut found: Vec<String> =
        found.lines().map(|path| path.trim_start_matches(text(root)).to_owned()).collect();
    found.sort();
    found
}

#[test]
fn a_package_is_the_same_bytes_each_time() {
    need_tools!("chmod", "sh");
    for package in [of_debian, of_rpm] {
        assert_eq!(package(&files(), TIME), package(&files(), TIME));
        assert_ne!(package(&files(), TIME), package(&files(), TIME + 1));
    }
}

#[test]
fn a_debian_package_is_installed_and_removed_and_nothing_of_it_stays() {
    need_tools!("chmod", "dpkg", "find", "sh");
    let (scratch, files) = (Scratch::new(), files());
    let package = scratch.file("straddle.deb", &of_debian(&files, TIME));
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
    let installed = debian::files(&files, "1.2.3", TIME).unwrap();
    assert_eq!(below(&root, "usr"), paths(&installed));
    assert_eq!(tool::run(text(&root.join("usr/bin/straddle")), &[]), "straddle\n");
    dpkg(&["--purge", "straddle"]);
    assert!(!root.join("usr").exists(), "{:?}", below(&root, "usr"));
}

#[test]
fn an_rpm_package_is_verified_installed_and_removed_and_nothing_of_it_stays() {
    need_tools!("chmod", "find", "rpm", "sh");
    let (scratch, files) = (Scratch::new(), files());
    let package = scratch.file("straddle.rpm", &of_rpm(&files, TIME));
    let root = scratch.path().join("root");
    let at = format!("--root={}", text(&root));
    let rpm = |words: &[&str]| tool::run("rpm", &[&[at.as_str()], words].concat());
    let checked = rpm(&["--checksig", "--verbose", text(&package)]);
    assert_eq!(checked.matches("digest: OK").count(), 2, "{checked}");
    rpm(&["--install", "--ignorearch", text(&package)]);
    assert_eq!(below(&root, "usr"), paths(&files));
    assert_eq!(rpm(&["--verify", "straddle"]), "");
    assert_eq!(rpm(&["--query", "straddle"]), "straddle-1.2.3-1.x86_64\n");
    assert_eq!(tool::run(text(&root.join("usr/bin/straddle")), &[]), "straddle\n");
    rpm(&["--erase", "straddle"]);
    assert!(below(&root, "usr").is_empty(), "{:?}", below(&root, "usr"));
    assert!(!root.join("usr/share/doc/straddle").exists());
}

#[test]
fn lintian_and_rpmlint_find_no_error_in_the_packages() {
    need_tools!("chmod", "lintian", "rpmlint", "sh");
    let (scratch, files) = (Scratch::new(), files());
    let package = scratch.file("straddle_1.2.3_amd64.deb", &of_debian(&files, TIME));
    tool::run("lintian", &["--allow-root", "--fail-on", "error,warning", text(&package)]);
    let package = scratch.file("straddle-1.2.3-1.x86_64.rpm", &of_rpm(&files, TIME));
    let rules = crate::cargo::root().join("crates/xtask/packaging/rpmlint.toml");
    let output = tool::output("rpmlint", &["--config", text(&rules), text(&package)]);
    let said = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = said.lines().filter(|line| line.starts_with("straddle.")).collect();
    assert_eq!(found, ["straddle.x86_64: E: no-binary"], "the script is none\n{said}");
}

#[test]
fn the_script_installs_what_the_checksums_promise_and_nothing_else() {
    need_tools!("chmod", "sh", "sha256sum", "tar");
    let scratch = Scratch::new();
    let archive = compressed(&archive::of(&files(), TIME).unwrap()).unwrap();
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
