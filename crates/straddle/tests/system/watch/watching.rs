//! A `straddle watch` that runs beside the load of a test.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use testkit::running_program::{Ran, by_signals, signal};

/// Longest wait for the next line: a machine that builds meanwhile is slow.
const PATIENCE: Duration = Duration::from_secs(300);
/// Most lines until a condition holds.
const LINES_MAX: u32 = 120;

/// `straddle watch` with these words, about to run.
pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.arg("watch").args(words).env("LC_ALL", "C.UTF-8").env("COLUMNS", "120");
    command
}

/// `straddle watch` with these words, to its end.
pub(crate) fn watch(words: &[&str]) -> Ran {
    Ran::of(&mut command(words))
}

/// A watch that counts already; it ends with its test.
pub(crate) struct Watching {
    child: Child,
    lines: Receiver<Value>,
    last: Value,
}

impl Watching {
    /// One of `target`, after its first second.
    pub(crate) fn start(target: &str, more: &[&str]) -> Watching {
        Watching::running(command(&[&[target, "--jsonl"], more].concat()))
    }

    /// `command`, which prints lines, after its first.
    pub(crate) fn running(mut command: Command) -> Watching {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program runs");
        let output = BufReader::new(child.stdout.take().expect("it was piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let document = serde_json::from_str(&line).expect("each line is JSON");
                if sender.send(document).is_err() {
                    break;
                }
            }
        });
        let mut watching = Watching { child, lines, last: Value::Null };
        watching.next_line();
        watching
    }

    fn next_line(&mut self) {
        self.last = self.lines.recv_timeout(PATIENCE).expect("it prints another line");
    }

    /// Waits for two lines that are of later seconds.
    pub(crate) fn two_seconds(&mut self) {
        // The second of the next line may have begun before.
        for _ in 0..3 {
            self.next_line();
        }
    }

    /// Waits until `condition` holds for what was counted so far.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, condition: impl Fn(&Value) -> bool) {
        for _ in 0..LINES_MAX {
            if condition(&self.last) {
                return;
            }
            self.next_line();
        }
        panic!("{what}: {:#}", self.last);
    }

    /// Waits until `culprit` has at least `share` of a sample; returns the document that says so.
    #[track_caller]
    pub(crate) fn shows(mut self, culprit: &Culprit<'_>, share: f64) -> Value {
        self.until(&culprit.to_string(), |document| culprit.has(share, document));
        self.last.take()
    }

    /// Waits until `culprit` has at least `share` of a sample, and `cause` is the first of the
    /// causes, which it returns.
    #[track_caller]
    pub(crate) fn shows_cause(mut self, culprit: &Culprit<'_>, share: f64, cause: &str) -> Value {
        let what = format!("{culprit}, and {cause} is the first cause");
        self.until(&what, |document| {
            culprit.has(share, document) && first_cause(document)["cause"] == cause
        });
        first_cause(&self.last).clone()
    }

    /// Ends it as Ctrl-C does; returns its last document.
    #[track_caller]
    pub(crate) fn end(mut self) -> Value {
        signal(self.child.id(), "INT");
        let status = self.child.wait().expect("it can be waited for");
        assert_eq!(status.code(), Some(0), "{:#}", self.last);
        while let Ok(line) = self.lines.recv() {
            self.last = line;
        }
        self.last.take()
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it can be waited for");
    }

    /// The document of the latest line.
    pub(crate) fn last(&self) -> &Value {
        &self.last
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A writer and the place that it writes to, as they must be named.
pub(crate) struct Culprit<'a> {
    pub(crate) process: &'a str,
    pub(crate) layer: &'a str,
    pub(crate) region: &'a str,
    pub(crate) file: Option<&'a str>,
}

impl Culprit<'_> {
    /// Returns whether it has at least `share` of a sample that is large enough to tell.
    fn has(&self, share: f64, document: &Value) -> bool {
        let sampled = document["devices"][0]["sample"]["writes"].as_u64().unwrap_or(0);
        sampled >= 20 && self.share(document) >= share
    }

    /// Its share of the sampled writes of the first device.
    pub(crate) fn share(&self, document: &Value) -> f64 {
        let is_it = |writer: &&Value| {
            writer["process"] == self.process
                && writer["layer"] == self.layer
                && writer["region"] == self.region
                && writer["file"].as_str() == self.file
        };
        writers(document).iter().filter(is_it).map(share).sum()
    }
}

impl fmt::Display for Culprit<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Culprit { process, layer, region, file } = self;
        write!(out, "{process} writes to {region} {file:?} of {layer}")
    }
}

/// The writers of the first device.
#[track_caller]
pub(crate) fn writers(document: &Value) -> &[Value] {
    document["devices"][0]["writers"].as_array().expect("a list")
}

fn share(writer: &Value) -> f64 {
    writer["share"].as_f64().expect("a number")
}

/// The share of the writes of process `name`, whatever it writes to.
pub(crate) fn share_of(document: &Value, name: &str) -> f64 {
    writers(document).iter().filter(|writer| writer["process"] == name).map(share).sum()
}

/// Asserts that each writer is one of `names`, or unknown.
#[track_caller]
pub(crate) fn only(document: &Value, names: &[&str]) {
    for writer in writers(document) {
        let name = writer["process"].as_str();
        assert!(name.is_none_or(|name| names.contains(&name)), "{names:?}: {writer:#}");
    }
}

/// The first cause of writes off the granule; null where none is known.
pub(crate) fn first_cause(document: &Value) -> &Value {
    &document["devices"][0]["consequences"][0]
}

/// Counts of operations off the granule of the first device.
#[track_caller]
pub(crate) fn off_granule(document: &Value) -> &Value {
    let counts = document["devices"][0]["off"].as_array().expect("a list");
    let found = counts.iter().find(|count| count["is_granule"] == true);
    found.unwrap_or_else(|| panic!("the granule is counted: {document:#}"))
}
