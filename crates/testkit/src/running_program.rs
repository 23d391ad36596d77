//! A program that runs: what it said, and that it does not outlive its test.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use crate::tool;

/// Longest wait for a condition to come true: a machine that builds meanwhile may take minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Exit status and output of one run.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; none where a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub errors: String,
}

impl From<Output> for Ran {
    /// # Panics
    /// When what was printed is no UTF-8.
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
        let (out, errors) = (text(output.stdout), text(output.stderr));
        Ran { status: output.status.code(), out, errors }
    }
}

impl Ran {
    /// Returns how `command` ended.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn of(command: &mut Command) -> Ran {
        command.output().expect("the program runs").into()
    }

    /// Returns its output, as a document.
    ///
    /// # Panics
    /// When that is no JSON.
    #[must_use]
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// `program`, about to run, so that signals end it as they do by default: whoever starts the tests
/// with nohup, or after a script's `&`, ignores some, and a process hands that on.
#[must_use]
pub fn by_signals(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP").arg(program).stdin(Stdio::null());
    command
}

/// Waits until `condition` holds.
///
/// # Panics
/// When it does not within five minutes; `what` says what it was.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "it did not come to this: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns how long this thread has had a processor, however busy the machine is.
///
/// # Panics
/// When the kernel's answer is no time.
#[must_use]
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("not negative");
    Duration::new(seconds, u32::try_from(time.tv_nsec).expect("below a second"))
}

/// Sends a process a signal, by its name.
///
/// # Panics
/// When it cannot be sent.
pub fn signal(process: u32, name: &str) {
    tool::run("kill", &["-s", name, &process.to_string()]);
}

/// A process as `/proc` shows it. Source: `proc_pid_stat(5)`.
struct Process {
    number: u32,
    has_ended: bool,
    parent: u32,
    group: u32,
}

impl Process {
    /// Process `number`; `None` where it is gone.
    fn numbered(number: u32) -> Option<Process> {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name in parentheses may hold anything.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let has_ended = matches!(fields.next()?, "Z" | "X");
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Process { number, has_ended, parent, group })
    }

    /// All processes.
    fn all() -> impl Iterator<Item = Process> {
        let entries = std::fs::read_dir("/proc").expect("it can be listed").flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(Process::numbered)
    }
}

/// True if no process of a group runs. Zombies that nobody reaps may be left, and hold nothing.
///
/// # Panics
/// When /proc cannot be listed.
#[must_use]
pub fn has_group_ended(leader: u32) -> bool {
    Process::all().all(|process| process.has_ended || process.group != leader)
}

/// Returns whether a process has ended, of which its parent may not know yet.
#[must_use]
pub fn has_ended(number: u32) -> bool {
    Process::numbered(number).is_none_or(|process| process.has_ended)
}

/// A run that a signal or a fault ends: it may not outlive its test.
pub struct Going(Option<Child>);

impl Going {
    /// `command`, going on by itself.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn with(command: &mut Command) -> Going {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Going(Some(command.spawn().expect("the program runs")))
    }

    /// A Python program that uses the file at `path` as the statements `uses` say, and goes on.
    /// They find it in `path`, and `ctypes`, `fcntl`, `os` and `socket` imported.
    ///
    /// # Panics
    /// When it ends before it uses the file.
    #[must_use]
    pub fn python_with(path: &Path, uses: &str) -> Going {
        let program = format!(
            "import ctypes, fcntl, os, socket, sys, time; path = sys.argv[1]; {uses}; \
             open(sys.argv[2], 'w').close(); time.sleep(600)"
        );
        let directory = tempfile::tempdir().expect("a directory is made");
        let ready = directory.path().join("ready");
        let mut going =
            Going::with(tool::command("python3").args(["-c", &program]).args([path, &ready]));
        going.until("the file is in use", || ready.exists());
        going
    }

    /// A program because of which the file at `path` is open for writing, and in no process: the
    /// descriptor is on its way through a socket.
    ///
    /// # Panics
    /// When [`Going::python_with`] panics.
    #[must_use]
    pub fn hidden_writer(path: &Path) -> Going {
        Going::python_with(
            path,
            "ends = socket.socketpair(); file = os.open(path, os.O_RDWR); \
             socket.send_fds(ends[0], [b'x'], [file]); os.close(file)",
        )
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it was not waited for")
    }

    /// Returns whether it has not ended yet.
    ///
    /// # Panics
    /// When it cannot be asked.
    pub fn is_going(&mut self) -> bool {
        self.child().try_wait().expect("it can be waited for").is_none()
    }

    /// Waits until `condition` holds while it goes on.
    ///
    /// # Panics
    /// When it ends before, or the condition does not hold within five minutes.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut condition: impl FnMut() -> bool) {
        until(what, || {
            let is_going = self.is_going();
            condition() || {
                assert!(is_going, "it ended before this: {what}");
                false
            }
        });
    }

    /// Sends a signal, by its name, unless it has ended.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn signal(&mut self, name: &str) {
        // Until it is waited for, its number is nobody else's.
        if self.is_going() {
            signal(self.number(), name);
        }
    }

    /// Its process number.
    ///
    /// # Panics
    /// When it was waited for.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.as_ref().expect("it was not waited for").id()
    }

    /// The processes that it started and that are there still.
    ///
    /// # Panics
    /// When /proc cannot be listed.
    #[must_use]
    pub fn children(&self) -> Vec<u32> {
        let own = Process::all().filter(|process| process.parent == self.number());
        own.map(|process| process.number).collect()
    }

    /// The processes that it started, and those that they started.
    ///
    /// # Panics
    /// When /proc cannot be listed.
    #[must_use]
    pub fn descendants(&self) -> Vec<u32> {
        let all: Vec<Process> = Process::all().collect();
        let mut found = vec![self.number()];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            let own = all.iter().filter(|process| process.parent == parent);
            found.extend(own.map(|process| process.number));
            next += 1;
        }
        found.split_off(1)
    }

    /// Returns how it ended.
    ///
    /// # Panics
    /// When it cannot be waited for.
    #[must_use]
    pub fn ended(mut self) -> Ran {
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
