//! Obstacles between a running process's syncs and the kernel: libraries before its own, seccomp
//! filters, a tracer.
//!
//! It is read from `/proc`; only filters need more, and for those each thread is stopped for a
//! moment (`filters`). Nothing of it is changed. All that is read is hostile: paths are followed
//! within the process's own root, and nothing but regular files is opened. Source: proc(5),
//! proc_pid_environ(5), proc_pid_maps(5), proc_pid_status(5), ld.so(8).
//!
//! | file | holds |
//! |---|---|
//! | `procfs.rs` | who it is, whether it runs, its threads' modes |
//! | `root_files.rs` | files and directories in its root |
//! | `preloads.rs` | libraries that are to be loaded before its own |
//! | `mapped.rs` | the files that it runs code of |
//! | `open_files.rs` | the files that it has open for writing |
//! | `threads.rs` | which threads are asked for their filters |
//! | `filters.rs` | the filters of one thread |
//! | `thread_owner.rs` | the process that a thread is of, and the threads below a process |
//! | `rights.rs` | what keeps us from seeing it, and what may help |

mod filters;
mod mapped_code;
mod open_files;
mod preloads;
pub(crate) mod procfs;
mod rights;
mod root_files;
mod thread_owner;
mod threads;

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use rustix::time::ClockId;
use thiserror::Error;
use units::{Known, Source, text};

use procfs::{COUNT_MAX, Stat, read, tracer};

pub use mapped_code::MappedFile;
pub use open_files::{OpenFile, has_own_paths, mount_table, open_for_writing, placed};
pub use preloads::{Preload, own_preloads};
pub use procfs::is_filtered;
pub use thread_owner::{ThreadOwner, processes, thread_owner, threads_below};
pub use threads::{Filters, ThreadFilters};

/// Findings about a process.
#[derive(Debug)]
pub struct ProcessLook {
    /// Its name, harmless to print.
    pub name: String,
    /// The process that traces it, by number and name: it may change any call.
    pub tracer: Option<(u32, String)>,
    /// Libraries that its environment, as it was started with, and `/etc/ld.so.preload` of its root
    /// put before its own.
    pub preloads: Known<Vec<Preload>>,
    /// The files that it runs code of, each once.
    pub mapped: Known<Vec<MappedFile>>,
    /// Its threads' seccomp filters.
    pub filters: Known<Filters>,
}

/// Why a process cannot be looked at, or has nothing to look at.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProcessError {
    /// There is none.
    #[error("no such process: {pid}")]
    None {
        /// Its number.
        pid: u32,
    },
    /// There is one, and `/proc` does not show it.
    #[error("cannot inspect process {pid}: /proc hides it (hidepid)")]
    Hidden {
        /// Its number.
        pid: u32,
        /// Advice.
        hint: String,
    },
    /// It may not be seen.
    #[error("cannot inspect process {pid}: {reason}")]
    Refused {
        /// Its number.
        pid: u32,
        /// The kernel's error text.
        reason: String,
        /// Advice; empty when there is none.
        hint: String,
    },
    /// It is a thread of the kernel's own.
    #[error(
        "cannot inspect process {pid} ({name}): it is a kernel thread, with no syncs of its own \
         that could be suppressed"
    )]
    Kernel {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// It has ended.
    #[error("cannot inspect process {pid} ({name}): it has ended")]
    Ended {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
}

impl ProcessError {
    /// Advice, in lower case and without a full stop.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let find =
            "find it with: pgrep -a NAME; for a process in a container, use its PID on the host";
        match self {
            ProcessError::None { .. } => Some(find.to_owned()),
            ProcessError::Hidden { hint, .. } | ProcessError::Refused { hint, .. } => {
                Some(hint.clone()).filter(|hint| !hint.is_empty())
            }
            ProcessError::Kernel { .. } | ProcessError::Ended { .. } => {
                Some("name the process that writes; find it with: pgrep -a NAME".to_owned())
            }
        }
    }
}

/// The name of process `pid`, harmless to print; what it does to its syncs is not looked at, and it
/// is not stopped.
///
/// # Errors
/// When there is no such process, or it has ended, or is one of the kernel's own.
pub fn process_name(pid: u32) -> Result<String, ProcessError> {
    begun(pid).map(|begun| begun.name)
}

/// Finds what keeps the syncs of process `pid` from the kernel, as far as this process may see it.
///
/// # Errors
/// When there is no such process, or it ends meanwhile, or is one of the kernel's own. What may not
/// be read of it is unknown, with the reason.
pub fn look_at_process(pid: u32) -> Result<ProcessLook, ProcessError> {
    let RunningProcess { stat: begun, name, base } = begun(pid)?;
    let status = read(&format!("{base}/status")).unwrap_or_default();
    let preloads = preloads::of(&base);
    let listed = preloads.as_ref().map_or(&[][..], Vec::as_slice);
    let look = ProcessLook {
        name: name.clone(),
        tracer: tracer(&status),
        mapped: Known::of(mapped_code::of(&base, listed), Source::Procfs),
        filters: Known::of(threads::of(pid), Source::Procfs),
        preloads: Known::of(preloads, Source::Procfs),
    };
    match stat_of(pid) {
        Ok(ended) if ended.started == begun.started && ended.has_ended == begun.has_ended => {
            Ok(look)
        }
        _ => Err(ProcessError::Ended { pid, name }),
    }
}

/// A process that can be looked at.
struct RunningProcess {
    stat: Stat,
    /// Its name, harmless to print.
    name: String,
    /// Directory of `/proc` that shows its memory.
    base: String,
}

fn begun(pid: u32) -> Result<RunningProcess, ProcessError> {
    let stat = stat_of(pid)?;
    let name = text::escape(&stat.name);
    if stat.is_kernel {
        return Err(ProcessError::Kernel { pid, name });
    }
    // A process may outlive its first thread, which then shows no memory.
    let base = match stat.has_ended {
        false => format!("/proc/{pid}"),
        true => threads::living(pid).ok_or(ProcessError::Ended { pid, name: name.clone() })?,
    };
    Ok(RunningProcess { stat, name, base })
}

/// The words of the command line of process `pid`, as it shows them now; empty where they cannot be
/// read.
#[must_use]
pub fn command_line(pid: u32) -> Vec<String> {
    let bytes = read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    let words = bytes.split(|&byte| byte == 0).take(COUNT_MAX);
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The environment that process `pid` was started with, each word as `NAME=value`.
///
/// # Errors
/// When it cannot be read.
pub fn environment(pid: u32) -> io::Result<Vec<String>> {
    let bytes = read(&format!("/proc/{pid}/environ"))?;
    let words = bytes.split(|&byte| byte == 0).take(COUNT_MAX);
    Ok(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// The number of the process that started process `pid`, or took it over; `None` where that cannot
/// be read.
#[must_use]
pub fn parent_of(pid: u32) -> Option<u32> {
    stat_of(pid).ok().map(|stat| stat.parent)
}

/// When process `pid` was started, in the kernel's ticks since boot: with its number, a name that
/// no other process has until the next boot; `None` where it is not seen.
#[must_use]
pub fn start_tick(pid: u32) -> Option<u64> {
    stat_of(pid).ok().map(|stat| stat.started)
}

/// When process `pid` was started, in nanoseconds since 1970 by the present clock, rounded down to
/// a tick of the kernel's (10 ms, proc_pid_stat(5)); `None` where that cannot be read.
#[must_use]
pub fn started_ns(pid: u32) -> Option<u64> {
    let now = |clock| {
        let time = rustix::time::clock_gettime(clock);
        let seconds_ns = u64::try_from(time.tv_sec).ok()?.checked_mul(1_000_000_000)?;
        seconds_ns.checked_add(u64::try_from(time.tv_nsec).ok()?)
    };
    let tick_ns = 1_000_000_000_u64.checked_div(rustix::param::clock_ticks_per_second())?;
    let after_boot_ns = stat_of(pid).ok()?.started.checked_mul(tick_ns)?;
    let boot_ns = now(ClockId::Realtime)?.checked_sub(now(ClockId::Boottime)?)?;
    boot_ns.checked_add(after_boot_ns)
}

/// The directory that process `pid` works in; `None` where it is not seen.
#[must_use]
pub fn directory_of(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Reads the regular file at `path` in the root of process `pid`, its first 4 MiB, and the last
/// change of its inode, in nanoseconds since 1970.
///
/// # Errors
/// When it cannot be opened or read, or was changed before 1970.
pub fn file_of(pid: u32, path: &Path) -> io::Result<(Vec<u8>, u64)> {
    root_files::content(&format!("/proc/{pid}"), path)
}

/// Returns the names in the directory at `path` in the root of process `pid`, and when its inode
/// was last changed, in nanoseconds since 1970.
///
/// # Errors
/// When it cannot be listed, holds more than 4096 names, or was changed before 1970.
pub fn names_of(pid: u32, path: &Path) -> io::Result<(Vec<String>, u64)> {
    root_files::names(&format!("/proc/{pid}"), path)
}

/// The files that this process runs code of, and which of `preloads` put them there.
///
/// # Errors
/// When they cannot be listed; the text says why.
pub fn own_files(preloads: &[Preload]) -> Result<Vec<MappedFile>, String> {
    mapped_code::of("/proc/self", preloads)
}

/// The process that traces this one, by number and name; `None` where none does.
#[must_use]
pub fn own_tracer() -> Option<(u32, String)> {
    tracer(&read("/proc/self/status").ok()?)
}

fn stat_of(pid: u32) -> Result<Stat, ProcessError> {
    let error = match read(&format!("/proc/{pid}/stat")) {
        Ok(stat) => {
            let reason = "/proc says nothing of it that can be understood".to_owned();
            let refused = ProcessError::Refused { pid, reason, hint: String::new() };
            return Stat::parse(&stat).ok_or(refused);
        }
        Err(error) => error,
    };
    if rights::is_refusal(&error) {
        let hint = rights::advice();
        return Err(ProcessError::Refused { pid, reason: error.to_string(), hint });
    }
    // No signal is sent; one that may not be sent has somebody to go to.
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let runs =
        number.is_some_and(|number| matches!(test_kill_process(number), Ok(()) | Err(Errno::PERM)));
    match runs && rights::is_own_proc() {
        true => Err(ProcessError::Hidden { pid, hint: rights::advice() }),
        false => Err(ProcessError::None { pid }),
    }
}

#[cfg(test)]
mod tests;
