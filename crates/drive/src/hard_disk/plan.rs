//! What a hard disk is.

/// How firmware writes sectors of which it gets a part: each is read, and written whole when it
/// comes by again.
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

/// Which of the waiting commands is done next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheduler {
    /// In the order in which they came.
    #[default]
    Fifo,
    /// That whose first sector is reached first: shortest access time first.
    Nearest,
}

/// What a hard disk is: [`HardDiskPlan::checked`] says what each value may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardDiskPlan {
    /// Number of bytes it holds.
    pub capacity_bytes: u64,
    /// The addressable unit.
    pub logical_bytes: u64,
    /// What is read and written as one.
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
    /// How long the head takes to settle on a track.
    pub settle_ns: u64,
    /// How long the arm takes from the first track to the last, the settling included. Between, a
    /// seek takes `settle + (full - settle) * sqrt(share of the stroke)`.
    pub full_stroke_ns: u64,
    /// How it writes parts of sectors.
    pub rmw: Rmw,
    /// What the controller takes for each command.
    pub command_ns: u64,
    /// The speed of the wire.
    pub link_bytes_per_second: u64,
    /// The write cache; 0 for none, or where it is switched off.
    pub cache_bytes: u64,
    /// How much of the cache is written to the medium at once.
    pub run_bytes: u64,
    /// How long the host must leave it alone before it empties its cache.
    pub idle_ns: u64,
    /// True if it keeps the last, partly written sector of a run for the writes that follow.
    pub holds_tail: bool,
    /// How far it reads on behind a read.
    pub read_ahead_bytes: u64,
    /// Number of commands it chooses among.
    pub depth: u16,
    /// How it chooses.
    pub scheduler: Scheduler,
}

/// Why such a disk cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is {found}; it must be {wanted}")]
pub struct PlanFault {
    /// Which value, as profiles call it.
    pub value: &'static str,
    /// What it is.
    pub found: u64,
    /// What it may be.
    pub wanted: &'static str,
}

/// The longest that anything of a disk takes, in nanoseconds: ten seconds.
pub(crate) const TIME_NS_MAX: u64 = 10_000_000_000;
/// The largest drive: 2^56 bytes, so that sums of addresses stay below 2^63.
pub(crate) const CAPACITY_BYTES_MAX: u64 = 1 << 56;

impl HardDiskPlan {
    /// The plan, where such a disk can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<HardDiskPlan, PlanFault> {
        let is_sector = |bytes: u64| bytes.is_power_of_two() && (512..=65_536).contains(&bytes);
        let sector = "a power of two from 512 to 65536";
        let time = "at most 10 s";
        let is_time = |ns: u64| ns <= TIME_NS_MAX;
        let track = |bytes: u64| bytes >= 2 * self.physical_bytes && bytes <= 1 << 30;
        let tracks = "from two physical sectors to 1 GiB";
        let is_whole = self.capacity_bytes.is_multiple_of(self.logical_bytes.max(1));
        let size = (1 << 20..=CAPACITY_BYTES_MAX).contains(&self.capacity_bytes) && is_whole;
        let physical = is_sector(self.physical_bytes) && self.physical_bytes >= self.logical_bytes;
        let is_origin = self.origin_bytes < self.physical_bytes
            && self.origin_bytes.is_multiple_of(self.logical_bytes.max(1));
        let cache = self.cache_bytes == 0 || (self.run_bytes..=1 << 40).contains(&self.cache_bytes);
        let run = self.run_bytes >= 2 * self.physical_bytes;
        let checks: [(bool, &'static str, u64, &'static str); 17] = [
            (is_sector(self.logical_bytes), "logical_sector", self.logical_bytes, sector),
            (physical, "physical_sector", self.physical_bytes, "a sector, at least logical_sector"),
            (size, "capacity", self.capacity_bytes, "whole sectors, from 1 MiB to 2^56"),
            (is_origin, "origin", self.origin_bytes, "whole logical sectors below physical_sector"),
            ((60..=100_000).contains(&self.rpm), "rpm", self.rpm.into(), "from 60 to 100000"),
            (track(self.outer_track_bytes), "outer_track", self.outer_track_bytes, tracks),
            (track(self.inner_track_bytes), "inner_track", self.inner_track_bytes, tracks),
            ((1..=256).contains(&self.zones), "zones", self.zones.into(), "from 1 to 256"),
            ((1..=256).contains(&self.heads), "heads", self.heads.into(), "from 1 to 256"),
            (is_time(self.skew_ns), "skew", self.skew_ns, time),
            (self.settle_ns <= self.full_stroke_ns, "settle", self.settle_ns, "a short stroke"),
            (is_time(self.full_stroke_ns), "full_stroke", self.full_stroke_ns, time),
            (is_time(self.command_ns), "command", self.command_ns, time),
            (
                (1_000..=1 << 40).contains(&self.link_bytes_per_second),
                "link",
                self.link_bytes_per_second,
                "from 1000 to 2^40",
            ),
            (run, "run", self.run_bytes, "two physical sectors at least"),
            (cache, "cache", self.cache_bytes, "0, or from run to 2^40"),
            ((1..=1024).contains(&self.depth), "depth", self.depth.into(), "from 1 to 1024"),
        ];
        match checks.into_iter().find(|(is_right, ..)| !is_right) {
            Some((_, value, found, wanted)) => Err(PlanFault { value, found, wanted }),
            None => Ok(self),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{HardDiskPlan, Rmw, Scheduler};

    /// A 7200 rpm 512n disk of 40 GB without a cache, for tests of what stands on it.
    pub(crate) const DISK: HardDiskPlan = HardDiskPlan {
        capacity_bytes: 40_000_000_000,
        logical_bytes: 512,
        physical_bytes: 512,
        origin_bytes: 0,
        rpm: 7200,
        outer_track_bytes: 458_752,
        inner_track_bytes: 229_376,
        zones: 16,
        heads: 4,
        skew_ns: 1_500_000,
        settle_ns: 1_500_000,
        full_stroke_ns: 14_000_000,
        rmw: Rmw::Buffered,
        command_ns: 30_000,
        link_bytes_per_second: 300_000_000,
        cache_bytes: 0,
        run_bytes: 1 << 20,
        idle_ns: 50_000_000,
        holds_tail: false,
        read_ahead_bytes: 0,
        depth: 32,
        scheduler: Scheduler::Nearest,
    };
}
