//! Which sync calls do nothing in this process: told by making them on what cannot be synced.
//!
//! A call that reaches the kernel answers that descriptor -1 is none (fsync(2): `EBADF`). One that
//! says all went well was stopped on its way, as by a seccomp filter that returns 0.

use std::ffi::c_long;
use std::ptr;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// What was found of this process and of all that it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressed {
    /// Calls that do nothing and say that all went well.
    pub silent: Vec<&'static str>,
    /// Calls that fail though the same without syncing works: a program sees that.
    pub refused: Vec<&'static str>,
}

/// A call, its number, and arguments with which it must fail.
type Trial = (&'static str, c_long, [c_long; 4]);

/// The last argument of msync is 0 where it is MS_ASYNC alone: an address off a page is refused
/// first.
const TRIALS: [Trial; 5] = [
    ("fsync", libc::SYS_fsync, [-1, 0, 0, 0]),
    ("fdatasync", libc::SYS_fdatasync, [-1, 0, 0, 0]),
    ("sync_file_range", libc::SYS_sync_file_range, [-1, 0, 0, 0]),
    ("syncfs", libc::SYS_syncfs, [-1, 0, 0, 0]),
    ("msync", libc::SYS_msync, [1, 0, 4, 0]),
];

/// Which sync calls do not reach the kernel here. No file is touched.
#[must_use]
pub fn suppressed() -> Suppressed {
    let silent = TRIALS.iter().filter(|(_, number, arguments)| is_silent(*number, *arguments));
    let mut found = Suppressed { silent: silent.map(|trial| trial.0).collect(), refused: vec![] };
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

#[expect(unsafe_code, reason = "a call with arguments that no safe interface lets through")]
fn is_silent(number: c_long, [one, two, three, four]: [c_long; 4]) -> bool {
    // SAFETY: these calls take numbers alone and no memory is read or written: the descriptor is
    // none, and msync refuses an address off a page before it looks at it.
    unsafe { libc::syscall(number, one, two, three, four) == 0 }
}

/// Whether a durable write to descriptor -1 says that it went well.
#[expect(unsafe_code, reason = "a call with arguments that no safe interface lets through")]
fn written_to_nothing() -> bool {
    let (descriptor, none): (c_long, c_long) = (-1, 0);
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
}
