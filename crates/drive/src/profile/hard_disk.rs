//! The values of a hard disk's profile.

use super::quantity::YES_NO;
use super::{Field, Form, Quantity, at, narrow};
use crate::hard_disk::{HardDiskPlan, Rmw, Scheduler};

const POLICIES: [Rmw; 4] = [Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial];
const POLICY_WORDS: Quantity = Quantity::Word(&["buffered", "batched", "per-sector", "serial"]);
const SCHEDULERS: [Scheduler; 2] = [Scheduler::Fifo, Scheduler::Nearest];
const SCHEDULER_WORDS: Quantity = Quantity::Word(&["fifo", "nearest"]);

/// A plan that no disk has, to be filled.
pub(super) const EMPTY: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 0,
    logical_bytes: 0,
    physical_bytes: 0,
    origin_bytes: 0,
    rpm: 0,
    outer_track_bytes: 0,
    inner_track_bytes: 0,
    zones: 0,
    heads: 0,
    skew_ns: 0,
    settle_ns: 0,
    full_stroke_ns: 0,
    rmw: Rmw::Buffered,
    command_ns: 0,
    link_bytes_per_second: 0,
    cache_bytes: 0,
    run_bytes: 0,
    idle_ns: 0,
    holds_tail: false,
    read_ahead_bytes: 0,
    depth: 0,
    scheduler: Scheduler::Fifo,
};

const fn field(
    key: &'static str,
    quantity: Quantity,
    set: fn(&mut HardDiskPlan, u64),
) -> Field<HardDiskPlan> {
    Field { form: Form { key, quantity }, set }
}

/// All values, as `straddle drive show` lists them. What each means stands at [`HardDiskPlan`].
pub(super) const FIELDS: [Field<HardDiskPlan>; 22] = [
    field("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    field("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    field("physical_sector", Quantity::Bytes, |plan, bytes| plan.physical_bytes = bytes),
    field("origin", Quantity::Bytes, |plan, bytes| plan.origin_bytes = bytes),
    field("rpm", Quantity::Count, |plan, count| plan.rpm = narrow(count)),
    field("outer_track", Quantity::Bytes, |plan, bytes| plan.outer_track_bytes = bytes),
    field("inner_track", Quantity::Bytes, |plan, bytes| plan.inner_track_bytes = bytes),
    field("zones", Quantity::Count, |plan, count| plan.zones = narrow(count)),
    field("heads", Quantity::Count, |plan, count| plan.heads = narrow(count)),
    field("skew", Quantity::Time, |plan, ns| plan.skew_ns = ns),
    field("settle", Quantity::Time, |plan, ns| plan.settle_ns = ns),
    field("full_stroke", Quantity::Time, |plan, ns| plan.full_stroke_ns = ns),
    field("rmw", POLICY_WORDS, |plan, place| plan.rmw = at(&POLICIES, place)),
    field("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    field("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
    field("cache", Quantity::Bytes, |plan, bytes| plan.cache_bytes = bytes),
    field("run", Quantity::Bytes, |plan, bytes| plan.run_bytes = bytes),
    field("idle", Quantity::Time, |plan, ns| plan.idle_ns = ns),
    field("holds_tail", YES_NO, |plan, place| plan.holds_tail = place == 1),
    field("read_ahead", Quantity::Bytes, |plan, bytes| plan.read_ahead_bytes = bytes),
    field("depth", Quantity::Count, |plan, count| {
        plan.depth = u16::try_from(count).unwrap_or(u16::MAX)
    }),
    field("scheduler", SCHEDULER_WORDS, |plan, place| plan.scheduler = at(&SCHEDULERS, place)),
];
