//! Values of a network volume, and their bounds.

use crate::plan_bounds::{PlanFault, check, speed, time};

/// Spread of the random part of the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spread {
    /// All values are as likely.
    #[default]
    Uniform,
    /// The middle is the likeliest: the mean of two uniform values.
    Triangular,
}

/// Rates that a volume allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeLimits {
    /// Operations a second that it may always do, and credits that come in.
    pub baseline_per_second: u64,
    /// Operations a second while there are credits; at least the baseline.
    pub burst_per_second: u64,
    /// Number of credits at first and at most; 0 for no burst.
    pub credits: u64,
    /// Up to how many bytes count as one operation.
    pub counted_bytes: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
}

impl VolumeLimits {
    /// The limits of an EBS gp2 volume of so many GiB, as Amazon documents them. Bytes: 128 MiB/s
    /// up to 170 GiB, else 250 MiB/s; between 170 and 334 GiB that lasts no longer than the credits
    /// do, which is not modeled.
    #[must_use]
    pub fn gp2(gib: u64) -> VolumeLimits {
        let baseline_per_second = gib.saturating_mul(3).clamp(100, 16_000);
        VolumeLimits {
            baseline_per_second,
            burst_per_second: baseline_per_second.max(3000),
            credits: 5_400_000,
            counted_bytes: 256 << 10,
            bytes_per_second: if gib <= 170 { 128 << 20 } else { 250 << 20 },
        }
    }
}

/// Values that a network volume adds to its store: [`CloudPlan::checked`] gives the bounds of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CloudPlan {
    /// The way there.
    pub request_ns: u64,
    /// The way back, at the least.
    pub response_ns: u64,
    /// Longest addition to the way back.
    pub jitter_ns: u64,
    /// Spread of that addition.
    pub spread: Spread,
    /// Seed of that addition.
    pub seed: u64,
    /// Rates that it allows.
    pub limits: VolumeLimits,
}

impl CloudPlan {
    /// The plan, where such a volume can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<CloudPlan, PlanFault> {
        let limits = self.limits;
        let rate = 1..=1_000_000_000;
        let burst = (limits.baseline_per_second..=1_000_000_000).contains(&limits.burst_per_second);
        let checks = [
            time("request", self.request_ns),
            time("response", self.response_ns),
            time("jitter", self.jitter_ns),
            (
                rate.contains(&limits.baseline_per_second),
                "baseline",
                limits.baseline_per_second,
                "from 1 to 10^9",
            ),
            (burst, "burst", limits.burst_per_second, "from the baseline to 10^9"),
            (limits.credits <= 1 << 50, "credits", limits.credits, "at most 2^50"),
            (
                (512..=1 << 40).contains(&limits.counted_bytes),
                "counted",
                limits.counted_bytes,
                "from 512 to 2^40",
            ),
            speed("rate", limits.bytes_per_second),
        ];
        check(checks)?;
        Ok(self)
    }
}
