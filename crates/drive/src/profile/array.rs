//! The values of an array's profile, and of a controller's.

use units::stripe::Rotation;

use super::quantity::YES_NO;
use super::{DriveProfile, Field, Form, Quantity, at, narrow};
use crate::array::{ArrayPlan, Level, ParityWrite};
use crate::controller::ControllerPlan;
use crate::hard_disk::PlanFault;
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
pub(super) struct Whole {
    plan: ArrayPlan,
    level: u64,
    copies: u64,
    rotation: Rotation,
    offset_bytes: u64,
    drift_rpm: u32,
}

/// An array that none is, to be filled.
pub(super) const EMPTY: Whole = Whole {
    plan: ArrayPlan {
        level: Level::Raid0,
        members: 0,
        chunk_bytes: 0,
        turns: false,
        row_bytes: 0,
        parity_write: ParityWrite::Fewer,
        stripes: 0,
        hold_ns: 0,
    },
    level: 0,
    copies: 0,
    rotation: Rotation::LeftSymmetric,
    offset_bytes: 0,
    drift_rpm: 0,
};

const fn field(key: &'static str, quantity: Quantity, set: fn(&mut Whole, u64)) -> Field<Whole> {
    Field { form: Form { key, quantity }, set }
}

/// All values, as `straddle drive show` lists them. What each means stands at [`ArrayPlan`];
/// `drift` is by how many turns a minute each member is faster than the one before, so that the
/// angle between two of them takes every value, as that of real spindles does.
pub(super) const FIELDS: [Field<Whole>; 12] = [
    field("level", LEVELS, |whole, place| whole.level = place),
    field("members", Quantity::Count, |whole, count| whole.plan.members = count),
    field("copies", Quantity::Count, |whole, count| whole.copies = count),
    field("chunk", Quantity::Bytes, |whole, bytes| whole.plan.chunk_bytes = bytes),
    field("data_offset", Quantity::Bytes, |whole, bytes| whole.offset_bytes = bytes),
    field("rotation", ROTATION_WORDS, |whole, place| whole.rotation = at(&ROTATIONS, place)),
    field("turns", YES_NO, |whole, place| whole.plan.turns = place == 1),
    field("drift", Quantity::Count, |whole, count| whole.drift_rpm = narrow(count)),
    field("row", Quantity::Bytes, |whole, bytes| whole.plan.row_bytes = bytes),
    field("parity_write", PARITY_WORDS, |whole, place| {
        whole.plan.parity_write = at(&PARITY_WRITES, place)
    }),
    field("stripes", Quantity::Count, |whole, count| whole.plan.stripes = count),
    field("hold", Quantity::Time, |whole, ns| whole.plan.hold_ns = ns),
];

impl Whole {
    /// The array of drives as `member` is, at time 0.
    ///
    /// # Errors
    /// When a value is out of its bounds.
    pub(super) fn model(self, member: &DriveProfile) -> Result<Array<Box<dyn Model>>, PlanFault> {
        let plan = ArrayPlan { level: self.level(), ..self.plan }.checked()?;
        let count = u32::try_from(plan.members).unwrap_or(u32::MAX);
        let members: Result<Vec<_>, PlanFault> = (0..count)
            .map(|place| {
                let drift = u64::from(place) * u64::from(self.drift_rpm);
                let model = member.faster(drift).model()?;
                Ok(Member { model, offset_bytes: self.offset_bytes })
            })
            .collect();
        Array::new(plan, members?)
    }

    fn level(&self) -> Level {
        let Whole { copies, rotation, .. } = *self;
        match self.level {
            0 => Level::Raid0,
            1 => Level::Raid1,
            2 => Level::Raid10 { copies },
            3 => Level::Raid4,
            4 => Level::Raid5(rotation),
            _ => Level::Raid6(rotation),
        }
    }
}

/// A controller that none is, to be filled.
pub(super) const NO_CONTROLLER: ControllerPlan = ControllerPlan {
    cache_bytes: 0,
    command_ns: 0,
    link_bytes_per_second: 0,
    run_bytes: 0,
    depth: 0,
    idle_ns: 0,
};

const fn part(
    key: &'static str,
    quantity: Quantity,
    set: fn(&mut ControllerPlan, u64),
) -> Field<ControllerPlan> {
    Field { form: Form { key, quantity }, set }
}

/// All values of a controller. What each means stands at [`ControllerPlan`].
pub(super) const CONTROLLER_FIELDS: [Field<ControllerPlan>; 6] = [
    part("cache", Quantity::Bytes, |plan, bytes| plan.cache_bytes = bytes),
    part("command", Quantity::Time, |plan, ns| plan.command_ns = ns),
    part("link", Quantity::Rate, |plan, rate| plan.link_bytes_per_second = rate),
    part("run", Quantity::Bytes, |plan, bytes| plan.run_bytes = bytes),
    part("depth", Quantity::Count, |plan, count| {
        plan.depth = u16::try_from(count).unwrap_or(u16::MAX)
    }),
    part("idle", Quantity::Time, |plan, ns| plan.idle_ns = ns),
];
