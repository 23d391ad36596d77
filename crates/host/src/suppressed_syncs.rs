//! Sync calls that do nothing in this process: told by making them on what cannot be synced.
//!
//! A call that reaches the kernel answers that a descriptor is none (fsync(2): `EBADF`). One that
//! says all went well was stopped on its way, as by a seccomp filter that returns 0. Filters may
//! tell descriptors apart, and those of newer `systemd-nspawn --suppress-sync` leave those below 0
//! alone: so calls are made on one that no process can have, and on a pipe, which cannot be synced
//! (fsync(2): `EINVAL`), at numbers that programs use. What a filter does with others stays unseen.

use std::ffi::c_long;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// Findings about this process and all that it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressed {
    /// Calls that do nothing and say that all went well, whatever they were tried on.
    pub silent: Vec<&'static str>,
    /// Calls that do so on some of the descriptors that they were tried on, with one of these.
    pub sometimes: Vec<(&'static str, i32)>,
    /// Calls that fail though the same without syncing works: a program sees that.
    pub refused: Vec<&'static str>,
}

/// A call, its number, and arguments; the first is the descriptor to be tried where it takes one.
type Trial = (&'static str, c_long, [c_long; 4]);

/// Those whose first argument is a descriptor; each fails on a pipe, but for syncfs.
const ON_DESCRIPTORS: [Trial; 4] = [
    ("fsync", libc::SYS_fsync, [-1, 0, 0, 0]),
    ("fdatasync", libc::SYS_fdatasync, [-1, 0, 0, 0]),
    ("sync_file_range", libc::SYS_sync_file_range, [-1, 0, 0, 0]),
    ("syncfs", libc::SYS_syncfs, [-1, 0, 0, 0]),
];

/// The last argument of msync is 0 where it is MS_ASYNC alone: an address off a page is refused
/// first.
const MSYNC: Trial = ("msync", libc::SYS_msync, [1, 0, 4, 0]);

/// `INT_MAX`: the kernel's own limit of descriptors is below (`sysctl_nr_open_max`).
const NEVER_OPEN: i32 = i32::MAX;
/// Number of descriptors that a pipe is given.
const PIPES: usize = 32;

/// Finds the sync calls that do not reach the kernel here. No file is touched.
#[must_use]
pub fn suppressed() -> Suppressed {
    let mut found = Suppressed::default();
    let pipes = pipes();
    for trial in ON_DESCRIPTORS {
        descriptors(trial, &pipes, &mut found);
    }
    if is_silent(MSYNC.1, MSYNC.2) {
        found.silent.push(MSYNC.0);
    }
    if written_to_nothing() {
        found.silent.push("pwritev2 with RWF_DSYNC");
    }
    for (name, flag) in [("open with O_SYNC", OFlags::SYNC), ("open with O_DSYNC", OFlags::DSYNC)] {
        if opened(OFlags::empty()).is_ok() && opened(flag) == Err(Errno::INVAL) {
            found.refused.push(name);
        }
    }
    found
}

/// Tries a call on descriptors.
fn descriptors((name, number, arguments): Trial, pipes: &[OwnedFd], found: &mut Suppressed) {
    // A pipe's own file system can be synced.
    let pipes = if number == libc::SYS_syncfs { &[] } else { pipes };
    let pipes = pipes.iter().map(|pipe| pipe.as_raw_fd());
    let tried: Vec<i32> = pipes.chain([NEVER_OPEN]).collect();
    let [_, second, third, fourth] = arguments;
    let on = |first: i32| is_silent(number, [first.into(), second, third, fourth]);
    let silent: Vec<i32> = tried.iter().copied().filter(|&first| on(first)).collect();
    match silent.first() {
        Some(_) if silent.len() == tried.len() => found.silent.push(name),
        Some(&first) => found.sometimes.push((name, first)),
        None => {}
    }
}

/// A pipe under the lowest numbers that are free; as many as may be had.
fn pipes() -> Vec<OwnedFd> {
    let Ok((reader, writer)) = pipe_with(PipeFlags::CLOEXEC) else { return Vec::new() };
    let more: Vec<OwnedFd> =
        (2..PIPES).map_while(|_| rustix::io::fcntl_dupfd_cloexec(&reader, 0).ok()).collect();
    [reader, writer].into_iter().chain(more).collect()
}

#[expect(unsafe_code, reason = "a call with arguments that no safe interface lets through")]
fn is_silent(number: c_long, [one, two, three, four]: [c_long; 4]) -> bool {
    // SAFETY: these calls take numbers alone and no memory is read or written: the descriptor is
    // none or a pipe's, and msync refuses an address off a page before it looks at it.
    unsafe { libc::syscall(number, one, two, three, four) == 0 }
}

/// Returns whether a durable write to a descriptor that is none says that it went well.
#[expect(unsafe_code, reason = "a call with arguments that no safe interface lets through")]
fn written_to_nothing() -> bool {
    let (descriptor, none): (c_long, c_long) = (NEVER_OPEN.into(), 0);
    let flags = c_long::from(libc::RWF_DSYNC);
    // SAFETY: there are no vectors, so that no memory is read; the descriptor is none.
    let result = unsafe {
        let vectors = ptr::null::<libc::iovec>();
        libc::syscall(libc::SYS_pwritev2, descriptor, vectors, none, none, none, flags)
    };
    result >= 0
}

fn opened(flag: OFlags) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | flag;
    rustix::fs::openat(CWD, c"/", flags, Mode::empty()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_reach_the_kernel_are_not_suppressed() {
        assert_eq!(suppressed(), Suppressed::default());
    }

    #[test]
    fn a_filter_that_returns_success_is_found_call_by_call() {
        // The filter is this thread's alone, and goes with it.
        let found = std::thread::spawn(|| testkit::suppress::syncs().then(suppressed)).join();
        let Some(found) = found.unwrap() else {
            testkit::skip("needs seccomp filters");
            return;
        };
        let silent = ["fsync", "fdatasync", "sync_file_range", "syncfs", "msync"];
        assert_eq!(found.silent, silent);
        assert_eq!(found.refused, ["open with O_SYNC", "open with O_DSYNC"]);
    }

    /// Returns the findings in a thread with a filter on these descriptors.
    fn with(least: u32, most: u32) -> Option<Suppressed> {
        let inside = move || testkit::suppress::syncs_of(least, most).then(suppressed);
        let found = std::thread::spawn(inside).join().unwrap();
        if found.is_none() {
            testkit::skip("needs seccomp filters");
        }
        found
    }

    #[test]
    fn a_filter_that_leaves_descriptors_below_0_alone_is_found() {
        let Some(found) = with(0, 0x7fff_ffff) else { return };
        assert_eq!(found.silent, ["fsync", "fdatasync"]);
        assert_eq!(found.sometimes, []);
    }

    #[test]
    fn a_filter_on_some_descriptors_is_found_and_not_called_one_on_all() {
        let Some(found) = with(0, 20) else { return };
        assert_eq!(found.silent, Vec::<&str>::new());
        let calls: Vec<&str> = found.sometimes.iter().map(|(call, _)| *call).collect();
        assert_eq!(calls, ["fsync", "fdatasync"]);
        assert!(found.sometimes.iter().all(|(_, first)| (0..=20).contains(first)), "{found:?}");
    }
}
