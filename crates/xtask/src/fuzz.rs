//! Every fuzz target for a few seconds, on a stable compiler and without `cargo fuzz`.
//!
//! libFuzzer comes as source with the crate `libfuzzer-sys`; what it needs from the compiler are
//! LLVM's coverage passes, which stable `rustc` has too. The flags are those of `cargo fuzz` with
//! `--sanitizer none` (cargo-fuzz `src/project.rs`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::cargo::cargo;
use crate::trials::{processors, trials};

const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

/// In seconds by the clock. An answer may take one; coverage makes code about five times slower,
/// and other work on the machine as much again.
const TIMEOUT: &str = "-timeout=25";

/// The target that must fail.
const CANARY: &str = "canary";
/// Longest time until the canary fails.
const CANARY_SECONDS: u64 = 300;
/// Words of the canary.
const CANARY_WORDS: &str = "the canary sings";

/// Builds every target and runs all, or one, for `seconds` each, as many at once as there are
/// processors; whether none failed but the canary, which must.
pub(crate) fn run(seconds: u64, only: Option<&str>) -> anyhow::Result<bool> {
    let directory = crate::root().join("fuzz");
    let names = names(&directory)?;
    ensure!(names.iter().any(|name| name == CANARY), "no such fuzz target: {CANARY}");
    if let Some(only) = only {
        ensure!(names.iter().any(|name| name == only), "no such fuzz target: {only}");
    }
    let programs = build(&directory)?;
    let chosen = |name: &&String| only.is_none_or(|only| only == name.as_str());
    let chosen: Vec<&String> = names.iter().filter(chosen).collect();
    let mut tally = FuzzTally::default();
    let trial = |name: &&String, _| {
        FuzzTarget { directory: &directory, programs: &programs, name }.run(seconds)
    };
    trials(&chosen, 1..=1, processors(), trial, |place, _, output| {
        tally.add(chosen[place], &output);
    })?;
    let FuzzTally { targets, runs, failed } = tally;
    println!("fuzz: {targets} targets, {runs} runs");
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
    }
    Ok(failed.is_empty())
}

/// Results of the targets so far.
#[derive(Default)]
struct FuzzTally {
    targets: u64,
    runs: u64,
    failed: Vec<String>,
}

impl FuzzTally {
    /// Counts, and prints, what came of `name`.
    fn add(&mut self, name: &str, output: &Output) {
        let said = String::from_utf8_lossy(&output.stderr);
        if name == CANARY {
            let sings = !output.status.success() && said.contains(CANARY_WORDS);
            println!("canary: {}", if sings { "fails, as it must" } else { "DOES NOT FAIL" });
            if !sings {
                self.failed.push(name.to_owned());
            }
            return;
        }
        let count = runs_of(&said);
        self.targets += 1;
        self.runs += count;
        println!("{name}: {count} runs");
        if !output.status.success() || count == 0 {
            println!("{said}");
            self.failed.push(name.to_owned());
        }
    }
}

/// The targets' names, in order.
fn names(directory: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory.join("fuzz_targets"))? {
        let path = entry?.path();
        names.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds all targets; the directory that holds their programs.
fn build(directory: &Path) -> anyhow::Result<PathBuf> {
    let version = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
    let triple = triple.context("cannot find the host in what rustc -vV prints")?;
    // With --target, the flags do not reach build scripts, which would not link with them.
    let status = cargo(&["build", "--release", "--locked", "--bins", "--target", triple])
        .current_dir(directory)
        .env("RUSTFLAGS", COVERAGE.join(" "))
        .env("CARGO_TARGET_DIR", directory.join("target"))
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!(
            "cannot build the fuzz targets; hint: apt-get install g++; where the lock file is old: \
             cd fuzz && cargo update --workspace"
        );
    }
    Ok(directory.join("target").join(triple).join("release"))
}

/// One target to run.
struct FuzzTarget<'a> {
    directory: &'a Path,
    programs: &'a Path,
    name: &'a str,
}

impl FuzzTarget<'_> {
    /// Runs it for `seconds`, from its own corpus, its own seeds and the heads of real disks.
    fn run(&self, seconds: u64) -> anyhow::Result<Output> {
        let corpus = self.directory.join("corpus");
        let artifacts = self.directory.join("artifacts").join(self.name);
        let own = corpus.join(self.name);
        std::fs::create_dir_all(&own)?;
        std::fs::create_dir_all(&artifacts)?;
        let canary = self.name == CANARY;
        let seconds = if canary { CANARY_SECONDS } else { seconds };
        let mut command = Command::new(self.programs.join(self.name));
        command
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-max_len=131072", TIMEOUT, "-rss_limit_mb=1024", "-malloc_limit_mb=64"])
            .arg("-print_final_stats=1")
            .arg(format!("-seed={}", std::env::var("STRADDLE_SEED").unwrap_or("1".to_owned())));
        if !canary {
            let seeds = [
                corpus.join("seeds"),
                crate::root().join("crates/workload/tests/seeds").join(self.name),
                crate::root().join("crates/report/tests/seeds").join(self.name),
                crate::root().join("crates/format/tests/heads"),
            ];
            command.arg(&own).args(seeds.iter().filter(|seeds| seeds.is_dir()));
        }
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start {}", self.name))?;
        if canary {
            // What the canary found is no finding.
            std::fs::remove_dir_all(&artifacts)?;
        }
        Ok(output)
    }
}

/// Returns how many inputs a fuzzer ran, by its own account.
fn runs_of(said: &str) -> u64 {
    let count = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_runs_is_read_from_the_final_statistics() {
        assert_eq!(runs_of("Done 5\nstat::number_of_executed_units: 61772\nstat::x: 3"), 61772);
        assert_eq!(runs_of("nothing"), 0);
    }

    #[test]
    fn every_target_is_listed_for_cargo() {
        let directory = crate::root().join("fuzz");
        let manifest = std::fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        for name in names(&directory).unwrap() {
            assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
        }
    }
}
