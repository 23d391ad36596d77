//! Cost of I/O of one size on the bytes of a file.

use std::collections::BTreeMap;

use units::ByteRange;
use units::random::Random;

use super::REASONS_MAX;
use crate::amplify::{self, Effort, Io};
use crate::graph::Stack;
use crate::id::LayerId;

/// The most I/Os of which the cost is counted; of more, as many are drawn.
pub const IOS_MAX: u64 = 1 << 16;
/// The seed of that draw, so that the answer is always the same.
const SEED: u64 = 0x7261_6365;

/// Cost of I/Os of one size, over a range of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The length of each I/O in bytes.
    pub io_bytes: u64,
    /// Number of I/Os of that length the range has, one behind the other from its start.
    pub ios: u64,
    /// Number of them that were counted: all, or those that were drawn.
    pub counted: u64,
    /// Of those, how many could not be told as reads, by the reason.
    pub untold_reads: BTreeMap<String, u64>,
    /// Of those, how many could not be told as writes, by the reason.
    pub untold_writes: BTreeMap<String, u64>,
    /// Total cost of those that can be told, each read once.
    pub read: Effort,
    /// Total cost of those that can be told, each written once in place.
    pub write: Effort,
    /// Number of the writes that need a read-modify-write of a granule.
    pub writes_with_rmw: u64,
    /// Number of the writes that read old data or old parity first.
    pub writes_with_parity_rmw: u64,
}

/// Returns what I/Os of `io_bytes` cost on `range` of layer `id`, one behind the other from its
/// start; what is left at its end and shorter than an I/O is left out. Of more than [`IOS_MAX`] as
/// many are drawn, always the same.
#[must_use]
pub fn cost(stack: &Stack, id: LayerId, range: ByteRange, io_bytes: u64) -> Cost {
    let ios = range.length_bytes().checked_div(io_bytes).unwrap_or(0);
    let counted = ios.min(IOS_MAX);
    let mut cost = Cost { io_bytes, ios, counted, ..Cost::default() };
    let mut random = Random::new(SEED);
    for index in 0..counted {
        // Drawn rather than every so many: stripes repeat, and steps would meet the same ones.
        let number = if counted == ios { index } else { random.below(ios) };
        let start = range.start_bytes() + number * io_bytes;
        let Some(range) = ByteRange::new(start, io_bytes) else { continue };
        match amplify::amplify(stack, id, Io { write: false, range }) {
            Ok(effort) => add(&mut cost.read, effort),
            Err(reason) => count(&mut cost.untold_reads, reason),
        }
        match amplify::amplify(stack, id, Io { write: true, range }) {
            Ok(effort) => {
                add(&mut cost.write, effort);
                cost.writes_with_rmw += u64::from(effort.rmws > 0);
                cost.writes_with_parity_rmw += u64::from(effort.parity_rmws > 0);
            }
            Err(reason) => count(&mut cost.untold_writes, reason),
        }
    }
    cost
}

impl Cost {
    /// Returns how many reads, or writes, could be told.
    #[must_use]
    pub fn told(&self, write: bool) -> u64 {
        let untold = if write { &self.untold_writes } else { &self.untold_reads };
        self.counted - untold.values().sum::<u64>()
    }
}

fn add(sum: &mut Effort, one: Effort) {
    sum.reads += one.reads;
    sum.writes += one.writes;
    sum.rmws += one.rmws;
    sum.parity_updates += one.parity_updates;
    sum.parity_rmws += one.parity_rmws;
    sum.leaves += one.leaves;
}

fn count(untold: &mut BTreeMap<String, u64>, reason: String) {
    let full = untold.len() >= REASONS_MAX && !untold.contains_key(&reason);
    let reason = if full { "other reasons".to_owned() } else { reason };
    *untold.entry(reason).or_default() += 1;
}
