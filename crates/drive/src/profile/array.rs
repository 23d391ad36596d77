//! The values of an array's profile, and of a controller's.

use units::stripe::Rotation;

use super::field::{Field, at, narrow};
use super::quantity::{Quantity, YES_NO};
use crate::array::{ArrayPlan, Level, ParityWrite};
use crate::controller::ControllerPlan;
use crate::plan_bounds::PlanFault;
use crate::{Array, Member, Model};

const LEVELS: Quantity = Quantity::Word(&["raid0", "raid1", "raid10", "raid4", "raid5", "raid6"]);
const ROTATIONS: [Rotation; 4] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
];
const ROTATION_WORDS: Quantity =
    Quantity::Word(&["left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"]);
const PARITY_WRITES: [ParityWrite; 3] =
    [ParityWrite::ReadModify, ParityWrite::Reconstruct, ParityWrite::Fewer];
const PARITY_WORDS: Quantity = Quantity::Word(&["read-modify", "reconstruct", "fewer"]);

/// An array of one kind of drive.
#[derive(Default)]
pub(super) struct Whole {
    plan: ArrayPlan,
    level: u64,
    copies: u64,
    rotation: u64,
    offset_bytes: u64,
    drift_rpm: u32,
}

/// All values, as `straddle drive show` lists them. What each means stands at [`ArrayPlan`];
/// `drift` is by how many turns a minute each member is faster than the one before, so that the
/// angle between two of them takes every value, as that of real spindles does.
pub(super) const FIELDS: &[Field<Whole>] = &[
    Field::new("level", LEVELS, |whole, place| whole.level = place),
    Field::new("members", Quantity::Count, |whole, count| whole.plan.members = count),
    Field::new("copies", Quantity::Count, |whole, count| whole.copies = count),
    Field::new("chunk", Quantity::Bytes, |whole, bytes| whole.plan.chunk_bytes = bytes),
    Field::new("data_offset", Quantity::Bytes, |whole, bytes| whole.offset_bytes = bytes),
    Field::new("rotation", ROTATION_WORDS, |whole, place| whole.rotation = place),
    Field::new("turns", YES_NO, |whole, place| whole.plan.turns = place == 1),
    Field::new("drift", Quantity::Count, |whole, count| whole.drift_rpm = narrow(count)),
    Field::new("row", Quantity::Bytes, |whole, bytes| whole.plan.row_bytes = bytes),
    Field::new("parity_write", PARITY_WORDS, |whole, place| {
        whole.plan.parity_write = at(&PARITY_WRITES, place)
    }),
    Field::new("stripes", Quantity::Count, |whole, count| whole.plan.stripes = count),
    Field::new("hold", Quantity::Time, |whole, ns| whole.plan.hold_ns = ns),
    Field::or_zero("lost", Quantity::CountOrNone, |whole, count| whole.plan.lost = count),
    Field::or_zero("rebuild", Quantity::Rate, |whole, rate| {
        whole.plan.rebuild_bytes_per_second = rate
    }),
];

impl Whole {
    /// The array, at time 0, of drives that `member` makes: each turns so many times a minute
    /// faster than its profile says.
    ///
    /// # Errors
    /// When a value is out of its bounds.
    pub(super) fn model(
        self,
        member: impl Fn(u64) -> Result<Box<dyn Model>, PlanFault>,
    ) -> Result<Array<Box<dyn Model>>, PlanFault> {
        let plan = ArrayPlan { level: self.level(), ..self.plan }.checked()?;
        let count = u32::try_from(plan.members).unwrap_or(u32::MAX);
        let members: Result<Vec<_>, PlanFault> = (0..count)
            .map(|place| {
                let drift = u64::from(place) * u64::from(self.drift_rpm);
                Ok(Member { model: member(drift)?, offset_bytes: self.offset_bytes })
            })
            .collect();
        Array::new(plan, members?)
    }

    fn level(&self) -> Level {
        let rotation = at(&ROTATIONS, self.rotation);
        match self.level {
            0 => Level::Raid0,
            1 => Level::Raid1,
            2 => Level::Raid10 { copies: self.copies },
            3 => Level::Raid4,
            4 => Level::Raid5(rotation),
            _ => Level::Raid6(rotation),
        }
    }
}

/// All values of a controller. What each means stands at [`ControllerPlan`].
pub(super) const CONTROLLER_FIELDS: &[Field<ControllerPlan>] = &[
    Field::new("cache", Quantity::Bytes, |plan, bytes| plan.cache_bytes = bytes),
    Field::new("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    Field::new("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
    Field::new("run", Quantity::Bytes, |plan, bytes| plan.run_bytes = bytes),
    Field::new("depth", Quantity::Count, |plan, count| {
        plan.depth = u16::try_from(count).unwrap_or(u16::MAX)
    }),
    Field::new("idle", Quantity::Time, |plan, ns| plan.idle_ns = ns),
];
