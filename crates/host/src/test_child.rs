//! For tests: the test's own program once more as a child, to be killed.
//!
//! A test that finds [`argument`] is the child: it does what is to be cut short, calls [`ready`],
//! and stays there.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

const ARGUMENT: &str = "STRADDLE_TEST_CHILD";
const MARK: &str = "child is ready: ";

/// Returns the argument that the parent gave this process; `None` when it is no child.
pub(crate) fn argument() -> Option<OsString> {
    std::env::var_os(ARGUMENT)
}

/// Tells the parent `what`, and stays until it is killed or the parent is gone.
pub(crate) fn ready(what: &str) -> ! {
    let mut out = std::io::stdout();
    // The test's harness may have begun a line.
    out.write_all(format!("\n{MARK}{what}\n").as_bytes()).unwrap();
    out.flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(3);
}

/// Runs a child of `test` with `argument` until it ends by itself, and returns its output.
pub(crate) fn finished(test: &str, argument: &str) -> std::process::Output {
    let mut command = itself();
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(ARGUMENT, argument).stdin(Stdio::null()).output().unwrap()
}

/// This program once more. Signals are as at the start of a session: who starts tests with nohup,
/// or after a script's `&`, ignores some, and a process hands that on.
fn itself() -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP").arg(std::env::current_exe().unwrap());
    command
}

/// A child at work; killed when dropped.
pub(crate) struct Child {
    process: std::process::Child,
    told: String,
}

impl Child {
    /// Runs `test` of this program as a child with `argument`, until it is ready.
    pub(crate) fn start(test: &str, argument: &OsStr) -> Child {
        let mut process = itself()
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ARGUMENT, argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let told = out.lines().map_while(Result::ok).find_map(|line| {
            let (_, told) = line.split_once(MARK)?;
            Some(told.to_owned())
        });
        Child { process, told: told.expect("the child became ready") }
    }

    /// Returns the line with which it said that it was ready.
    pub(crate) fn told(&self) -> &str {
        &self.told
    }

    pub(crate) fn number(&self) -> u32 {
        self.process.id()
    }

    /// Ends it by SIGKILL.
    pub(crate) fn kill(self) {
        drop(self);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
