//! `drive simulate --profile`: what a workload costs on drives, at places.

use std::cell::RefCell;

use anyhow::{anyhow, bail};
use drive::profile::DriveProfile;
use drive::run::{Job, Limits, Place, Seen, run as run_jobs};
use drive::{Model, Tally};
use measure::Histogram;
use report::drive::{
    SIMULATION_SCHEMA, SimulatedArm, SimulatedWork, Simulation, simulation_json, simulation_table,
};
use units::text::escape;

use super::grounds::{Ground, Grounds};
use super::known;
use super::laid::Way;
use super::work::{Strand, Workload};
use crate::arguments::Simulate;
use crate::exit::Outcome;
use crate::printer;

/// What a host takes from a command to the next: a system call and an interrupt.
const TURNAROUND_NS: u64 = 10_000;
/// Of what a place is a multiple that is aligned for any drive.
const ALIGNED_BYTES: u64 = 1 << 20;

/// A drive, and what of its profile was changed.
struct Arm {
    profile: DriveProfile,
    changed: Vec<String>,
}

/// Where a workload is done.
struct Spot<'a> {
    /// The bytes that it has: of the ground, where there is one, else of the drive.
    place: Place,
    /// The layer whose bytes they are.
    ground: Option<&'a Ground>,
    /// What of it is told: the layer, the shift, and what it is compared with.
    told: SimulatedArm,
}

/// Simulates a workload on each drive at each place.
pub(super) fn run(asked: &Simulate) -> anyhow::Result<Outcome> {
    let workload = Workload::of(asked)?;
    let grounds = asked.stack.as_ref().map(|path| Grounds::of(path, asked)).transpose()?;
    let mut document = Simulation {
        schema: SIMULATION_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args_os().map(|word| escape(word.as_encoded_bytes())).collect(),
        seed: asked.seed,
        workload: workload.title.clone(),
        arms: Vec::new(),
        notes: workload.notes.clone(),
    };
    document.notes.extend(grounds.iter().flat_map(|grounds| grounds.notes.clone()));
    for arm in arms(asked)? {
        let model = arm.profile.model()?;
        let first = document.arms.len();
        let spots = match &grounds {
            Some(grounds) => on_grounds(&*model, &arm, grounds, first, asked),
            None => on_drive(&*model, &arm, asked),
        };
        let spots = spots.map_err(|why| anyhow!("cannot simulate {}: {why}", arm.profile.name))?;
        for spot in spots {
            let done = simulated(&workload, &arm, spot, asked, &mut document.notes)?;
            document.arms.push(done);
        }
    }
    let rates: Vec<f64> = document.arms.iter().map(|arm| arm.operations_per_second).collect();
    for arm in &mut document.arms {
        let against = usize::try_from(arm.against).ok().and_then(|index| rates.get(index));
        let ratio = against.map(|rate| rate / arm.operations_per_second);
        arm.ratio = ratio.filter(|ratio| ratio.is_finite()).unwrap_or(1.0);
    }
    let text = match asked.json {
        true => simulation_json(&document),
        false => simulation_table(&document, &printer::look(false)),
    };
    printer::print(&text)?;
    Ok(Outcome::Clean)
}

/// Every drive as it is told, and once more for each change.
fn arms(asked: &Simulate) -> anyhow::Result<Vec<Arm>> {
    let mut arms = Vec::new();
    for word in &asked.profiles {
        let mut profile = known::named(word)?;
        for change in &asked.set {
            profile = changed(profile, change)?;
        }
        arms.push(Arm { profile: profile.clone(), changed: asked.set.clone() });
        for change in &asked.vary {
            let changes = [&asked.set[..], std::slice::from_ref(change)].concat();
            arms.push(Arm { profile: changed(profile.clone(), change)?, changed: changes });
        }
    }
    Ok(arms)
}

/// `profile` with `change`, which is `KEY=VALUE`.
fn changed(profile: DriveProfile, change: &str) -> anyhow::Result<DriveProfile> {
    let name = profile.name.clone();
    let told = escape(change.as_bytes());
    let Some((key, value)) = change.split_once('=') else {
        bail!("cannot change {name}: `{told}` is no KEY=VALUE\nhint: cache=0, for example");
    };
    let changed = profile.with(key.trim(), value.trim());
    let changed = changed
        .map_err(|why| anyhow!("cannot change {name}: {why}\nhint: straddle drive show {name}"))?;
    changed
        .model()
        .map_err(|fault| anyhow!("cannot change {name}: {fault}\nhint: choose {}", fault.wanted))?;
    Ok(changed)
}

/// The place on the drive, and once more for each shift.
fn on_drive(model: &dyn Model, arm: &Arm, asked: &Simulate) -> Result<Vec<Spot<'static>>, String> {
    let logical_bytes = arm.profile.amount("logical_sector").unwrap_or(512);
    let shifts = match asked.shift.is_empty() {
        true => vec![logical_bytes],
        false => asked.shift.clone(),
    };
    let spot = |shift_bytes| {
        let place = place(model, shift_bytes, asked)?;
        let start_bytes = place.start_bytes;
        let told = SimulatedArm { shift_bytes, start_bytes, ..SimulatedArm::default() };
        Ok(Spot { place, ground: None, told })
    };
    std::iter::once(0).chain(shifts).map(spot).collect()
}

/// Each layer, with as many bytes at an aligned place near it before it; `first` is the number of
/// the first.
fn on_grounds<'a>(
    model: &dyn Model,
    arm: &Arm,
    grounds: &'a Grounds,
    first: usize,
    asked: &Simulate,
) -> Result<Vec<Spot<'a>>, String> {
    whole(model, asked)?;
    let origin_bytes = arm.profile.amount("origin").unwrap_or(0);
    let mut spots = Vec::new();
    for ground in &grounds.grounds {
        let Ground { name, start_bytes, length_bytes, .. } = ground;
        if *length_bytes < asked.size {
            return Err(format!("{name} has {length_bytes} bytes\nhint: name another: --layer"));
        }
        let place = aligned(model, *start_bytes, *length_bytes, origin_bytes)
            .map_err(|why| format!("{name} {why}"))?;
        let against = u32::try_from(first + spots.len()).unwrap_or(u32::MAX);
        let told = |layer: &str, start_bytes| SimulatedArm {
            layer: Some(layer.to_owned()),
            start_bytes,
            against,
            ..SimulatedArm::default()
        };
        spots.push(Spot { place, ground: None, told: told("aligned", place.start_bytes) });
        let own = Place { start_bytes: 0, length_bytes: *length_bytes };
        spots.push(Spot { place: own, ground: Some(ground), told: told(name, *start_bytes) });
    }
    Ok(spots)
}

/// An aligned place of `length_bytes` on the drive, as near behind `start_bytes` as it goes.
fn aligned(
    model: &dyn Model,
    start_bytes: u64,
    length_bytes: u64,
    origin_bytes: u64,
) -> Result<Place, String> {
    let logical_bytes = model.logical_bytes();
    if !start_bytes.is_multiple_of(logical_bytes) {
        return Err(format!(
            "begins at {start_bytes} bytes, in the middle of a logical sector of {logical_bytes}\n\
             hint: no partition can begin there on this drive: take one with smaller sectors"
        ));
    }
    let capacity = model.capacity_bytes();
    let near = start_bytes.checked_next_multiple_of(ALIGNED_BYTES).unwrap_or(u64::MAX);
    let before = start_bytes - start_bytes % ALIGNED_BYTES;
    let places = [near, before].map(|place| place.saturating_add(origin_bytes));
    let fits = |place: &u64| place.saturating_add(length_bytes) <= capacity;
    match places.into_iter().find(fits) {
        Some(start_bytes) if start_bytes < capacity => Ok(Place { start_bytes, length_bytes }),
        _ => Err(format!(
            "reaches to {} bytes, the drive to {capacity}\n\
             hint: take a larger drive: --set capacity=SIZE",
            start_bytes.saturating_add(length_bytes)
        )),
    }
}

/// What `workload` costs on a drive at a spot.
fn simulated(
    workload: &Workload,
    arm: &Arm,
    spot: Spot<'_>,
    asked: &Simulate,
    notes: &mut Vec<String>,
) -> anyhow::Result<SimulatedArm> {
    let mut model = arm.profile.model()?;
    let (drive, sector_bytes) = (&arm.profile.name, model.logical_bytes());
    let way = RefCell::new(Way::default());
    let strands = workload.strands(spot.place, sector_bytes, drive, asked)?;
    let laid = |strand| match spot.ground {
        Some(ground) => Strand::laid(strand, ground, sector_bytes, &way),
        None => strand,
    };
    let mut strands: Vec<Strand<'_>> = strands.into_iter().map(laid).collect();
    let mut jobs: Vec<Job<'_>> = strands.iter_mut().map(Strand::job).collect();
    let done = run_on(&mut *model, arm, spot.told, &mut jobs, asked);
    drop(strands);
    let Some(ground) = spot.ground else { return Ok(done) };
    let Way { left_out, fault } = way.into_inner();
    let nothing =
        || (done.operations == 0).then(|| "all operations fall into its holes".to_owned());
    if let Some(why) = fault.or_else(nothing) {
        bail!(
            "cannot simulate {drive} under {}: {why}\nhint: straddle check shows where it lies",
            ground.name
        );
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} operations in {} fall into holes of the image and are left out: a write \
             would put them somewhere new",
            ground.name
        ));
    }
    Ok(done)
}

/// What `jobs` cost on the model of a drive, with what is `told` of where.
fn run_on(
    model: &mut dyn Model,
    arm: &Arm,
    told: SimulatedArm,
    jobs: &mut [Job<'_>],
    asked: &Simulate,
) -> SimulatedArm {
    let limits =
        Limits { operations: asked.operations, time_ns: u64::MAX, turnaround_ns: TURNAROUND_NS };
    let (mut times, mut sum_ns, mut failed) = (Histogram::new(), 0, 0);
    let mut seen = |one: Seen| {
        times.record(one.took_ns());
        sum_ns += u128::from(one.took_ns());
        failed += u64::from(one.fault.is_some());
    };
    let elapsed_ns = run_jobs(model, jobs, limits, &mut seen);
    let operations = times.count();
    let mean_ns = sum_ns.checked_div(operations.into()).unwrap_or(0);
    SimulatedArm {
        drive: arm.profile.name.clone(),
        changed: arm.changed.clone(),
        operations,
        failed,
        elapsed_ns,
        operations_per_second: real(operations) * 1e9 / real(elapsed_ns.max(1)),
        mean_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
        p50_ns: times.percentile(50.0),
        p90_ns: times.percentile(90.0),
        p99_ns: times.percentile(99.0),
        max_ns: times.max(),
        ratio: 1.0,
        did: did(model.tally()),
        ..told
    }
}

/// Where the workload is: from its start, shifted, to the end of the drive.
fn place(model: &dyn Model, shift_bytes: u64, asked: &Simulate) -> Result<Place, String> {
    whole(model, asked)?;
    let logical_bytes = model.logical_bytes();
    if !shift_bytes.is_multiple_of(logical_bytes) {
        return Err(format!(
            "a shift of {shift_bytes} bytes is no multiple of its logical sector\n\
             hint: take multiples of {logical_bytes}"
        ));
    }
    let start_bytes = asked.start.saturating_add(shift_bytes);
    // As many bytes for each shift, so that all do the same.
    let most = asked.shift.iter().copied().max().unwrap_or(logical_bytes).max(shift_bytes);
    let end = model.capacity_bytes().saturating_sub(asked.start.saturating_add(most));
    match end >= asked.size {
        true => Ok(Place { start_bytes, length_bytes: end }),
        false => Err(format!(
            "it ends at {} bytes\nhint: begin earlier with --start",
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
            "operations of {} bytes from {} on are no whole logical sectors\n\
             hint: take multiples of {logical_bytes}",
            asked.size, asked.start
        )),
    }
}

fn did(tally: Tally) -> SimulatedWork {
    SimulatedWork {
        commands: tally.commands,
        medium_reads: tally.medium_reads,
        medium_writes: tally.medium_writes,
        rmw_reads: tally.rmw_reads,
        parity_rmws: tally.parity_rmws,
        seeks: tally.seeks,
        seek_ns: tally.seek_ns,
        wait_ns: tally.wait_ns,
        transfer_ns: tally.transfer_ns,
        busy_ns: tally.busy_ns,
        programs: tally.programs,
        erases: tally.erases,
    }
}

/// A count or a time as a real number, rounded beyond 2^53.
#[expect(clippy::cast_precision_loss, reason = "a rate is not exact")]
fn real(number: u64) -> f64 {
    number as f64
}
