//! The values of a hard disk's profile.

use super::field::{Field, at, narrow};
use super::quantity::{Quantity, YES_NO};
use crate::hard_disk::{HardDiskPlan, Rmw, Scheduler};

const POLICIES: [Rmw; 4] = [Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial];
const POLICY_WORDS: Quantity = Quantity::Word(&["buffered", "batched", "per-sector", "serial"]);
const SCHEDULERS: [Scheduler; 2] = [Scheduler::Fifo, Scheduler::Nearest];
const SCHEDULER_WORDS: Quantity = Quantity::Word(&["fifo", "nearest"]);

/// All values, as `straddle drive show` lists them. What each means stands at [`HardDiskPlan`].
pub(super) const FIELDS: &[Field<HardDiskPlan>] = &[
    Field::new("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    Field::new("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    Field::new("physical_sector", Quantity::Bytes, |plan, bytes| plan.physical_bytes = bytes),
    Field::new("origin", Quantity::Bytes, |plan, bytes| plan.origin_bytes = bytes),
    Field::new("rpm", Quantity::Count, |plan, count| plan.rpm = narrow(count)),
    Field::new("outer_track", Quantity::Bytes, |plan, bytes| plan.outer_track_bytes = bytes),
    Field::new("inner_track", Quantity::Bytes, |plan, bytes| plan.inner_track_bytes = bytes),
    Field::new("zones", Quantity::Count, |plan, count| plan.zones = narrow(count)),
    Field::new("heads", Quantity::Count, |plan, count| plan.heads = narrow(count)),
    Field::new("skew", Quantity::Time, |plan, ns| plan.skew_ns = ns),
    Field::new("settle", Quantity::Time, |plan, ns| plan.settle_ns = ns),
    Field::new("full_stroke", Quantity::Time, |plan, ns| plan.full_stroke_ns = ns),
    Field::new("rmw", POLICY_WORDS, |plan, place| plan.rmw = at(&POLICIES, place)),
    Field::new("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    Field::new("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
    Field::new("cache", Quantity::Bytes, |plan, bytes| plan.cache_bytes = bytes),
    Field::new("run", Quantity::Bytes, |plan, bytes| plan.run_bytes = bytes),
    Field::new("idle", Quantity::Time, |plan, ns| plan.idle_ns = ns),
    Field::new("holds_tail", YES_NO, |plan, place| plan.holds_tail = place == 1),
    Field::new("read_ahead", Quantity::Bytes, |plan, bytes| plan.read_ahead_bytes = bytes),
    Field::new("depth", Quantity::Count, |plan, count| {
        plan.depth = u16::try_from(count).unwrap_or(u16::MAX)
    }),
    Field::new("scheduler", SCHEDULER_WORDS, |plan, place| plan.scheduler = at(&SCHEDULERS, place)),
];
