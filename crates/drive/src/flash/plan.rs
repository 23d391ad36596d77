//! Values of a flash drive, and their bounds.

use crate::plan_bounds::{
    CAPACITY_BYTES_MAX, Check, PlanFault, capacity, check, logical_sector, speed, time,
};

/// Policy that chooses the block to be collected, where parts of the drive are written more often
/// than others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Victim {
    /// The block with the least that is valid: each part that is written at all has the same share
    /// of spare flash.
    #[default]
    Greedy,
    /// The block whose collection saves most: parts that are written more often have more spare
    /// flash, with the root of how often, which is near the best.
    CostBenefit,
}

/// Values of a flash drive: [`FlashPlan::checked`] gives the bounds of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashPlan {
    /// Number of bytes it holds.
    pub capacity_bytes: u64,
    /// The addressable unit.
    pub logical_bytes: u64,
    /// The mapping unit: of what it keeps an address each. A part of one is read before the whole
    /// can be written elsewhere.
    pub unit_bytes: u64,
    /// The address at which the first whole unit starts.
    pub origin_bytes: u64,
    /// Bytes of a page, which is read as one.
    pub page_bytes: u64,
    /// Planes of a die: as many pages are programmed together, and as many blocks erased.
    pub planes: u32,
    /// Number of pages erased as one.
    pub pages_per_block: u32,
    /// Number of dies, each of which reads, programs or erases by itself.
    pub dies: u32,
    /// The wires that the dies share.
    pub channels: u32,
    /// The speed of each such wire.
    pub channel_bytes_per_second: u64,
    /// A page from its cells to its die's register: tR.
    pub read_ns: u64,
    /// A page from its die's register to its cells: tPROG.
    pub program_ns: u64,
    /// A block: tBERS.
    pub erase_ns: u64,
    /// Time of the host's side for each command, one after the other: the floor.
    pub host_ns: u64,
    /// Time of the controller for a unit.
    pub unit_ns: u64,
    /// Time of the controller for a whole unit that follows a whole unit of the same command, which
    /// the same transfer can carry; `unit_ns` where that saves nothing.
    pub run_unit_ns: u64,
    /// Time of a command besides, without keeping others from anything.
    pub command_ns: u64,
    /// Time of a flush besides, if there is nothing to make durable.
    pub flush_ns: u64,
    /// True if a flush waits until nothing else is in flight, and what comes later waits for the
    /// flush: FLUSH CACHE of ATA is no queued command.
    pub flushes_alone: bool,
    /// The speed of the wire to the host, in each direction.
    pub link_bytes_per_second: u64,
    /// The write buffer; 0 for none: a write then ends when it is programmed.
    pub buffer_bytes: u64,
    /// True if the buffer forgets when the power goes; `false` with power-loss protection (PLP).
    pub is_volatile: bool,
    /// True if it tells the host of a write cache even where its buffer does not forget: SATA
    /// drives with capacitors do. One that forgets always does.
    pub tells_cache: bool,
    /// Number of pages a flush of dirty data programs one behind the other: 1 is the data's alone,
    /// 2 that and the mapping's.
    pub flush_programs: u32,
    /// Number of writes of parts of units that are read, joined and written at a time. Such a write
    /// is in the slot's hands when it is acknowledged, so that each waits for a slot.
    pub rmw_slots: u32,
    /// Number of those that wait in the buffer for a slot, acknowledged: possible with a buffer
    /// that does not forget. 0 where each is acknowledged when a slot has it.
    pub rmw_queue: u32,
    /// True if a write of a part of a unit is acknowledged only after the unit was read.
    pub rmw_waits: bool,
    /// Of how many units parts are kept in the buffer, in the hope that the rest is written too; 0
    /// for a drive that does not join writes, or has no buffer.
    pub joined_parts: u32,
    /// Bytes that are programmed with one bit a cell before being programmed as the rest: pSLC. 0
    /// for none.
    pub slc_bytes: u64,
    /// A page from its die's register to such cells.
    pub slc_program_ns: u64,
    /// Time of silence of all dies before the content of such cells is moved to others.
    pub slc_idle_ns: u64,
    /// Bytes of flash beyond `capacity_bytes`: over-provisioning.
    pub spare_bytes: u64,
    /// Bytes of these that the host's data never get: for bad blocks and the firmware.
    pub kept_back_bytes: u64,
    /// Policy that chooses the block to be collected.
    pub victim: Victim,
    /// Number of bytes from address 0 on that are in use at first; what lies behind is as after a
    /// discard.
    pub used_bytes: u64,
    /// Bytes that can be programmed before the first garbage is collected: 0 for a drive in its
    /// steady state.
    pub erased_bytes: u64,
}

/// The most programs that a buffer holds: what bounds the model's memory.
const BUFFER_PAGES_MAX: u64 = 1 << 20;

impl FlashPlan {
    /// The plan, where such a drive can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<FlashPlan, PlanFault> {
        check(self.sizes().into_iter().chain(self.times()).chain(self.counts()))?;
        Ok(self)
    }

    /// Bytes that a die programs together: a page on each plane.
    pub(super) fn program_bytes(&self) -> u64 {
        self.page_bytes.saturating_mul(self.planes.max(1).into())
    }

    fn sizes(&self) -> [Check; 11] {
        let is_unit = |bytes: u64| bytes.is_power_of_two() && (512..=1 << 20).contains(&bytes);
        let whole = |bytes: u64| bytes.is_multiple_of(self.logical_bytes.max(1));
        let page = is_unit(self.page_bytes);
        let unit = is_unit(self.unit_bytes) && self.unit_bytes >= self.logical_bytes;
        let origin = self.origin_bytes < self.unit_bytes && whole(self.origin_bytes);
        let spare =
            self.spare_bytes >= self.capacity_bytes / 100 && self.spare_bytes <= CAPACITY_BYTES_MAX;
        let left = self.spare_bytes.saturating_sub(self.kept_back_bytes);
        let kept_back = left >= self.capacity_bytes / 100;
        let unused = self.capacity_bytes.saturating_sub(self.used_bytes);
        let erased = self.erased_bytes <= unused.saturating_add(left);
        let pages = self.buffer_bytes / self.program_bytes().max(1);
        let buffer = self.buffer_bytes == 0 || (1..=BUFFER_PAGES_MAX).contains(&pages);
        let units = "a power of two from logical_sector to 1 MiB";
        [
            logical_sector(self.logical_bytes),
            capacity(self.capacity_bytes, self.logical_bytes),
            (unit, "unit", self.unit_bytes, units),
            (origin, "origin", self.origin_bytes, "whole sectors below unit"),
            (page, "page", self.page_bytes, "a power of two from 512 to 1 MiB"),
            (spare, "spare", self.spare_bytes, "from a hundredth of capacity to 2^56"),
            (kept_back, "kept_back", self.kept_back_bytes, "spare less a hundredth of capacity"),
            (self.used_bytes <= self.capacity_bytes, "used", self.used_bytes, "at most capacity"),
            (erased, "erased", self.erased_bytes, "at most what is not in use"),
            (
                buffer,
                "buffer",
                self.buffer_bytes,
                "0, or what is programmed together, up to 2^20 times",
            ),
            (self.slc_bytes <= self.capacity_bytes, "slc", self.slc_bytes, "at most capacity"),
        ]
    }

    fn times(&self) -> [Check; 12] {
        [
            time("read", self.read_ns),
            time("program", self.program_ns),
            time("erase", self.erase_ns),
            time("slc_program", self.slc_program_ns),
            time("slc_idle", self.slc_idle_ns),
            time("host", self.host_ns),
            time("unit_time", self.unit_ns),
            time("run_unit_time", self.run_unit_ns),
            time("command", self.command_ns),
            time("flush", self.flush_ns),
            speed("channel", self.channel_bytes_per_second),
            speed("link", self.link_bytes_per_second),
        ]
    }

    fn counts(&self) -> [Check; 8] {
        let count = |value, count: u32, least: u32, most: u32, wanted| {
            ((least..=most).contains(&count), value, u64::from(count), wanted)
        };
        let joins = self.joined_parts <= if self.buffer_bytes == 0 { 0 } else { 256 };
        let units = self.buffer_bytes / self.unit_bytes.max(1);
        let queue = u64::from(self.rmw_queue) <= units;
        let channels = (1..=self.dies).contains(&self.channels);
        [
            count("pages_per_block", self.pages_per_block, 1, 65_536, "from 1 to 65536"),
            count("planes", self.planes, 1, 16, "from 1 to 16"),
            count("dies", self.dies, 1, 4096, "from 1 to 4096"),
            (channels, "channels", self.channels.into(), "from 1 to dies"),
            count("flush_programs", self.flush_programs, 1, 16, "from 1 to 16"),
            count("rmw_slots", self.rmw_slots, 1, 256, "from 1 to 256"),
            (queue, "rmw_queue", self.rmw_queue.into(), "at most the units of the buffer"),
            (joins, "joined_parts", self.joined_parts.into(), "at most 256, and 0 without buffer"),
        ]
    }
}
