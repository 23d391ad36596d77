//! Tests as processes: executables, isolated or not, and cargo.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::Context as _;
use testkit::tool;

use super::executable::TestExecutable;
use super::isolation::Isolation;
use super::lane::Lane;
use super::run_result::{Ran, TestRunner};
use super::test_run::{Program, TestRun};
use super::watched_process::{ProcessEnd, WatchedProcess};
use crate::cargo::cargo;
use crate::guest;
use crate::leftovers::RunDirectory;

/// Starts tests as processes.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// Isolation of tests of logic, where it can be made.
    pub(super) isolation: Option<Isolation>,
    /// Results of guests, with the variables that name them: there once a test needed them.
    guests: OnceLock<Vec<(&'static str, PathBuf)>>,
}

impl TestRunner for Processes {
    fn run(&self, run: &TestRun, line: &mut dyn FnMut(&str)) -> anyhow::Result<Ran> {
        let notes = tempfile::tempdir().context("cannot make a directory for notes")?;
        let skips = notes.path().join("skips");
        std::fs::write(&skips, "").context("cannot make a file for notes")?;
        // Nobody writes to it, too.
        std::fs::set_permissions(&skips, PermissionsExt::from_mode(0o666))?;
        let room = RunDirectory::new()?;
        let mut command = self.command(run, &skips, room.path());
        command.args(&run.harness);
        let end = match run.is_isolated {
            true => with_errors(command, line)?,
            false => WatchedProcess::start(command)?.finish(line)?,
        };
        let mut left = room.leftovers()?;
        if end.is_leaving_others {
            left.push("a process that still ran".to_owned());
        }
        let skips = std::fs::read_to_string(&skips).unwrap_or_default();
        Ok(Ran { is_good: end.is_good, hung: end.hung, left, skips })
    }
}

impl Processes {
    /// Returns the command that starts `run`.
    fn command(&self, run: &TestRun, skips: &Path, directory: &Path) -> Command {
        let mut command = match (&run.program, &self.isolation) {
            (Program::Executable(one), Some(isolation)) if run.is_isolated => {
                isolation.command(skips, &one.directory, &one.path)
            }
            (Program::Executable(one), _) => plain(one),
            (Program::Cargo(words), _) => {
                let mut cargo = cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
                cargo.args(words).arg("--");
                cargo
            }
        };
        if !run.is_isolated || self.isolation.is_none() {
            command.env("STRADDLE_SKIPS", skips).env("TMPDIR", directory);
        }
        if matches!(&run.program, Program::Executable(one) if one.lane() == Lane::Guest) {
            command.envs(self.guests.get_or_init(guest::results).iter().cloned());
        }
        command.env("STRADDLE_TESTS", "full");
        if matches!(run.program, Program::Executable(_)) {
            // Seeds of orders, and times, are options that the harness has on nightly compilers,
            // and on others where this is set.
            command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]);
        }
        if let Some(threads) = run.threads {
            command.arg(format!("--test-threads={threads}"));
        }
        command
    }
}

/// Runs `command`, and hands on what it says of errors after its other lines.
fn with_errors(mut command: Command, line: &mut dyn FnMut(&str)) -> anyhow::Result<ProcessEnd> {
    let (mut reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    command.stderr(writer);
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read was not said.
        let _ = reader.read_to_end(&mut bytes);
        bytes
    });
    let end = WatchedProcess::start(command)?.finish(line)?;
    let errors = errors.join().unwrap_or_default();
    String::from_utf8_lossy(&errors).lines().for_each(line);
    Ok(end)
}

/// Returns the command of an executable in its package's directory. It ends with this process.
fn plain(executable: &TestExecutable) -> Command {
    let mut command = match tool::find("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL"]).arg(&executable.path);
            command
        }
        None => Command::new(&executable.path),
    };
    command.current_dir(&executable.directory);
    command
}
