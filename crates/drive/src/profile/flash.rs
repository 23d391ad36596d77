//! The values of a flash drive's profile.

use super::quantity::YES_NO;
use super::{Field, Form, Quantity, narrow};
use crate::FlashPlan;

/// A plan that none has, to be filled.
pub(super) const EMPTY: FlashPlan = FlashPlan {
    capacity_bytes: 0,
    logical_bytes: 0,
    unit_bytes: 0,
    origin_bytes: 0,
    page_bytes: 0,
    pages_per_block: 0,
    dies: 0,
    channels: 0,
    channel_bytes_per_second: 0,
    read_ns: 0,
    program_ns: 0,
    erase_ns: 0,
    host_ns: 0,
    unit_ns: 0,
    run_unit_ns: 0,
    command_ns: 0,
    flush_ns: 0,
    link_bytes_per_second: 0,
    buffer_bytes: 0,
    is_volatile: false,
    tells_cache: false,
    flush_programs: 0,
    rmw_slots: 0,
    rmw_queue: 0,
    joined_parts: 0,
    slc_bytes: 0,
    slc_program_ns: 0,
    slc_idle_ns: 0,
    spare_bytes: 0,
    used_bytes: 0,
    erased_bytes: 0,
};

const fn field(
    key: &'static str,
    quantity: Quantity,
    set: fn(&mut FlashPlan, u64),
) -> Field<FlashPlan> {
    Field { form: Form { key, quantity }, set }
}

/// All values, as `straddle drive show` lists them. What each means stands at [`FlashPlan`].
pub(super) const FIELDS: [Field<FlashPlan>; 31] = [
    field("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    field("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    field("unit", Quantity::Bytes, |plan, bytes| plan.unit_bytes = bytes),
    field("origin", Quantity::Bytes, |plan, bytes| plan.origin_bytes = bytes),
    field("page", Quantity::Bytes, |plan, bytes| plan.page_bytes = bytes),
    field("pages_per_block", Quantity::Count, |plan, count| plan.pages_per_block = narrow(count)),
    field("dies", Quantity::Count, |plan, count| plan.dies = narrow(count)),
    field("channels", Quantity::Count, |plan, count| plan.channels = narrow(count)),
    field("channel", Quantity::Rate, |plan, rate| plan.channel_bytes_per_second = rate),
    field("read", Quantity::Time, |plan, ns| plan.read_ns = ns),
    field("program", Quantity::Time, |plan, ns| plan.program_ns = ns),
    field("erase", Quantity::Time, |plan, ns| plan.erase_ns = ns),
    field("host", Quantity::Time, |plan, ns| plan.host_ns = ns),
    field("unit_time", Quantity::Time, |plan, ns| plan.unit_ns = ns),
    field("run_unit_time", Quantity::Time, |plan, ns| plan.run_unit_ns = ns),
    field("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    field("flush", Quantity::Time, |plan, ns| plan.flush_ns = ns),
    field("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
    field("buffer", Quantity::Bytes, |plan, bytes| plan.buffer_bytes = bytes),
    field("volatile", YES_NO, |plan, place| plan.is_volatile = place == 1),
    field("tells_cache", YES_NO, |plan, place| plan.tells_cache = place == 1),
    field("flush_programs", Quantity::Count, |plan, count| plan.flush_programs = narrow(count)),
    field("rmw_slots", Quantity::Count, |plan, count| plan.rmw_slots = narrow(count)),
    field("rmw_queue", Quantity::Count, |plan, count| plan.rmw_queue = narrow(count)),
    field("joined_parts", Quantity::Count, |plan, count| plan.joined_parts = narrow(count)),
    field("slc", Quantity::Bytes, |plan, bytes| plan.slc_bytes = bytes),
    field("slc_program", Quantity::Time, |plan, ns| plan.slc_program_ns = ns),
    field("slc_idle", Quantity::Time, |plan, ns| plan.slc_idle_ns = ns),
    field("spare", Quantity::Bytes, |plan, bytes| plan.spare_bytes = bytes),
    field("used", Quantity::Bytes, |plan, bytes| plan.used_bytes = bytes),
    field("erased", Quantity::Bytes, |plan, bytes| plan.erased_bytes = bytes),
];
