//! Loads: small programs in Python, and others, that go on until their test ends.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Stdio};

use testkit::tool;

/// Functions that all programs use. `argv[1]` is the name that the process gives itself.
const PRELUDE: &str = "
import ctypes, mmap, os, select, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def named(name):
    libc.prctl(15, name.encode(), 0, 0, 0)
def goes_on():
    return not select.select([0], [], [], 0)[0]
def memory(length):
    pages = mmap.mmap(-1, length)
    pages.write(b'x' * length)
    return pages
def direct(path):
    return os.open(path, os.O_RDWR | os.O_DIRECT)
def write(file, length, step, count):
    pages, number = memory(length), 0
    while goes_on():
        os.pwrite(file, pages, step * (number % count))
        number += 1
named(sys.argv[1])
";

/// A program that writes until it is dropped.
pub(crate) struct Writer {
    child: Child,
    input: Option<ChildStdin>,
}

impl Writer {
    /// A process called `name` that runs `body` after the prelude; `words` are `argv[2]` and on.
    pub(crate) fn named(name: &str, body: &str, words: &[&str]) -> Writer {
        Writer::within(tool::command("python3"), name, body, words)
    }

    /// The same, by a command that ends in python3.
    pub(crate) fn within(mut command: Command, name: &str, body: &str, words: &[&str]) -> Writer {
        command.args(["-c", &format!("{PRELUDE}{body}"), name]).args(words);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("python3 runs");
        let input = child.stdin.take();
        Writer { child, input }
    }

    /// Direct writes of `length` bytes, one each `step` bytes, to `path`.
    pub(crate) fn direct(name: &str, path: &str, length: u64, step: u64) -> Writer {
        let body = "write(direct(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), 64)";
        Writer::named(name, body, &[path, &length.to_string(), &step.to_string()])
    }

    /// Any other program that goes on by itself.
    pub(crate) fn program(command: &mut Command) -> Writer {
        Writer { child: command.spawn().expect("the program runs"), input: None }
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Gives a line of input to a program that waits for it.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it was piped");
        writeln!(input, "{line}").expect("it reads");
    }

    /// Waits for it to end, whatever ends it.
    pub(crate) fn wait(&mut self) {
        let _ = self.child.wait();
    }

    /// Waits for it to end by itself.
    #[track_caller]
    pub(crate) fn ended(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("it can be waited for").success());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `body` after the prelude to its end; returns what it prints.
pub(crate) fn run(body: &str, words: &[&str]) -> String {
    let script = format!("{PRELUDE}{body}");
    tool::run("python3", &[&["-c", &script, "once"], words].concat())
}
