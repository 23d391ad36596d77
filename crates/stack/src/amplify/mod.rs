//! Amplification of one application I/O on the drives: reads, writes, read-modify-writes, parity.
//!
//! Operations are counted, never timed. A drive writes whole granules; one that a write covers only
//! in part is read first (RMW). An array with parity that gets rows in part reads either what is
//! old of the data and of parity, or the rest of the rows, whichever is less. Modeled arrays and
//! drives count the same:
//! `crates/straddle/tests/system/{amplify,amplify_drive}.rs`.
//!
//! | file | what it is |
//! |---|---|
//! | `descent` | an I/O on its way down, layer by layer |
//! | `parity_rows` | an array with parity, and the rows of it that a write touches |

mod descent;
mod parity_rows;
#[cfg(test)]
mod tests;

use units::{ByteRange, Unit};

use crate::graph::Stack;
use crate::id::LayerId;
use crate::unit::UnitKind;
use crate::work_budget::WorkBudget;
use descent::{OPERATIONS_MAX, work_within};

/// One application I/O on a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// True if it writes.
    pub write: bool,
    /// The bytes of the layer.
    pub range: ByteRange,
}

/// Cost of an I/O on the drives. Reads and writes count granules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Granules read, those of RMWs and of parity included.
    pub reads: u64,
    /// Granules written, those of parity included.
    pub writes: u64,
    /// Granules read and written again because a write covers them only in part.
    pub rmws: u64,
    /// Parity chunks brought up to date.
    pub parity_updates: u64,
    /// Parity chunks among those for which something of the stripe had to be read first.
    pub parity_rmws: u64,
    /// Leaves that take part.
    pub leaves: u64,
}

/// Work of an I/O on the leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The runs, none of which touch each other: what is read first, then what is written, each in
    /// the order of leaves and addresses. What a drive reads to write whole granules is not there.
    pub runs: Vec<ByteRun>,
    /// Same as [`Effort::parity_updates`].
    pub parity_updates: u64,
    /// Same as [`Effort::parity_rmws`].
    pub parity_rmws: u64,
}

/// Bytes of a leaf that are read or written as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRun {
    /// True if they are written.
    pub write: bool,
    /// The leaf.
    pub leaf: LayerId,
    /// The first byte.
    pub start_bytes: u64,
    /// Their number; not 0.
    pub length_bytes: u64,
}

/// Returns what `io` on layer `id` costs; `Err` says why it cannot be told.
///
/// # Errors
/// When a part of the range lies on something unknown, not expressible or compressed, or when the
/// I/O becomes more operations than are counted.
pub fn amplify(stack: &Stack, id: LayerId, io: Io) -> Result<Effort, String> {
    amplify_within(stack, id, io, &WorkBudget::of(OPERATIONS_MAX))
}

/// Returns what is read and written on which leaf for `io` on layer `id`: what [`amplify`] counts.
///
/// # Errors
/// Same as [`amplify`].
pub fn work(stack: &Stack, id: LayerId, io: Io) -> Result<Work, String> {
    work_within(stack, id, io, &WorkBudget::of(OPERATIONS_MAX))
}

/// Same as [`amplify`], and no more than `budget` allows.
pub(crate) fn amplify_within(
    stack: &Stack,
    id: LayerId,
    io: Io,
    budget: &WorkBudget,
) -> Result<Effort, String> {
    work_within(stack, id, io, budget).map(|work| work.effort(stack))
}

impl Work {
    /// Counts granules.
    fn effort(self, stack: &Stack) -> Effort {
        let Work { runs, parity_updates, parity_rmws } = self;
        let mut effort = Effort { parity_updates, parity_rmws, ..Effort::default() };
        let mut leaves: Vec<LayerId> = runs.iter().map(|run| run.leaf).collect();
        leaves.sort_unstable();
        leaves.dedup();
        for ByteRun { write, leaf, start_bytes, length_bytes } in runs {
            let granule = granule_of(stack, leaf);
            let touched = granule.touched(start_bytes, length_bytes);
            if write {
                let partial = granule.partial(start_bytes, length_bytes);
                effort.writes += touched;
                effort.rmws += partial;
                effort.reads += partial;
            } else {
                effort.reads += touched;
            }
        }
        effort.leaves = u64::try_from(leaves.len()).unwrap_or(u64::MAX);
        effort
    }
}

/// The granule of a leaf, or 4096 from 0 where it has none.
pub(crate) fn granule_of(stack: &Stack, leaf: LayerId) -> Unit {
    let used = stack.layer(leaf).units.used(UnitKind::Granule).map(|(unit, _)| unit);
    used.unwrap_or_else(|| Unit::new(4096).expect("4096 is not 0"))
}
