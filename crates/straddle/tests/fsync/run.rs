//! Running the binary, and reading what it says.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::tool;

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary under test, about to run `fsync` with `arguments`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    // Whoever starts the tests with nohup, or behind a script's `&`, ignores signals that a run is
    // to end by, and a process hands that on.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_straddle"), "fsync"]);
    command.args(["--seed", "1"]).args(arguments);
    command.env("LC_ALL", "C.UTF-8").env("COLUMNS", "120").stdin(Stdio::null());
    command
}

/// What one run ended with and said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) errors: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
        let (out, errors) = (text(output.stdout), text(output.stderr));
        Ran { status: output.status.code(), out, errors }
    }
}

/// `straddle fsync` with `arguments`.
pub(crate) fn fsync(arguments: &[&str]) -> Ran {
    command(arguments).output().expect("the binary runs").into()
}

/// The document of a run that must succeed.
#[track_caller]
pub(crate) fn measured(arguments: &[&str]) -> Value {
    let ran = fsync(&[&["--json"], arguments].concat());
    let document: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    // What is not durable is a finding, and memory is not.
    let is_durable = document["honesty"]["grade"] != "not-durable";
    assert_eq!(ran.status, Some(if is_durable { 0 } else { 1 }), "{ran:?}");
    document
}

/// The row called `id`.
#[track_caller]
pub(crate) fn row<'a>(document: &'a Value, id: &str) -> &'a Value {
    let rows = document["rows"].as_array().expect("a list");
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}"))
}

/// Waits until `condition` holds.
///
/// # Panics
/// When it does not within a minute; `what` says what it was.
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "it did not come to this: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A run that a signal ends: it may not outlive its test.
pub(crate) struct Going(Option<Child>);

impl Going {
    /// `straddle fsync` with `arguments`, going on by itself.
    pub(crate) fn with(arguments: &[&str]) -> Going {
        let mut command = command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Going(Some(command.spawn().expect("the binary runs")))
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let child = self.0.as_ref().expect("it was not waited for");
        tool::run("kill", &["-s", name, &child.id().to_string()]);
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_going(&mut self) -> bool {
        let child = self.0.as_mut().expect("it was not waited for");
        child.try_wait().expect("it can be waited for").is_none()
    }

    /// How it ended.
    pub(crate) fn ended(mut self) -> Ran {
        let child = self.0.take().expect("it was not waited for");
        child.wait_with_output().expect("it can be waited for").into()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
