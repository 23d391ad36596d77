//! A command of the user's, run and timed once.
//!
//! It reads nothing unless it is given something, and what it prints is kept, as far as it is the
//! last of it. It is the leader of a process group of its own, so that Ctrl-C in a terminal reaches
//! this process only, which then ends the whole group. What it leaves running in its group is ended
//! when it ends, else that would hold a mount and weigh on the next run. By SIGKILL it dies with
//! the thread that started it, and a guard ends its group.
//!
//! Source: setpgid(2), prctl(2) (`PR_SET_PDEATHSIG`), `pidfd_open(2)`, wait4(2), getrusage(2).

mod follow;
mod guard;
mod process;

pub use follow::Tail;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Pid;
use thiserror::Error;

use self::guard::GroupGuard;
use crate::Interrupt;

/// The lines of standard error that an error shows.
const LINES_SHOWN: usize = 5;

/// A command to be run.
#[derive(Clone, Copy, Debug)]
pub struct CommandPlan<'a> {
    /// The program and its arguments, as they are: no shell reads them.
    pub words: &'a [OsString],
    /// Longest time that it may take.
    pub budget: Duration,
    /// Ends it early when raised.
    pub interrupt: &'a Interrupt,
}

/// Surroundings of a command, where they differ from those of this process.
#[derive(Debug, Default)]
pub struct Surroundings<'a> {
    /// Variables that are added to the environment.
    pub environment: &'a [(&'a str, &'a OsStr)],
    /// Its standard input; without it there is none.
    pub input: Option<File>,
    /// Its standard output, which is not kept then.
    pub output: Option<File>,
}

/// A pipe: its reading end, which does not wait but fails with `WouldBlock`, and its writing end,
/// which waits.
///
/// # Errors
/// When this process has too many files open.
pub fn pipe() -> std::io::Result<(File, File)> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
    Ok((File::from(reader), File::from(writer)))
}

/// End of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl std::fmt::Display for CommandEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CommandEnd::Exit(status) => write!(formatter, "exit status {status}"),
            CommandEnd::Signal(signal) => write!(formatter, "signal {signal}"),
        }
    }
}

/// A command that ran to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// From before it was started until it had ended, by `CLOCK_MONOTONIC`.
    pub wall: Duration,
    /// Processor time of its own, with that of the processes that it waited for.
    pub user: Duration,
    /// Processor time in the kernel, likewise.
    pub system: Duration,
    /// Bytes that were read from file systems, likewise, as the kernel counts them.
    #[doc(alias = "ru_inblock")]
    pub read_bytes: u64,
    /// Bytes that were written to file systems, likewise; what only reached a cache counts too.
    #[doc(alias = "ru_oublock")]
    pub written_bytes: u64,
    /// The last of what it printed on standard output.
    pub output: Tail,
    /// The last of what it printed on standard error.
    pub errors: Tail,
}

/// Why a command gave no time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// There is no word.
    #[error("cannot run a command: none was given")]
    Empty,
    /// It could not be started.
    #[error("cannot start {program}: {reason}")]
    NotStarted {
        /// Its first word, escaped.
        program: String,
        /// The kernel's error text.
        reason: String,
        /// Advice; empty when there is none.
        hint: &'static str,
    },
    /// It says itself that it failed.
    #[error("{program} failed with {ended}{}", shown(.lines))]
    Failed {
        /// Its first word, escaped.
        program: String,
        /// Its end.
        ended: CommandEnd,
        /// The last lines of what it printed on standard error, escaped.
        lines: Vec<String>,
    },
    /// It took too long, and was ended.
    #[error("{program} was ended after its budget of {budget:?}{}", shown(.lines))]
    TimedOut {
        /// Its first word, escaped.
        program: String,
        /// Its budget.
        budget: Duration,
        /// The last lines of what it printed on standard error, escaped.
        lines: Vec<String>,
    },
    /// This process was asked to end, and so the command was ended.
    #[error("{program} was ended by signal {signal}")]
    Interrupted {
        /// Its first word, escaped.
        program: String,
        /// The signal that this process got.
        signal: i32,
    },
    /// The kernel would not tell about it; it was ended.
    #[error("cannot follow {program}: {attempted} failed: {reason}")]
    Lost {
        /// Its first word, escaped.
        program: String,
        /// The call that failed.
        attempted: &'static str,
        /// The kernel's error text.
        reason: String,
    },
}

impl CommandError {
    /// Advice, in lower case and without a full stop; `None` when there is none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            CommandError::NotStarted { hint, .. } => Some(*hint).filter(|hint| !hint.is_empty()),
            CommandError::Empty => Some("write it after --"),
            CommandError::TimedOut { .. } => Some("give it more time, or less to do"),
            _ => None,
        }
    }
}

fn shown(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(": {}", lines.join(" / ")) }
}

/// Runs a command to its end.
///
/// The thread that calls this has to stay until it returns: the command dies with it.
///
/// # Errors
/// When it cannot be started, fails, takes longer than its budget, or is interrupted. It and its
/// process group have ended then.
pub fn run(plan: CommandPlan<'_>) -> Result<Ran, CommandError> {
    run_in(plan, Surroundings::default())
}

/// Runs a command to its end in surroundings of its own; otherwise as [`run`] does.
///
/// # Errors
/// Those of [`run`].
pub fn run_in(plan: CommandPlan<'_>, around: Surroundings<'_>) -> Result<Ran, CommandError> {
    let [first, arguments @ ..] = plan.words else { return Err(CommandError::Empty) };
    let program = units::text::escape(first.as_encoded_bytes());
    let guard = GroupGuard::start().map_err(|error| CommandError::NotStarted {
        program: guard::PROGRAM.to_owned(),
        reason: error.to_string(),
        hint: "commands are watched by a shell: put one there",
    })?;
    let group = guard.group();
    let mut command = Command::new(first);
    command.args(arguments).process_group(group.as_raw_nonzero().get());
    command.envs(around.environment.iter().copied());
    command.stdin(around.input.map_or_else(Stdio::null, Stdio::from));
    command.stdout(around.output.map_or_else(Stdio::piped, Stdio::from)).stderr(Stdio::piped());
    process::die_with_parent(&mut command);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| CommandError::NotStarted {
        program: program.clone(),
        reason: error.to_string(),
        hint: match error.kind() {
            std::io::ErrorKind::NotFound => "check the name; a shell's own words need sh -c",
            std::io::ErrorKind::PermissionDenied => "check that it is a program that you may run",
            _ => "",
        },
    })?;
    let process = Pid::from_child(&child);
    let streams = (child.stdout.take().map(Into::into), child.stderr.take().map(Into::into));
    let followed = follow::follow(process, streams, begun, plan);
    guard.kill();
    let lost = |attempted| {
        let program = program.clone();
        move |error: Errno| {
            let reason = crate::errno::text_of(error);
            CommandError::Lost { program, attempted, reason }
        }
    };
    let (status, usage) = process::reap(process).map_err(lost("wait4"))?;
    process::wait_for_others(group);
    let followed = followed.map_err(|(attempted, error)| lost(attempted)(error))?;
    let lines = followed.errors.last_lines(LINES_SHOWN);
    match followed.end {
        follow::End::Budget => Err(CommandError::TimedOut { program, budget: plan.budget, lines }),
        follow::End::Interrupted(signal) => Err(CommandError::Interrupted { program, signal }),
        follow::End::Itself(_) if !status.success() => {
            Err(CommandError::Failed { program, ended: ended(status), lines })
        }
        follow::End::Itself(wall) => Ok(Ran {
            wall,
            user: usage.user,
            system: usage.system,
            read_bytes: usage.read_bytes,
            written_bytes: usage.written_bytes,
            output: followed.output,
            errors: followed.errors,
        }),
    }
}

fn ended(status: ExitStatus) -> CommandEnd {
    let signal = || CommandEnd::Signal(status.signal().unwrap_or(0));
    status.code().map_or_else(signal, CommandEnd::Exit)
}

#[cfg(test)]
mod tests;
