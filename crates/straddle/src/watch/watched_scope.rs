//! Those whose operations are counted: everybody, a process with all that it started, or a control
//! group.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use host::process::threads_below;
use host::tracepoint::CountedScope;
use report::Refusal;
use report::watch::WatchScope;

use crate::arguments::Watch;
use crate::shared::printer::shown;

/// Directories in which control groups are mounted: the first as most machines have it, the second
/// where v1 is mounted too.
const GROUPS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// Those whose operations are counted.
pub(super) enum WatchedScope {
    /// Everybody.
    Machine,
    /// A process.
    Process {
        /// Its number.
        process: u32,
        /// Its name, harmless to print.
        name: String,
        /// The threads of it and of all that it started.
        threads: Vec<u32>,
    },
    /// A control group.
    Group {
        /// Its directory.
        directory: OwnedFd,
        /// Its path, harmless to print.
        path: String,
    },
}

impl WatchedScope {
    /// Returns whom the options name.
    pub(super) fn of(watch: &Watch) -> Result<WatchedScope, Refusal> {
        if let Some(process) = watch.pid {
            let name = host::process_name(process).map_err(|error| {
                Refusal::new(format!("cannot watch process {process}: {error}"), error.hint())
            })?;
            return Ok(WatchedScope::Process { process, name, threads: threads_below(process) });
        }
        match &watch.cgroup {
            Some(path) => group(path),
            None => Ok(WatchedScope::Machine),
        }
    }

    /// The scopes for the kernel.
    pub(super) fn counted(&self) -> Vec<CountedScope<'_>> {
        match self {
            WatchedScope::Machine => vec![CountedScope::Machine],
            WatchedScope::Process { threads, .. } => {
                threads.iter().map(|&thread| CountedScope::Thread(thread)).collect()
            }
            WatchedScope::Group { directory, .. } => vec![CountedScope::Group(directory.as_fd())],
        }
    }

    /// The processes that belong to it now; `None` for everybody.
    pub(super) fn processes(&self) -> Option<BTreeSet<u32>> {
        match self {
            WatchedScope::Machine => None,
            WatchedScope::Process { process, .. } => {
                Some(threads_below(*process).into_iter().collect())
            }
            WatchedScope::Group { path, .. } => Some(processes_of(Path::new(path))),
        }
    }

    /// The same for the document.
    pub(super) fn told(&self) -> WatchScope {
        match self {
            WatchedScope::Machine => WatchScope::Machine,
            WatchedScope::Process { process, name, .. } => {
                WatchScope::Process { process_id: *process, name: name.clone() }
            }
            WatchedScope::Group { path, .. } => WatchScope::Group { path: path.clone() },
        }
    }
}

fn group(path: &Path) -> Result<WatchedScope, Refusal> {
    let within = |root: &str| {
        let below = path.strip_prefix("/").unwrap_or(path);
        Path::new(root).join(below)
    };
    let tried: Vec<PathBuf> =
        std::iter::once(path.to_owned()).chain(GROUPS.into_iter().map(within)).collect();
    let is_group = |path: &&PathBuf| path.join("cgroup.procs").is_file();
    let found = tried.iter().find(is_group).ok_or_else(|| {
        Refusal::hinted(
            format!("cannot watch the control group {}: there is none of cgroup v2", shown(path)),
            "to list them: systemd-cgls, or find /sys/fs/cgroup -name cgroup.procs",
        )
    })?;
    let directory = File::open(found).map_err(|error| {
        Refusal::hinted(
            format!("cannot open the control group {}: {error}", shown(found)),
            "run it as root",
        )
    })?;
    Ok(WatchedScope::Group { directory: directory.into(), path: shown(found) })
}

/// Processes of the group at `path` and of those below it.
fn processes_of(path: &Path) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut todo = vec![path.to_owned()];
    while let Some(next) = todo.pop() {
        let listed = std::fs::read_to_string(next.join("cgroup.procs")).unwrap_or_default();
        found.extend(listed.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
        let below = std::fs::read_dir(&next).into_iter().flatten().flatten();
        let is_group = |path: &PathBuf| path.join("cgroup.procs").is_file();
        todo.extend(below.map(|entry| entry.path()).filter(is_group));
    }
    found
}
