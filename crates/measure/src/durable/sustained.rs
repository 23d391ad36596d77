//! One way of writing, without a pause, as a series of stretches: what a drive does when its write
//! buffer is full.

use device::durable::DurableMethod;
use device::{Durable, DurableFault};

use crate::Histogram;

/// Limits of such a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesLimits {
    /// Number of bytes written at most.
    pub bytes: u64,
    /// Longest time, in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of bytes a stretch has.
    pub stretch_bytes: u64,
}

/// A stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesPoint {
    /// When it ended, in nanoseconds since the run began.
    pub at_ns: u64,
    /// Number of bytes written by then.
    pub at_bytes: u64,
    /// The bytes of this stretch.
    pub bytes: u64,
    /// Its time, in nanoseconds.
    pub took_ns: u64,
    /// Its operations.
    pub operations: u64,
    /// The latency that half of them stay at or below, in nanoseconds.
    pub median_ns: u64,
    /// The greatest latency, in nanoseconds.
    pub greatest_ns: u64,
}

/// Writes by `way`, which is number `row`, one operation after the other, until `span` is used up
/// or the user wants no more; the stretches, the last of which may be shorter.
///
/// # Errors
/// When an operation fails.
pub fn sustained<D: Durable>(
    doer: &mut D,
    row: usize,
    way: &DurableMethod,
    span: SeriesLimits,
) -> Result<Vec<SeriesPoint>, DurableFault> {
    doer.begin(row)?;
    let begun_ns = doer.now_ns();
    let (mut points, mut at_bytes) = (Vec::new(), 0_u64);
    let mut latencies = Histogram::new();
    let (mut from_ns, mut from_bytes) = (0_u64, 0_u64);
    let bytes = way.operation_bytes().max(1);
    loop {
        let now_ns = doer.now_ns().saturating_sub(begun_ns);
        let next = at_bytes.saturating_add(bytes);
        let is_over = next > span.bytes || now_ns >= span.elapsed_ns || !doer.goes_on();
        if latencies.count() > 0 && (is_over || at_bytes - from_bytes >= span.stretch_bytes) {
            points.push(SeriesPoint {
                at_ns: now_ns,
                at_bytes,
                bytes: at_bytes - from_bytes,
                took_ns: now_ns.saturating_sub(from_ns).max(1),
                operations: latencies.count(),
                median_ns: latencies.median(),
                greatest_ns: latencies.max(),
            });
            (from_ns, from_bytes) = (now_ns, at_bytes);
            latencies.clear();
        }
        if is_over {
            break;
        }
        latencies.record(doer.once(row)?);
        at_bytes = next;
    }
    doer.end(row)?;
    Ok(points)
}
