//! Processes that use the bytes of a device without a claim on it, as QEMU does.
//!
//! | looked at | finds |
//! |---|---|
//! | `/proc/PID/task/TID/fd` (`opened`) | who has it, or the file behind a loop, open for writing |
//! | the same | who has its SCSI or NVMe character device open |
//! | `fdinfo` of an io_uring | files that are registered there and closed since |
//! | `/proc/PID/maps`, `map_files` (`mapped`) | who has it mapped, and closed it since |
//! | `/proc/locks` (`locks`) | locks on its nodes or on the file |
//! | configfs (`exports`) | what the kernel serves: NVMe and SCSI targets, USB gadgets |
//!
//! Readers are left alone: udev, blkid and smartd come and go, and no byte of theirs is lost. A
//! process whose files cannot be looked at may have any open, so that is a refusal. One is let off:
//! the first process of the machine, where a security policy hides it even from root; it starts
//! others, and has no disks of its own.
//!
//! No look finds: descriptors on their way through a socket, pages that a ring or a device has
//! pinned and whose mapping is gone, other machines on a shared disk.
//!
//! Source: proc(5), proc_pid_fd(5), proc_pid_maps(5), proc_locks(5), pid_namespaces(7);
//! systemd.io, "Locking Block Device Access".

mod exports;
mod locks;
mod mapped;
mod opened;
mod proc_visibility;

use std::time::{Duration, Instant};

use units::text::escape;

use crate::LiveTree;
use crate::process::procfs::Stat;

use super::forbidden_uses::{Sought, Use, User, has_gone};

pub(crate) use locks::{is_locked, is_written};

/// For how long a user is looked at again before it is one: a process that was just started has the
/// files, and the privacy, of the one that started it, until it runs its own program.
const PATIENCE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(20);

/// The first user of `sought` that was found and stays; this process is none.
///
/// # Errors
/// With the reason, where users cannot be looked for.
pub(super) fn first(tree: &LiveTree, sought: &Sought) -> Result<Option<User>, String> {
    staying(|| now(tree, sought))
}

/// The first user of `sought` that stays, among those that this process may look at. Locks are left
/// out.
pub(super) fn seen(tree: &LiveTree, sought: &Sought) -> Option<User> {
    let found = staying(|| {
        let served = exports::first(tree, sought).unwrap_or_default();
        let processes = processes().unwrap_or_default();
        let uses = |process: &Process| process.uses(sought).unwrap_or_default();
        Ok(served.or_else(|| processes.iter().find_map(uses)))
    });
    found.unwrap_or_default()
}

/// The user that `now` finds until patience ends.
fn staying(now: impl Fn() -> Result<Option<User>, String>) -> Result<Option<User>, String> {
    let until = Instant::now() + PATIENCE;
    loop {
        match now() {
            Ok(None) => return Ok(None),
            _ if Instant::now() < until => std::thread::sleep(STEP),
            found => return found,
        }
    }
}

/// The first user of `sought` that there is at this moment.
fn now(tree: &LiveTree, sought: &Sought) -> Result<Option<User>, String> {
    proc_visibility::check()?;
    if let Some(user) = exports::first(tree, sought)? {
        return Ok(Some(user));
    }
    for process in processes()? {
        if let Some(user) = process.uses(sought)? {
            return Ok(Some(user));
        }
    }
    locks::first(sought)
}

/// A process of others.
struct Process {
    pid: u32,
    /// Harmless to print.
    name: String,
}

/// All processes but this one and the kernel's own.
fn processes() -> Result<Vec<Process>, String> {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| format!("/proc: {error}"))?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == own {
            continue;
        }
        // The kernel's threads have neither files nor memory; what has gone has none any more.
        let stat = std::fs::read(format!("/proc/{pid}/stat"));
        let Some(stat) = stat.ok().and_then(|stat| Stat::parse(&stat)) else { continue };
        if !stat.is_kernel {
            found.push(Process { pid, name: escape(&stat.name) });
        }
    }
    Ok(found)
}

impl Process {
    /// The first of `sought` that it uses.
    fn uses(&self, sought: &Sought) -> Result<Option<User>, String> {
        let found = opened::first(self.pid, sought).and_then(|found| match found {
            Some(what) => Ok(Some((what, Use::Open))),
            None => Ok(mapped::first(self.pid, sought)?.map(|what| (what, Use::Mapped))),
        });
        match found {
            Ok(found) => Ok(found.map(|(what, how)| User {
                who: self.to_string(),
                pid: Some(self.pid),
                what,
                how,
            })),
            Err(error) if has_gone(&error) => Ok(None),
            Err(_) if self.pid == proc_visibility::FIRST => Ok(None),
            Err(error) => Err(format!("{self} does not show which files it has open: {error}")),
        }
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "process {} ({})", self.pid, self.name)
    }
}

#[cfg(test)]
mod tests;
