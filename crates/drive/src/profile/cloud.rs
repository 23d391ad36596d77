//! The values of a network volume's profile.

use super::field::{Field, at};
use super::quantity::Quantity;
use crate::plan_bounds::PlanFault;
use crate::{Cloud, CloudPlan, Ideal, Spread};

const SPREADS: [Spread; 2] = [Spread::Uniform, Spread::Triangular];
const SPREAD_WORDS: Quantity = Quantity::Word(&["uniform", "triangular"]);

/// A network volume over a store that takes no time.
#[derive(Default)]
pub(super) struct CloudVolume {
    capacity_bytes: u64,
    logical_bytes: u64,
    cloud: CloudPlan,
}

impl CloudVolume {
    /// The volume, at time 0.
    ///
    /// # Errors
    /// When a value is out of its bounds.
    pub(super) fn model(self) -> Result<Cloud<Ideal>, PlanFault> {
        let plan = CloudPlan { seed: 1, ..self.cloud };
        Cloud::new(plan, Ideal::new(self.capacity_bytes, self.logical_bytes)?)
    }
}

/// All values, as `straddle drive show` lists them. What each means stands at [`CloudPlan`] and
/// [`crate::Limits`].
pub(super) const FIELDS: &[Field<CloudVolume>] = &[
    Field::new("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    Field::new("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    Field::new("request", Quantity::Time, |plan, ns| plan.cloud.request_ns = ns),
    Field::new("response", Quantity::Time, |plan, ns| plan.cloud.response_ns = ns),
    Field::new("jitter", Quantity::Time, |plan, ns| plan.cloud.jitter_ns = ns),
    Field::new("spread", SPREAD_WORDS, |plan, place| plan.cloud.spread = at(&SPREADS, place)),
    Field::new("baseline", Quantity::Count, |plan, count| {
        plan.cloud.limits.baseline_per_second = count
    }),
    Field::new("burst", Quantity::Count, |plan, count| plan.cloud.limits.burst_per_second = count),
    Field::new("credits", Quantity::Count, |plan, count| plan.cloud.limits.credits = count),
    Field::new("counted", Quantity::Bytes, |plan, bytes| plan.cloud.limits.counted_bytes = bytes),
    Field::new("rate", Quantity::Rate, |plan, rate| plan.cloud.limits.bytes_per_second = rate),
];
