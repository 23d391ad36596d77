//! The values of a hard disk's profile.

use super::field::{Field, at, narrow};
use super::quantity::{Quantity, YES_NO};
use crate::hard_disk::{HardDiskPlan, Rmw, Scheduler};

const POLICIES: [Rmw; 4] = [Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial];
const POLICY_WORDS: Quantity = Quantity::Word(&["buffered", "batched", "per-sector", "serial"]);
const SCHEDULERS: [Scheduler; 2] = [Scheduler::Fifo, Scheduler::Nearest];
const SCHEDULER_WORDS: Quantity = Quantity::Word(&["fifo", "nearest"]);

/// A disk with its rates in order, as data sheets have them.
#[derive(Default)]
pub(super) struct Disk {
    plan: HardDiskPlan,
    outer_bytes_per_second: u64,
    inner_bytes_per_second: u64,
}

impl Disk {
    /// The plan. A rate includes what a track costs by its skew, so that a track holds what passes
    /// in a turn and a skew.
    pub(super) fn plan(self) -> HardDiskPlan {
        let turn_ns = 60_000_000_000 / u64::from(self.plan.rpm.max(1));
        let track_ns = turn_ns.saturating_add(self.plan.skew_ns);
        let bytes = |rate: u64| {
            let bytes = u128::from(rate) * u128::from(track_ns) / 1_000_000_000;
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        HardDiskPlan {
            outer_track_bytes: bytes(self.outer_bytes_per_second),
            inner_track_bytes: bytes(self.inner_bytes_per_second),
            ..self.plan
        }
    }
}

/// A percentage; where it does not fit it is more than any.
fn percent(count: u64) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// A number of things to choose among.
fn few(count: u64) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// All values, as `straddle drive show` lists them. What each means stands at [`HardDiskPlan`] and
/// [`crate::hard_disk::Firmware`]; rates include what skew costs.
pub(super) const FIELDS: &[Field<Disk>] = &[
    Field::new("capacity", Quantity::Bytes, |disk, bytes| disk.plan.capacity_bytes = bytes),
    Field::new("logical_sector", Quantity::Bytes, |disk, bytes| disk.plan.logical_bytes = bytes),
    Field::new("physical_sector", Quantity::Bytes, |disk, bytes| disk.plan.physical_bytes = bytes),
    Field::new("origin", Quantity::Bytes, |disk, bytes| disk.plan.origin_bytes = bytes),
    Field::new("rpm", Quantity::Count, |disk, count| disk.plan.rpm = narrow(count)),
    Field::new("outer_rate", Quantity::Rate, |disk, rate| disk.outer_bytes_per_second = rate),
    Field::new("inner_rate", Quantity::Rate, |disk, rate| disk.inner_bytes_per_second = rate),
    Field::new("zones", Quantity::Count, |disk, count| disk.plan.zones = narrow(count)),
    Field::new("heads", Quantity::Count, |disk, count| disk.plan.heads = narrow(count)),
    Field::new("skew", Quantity::Time, |disk, ns| disk.plan.skew_ns = ns),
    Field::new("settle", Quantity::Time, |disk, ns| disk.plan.settle_ns = ns),
    Field::new("average_seek", Quantity::Time, |disk, ns| disk.plan.average_seek_ns = ns),
    Field::new("full_stroke", Quantity::Time, |disk, ns| disk.plan.full_stroke_ns = ns),
    Field::new("write_settle", Quantity::Time, |disk, ns| disk.plan.write_settle_ns = ns),
    Field::new("rmw", POLICY_WORDS, |disk, place| disk.plan.rmw = at(&POLICIES, place)),
    Field::new("command", Quantity::Time, |disk, ns| disk.plan.command_ns = ns),
    Field::new("link", Quantity::Rate, |disk, rate| disk.plan.link_bytes_per_second = rate),
    Field::new("cache", Quantity::Bytes, |disk, bytes| disk.plan.cache_bytes = bytes),
    Field::new("cache_pieces", Quantity::Count, |disk, count| {
        disk.plan.cache_pieces = narrow(count)
    }),
    Field::new("window", Quantity::Count, |disk, count| disk.plan.window = few(count)),
    Field::new("run", Quantity::Bytes, |disk, bytes| disk.plan.run_bytes = bytes),
    Field::new("idle", Quantity::Time, |disk, ns| disk.plan.idle_ns = ns),
    Field::new("holds_tail", YES_NO, |disk, place| disk.plan.holds_tail = place == 1),
    Field::new("read_ahead", Quantity::Bytes, |disk, bytes| disk.plan.read_ahead_bytes = bytes),
    Field::new("depth", Quantity::Count, |disk, count| disk.plan.depth = few(count)),
    Field::new("scheduler", SCHEDULER_WORDS, |disk, place| {
        disk.plan.scheduler = at(&SCHEDULERS, place)
    }),
    Field::new("setup", Quantity::Time, |disk, ns| disk.plan.firmware.setup_ns = ns),
    Field::new("in_order", Quantity::Count, |disk, count| {
        disk.plan.firmware.in_order_percent = percent(count)
    }),
    Field::new("pieces_in_order", Quantity::Count, |disk, count| {
        disk.plan.firmware.pieces_in_order_percent = percent(count)
    }),
    Field::new("retries", Quantity::Count, |disk, count| {
        disk.plan.firmware.retries_per_million = narrow(count)
    }),
    Field::new("retry_turns", Quantity::Count, |disk, count| {
        disk.plan.firmware.retry_turns = narrow(count)
    }),
];
