//! Runs of the guest before the tests: metadata fresh from a real kernel, and straddle itself on
//! live stacks and measuring there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::tool;

use crate::cargo::cargo;

/// Tools that the guest needs; `guest/README.md` says for what.
const NEEDS: [&str; 6] = ["python3", "apt-get", "depmod", "xz", "zstd", "qemu-system-x86_64"];

/// Each scenario, and the variable by which tests learn where its result is.
/// The longest comes first, since as many run at once as there are processors.
const SCENARIOS: [(&str, &str); 8] = [
    ("partition", "STRADDLE_GUEST_PARTITION"),
    ("sync", "STRADDLE_GUEST_SYNC"),
    ("live", "STRADDLE_GUEST_LIVE"),
    ("use", "STRADDLE_GUEST_USE"),
    ("bench", "STRADDLE_GUEST_BENCH"),
    ("lvm", "STRADDLE_GUEST_RESULT"),
    ("raid0", "STRADDLE_GUEST_RAID0"),
    ("watch", "STRADDLE_GUEST_WATCH"),
];

/// The longest that fetching, packing and two boots of each may take, in seconds. One boot of each,
/// side by side, takes a few minutes.
const LIMIT_SECONDS: &str = "1200";

/// The binary that the guest runs: what `cargo test` builds too.
const PROGRAM: &str = "target/debug/straddle";

/// The variables that the tests take, with the results that they name: of new runs, but for those
/// that are set already. Fewer, with the reason printed, where the guest cannot run: tests that
/// need it are then skipped and counted.
pub(crate) fn results() -> Vec<(&'static str, PathBuf)> {
    let is_new = |(_, variable): &(&str, &str)| std::env::var_os(variable).is_none();
    let wanted: Vec<_> = SCENARIOS.into_iter().filter(is_new).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let lacks: Vec<&str> = NEEDS.into_iter().filter(|name| tool::find(name).is_none()).collect();
    if !lacks.is_empty() {
        println!("no guest is booted: it needs {}", lacks.join(", "));
        return Vec::new();
    }
    if !build() {
        println!("no guest is booted: straddle does not build");
        return Vec::new();
    }
    boot(&wanted)
}

/// Builds the binary as the tests have it; whether that worked.
fn build() -> bool {
    let mut build = cargo(&["build", "--locked", "--profile", "test", "--package", "straddle"]);
    let status = build.args(["--target-dir", "target"]).status();
    status.is_ok_and(|status| status.success())
}

/// Boots the guests side by side; the results of those that came to their end.
fn boot(wanted: &[(&str, &'static str)]) -> Vec<(&'static str, PathBuf)> {
    let names = wanted.iter().map(|(name, _)| *name);
    println!("booting guests with a real kernel (guest/run): {}", join(names.clone()));
    let output = Command::new("timeout")
        .args([LIMIT_SECONDS, "python3", "guest/run", "target/guest", "--program", PROGRAM])
        .args(names)
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("cannot start the guest: {error}");
            return Vec::new();
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let places: Vec<&Path> = text.lines().map(|line| Path::new(line.trim())).collect();
    let mut results = Vec::new();
    for (name, variable) in wanted {
        let place = places.iter().find(|place| place.ends_with(format!("result-{name}")));
        match place {
            Some(place) => results.push((*variable, crate::root().join(place))),
            None => println!("the guest gave no result of {name}: {}", output.status),
        }
    }
    results
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
