//! The values of a network volume's profile.

use super::{Field, Form, Quantity, at};
use crate::hard_disk::PlanFault;
use crate::{Cloud, CloudPlan, Ideal, Limits, Spread};

const SPREADS: [Spread; 2] = [Spread::Uniform, Spread::Triangular];
const SPREAD_WORDS: Quantity = Quantity::Word(&["uniform", "triangular"]);

/// A network volume over a store that takes no time.
pub(super) struct Volume {
    capacity_bytes: u64,
    logical_bytes: u64,
    cloud: CloudPlan,
}

impl Volume {
    /// The volume, at time 0.
    ///
    /// # Errors
    /// When a value is out of its bounds.
    pub(super) fn model(self) -> Result<Cloud<Ideal>, PlanFault> {
        Cloud::new(self.cloud, Ideal::new(self.capacity_bytes, self.logical_bytes)?)
    }
}

/// A plan that none has, to be filled.
pub(super) const EMPTY: Volume = Volume {
    capacity_bytes: 0,
    logical_bytes: 0,
    cloud: CloudPlan {
        request_ns: 0,
        response_ns: 0,
        jitter_ns: 0,
        spread: Spread::Uniform,
        seed: 1,
        limits: Limits {
            baseline_per_second: 0,
            burst_per_second: 0,
            credits: 0,
            counted_bytes: 0,
            bytes_per_second: 0,
        },
    },
};

const fn field(key: &'static str, quantity: Quantity, set: fn(&mut Volume, u64)) -> Field<Volume> {
    Field { form: Form { key, quantity }, set }
}

/// All values, as `straddle drive show` lists them. What each means stands at [`CloudPlan`] and
/// [`Limits`].
pub(super) const FIELDS: [Field<Volume>; 11] = [
    field("capacity", Quantity::Bytes, |plan, bytes| plan.capacity_bytes = bytes),
    field("logical_sector", Quantity::Bytes, |plan, bytes| plan.logical_bytes = bytes),
    field("request", Quantity::Time, |plan, ns| plan.cloud.request_ns = ns),
    field("response", Quantity::Time, |plan, ns| plan.cloud.response_ns = ns),
    field("jitter", Quantity::Time, |plan, ns| plan.cloud.jitter_ns = ns),
    field("spread", SPREAD_WORDS, |plan, place| plan.cloud.spread = at(&SPREADS, place)),
    field("baseline", Quantity::Count, |plan, count| plan.cloud.limits.baseline_per_second = count),
    field("burst", Quantity::Count, |plan, count| plan.cloud.limits.burst_per_second = count),
    field("credits", Quantity::Count, |plan, count| plan.cloud.limits.credits = count),
    field("counted", Quantity::Bytes, |plan, bytes| plan.cloud.limits.counted_bytes = bytes),
    field("rate", Quantity::Rate, |plan, rate| plan.cloud.limits.bytes_per_second = rate),
];
