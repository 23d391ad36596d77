//! Running other programs, with errors that name them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use testkit::tool;

/// Returns where the tool called `name` is.
///
/// # Errors
/// When it is not installed.
pub(crate) fn find(name: &str) -> anyhow::Result<PathBuf> {
    tool::find(name).with_context(|| {
        format!("cannot find {name}: it is not installed; hint: cargo xtask install-tools")
    })
}

/// `path` as an argument among words.
///
/// # Errors
/// When it is no UTF-8.
pub(crate) fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Runs the tool called `name`, whose answer is of no interest.
///
/// # Errors
/// When it is missing or fails.
pub(super) fn run(name: &str, arguments: &[&str]) -> anyhow::Result<()> {
    run_with_input(name, Command::new(find(name)?).args(arguments), "")
}

/// Runs `command`, which people know as `name`, with `input` on standard input.
///
/// # Errors
/// When it cannot be started or fails.
pub(crate) fn run_with_input(name: &str, command: &mut Command, input: &str) -> anyhow::Result<()> {
    let child = piped(command.stdin(Stdio::piped())).spawn();
    let mut child = child.with_context(|| format!("cannot start {name}"))?;
    // A tool that wants no input closes it; its status tells.
    let _ = child.stdin.take().context("it was piped")?.write_all(input.as_bytes());
    succeeded(name, &child.wait_with_output()?)
}

/// Returns what `command` prints.
///
/// # Errors
/// When it cannot be started or fails.
pub(crate) fn answer(command: &mut Command) -> anyhow::Result<String> {
    let output = output(command)?;
    succeeded(&command.get_program().to_string_lossy(), &output)?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns what `command` prints, whatever its exit status.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<Output> {
    let output = piped(command.stdin(Stdio::null())).output();
    output.with_context(|| format!("cannot start {}", command.get_program().display()))
}

/// Returns how long `command` runs, from before its start to its end. What it prints goes nowhere,
/// so that nobody who reads it takes part.
///
/// # Errors
/// When it cannot be started, or exits with neither 0 nor 1, which says that something was found.
pub(super) fn timed(command: &mut Command) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let child = piped(command).stdout(Stdio::null()).stdin(Stdio::null()).spawn();
    let output = child
        .and_then(Child::wait_with_output)
        .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
    let elapsed = begun.elapsed();
    if output.status.code() != Some(1) {
        succeeded(&command.get_program().to_string_lossy(), &output)?;
    }
    Ok(elapsed)
}

/// Says how busy the machine is with other work, which the times include.
pub(crate) fn print_load() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!("machine: {processors} processors; load before the first run: {load}");
}

fn piped(command: &mut Command) -> &mut Command {
    command.env("LC_ALL", "C").stdout(Stdio::piped()).stderr(Stdio::piped())
}

fn succeeded(name: &str, output: &Output) -> anyhow::Result<()> {
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{name}: {}: {}", output.status, said.trim());
    Ok(())
}
