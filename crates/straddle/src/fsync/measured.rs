//! Rows that were measured, with the plan of their run.

use measure::durable::{DurableSeen, RowPlan, RowSeen};

use super::plan::FsyncRunPlan;

/// Measured results, with the plan of the run.
pub(super) struct FsyncMeasured<'a> {
    pub(super) plan: &'a FsyncRunPlan,
    pub(super) seen: &'a DurableSeen,
    /// Time that the run took beside its rows, with the look that follows, in nanoseconds.
    pub(super) beside_ns: u64,
}

impl FsyncMeasured<'_> {
    /// The row called `id`, and what was seen of it.
    pub(super) fn row(&self, id: &str) -> Option<(&RowPlan, &RowSeen)> {
        let number = self.plan.rows.iter().position(|row| row.id == id)?;
        Some((&self.plan.rows[number], &self.seen.rows[number]))
    }
}
