//! The values of a persistent memory's profile.

use super::field::{Field, narrow};
use super::quantity::Quantity;
use crate::MemoryPlan;

/// All values, as `straddle drive show` lists them. What each means stands at [`MemoryPlan`].
pub(super) const FIELDS: &[Field<MemoryPlan>] = &[
    Field::new("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    Field::new("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    Field::new("line", Quantity::Bytes, |plan, bytes| plan.line_bytes = bytes),
    Field::new("banks", Quantity::Count, |plan, count| plan.banks = narrow(count)),
    Field::new("read", Quantity::Time, |plan, ns| plan.read_ns = ns),
    Field::new("write", Quantity::Time, |plan, ns| plan.write_ns = ns),
    Field::new("host", Quantity::Time, |plan, ns| plan.host_ns = ns),
    Field::new("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    Field::new("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
];
