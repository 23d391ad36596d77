//! The work that may still be done for one answer.
//!
//! Each single question is bounded, but a stack has thousands of layers, and each may be asked
//! about each of its leaves and arrays. Hostile stacks make all of those expensive at once; a
//! budget that they share bounds the whole. What it does not cover is unknown.

use std::cell::Cell;

use crate::graph::Stack;
use crate::mapping::Mapping;

/// Steps for each leaf of a stack. A hundred drives in arrays of twenty, with a thousand volumes on
/// them, take some millions in all.
const LEAF_STEPS: usize = 2_000_000;

/// Bytes of image tables for each leaf: 8 million entries of a VHD or VMDK.
const LEAF_TABLE_BYTES: u64 = 32 << 20;

/// The rest of the work.
#[derive(Debug)]
pub(crate) struct WorkBudget {
    left: Cell<usize>,
    table_bytes: Cell<u64>,
}

impl WorkBudget {
    /// `steps` steps, and image tables as for one leaf.
    pub(crate) fn of(steps: usize) -> WorkBudget {
        WorkBudget { left: Cell::new(steps), table_bytes: Cell::new(LEAF_TABLE_BYTES) }
    }

    /// Returns what one answer about all of `stack` may take.
    pub(crate) fn for_all(stack: &Stack) -> WorkBudget {
        let leaves = stack.iter().filter(|(_, layer)| matches!(layer.mapping, Mapping::Leaf));
        // Of a stack without any, where it lies is unknown, and that is not too much work.
        let leaves = leaves.count().max(1);
        let budget = WorkBudget::of(LEAF_STEPS.saturating_mul(leaves));
        let leaves = u64::try_from(leaves).unwrap_or(u64::MAX);
        budget.table_bytes.set(LEAF_TABLE_BYTES.saturating_mul(leaves));
        budget
    }

    /// Takes `steps`; false, and nothing is left, when there are not as many.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns how many bytes of image tables may still be looked at.
    pub(crate) fn table_bytes(&self) -> u64 {
        self.table_bytes.get()
    }

    /// Takes `bytes` of image tables, or all that is left.
    pub(crate) fn spend_table_bytes(&self, bytes: u64) {
        self.table_bytes.set(self.table_bytes.get().saturating_sub(bytes));
    }

    /// Returns whether no steps are left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}
