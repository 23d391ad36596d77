//! What a controller is.

use crate::hard_disk::PlanFault;
use crate::hard_disk::plan::TIME_NS_MAX;

/// What a controller is: [`ControllerPlan::checked`] says what each value may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerPlan {
    /// The cache.
    pub cache_bytes: u64,
    /// What it takes for each command.
    pub command_ns: u64,
    /// The speed of the wire to the host.
    pub link_bytes_per_second: u64,
    /// How much is written to the model below as one, at most, and at least a stripe.
    pub run_bytes: u64,
    /// Number of writes the model below has at once.
    pub depth: u16,
    /// How long the host must leave it alone before it empties a cache that is not half full.
    pub idle_ns: u64,
}

impl ControllerPlan {
    /// The plan, where such a controller can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<ControllerPlan, PlanFault> {
        let is_time = |ns: u64| ns <= TIME_NS_MAX;
        let time = "at most 10 s";
        let cache = (1 << 16..=1 << 40).contains(&self.cache_bytes);
        let link = (1_000..=1 << 40).contains(&self.link_bytes_per_second);
        let run = (4096..=self.cache_bytes).contains(&self.run_bytes);
        let checks: [(bool, &'static str, u64, &'static str); 6] = [
            (cache, "cache", self.cache_bytes, "from 64 KiB to 1 TiB"),
            (is_time(self.command_ns), "command", self.command_ns, time),
            (link, "link", self.link_bytes_per_second, "from 1000 to 2^40"),
            (run, "run", self.run_bytes, "from 4096 to cache"),
            ((1..=1024).contains(&self.depth), "depth", self.depth.into(), "from 1 to 1024"),
            (is_time(self.idle_ns), "idle", self.idle_ns, time),
        ];
        match checks.into_iter().find(|(is_right, ..)| !is_right) {
            Some((_, value, found, wanted)) => Err(PlanFault { value, found, wanted }),
            None => Ok(self),
        }
    }
}
