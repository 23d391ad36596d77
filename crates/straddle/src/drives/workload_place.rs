//! Places of a workload on a drive: places of its own, or in layers.

use drive::Model;
use drive::run::Region;
use report::drive::SimulatedArm;

use super::drives_under::DrivesUnder;
use super::layer_place::LayerPlace;
use super::stack_layers::StackLayers;
use super::variants::Variant;
use crate::arguments::Simulate;

/// Of what a place is a multiple that is aligned for any drive.
pub(super) const ALIGNED_BYTES: u64 = 1 << 20;

/// Place where a workload is done.
pub(super) struct WorkloadPlace<'a> {
    /// The bytes that it has: of the drive, of the layer, or of the layer's floor.
    pub(super) place: Region,
    /// Whose bytes they are.
    pub(super) owner: Owner<'a>,
    /// Description of it: the layer, the shift, and what it is compared with.
    pub(super) told: SimulatedArm,
}

/// Whose bytes a place has.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    /// The drive's.
    Drive,
    /// A layer's, where they really lie.
    Layer(&'a LayerPlace),
    /// A layer's floor, whose share begins aligned on every drive.
    Floor(&'a LayerPlace),
}

impl Owner<'_> {
    /// Returns how far the bytes of a drive are moved so that what is aligned on the floor is
    /// aligned there.
    pub(super) fn raised_bytes(self, under: &DrivesUnder, origin_bytes: u64) -> u64 {
        match self {
            Owner::Floor(_) => {
                let past = under.origin_bytes % ALIGNED_BYTES;
                (ALIGNED_BYTES - past + origin_bytes) % ALIGNED_BYTES
            }
            Owner::Drive | Owner::Layer(_) => 0,
        }
    }
}

/// The place on the drive, and once more for each shift.
pub(super) fn on_drive(
    model: &dyn Model,
    arm: &Variant,
    asked: &Simulate,
) -> Result<Vec<WorkloadPlace<'static>>, String> {
    let logical_bytes = arm.profile.amount("logical_sector").unwrap_or(512);
    let shifts = match asked.shift.is_empty() {
        true => vec![logical_bytes],
        false => asked.shift.clone(),
    };
    let spot = |shift_bytes| {
        let place = place(model, asked.start, shift_bytes, &shifts, asked)?;
        let start_bytes = place.start_bytes;
        let told = SimulatedArm { shift_bytes, start_bytes, ..SimulatedArm::default() };
        Ok(WorkloadPlace { place, owner: Owner::Drive, told })
    };
    std::iter::once(0).chain(shifts.iter().copied()).map(spot).collect()
}

/// Each layer, with as many bytes at an aligned place near it before it; `first` is the number of
/// the first.
pub(super) fn on_grounds<'a>(
    model: &dyn Model,
    arm: &Variant,
    grounds: &'a StackLayers,
    first: usize,
    asked: &Simulate,
) -> Result<Vec<WorkloadPlace<'a>>, String> {
    whole(model, asked)?;
    let origin_bytes = arm.profile.amount("origin").unwrap_or(0);
    let mut spots = Vec::new();
    for ground in &grounds.grounds {
        let LayerPlace { name, start_bytes, length_bytes, .. } = ground;
        if *length_bytes < asked.size {
            return Err(format!(
                "{name} has only {length_bytes} bytes\nhint: name another layer with --layer"
            ));
        }
        let (place, owner) = match ground.is_spread() {
            true => (on_floor(model, ground, origin_bytes), Owner::Floor(ground)),
            false => (aligned(model, *start_bytes, *length_bytes, origin_bytes), Owner::Drive),
        };
        let place = place.map_err(|why| format!("{name} {why}"))?;
        let against = u32::try_from(first + spots.len()).unwrap_or(u32::MAX);
        let told = |layer: &str, start_bytes, reference| SimulatedArm {
            layer: Some(layer.to_owned()),
            start_bytes,
            reference,
            against,
            ..SimulatedArm::default()
        };
        let at_aligned = told("aligned", place.start_bytes, true);
        spots.push(WorkloadPlace { place, owner, told: at_aligned });
        let own = Region { start_bytes: 0, length_bytes: *length_bytes };
        spots.push(WorkloadPlace {
            place: own,
            owner: Owner::Layer(ground),
            told: told(name, *start_bytes, false),
        });
    }
    Ok(spots)
}

/// An aligned place of `length_bytes` on the drive, as near after `start_bytes` as it goes.
fn aligned(
    model: &dyn Model,
    start_bytes: u64,
    length_bytes: u64,
    origin_bytes: u64,
) -> Result<Region, String> {
    let logical_bytes = model.logical_bytes();
    if !start_bytes.is_multiple_of(logical_bytes) {
        return Err(cut(start_bytes, logical_bytes));
    }
    let capacity = model.capacity_bytes();
    let near = start_bytes.checked_next_multiple_of(ALIGNED_BYTES).unwrap_or(u64::MAX);
    let before = start_bytes - start_bytes % ALIGNED_BYTES;
    let places = [near, before].map(|place| place.saturating_add(origin_bytes));
    let fits = |place: &u64| place.saturating_add(length_bytes) <= capacity;
    match places.into_iter().find(fits) {
        Some(start_bytes) if start_bytes < capacity => Ok(Region { start_bytes, length_bytes }),
        _ => Err(beyond(start_bytes.saturating_add(length_bytes), capacity)),
    }
}

/// A place as long as the layer from a full stripe of its floor on, as near after it as it goes.
fn on_floor(model: &dyn Model, ground: &LayerPlace, origin_bytes: u64) -> Result<Region, String> {
    let logical_bytes = model.logical_bytes();
    for under in &ground.leaves {
        if !under.start_bytes.is_multiple_of(logical_bytes) {
            return Err(format!("on {} {}", under.name, cut(under.start_bytes, logical_bytes)));
        }
        let raised_bytes = Owner::Floor(ground).raised_bytes(under, origin_bytes);
        let end = under.length_bytes.unwrap_or(0).saturating_add(raised_bytes);
        if end > model.capacity_bytes() {
            return Err(format!("on {} {}", under.name, beyond(end, model.capacity_bytes())));
        }
    }
    let LayerPlace { start_bytes, length_bytes, .. } = *ground;
    let floor_bytes = ground.stack.layer(ground.floor).length().unwrap_or(u64::MAX);
    let stripe_bytes = ground.stripe_bytes().max(1);
    let near = start_bytes.checked_next_multiple_of(stripe_bytes).unwrap_or(u64::MAX);
    let fits = near.saturating_add(length_bytes) <= floor_bytes;
    let start_bytes = if fits { near } else { start_bytes - start_bytes % stripe_bytes };
    Ok(Region { start_bytes, length_bytes })
}

fn cut(start_bytes: u64, logical_bytes: u64) -> String {
    format!(
        "begins at {start_bytes} bytes, in the middle of a logical sector of {logical_bytes}\n\
         hint: choose a drive with smaller sectors; to list all: straddle drive list"
    )
}

fn beyond(end: u64, capacity_bytes: u64) -> String {
    format!(
        "reaches to {end} bytes, the drive to {capacity_bytes}\n\
         hint: simulate a larger drive: --set capacity=4T"
    )
}

/// Returns where the workload is: from `from`, shifted, to the end of the drive, less the most of
/// `shifts`.
pub(super) fn place(
    model: &dyn Model,
    from: u64,
    shift_bytes: u64,
    shifts: &[u64],
    asked: &Simulate,
) -> Result<Region, String> {
    whole(model, asked)?;
    let logical_bytes = model.logical_bytes();
    if !shift_bytes.is_multiple_of(logical_bytes) {
        return Err(format!(
            "a shift of {shift_bytes} bytes is not a multiple of its logical sector\n\
             hint: take multiples of {logical_bytes}"
        ));
    }
    let start_bytes = from.saturating_add(shift_bytes);
    // As many bytes for each shift, so that all do the same.
    let most = shifts.iter().copied().max().unwrap_or(0).max(shift_bytes);
    let length_bytes = model.capacity_bytes().saturating_sub(from.saturating_add(most));
    match length_bytes >= asked.size {
        true => Ok(Region { start_bytes, length_bytes }),
        false => Err(format!(
            "the drive ends at {} bytes\nhint: begin earlier: --start 1M",
            model.capacity_bytes()
        )),
    }
}

/// Refuses operations that are no whole logical sectors.
fn whole(model: &dyn Model, asked: &Simulate) -> Result<(), String> {
    let logical_bytes = model.logical_bytes();
    let are_whole = [asked.size, asked.start].map(|bytes| bytes.is_multiple_of(logical_bytes));
    match are_whole {
        [true, true] => Ok(()),
        _ => Err(format!(
            "operations of {} bytes from byte {} are not whole logical sectors\n\
             hint: take multiples of {logical_bytes}",
            asked.size, asked.start
        )),
    }
}
