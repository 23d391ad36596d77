//! Locks that others hold.
//!
//! systemd and others lock the node of a whole disk (flock(2)) while they work on it; QEMU locks
//! bytes of an image. `/proc/locks` shows all locks of the machine by inode. Locks that are shared
//! say that somebody reads; udev takes one for a moment on each disk that it looks at. QEMU's are
//! shared even where it writes: their bytes say that (QEMU `block/file-posix.c`,
//! `RAW_LOCK_PERM_BASE`, and `BLK_PERM_WRITE`).

use std::collections::BTreeMap;

use crate::PathIdentity;
use crate::claim::forbidden_uses::{NodeFacts, Sought, Use, Used, User};

/// The first lock on a file or node of `sought` that leaves room for nobody else.
///
/// # Errors
/// With the reason, where locks cannot be read.
pub(super) fn first(sought: &Sought) -> Result<Option<User>, String> {
    let table =
        std::fs::read_to_string("/proc/locks").map_err(|error| format!("/proc/locks: {error}"))?;
    let mut inodes: BTreeMap<PathIdentity, Used> = BTreeMap::new();
    for node in &sought.nodes {
        if let Ok(facts) = NodeFacts::of(node)
            && let Some(used) = sought.has(&facts)
        {
            inodes.insert(facts.identity, used);
        }
    }
    inodes.extend(sought.files.iter().map(|&file| (file, Used::File(file))));
    let own = std::process::id();
    let found = table.lines().filter_map(Lock::keeping_out).find_map(|lock| {
        let what = *inodes.get(&lock.on)?;
        let pid = lock.pid;
        (pid != Some(own)).then(|| User { who: who(pid), pid, what, how: Use::Locked })
    });
    Ok(found)
}

/// Returns whether a lock of fcntl(2) says that another program may write to `file`; false where
/// locks cannot be read. Locks of flock(2) are left out: flock(1) may hold one for this command.
pub(crate) fn is_written(file: PathIdentity) -> bool {
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let lines = table.lines().filter(|line| !line.contains(" FLOCK "));
    lines.filter_map(Lock::keeping_out).any(|lock| lock.on == file)
}

/// Returns whether another process has a lock of any kind on `file`; false where locks cannot be
/// read.
pub(crate) fn is_locked(file: PathIdentity) -> bool {
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let own = Some(std::process::id());
    table.lines().filter_map(Lock::parsed).any(|lock| lock.on == file && lock.pid != own)
}

/// Byte that QEMU locks while it may write to an image.
const QEMU_WRITES_AT: u64 = 101;

fn who(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => {
            // It may have handed the lock on, and ended.
            crate::process_name(pid)
                .map_or_else(|_| format!("process {pid}"), |name| format!("process {pid} ({name})"))
        }
        // A lock of an open file is of no process.
        None => "another process".to_owned(),
    }
}

/// A line: `1: FLOCK  ADVISORY  WRITE 708 00:15:13546 0 EOF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    pid: Option<u32>,
    on: PathIdentity,
    /// True if it leaves room for others, and is none that QEMU writes by.
    is_shared: bool,
}

impl Lock {
    /// A lock that keeps all others out, or that QEMU writes by.
    fn keeping_out(line: &str) -> Option<Lock> {
        Lock::parsed(line).filter(|lock| !lock.is_shared)
    }

    /// A lock that is held.
    fn parsed(line: &str) -> Option<Lock> {
        let mut words = line.split_ascii_whitespace().skip(1);
        // Who waits has nothing yet: `1: -> FLOCK ...`.
        let kind = words.next().filter(|kind| matches!(*kind, "FLOCK" | "POSIX" | "OFDLCK"))?;
        let (_, access) = (words.next()?, words.next()?);
        let (pid, on) = (words.next()?, words.next()?);
        let mut numbers = on.split(':');
        let mut hexadecimal = || u32::from_str_radix(numbers.next()?, 16).ok();
        let device = rustix::fs::makedev(hexadecimal()?, hexadecimal()?);
        let inode = numbers.next()?.parse().ok()?;
        let mut ends = words.map(|word| word.parse().unwrap_or(u64::MAX));
        let (first, last) = (ends.next()?, ends.next()?);
        let is_qemu = kind == "OFDLCK" && (first..=last).contains(&QEMU_WRITES_AT) && last < 200;
        Some(Lock {
            pid: pid.parse().ok().filter(|_| kind != "OFDLCK"),
            on: PathIdentity::File { device, inode },
            is_shared: access == "READ" && !is_qemu,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_keeps_others_out_is_read_and_others_are_not() {
        let on = PathIdentity::File { device: rustix::fs::makedev(0, 0x15), inode: 13546 };
        let lock = |pid| Some(Lock { pid, on, is_shared: false });
        let parsed = Lock::keeping_out("2: FLOCK  ADVISORY  WRITE 708 00:15:13546 0 EOF");
        assert_eq!(parsed, lock(Some(708)));
        let parsed = Lock::keeping_out("4: OFDLCK ADVISORY  WRITE -1 00:15:13546 100 101");
        assert_eq!(parsed, lock(None));
        // Neighbors are one lock: QEMU reads, and writes.
        let parsed = Lock::keeping_out("4: OFDLCK ADVISORY  READ -1 00:15:13546 100 101");
        assert_eq!(parsed, lock(None));
        let read = "4: OFDLCK ADVISORY  READ -1 00:15:13546 100 100";
        assert_eq!(Lock::parsed(read), Some(Lock { pid: None, on, is_shared: true }));
        for other in [
            read,
            "4: OFDLCK ADVISORY  READ -1 00:15:13546 201 201",
            "4: OFDLCK ADVISORY  READ -1 00:15:13546 0 EOF",
            "2: FLOCK  ADVISORY  READ 708 00:15:13546 0 EOF",
            "2: -> FLOCK  ADVISORY  WRITE 708 00:15:13546 0 EOF",
            "2: LEASE  ACTIVE    READ 708 00:15:13546 0 EOF",
            "2: FLOCK  ADVISORY  WRITE 708 00:15 0 EOF",
            "",
        ] {
            assert_eq!(Lock::keeping_out(other), None, "{other}");
        }
    }
}
