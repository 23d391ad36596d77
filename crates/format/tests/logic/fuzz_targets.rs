//! Every parser has a fuzz target, and each target one line in the manifest of the fuzz targets.
//!
//! Targets differ in nothing but their names, so they are written rather than kept: with
//! `STRADDLE_WRITE` set, this test writes what is missing and removes what has no parser any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use format::hostile;

/// The targets that are no parser's here: one that must fail, a job file, a captured tree, what was
/// kept of a probe, a request file, recorded traces, a library, a seccomp filter, and the whole
/// stack.
const OTHERS: [&str; 12] = [
    "blkparse", "blktrace", "canary", "elf", "iolog", "job", "profile", "manifest", "measured",
    "raidtest", "seccomp", "stack",
];

/// The target of every parser: the name under which it is built says which parser it runs.
const TARGET: &str = "\
//! Any bytes, read by the parser of this target's name.
#![no_main]

libfuzzer_sys::fuzz_target!(|packed: &[u8]| fuzz::run(env!(\"CARGO_BIN_NAME\"), packed));
";

#[test]
fn every_parser_has_a_fuzz_target_that_cargo_builds() {
    let parsers: BTreeSet<String> =
        hostile::parsers().iter().map(|parser| parser.name().to_owned()).collect();
    if std::env::var_os("STRADDLE_WRITE").is_some() {
        write(&parsers);
    }
    let all: BTreeSet<String> =
        parsers.iter().cloned().chain(OTHERS.map(ToOwned::to_owned)).collect();
    let hint = "run this test with STRADDLE_WRITE=1 to write the targets";
    assert_eq!(targets(), all, "{hint}");
    for name in &parsers {
        assert_eq!(
            fs::read_to_string(target(name)).expect("the fuzz targets can be read and written"),
            TARGET,
            "{name}; {hint}"
        );
    }
    let manifest = fs::read_to_string(directory().join("Cargo.toml"))
        .expect("the fuzz targets can be read and written");
    assert_eq!(manifest, head_of(&manifest) + &listed(&all), "{hint}");
}

fn write(parsers: &BTreeSet<String>) {
    for gone in targets().iter().filter(|name| !OTHERS.contains(&name.as_str())) {
        fs::remove_file(target(gone)).expect("the fuzz targets can be read and written");
    }
    for name in parsers {
        fs::write(target(name), TARGET).expect("the fuzz targets can be read and written");
    }
    let manifest = directory().join("Cargo.toml");
    let head =
        head_of(&fs::read_to_string(&manifest).expect("the fuzz targets can be read and written"));
    fs::write(manifest, head + &listed(&targets()))
        .expect("the fuzz targets can be read and written");
}

/// The names of the targets that there are.
fn targets() -> BTreeSet<String> {
    let entries = fs::read_dir(directory().join("fuzz_targets"))
        .expect("the fuzz targets can be read and written");
    let stem = |path: PathBuf| {
        path.file_stem()
            .expect("the fuzz targets can be read and written")
            .to_str()
            .expect("targets have plain names")
            .to_owned()
    };
    entries
        .map(|entry| stem(entry.expect("the fuzz targets can be read and written").path()))
        .collect()
}

/// The manifest up to the list of its targets.
fn head_of(manifest: &str) -> String {
    let end = manifest.find("\n[[bin]]").unwrap_or(manifest.len());
    manifest[..end].to_owned()
}

/// The list of the targets in the manifest.
fn listed(names: &BTreeSet<String>) -> String {
    let entry = |name: &String| {
        format!(
            "\n[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\ntest = false\n\
             doc = false\nbench = false\n"
        )
    };
    names.iter().map(entry).collect()
}

fn target(name: &str) -> PathBuf {
    directory().join("fuzz_targets").join(format!("{name}.rs"))
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}
