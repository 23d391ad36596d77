//! The clock of all stamps, and the processor time of a thread itself.
//!
//! Source: getrusage(2), `RUSAGE_THREAD`.

use rustix::time::{ClockId, clock_gettime};

/// Now, in nanoseconds of `CLOCK_MONOTONIC`. Read without a system call where the kernel's vDSO
/// allows.
#[doc(alias = "clock_gettime")]
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // It starts at 0 with the machine (clock_gettime(2)), so neither part is negative.
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// The processor's time that a thread used since it started. The kernel may tell user and system
/// time apart by looking at every tick only, so it takes a second or so to mean much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// In the program, in nanoseconds.
    pub user_ns: u64,
    /// In the kernel on the thread's behalf, in nanoseconds.
    pub system_ns: u64,
}

impl ThreadUsage {
    /// Returns the time that the calling thread used so far.
    #[doc(alias = "getrusage")]
    #[must_use]
    #[expect(unsafe_code, reason = "no wrapper has this call")]
    pub fn now() -> ThreadUsage {
        // SAFETY: all fields of struct rusage are numbers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live value of the type that getrusage(2) names.
        let asked = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        assert_eq!(asked, 0, "getrusage fails for a wrong address or a wrong word only");
        ThreadUsage { user_ns: nanoseconds(usage.ru_utime), system_ns: nanoseconds(usage.ru_stime) }
    }

    /// Returns the time used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: ThreadUsage) -> ThreadUsage {
        ThreadUsage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_usec) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_seen_as_this_threads_and_waiting_is_not() {
        let before = ThreadUsage::now();
        let begun = now_ns();
        while ThreadUsage::now().since(before) == ThreadUsage::default() {
            assert!(now_ns() - begun < 20_000_000_000, "20 s of work count nothing");
        }
        let idle = std::thread::spawn(|| {
            let before = ThreadUsage::now();
            std::thread::park_timeout(std::time::Duration::from_millis(20));
            ThreadUsage::now().since(before)
        });
        let used = idle.join().unwrap();
        assert!(used.user_ns + used.system_ns < 15_000_000, "{used:?}");
    }
}
