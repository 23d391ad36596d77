//! Every captured machine and the answer that was reviewed for it: `NAME.expected` beside
//! `NAME.sysroot` in `crates/stack/tests/sysroots`.
//!
//! `STRADDLE_UPDATE_EXPECTED=1 cargo test -p straddle --test all captured` writes the answers
//! anew; read the difference before it is committed.

use std::path::{Path, PathBuf};
use std::process::Command;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stack/tests/sysroots")
}

fn captures() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory()).expect("captures are in the repository");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "sysroot")).collect();
    found.sort();
    found
}

/// Returns what is printed of a capture, without how long it took, and the exit code.
fn answer(path: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["check", "--explain", "--color", "never", "--sysroot"])
        .arg(path)
        .env("COLUMNS", "110")
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("it prints UTF-8");
    let lines = text.lines().map(|line| match line.split_once(" in ") {
        Some((counts, _)) if line.ends_with("nothing was written.") => counts,
        _ => line,
    });
    let code = output.status.code().expect("it ends by itself");
    let text: Vec<&str> = lines.collect();
    format!("{}\nexit code {code}\n", text.join("\n"))
}

#[test]
fn every_captured_machine_gets_its_reviewed_answer() {
    let captures = captures();
    assert!(captures.len() >= 19, "{}", captures.len());
    for path in captures {
        let expected = path.with_extension("expected");
        let answer = answer(&path);
        if std::env::var_os("STRADDLE_UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected, &answer).expect("it can be written");
        }
        let reviewed = std::fs::read_to_string(&expected).unwrap_or_default();
        assert!(answer == reviewed, "{}:\n{answer}", path.display());
    }
}

/// The document of `straddle check --json` with `words`.
fn document(words: &[&std::ffi::OsStr]) -> serde_json::Value {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    let output = straddle.args(["check", "--json"]).args(words).output().expect("it runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_document_names_the_machine_that_was_looked_at_and_never_this_one_for_another() {
    let path = directory().join("qemu-all.k6.12.sysroot");
    let captured = document(&["--sysroot".as_ref(), path.as_os_str()]);
    assert_eq!(captured["kernel"], "6.12.117+deb12-amd64");
    assert_eq!(captured["host"], serde_json::Value::Null, "a capture tells no host");
    assert_eq!(captured["command"][1], "check");
    assert!(captured["started"].as_str().is_some_and(|text| text.ends_with('Z')));

    let scratch = testkit::Scratch::new();
    let own = document(&[scratch.image("disk.raw", 8 << 20).as_os_str()]);
    let told = |name| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).expect("it is");
    assert_eq!(own["kernel"], told("osrelease").trim());
    assert_eq!(own["host"], told("hostname").trim());
}
