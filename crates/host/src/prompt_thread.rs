//! A thread that is to wake up at its moment.
//!
//! Source: `PR_SET_TIMERSLACK(2const)`, setpriority(2), which on Linux is of one thread.

use std::num::NonZeroU64;

/// Makes the calling thread wake up when its time has come: timers of threads are 50 us late by
/// default, and other threads may run first. Returns whether both were granted; the second needs
/// root.
#[must_use]
pub fn wake_promptly() -> bool {
    let is_exact = rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).is_ok();
    let is_first = rustix::process::nice(-20).is_ok();
    is_exact && is_first
}
