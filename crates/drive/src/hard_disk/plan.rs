//! Values of a hard disk, and their bounds.

use crate::plan_bounds::{
    PlanFault, capacity, check, depth, is_sector, logical_sector, speed, time,
};

/// Method by which firmware writes parts of sectors: each is read, and written whole when it comes
/// by again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rmw {
    /// A buffer that does not forget takes the parts; nothing is read.
    #[default]
    Buffered,
    /// All parts are read in one pass, and all is written in the next.
    Batched,
    /// One part behind the other; the next is read in the pass that writes the last.
    PerSector,
    /// One part behind the other, and no pass is shared.
    Serial,
}

/// Rule that chooses the next of the waiting commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheduler {
    /// In the order in which they came.
    #[default]
    Fifo,
    /// That whose first sector is reached first: shortest access time first.
    Nearest,
}

/// Ways of the firmware that keep a disk from what its arm could do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// Time to plan a movement of the arm, which a command that waits for the arm hides.
    pub setup_ns: u64,
    /// Percentage of waiting commands that are done in the order in which they came, so that none
    /// waits for long.
    pub in_order_percent: u8,
    /// Percentage of cached pieces that are written in the order in which they came, which is
    /// anywhere.
    pub pieces_in_order_percent: u8,
    /// Of a million commands and cached pieces that reach the medium, how many need further
    /// attempts.
    pub retries_per_million: u32,
    /// Turns that those take.
    pub retry_turns: u32,
}

impl Firmware {
    /// One that does what the arm can.
    pub const IDEAL: Firmware = Firmware {
        setup_ns: 0,
        in_order_percent: 0,
        pieces_in_order_percent: 0,
        retries_per_million: 0,
        retry_turns: 0,
    };
}

/// Values of a hard disk: [`HardDiskPlan::checked`] gives the bounds of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardDiskPlan {
    /// Number of bytes it holds.
    pub capacity_bytes: u64,
    /// The addressable unit.
    pub logical_bytes: u64,
    /// Bytes of a physical sector, which is read and written as one.
    pub physical_bytes: u64,
    /// The address at which the first whole physical sector starts.
    pub origin_bytes: u64,
    /// Turns a minute.
    pub rpm: u32,
    /// Bytes of an outermost track.
    pub outer_track_bytes: u64,
    /// Bytes of an innermost track.
    pub inner_track_bytes: u64,
    /// In how many steps the one becomes the other.
    pub zones: u32,
    /// Tracks of a cylinder: between them the arm does not move but settles.
    pub heads: u32,
    /// By how much the first sector of a track lies behind that of the track before.
    pub skew_ns: u64,
    /// Time of the head to settle on a track.
    pub settle_ns: u64,
    /// Mean time between two tracks anywhere, the settling included; 0 for that of a root alone,
    /// which is 8/15 of the way from `settle` to the full stroke. A seek is `settle`, a part that
    /// goes with the root of the share of the stroke, and one that goes with the share, so that the
    /// mean and the full stroke come out.
    pub average_seek_ns: u64,
    /// Time of the arm from the first track to the last, the settling included.
    pub full_stroke_ns: u64,
    /// Time that the head settles longer before it writes.
    pub write_settle_ns: u64,
    /// Method by which it writes parts of sectors.
    pub rmw: Rmw,
    /// Time of the controller for each command.
    pub command_ns: u64,
    /// The speed of the wire.
    pub link_bytes_per_second: u64,
    /// The write cache; 0 for none, or where it is switched off.
    pub cache_bytes: u64,
    /// Number of pieces that the write cache takes, however short: what touches is one piece.
    pub cache_pieces: u32,
    /// Number of pieces among which it chooses the next to be written.
    pub window: u16,
    /// Bytes of the cache that are written to the medium at once.
    pub run_bytes: u64,
    /// Time without a command from the host before it empties its cache.
    pub idle_ns: u64,
    /// True if it keeps the last, partly written sector of a run for the writes that follow.
    pub holds_tail: bool,
    /// Bytes that it reads on after a read.
    pub read_ahead_bytes: u64,
    /// Number of commands it chooses among.
    pub depth: u16,
    /// Rule by which it chooses.
    pub scheduler: Scheduler,
    /// Ways of its firmware.
    pub firmware: Firmware,
}

impl HardDiskPlan {
    /// The plan, where such a disk can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<HardDiskPlan, PlanFault> {
        let track = |bytes: u64| bytes >= self.physical_bytes.saturating_mul(2) && bytes <= 1 << 30;
        let tracks = "from two physical sectors to 1 GiB";
        let physical = is_sector(self.physical_bytes) && self.physical_bytes >= self.logical_bytes;
        let is_origin = self.origin_bytes < self.physical_bytes
            && self.origin_bytes.is_multiple_of(self.logical_bytes.max(1));
        let cache = self.cache_bytes == 0 || (self.run_bytes..=1 << 40).contains(&self.cache_bytes);
        let run = self.run_bytes >= self.physical_bytes.saturating_mul(2);
        let stroke_ns = self.full_stroke_ns.saturating_sub(self.settle_ns);
        let beyond_ns = self.average_seek_ns.saturating_sub(self.settle_ns);
        let is_average = self.average_seek_ns == 0
            || (beyond_ns >= stroke_ns / 3 && beyond_ns <= stroke_ns.saturating_mul(11) / 15);
        let averages = "0, or beyond settle from 1/3 to 11/15 of the full stroke";
        let percent = |value, percent: u8| (percent <= 100, value, percent.into(), "at most 100");
        let (retries, turns) = (self.firmware.retries_per_million, self.firmware.retry_turns);
        let (retries, turns) = (u64::from(retries), u64::from(turns));
        let pieces = u64::from(self.cache_pieces);
        let checks = [
            logical_sector(self.logical_bytes),
            (physical, "physical_sector", self.physical_bytes, "a sector, at least logical_sector"),
            capacity(self.capacity_bytes, self.logical_bytes),
            (is_origin, "origin", self.origin_bytes, "whole logical sectors below physical_sector"),
            ((60..=100_000).contains(&self.rpm), "rpm", self.rpm.into(), "from 60 to 100000"),
            (track(self.outer_track_bytes), "outer_track", self.outer_track_bytes, tracks),
            (track(self.inner_track_bytes), "inner_track", self.inner_track_bytes, tracks),
            ((1..=256).contains(&self.zones), "zones", self.zones.into(), "from 1 to 256"),
            ((1..=256).contains(&self.heads), "heads", self.heads.into(), "from 1 to 256"),
            time("skew", self.skew_ns),
            (self.settle_ns <= self.full_stroke_ns, "settle", self.settle_ns, "a short stroke"),
            (is_average, "average_seek", self.average_seek_ns, averages),
            time("full_stroke", self.full_stroke_ns),
            time("write_settle", self.write_settle_ns),
            time("setup", self.firmware.setup_ns),
            percent("in_order", self.firmware.in_order_percent),
            percent("pieces_in_order", self.firmware.pieces_in_order_percent),
            (retries <= 1_000_000, "retries", retries, "at most 1000000"),
            (turns <= 1000, "retry_turns", turns, "at most 1000"),
            (pieces >= 1, "cache_pieces", pieces, "at least 1"),
            ((1..=1024).contains(&self.window), "window", self.window.into(), "from 1 to 1024"),
            time("command", self.command_ns),
            speed("link", self.link_bytes_per_second),
            (run, "run", self.run_bytes, "two physical sectors at least"),
            (cache, "cache", self.cache_bytes, "0, or from run to 2^40"),
            depth(self.depth),
        ];
        check(checks)?;
        Ok(self)
    }
}
