//! `drive simulate --profile`: what a workload costs on drives, at places.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{anyhow, bail};
use drive::run::{DriveJob, EndedOperation, RunLimits, run as run_jobs};
use drive::{DriveTally, Model};
use measure::Histogram;
use report::Envelope;
use report::drive::{
    SIMULATION_SCHEMA, SimulatedArm, SimulatedLeaf, SimulatedWork, Simulation, simulation_json,
    simulation_table,
};
use units::number::real;

use super::drives_under::DrivesUnder;
use super::job_parts::JobParts;
use super::layer_place::LayerPlace;
use super::layer_workload::{Descent, LayerBytes};
use super::leaf_drives::{Leaf, LeafDrives};
use super::power_cuts::{Cuts, Watched};
use super::stack_layers::StackLayers;
use super::variants::{Variant, arms};
use super::what_if::variants;
use super::workload_place::{Owner, WorkloadPlace, on_drive, on_grounds};
use super::workload_source::{Program, Workload};
use crate::arguments::Simulate;
use crate::exit::CommandOutcome;
use crate::shared::printer;
use crate::shared::run;

/// Ratio of operations a second from which on a drive does not keep up with the rate.
const TOO_SLOW: f64 = 1.05;

/// Simulates a workload on each drive at each place.
pub(super) fn run(asked: &Simulate) -> anyhow::Result<CommandOutcome> {
    let workload = Workload::of(asked)?;
    let grounds = match &asked.stack[..] {
        [] => None,
        paths => Some(StackLayers::of(paths, asked)?),
    };
    let mut document = Simulation {
        envelope: Envelope::new(SIMULATION_SCHEMA, run::anywhere()),
        seed: asked.seed,
        workload: workload.title.clone(),
        arms: Vec::new(),
    };
    let notes = &mut document.envelope.notes;
    notes.clone_from(&workload.notes);
    notes.extend(grounds.iter().flat_map(|grounds| grounds.notes.clone()));
    for arm in arms(asked)? {
        let first = document.arms.len();
        if asked.what_if {
            for (arm, spot) in variants(&arm, &workload, first, asked, notes)? {
                let done = simulated(&workload, &arm, spot, asked, notes)?;
                document.arms.push(done);
            }
            continue;
        }
        let model = arm.model()?;
        let spots = match &grounds {
            Some(grounds) => on_grounds(&*model, &arm, grounds, first, asked),
            None => on_drive(&*model, &arm, asked),
        };
        let spots = spots.map_err(|why| anyhow!("cannot simulate {}: {why}", arm.profile.name))?;
        for spot in spots {
            let done = simulated(&workload, &arm, spot, asked, notes)?;
            document.arms.push(done);
        }
    }
    // Operations that come at times of their own come as often wherever they are.
    let is_paced = workload.is_paced(asked);
    let mut is_any_too_slow = false;
    let mut cost = |arm: &SimulatedArm, against: &SimulatedArm| {
        let rates = against.operations_per_second / arm.operations_per_second;
        let is_too_slow = is_paced && rates >= TOO_SLOW;
        is_any_too_slow |= is_too_slow;
        let times = real(arm.mean_ns) / real(against.mean_ns);
        if is_paced && !is_too_slow { times } else { rates }
    };
    for index in 0..document.arms.len() {
        let against = usize::try_from(document.arms[index].against).ok();
        let against = against.and_then(|index| document.arms.get(index));
        let ratio = against.map(|against| cost(&document.arms[index], against));
        let arm = &mut document.arms[index];
        arm.ratio = ratio.filter(|ratio| ratio.is_finite()).unwrap_or(1.0);
    }
    if is_any_too_slow {
        let note = "a drive does not keep up with the operations: its times grow with \
                    --operations, and its cost is the ratio of operations a second";
        say(note.to_owned(), &mut document.envelope.notes);
    }
    let text = match asked.document.json {
        true => simulation_json(&document),
        false => simulation_table(&document, &printer::look(false)),
    };
    printer::print(&text)?;
    Ok(CommandOutcome::Done)
}

/// Returns what `workload` costs on a drive at a spot.
fn simulated(
    workload: &Workload,
    arm: &Variant,
    spot: WorkloadPlace<'_>,
    asked: &Simulate,
    notes: &mut Vec<String>,
) -> anyhow::Result<SimulatedArm> {
    let drive = &arm.profile.name;
    limits(arm, notes);
    match spot.owner {
        Owner::Drive => {
            let cuts = Cuts::of(asked);
            if asked.lost_member.is_some() && !arm.has_members() {
                say(format!("{drive} has no members: --lost-member changes nothing"), notes);
            }
            let mut watched = Watched::new(arm.model()?, cuts.as_ref(), drive)?;
            let sector_bytes = watched.model().logical_bytes();
            let mut programs = workload.programs(spot.place, sector_bytes, drive, asked)?;
            workload.widened(sector_bytes, drive).into_iter().for_each(|note| say(note, notes));
            let done = run_on(watched.model(), arm, spot.told, &mut programs, asked);
            unflushed(watched.model(), arm, workload.may_flush(asked), notes);
            if workload.may_write(asked) {
                waits(watched.model(), arm, notes);
            }
            empty(watched.model(), arm, notes);
            garbage(watched.model(), arm, notes);
            Ok(SimulatedArm { cuts: watched.cut(done.elapsed_ns)?, ..done })
        }
        Owner::Layer(ground) | Owner::Floor(ground) => {
            let way = RefCell::new(Descent::default());
            let done = in_layer(workload, arm, &spot, ground, (&way, asked), notes)?;
            came_down(&way.into_inner(), &done, drive, ground, notes)?;
            Ok(done)
        }
    }
}

/// Returns what it costs in a layer, or on its floor.
fn in_layer(
    workload: &Workload,
    arm: &Variant,
    spot: &WorkloadPlace<'_>,
    ground: &LayerPlace,
    (way, asked): (&RefCell<Descent>, &Simulate),
    notes: &mut Vec<String>,
) -> anyhow::Result<SimulatedArm> {
    let origin_bytes = arm.profile.amount("origin").unwrap_or(0);
    let on_floor = matches!(spot.owner, Owner::Floor(_));
    let leaf = |(place, under): (usize, &DrivesUnder)| {
        let raised_bytes = spot.owner.raised_bytes(under, origin_bytes);
        Ok(Leaf { id: under.id, model: arm.member(place)?, raised_bytes })
    };
    let leaves = ground.leaves.iter().enumerate().map(leaf).collect::<anyhow::Result<Vec<_>>>()?;
    let layer = if on_floor { ground.floor } else { ground.layer };
    let mut spread = LeafDrives::new(Rc::clone(&ground.stack), layer, leaves);
    let sector_bytes = spread.logical_bytes();
    let drive = &arm.profile.name;
    let programs = workload.programs(spot.place, sector_bytes, drive, asked)?;
    workload.widened(sector_bytes, drive).into_iter().for_each(|note| say(note, notes));
    let laid = |program| Program::laid(program, LayerBytes { ground, on_floor, sector_bytes }, way);
    let mut programs: Vec<Program<'_>> = programs.into_iter().map(laid).collect();
    let done = run_on(&mut spread, arm, spot.told.clone(), &mut programs, asked);
    unflushed(&spread, arm, workload.may_flush(asked), notes);
    if workload.may_write(asked) {
        waits(&spread, arm, notes);
    }
    empty(&spread, arm, notes);
    garbage(&spread, arm, notes);
    let leaf = |(model, under): (&dyn Model, &DrivesUnder)| {
        let tally = model.tally();
        let (read_bytes, written_bytes) = (tally.read_bytes, tally.written_bytes);
        SimulatedLeaf { name: under.name.clone(), read_bytes, written_bytes, did: did(tally) }
    };
    let leaves =
        ground.is_spread().then(|| spread.leaves().zip(&ground.leaves).map(leaf).collect());
    Ok(SimulatedArm { leaves, ..done })
}

/// Returns what an arm is called in a note.
fn called(arm: &Variant) -> String {
    [std::slice::from_ref(&arm.profile.name), &arm.changed].concat().join(" ")
}

/// Says, once for a drive, what of it the model leaves out.
fn limits(arm: &Variant, notes: &mut Vec<String>) {
    let left_out = arm.profile.notes.iter().filter(|note| note.contains("are not modeled"));
    left_out.for_each(|note| say(format!("{}: {note}", arm.profile.name), notes));
}

/// Says, once for a drive, that no flush was sent to it, where there may have been one.
fn unflushed(model: &dyn Model, arm: &Variant, may_flush: bool, notes: &mut Vec<String>) {
    if may_flush && !model.has_write_cache() {
        let name = called(arm);
        say(
            format!("{name} reports no volatile write cache, so no flushes are sent (as on Linux)"),
            notes,
        );
    }
}

/// Says, once for a drive, where most of what was written is not on its medium at the end.
fn waits(model: &dyn Model, arm: &Variant, notes: &mut Vec<String>) {
    if model.waiting_bytes() <= model.tally().written_bytes / 2 {
        return;
    }
    let note = format!(
        "most of what was written on {} waits in a cache at the end: these writes took the time of \
         the cache, not of the medium; more of them, or a flush, would show the medium",
        called(arm)
    );
    say(note, notes);
}

/// Says, once for a drive, that reads were of places that hold nothing.
fn empty(model: &dyn Model, arm: &Variant, notes: &mut Vec<String>) {
    let reads = model.tally().empty_reads;
    if reads > 0 {
        let name = called(arm);
        let hint = arm.profile.amount("used").map_or("", |_| "; --set used=SIZE fills more of it");
        let note = format!(
            "{reads} reads on {name} were of space that was never written, or was discarded: no \
             flash was read for them{hint}"
        );
        say(note, notes);
    }
}

/// Says, once for a drive, that garbage collection decided its writes: most programs moved valid
/// pages.
fn garbage(model: &dyn Model, arm: &Variant, notes: &mut Vec<String>) {
    let DriveTally { programs, moves, .. } = model.tally();
    if moves > programs / 2 {
        let name = called(arm);
        let factor = real(programs) / real(programs.saturating_sub(moves).max(1));
        let note = format!(
            "garbage collection decides the writes of {name}: {factor:.1} programs for each of the \
             host's, as in its steady state; --set used=SIZE leaves more of it empty"
        );
        say(note, notes);
    }
}

/// Adds `note`, where it is not among `notes`.
fn say(note: String, notes: &mut Vec<String>) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// Says what became of operations on their way down.
fn came_down(
    way: &Descent,
    done: &SimulatedArm,
    drive: &str,
    ground: &LayerPlace,
    notes: &mut Vec<String>,
) -> anyhow::Result<()> {
    let nothing =
        || (done.operations == 0).then(|| "all operations fall into its holes".to_owned());
    if let Some(why) = way.fault.clone().or_else(nothing) {
        bail!("cannot simulate {drive} under {}: {why}\nhint: {}", ground.name, ground.hint);
    }
    if way.left_out > 0 {
        let all = u128::from(way.left_out) + u128::from(done.operations);
        let tenths = (u128::from(way.left_out) * 1000).checked_div(all).unwrap_or_default();
        let (percent, tenth) = (tenths.div_euclid(10), tenths.rem_euclid(10));
        notes.push(format!(
            "{percent}.{tenth} % of the operations in {} were skipped: the image has not allocated \
             their place yet",
            ground.name
        ));
    }
    Ok(())
}

/// Returns what `programs` cost on the model of a drive, with the description `told` of where.
fn run_on(
    model: &mut dyn Model,
    arm: &Variant,
    told: SimulatedArm,
    programs: &mut [Program<'_>],
    asked: &Simulate,
) -> SimulatedArm {
    let limits = RunLimits {
        operations: asked.operations(),
        time_ns: u64::MAX,
        turnaround_ns: asked.host_cost,
    };
    let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
    let mut parts = JobParts::new(&names);
    let (mut times, mut sum_ns, mut failed) = (Histogram::new(), 0, 0);
    let mut seen = |one: EndedOperation| {
        // One of a trace: elsewhere a flush is a part of the write before it.
        if one.is_flush {
            return;
        }
        times.record(one.took_ns());
        sum_ns += u128::from(one.took_ns());
        failed += u64::from(one.fault.is_some());
        parts.record(&one);
    };
    let mut jobs: Vec<DriveJob<'_>> = programs.iter_mut().map(Program::job).collect();
    let elapsed_ns = run_jobs(model, &mut jobs, limits, &mut seen);
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
        p999_ns: times.percentile(99.9),
        max_ns: times.max(),
        ratio: 1.0,
        did: did(model.tally()),
        parts: parts.told(elapsed_ns),
        ..told
    }
}

/// The account of a drive, as documents show it.
pub(super) fn did(tally: DriveTally) -> SimulatedWork {
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
