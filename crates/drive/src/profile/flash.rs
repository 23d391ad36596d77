//! The values of a flash drive's profile.

use super::field::{Field, at, narrow};
use super::quantity::{Quantity, YES_NO};
use crate::FlashPlan;
use crate::flash::Victim;

const VICTIMS: [Victim; 2] = [Victim::Greedy, Victim::CostBenefit];
const VICTIM_WORDS: Quantity = Quantity::Word(&["greedy", "cost-benefit"]);

/// All values, as `straddle drive show` lists them. What each means stands at [`FlashPlan`].
pub(super) const FIELDS: &[Field<FlashPlan>] = &[
    Field::new("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    Field::new("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    Field::new("unit", Quantity::Bytes, |plan, bytes| plan.unit_bytes = bytes),
    Field::new("origin", Quantity::Bytes, |plan, bytes| plan.origin_bytes = bytes),
    Field::new("page", Quantity::Bytes, |plan, bytes| plan.page_bytes = bytes),
    Field::new("planes", Quantity::Count, |plan, count| plan.planes = narrow(count)),
    Field::new("pages_per_block", Quantity::Count, |plan, count| {
        plan.pages_per_block = narrow(count)
    }),
    Field::new("dies", Quantity::Count, |plan, count| plan.dies = narrow(count)),
    Field::new("channels", Quantity::Count, |plan, count| plan.channels = narrow(count)),
    Field::new("channel", Quantity::Rate, |plan, rate| plan.channel_bytes_per_second = rate),
    Field::new("read", Quantity::Time, |plan, ns| plan.read_ns = ns),
    Field::new("program", Quantity::Time, |plan, ns| plan.program_ns = ns),
    Field::new("erase", Quantity::Time, |plan, ns| plan.erase_ns = ns),
    Field::new("host", Quantity::Time, |plan, ns| plan.host_ns = ns),
    Field::new("unit_time", Quantity::Time, |plan, ns| plan.unit_ns = ns),
    Field::new("run_unit_time", Quantity::Time, |plan, ns| plan.run_unit_ns = ns),
    Field::new("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    Field::new("flush", Quantity::Time, |plan, ns| plan.flush_ns = ns),
    Field::new("flush_alone", YES_NO, |plan, place| plan.flushes_alone = place == 1),
    Field::new("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
    Field::new("buffer", Quantity::Bytes, |plan, bytes| plan.buffer_bytes = bytes),
    Field::new("volatile", YES_NO, |plan, place| plan.is_volatile = place == 1),
    Field::new("tells_cache", YES_NO, |plan, place| plan.tells_cache = place == 1),
    Field::new("flush_programs", Quantity::Count, |plan, count| {
        plan.flush_programs = narrow(count)
    }),
    Field::new("rmw_slots", Quantity::Count, |plan, count| plan.rmw_slots = narrow(count)),
    Field::new("rmw_queue", Quantity::Count, |plan, count| plan.rmw_queue = narrow(count)),
    Field::new("rmw_waits", YES_NO, |plan, place| plan.rmw_waits = place == 1),
    Field::new("joined_parts", Quantity::Count, |plan, count| plan.joined_parts = narrow(count)),
    Field::new("slc", Quantity::Bytes, |plan, bytes| plan.slc_bytes = bytes),
    Field::new("slc_program", Quantity::Time, |plan, ns| plan.slc_program_ns = ns),
    Field::new("slc_idle", Quantity::Time, |plan, ns| plan.slc_idle_ns = ns),
    Field::new("spare", Quantity::Bytes, |plan, bytes| plan.spare_bytes = bytes),
    Field::new("kept_back", Quantity::Bytes, |plan, bytes| plan.kept_back_bytes = bytes),
    Field::new("victim", VICTIM_WORDS, |plan, place| plan.victim = at(&VICTIMS, place)),
    Field::new("used", Quantity::Bytes, |plan, bytes| plan.used_bytes = bytes),
    Field::new("erased", Quantity::Bytes, |plan, bytes| plan.erased_bytes = bytes),
];
