//! Values of a controller, and their bounds.

use crate::plan_bounds::{PlanFault, check, depth, speed, time};

/// Values of a controller: [`ControllerPlan::checked`] gives the bounds of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerPlan {
    /// The cache.
    pub cache_bytes: u64,
    /// Time for each command.
    pub command_ns: u64,
    /// The speed of the wire to the host.
    pub link_bytes_per_second: u64,
    /// Most bytes that are written to the model below as one, and at least a stripe.
    pub run_bytes: u64,
    /// Number of writes the model below has at once.
    pub depth: u16,
    /// Time without a command from the host before it empties a cache that is not half full.
    pub idle_ns: u64,
}

impl ControllerPlan {
    /// The plan, where such a controller can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<ControllerPlan, PlanFault> {
        let cache = (1 << 16..=1 << 40).contains(&self.cache_bytes);
        let run = (4096..=self.cache_bytes).contains(&self.run_bytes);
        let checks = [
            (cache, "cache", self.cache_bytes, "from 64 KiB to 1 TiB"),
            time("command", self.command_ns),
            speed("link", self.link_bytes_per_second),
            (run, "run", self.run_bytes, "from 4096 to cache"),
            depth(self.depth),
            time("idle", self.idle_ns),
        ];
        check(checks)?;
        Ok(self)
    }
}
