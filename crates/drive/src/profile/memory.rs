//! The values of a persistent memory's profile.

use super::{Field, Form, Quantity, narrow};
use crate::MemoryPlan;

/// A plan that none has, to be filled.
pub(super) const EMPTY: MemoryPlan = MemoryPlan {
    capacity_bytes: 0,
    logical_bytes: 0,
    line_bytes: 0,
    banks: 0,
    read_ns: 0,
    write_ns: 0,
    host_ns: 0,
    command_ns: 0,
    link_bytes_per_second: 0,
};

const fn field(
    key: &'static str,
    quantity: Quantity,
    set: fn(&mut MemoryPlan, u64),
) -> Field<MemoryPlan> {
    Field { form: Form { key, quantity }, set }
}

/// All values, as `straddle drive show` lists them. What each means stands at [`MemoryPlan`].
pub(super) const FIELDS: [Field<MemoryPlan>; 9] = [
    field("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    field("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    field("line", Quantity::Bytes, |plan, bytes| plan.line_bytes = bytes),
    field("banks", Quantity::Count, |plan, count| plan.banks = narrow(count)),
    field("read", Quantity::Time, |plan, ns| plan.read_ns = ns),
    field("write", Quantity::Time, |plan, ns| plan.write_ns = ns),
    field("host", Quantity::Time, |plan, ns| plan.host_ns = ns),
    field("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    field("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
];
