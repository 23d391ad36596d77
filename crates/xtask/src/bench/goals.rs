//! The ratios and rates that the benchmarks hold their results against.

/// The least number of times that `check` should be faster than the tools.
pub(super) const TOOLS_TARGET: u32 = 50;
/// The most times that it may be slower than a program that only reads the same bytes.
pub(super) const BARE_TARGET: u32 = 2;

/// Targets of the loop. The file system's and the ring's are rates over fio's.
pub(super) const FIO_SYNC_LEAST: f64 = 1.10;
pub(super) const BARE_LEAST: f64 = 0.95;
pub(super) const FIO_RING_LEAST: f64 = 1.0;
pub(super) const FIO_RING_USER_MOST: f64 = 0.5;
pub(super) const NULL_NS_MOST: f64 = 100.0;

/// Commands that a drive model should take in a second of a core.
pub(super) const MODEL_RATE_LEAST: f64 = 1e6;
/// Commands that a modeled array should take.
pub(super) const ARRAY_RATE_LEAST: f64 = 5e5;

/// The least rates of served drives without timing, over nbdkit's memory plugin and over a loop
/// device on a bare passthrough.
pub(super) const SERVED_NBD_LEAST: f64 = 1.0;
pub(super) const SERVED_LOOP_LEAST: f64 = 0.9;
/// The most that a turn of a served disk may be off at the median, and above at the 99th
/// percentile, as parts of a turn, on an idle machine.
pub(super) const TURN_MEDIAN_MOST: f64 = 0.02;
pub(super) const TURN_TAIL_MOST: f64 = 0.05;

/// The most that `watch` should add to an I/O, in nanoseconds of CPU.
pub(super) const WATCH_NS_MOST: f64 = 200.0;
