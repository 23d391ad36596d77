//! Running the binary, reading what it says, and waiting for what must happen.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::tool;

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(60);

/// What every run has: the other tests use the drive too, and that must not hold this one back.
const ALWAYS: [&str; 4] = ["--share", "100", "--seed", "1"];

/// The binary under test, about to run `bench` with `arguments`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    // Whoever starts the tests with nohup, or behind a script's `&`, ignores signals that a run is
    // to end by, and a process hands that on.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_straddle")]);
    command.arg("bench").args(ALWAYS).args(arguments);
    command.env("LC_ALL", "C.UTF-8").env_remove("STRADDLE_NO_PROGRESS").stdin(Stdio::null());
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

impl Ran {
    /// The result as a document.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// `straddle bench` with `arguments`.
pub(crate) fn bench(arguments: &[&str]) -> Ran {
    command(arguments).output().expect("the binary runs").into()
}

/// The document of `straddle bench --json` with `arguments`, and the exit status.
pub(crate) fn measured(arguments: &[&str]) -> (Value, i32) {
    let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    let ran = bench(&arguments);
    (ran.document(), ran.status.unwrap_or_else(|| panic!("it exits: {ran:?}")))
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

/// Runs that a signal or a fault ends: none may outlive its test.
pub(crate) struct Going(Option<Child>);

impl Going {
    /// `straddle bench` with `arguments`, going on by itself.
    pub(crate) fn with(arguments: &[&str]) -> Going {
        let mut command = command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Going(Some(command.spawn().expect("the binary runs")))
    }

    /// Waits until `condition` holds while it goes on.
    ///
    /// # Panics
    /// When it ends before, or the condition never holds.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, mut condition: impl FnMut() -> bool) {
        let child = self.0.as_mut().expect("it was not waited for");
        until(what, || {
            let early = child.try_wait().expect("it can be waited for");
            condition() || {
                assert!(early.is_none(), "it ended before this: {what}: {early:?}");
                false
            }
        });
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let child = self.0.as_ref().expect("it was not waited for");
        tool::run("kill", &["-s", name, &child.id().to_string()]);
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
