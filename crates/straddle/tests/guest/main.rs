//! `straddle` alive, on stacks that a real kernel put together: the machine as it was while
//! everything was up, the same machine as a capture, and its disks as images say the same.
//!
//! `STRADDLE_GUEST_LIVE` names the result of a run of `guest/run … live`; without it these tests
//! skip. `STRADDLE_GUEST_BENCH` does the same for `bench`, `STRADDLE_GUEST_SYNC` for `sync`,
//! `STRADDLE_GUEST_USE` for `use`, `STRADDLE_GUEST_WATCH` for `watch`,
//! `STRADDLE_GUEST_PARTITION` for `partition`, `STRADDLE_GUEST_RAID0` for `raid0`.
#![expect(clippy::disallowed_methods, reason = "these tests run programs")]

mod answer;
mod answers;
mod bench;
mod boot;
mod converted;
mod honesty;
mod images;
mod in_use;
mod known_devices;
mod live_machine;
mod partial;
mod partitioners;
mod probe;
mod result;
mod served;
mod stamps;
mod watch;
