//! A job on a device for each arm, bare or with a file system on it.

use std::os::fd::OwnedFd;

use host::PrivateMounts;
use measure::{MappedRun, SlotOrder, Slots, SlotsPlan};
use report::bench::Experiment;
use units::Unit;
use workload::{Job, job};

use super::job_work::{drawn, work};
use super::measured_file;
use super::requirements::{depth, file_system_of, name};
use crate::bench::file_system::{self, FileSystemRecipe};
use crate::bench::paired_loop::Bounds;
use crate::bench::plan::{self, PlannedArm};
use crate::bench::raidtest;
use crate::bench::ready_device::{ReadyDevice, WantedFileSystem};
use crate::bench::replay::ReplayedRequests;
use crate::bench::scratch_file::ScratchFile;
use crate::bench::session::Session;
use crate::bench::shifted;
use crate::bench::timed_arms::{self, ArmSetting};
use crate::shared::halt::Halt;
use crate::world::World;

/// Requests that are drawn where a job mixes reads and writes.
const DRAWN: usize = 65_536;

/// A job on a device for each arm.
pub(super) fn run<W: World>(
    session: &mut Session<'_>,
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    (mounts, job, arms): (Option<&PrivateMounts>, &Job, &[PlannedArm]),
) -> Result<Experiment, Halt> {
    let file = shifted::file_of(ground)?;
    let kind = file_system_of(session.bench, job);
    let interrupt = session.interrupt.clone();
    let wanted = match (kind, mounts) {
        (Some(kind), Some(mounts)) => {
            let recipe = file_system::recipe(kind);
            Some(WantedFileSystem { recipe, mounts, interrupt: &interrupt })
        }
        _ => None,
    };
    let shift_bytes = arms.iter().map(|arm| arm.shift_bytes).max().unwrap_or(0);
    // File systems must not share bytes; raw devices take turns on the same ones.
    let count = if wanted.is_some() { arms.len() } else { 1 };
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let regions = shifted::regions(session, ground, count, shift_bytes)?;
    let region = |arm: usize| regions.get(arm).or(regions.last()).copied();
    let stages: Vec<ReadyDevice<'_>> = (0..arms.len())
        .map(|arm| {
            let region = region(arm).expect("there is at least one region");
            ReadyDevice::set(file, region, arms[arm].shift_bytes, wanted)
        })
        .collect::<Result<_, _>>()?;
    let title = titled(job, wanted.map(|wanted| wanted.recipe));
    let device_bytes = regions[0].device_bytes;
    let experiment = if let job::JobDirection::Mixed { .. } = job.action {
        let all = drawn(session, job, device_bytes, DRAWN)?;
        let depth = depth(job)?;
        let start = |arm: &PlannedArm| regions[0].start_bytes(arm.shift_bytes);
        let starts = arms.iter().map(start).collect();
        let replay = ReplayedRequests::new((world, ground), starts, &all, depth, session.seed)?;
        raidtest::compared(session, ground, arms, replay, (&title, &all, depth))?
    } else {
        let setting = ArmSetting {
            place: &ground.place,
            arms,
            work: work(session, job)?,
            title,
            alpha: plan::ALPHA,
            bounds: bounds(session, job, arms.len()),
            moved: &|| ground.moved(),
        };
        let files = opened(session, job, &stages, device_bytes)?;
        let files = files.into_iter().map(|(file, slots)| (world.adopted(file), slots)).collect();
        timed_arms::compare(session, world, &setting, files)?
    };
    stages.into_iter().try_for_each(ReadyDevice::end)?;
    Ok(experiment)
}

fn titled(job: &Job, recipe: Option<&FileSystemRecipe>) -> String {
    let place = recipe.map_or("no file system".to_owned(), |recipe| format!("on {}", recipe.name));
    format!("{}: {}, {place}", name(job), job.title())
}

/// Opens what a job's operations go to on each stage, with where they go; the same for every arm.
fn opened(
    session: &mut Session<'_>,
    job: &Job,
    stages: &[ReadyDevice<'_>],
    device_bytes: u64,
) -> Result<Vec<(OwnedFd, Slots)>, Halt> {
    let open = |stage| measured_file::opened(session, job, stage, device_bytes);
    let files = stages.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let length_bytes = files.iter().map(|(_, bytes)| *bytes).min().unwrap_or(device_bytes);
    let slots = |(file, _)| Ok((file, slots(session, job, length_bytes)?));
    files.into_iter().map(slots).collect()
}

/// Returns what of its time and bytes a job may use: each arm runs for no longer than the job says.
fn bounds(session: &Session<'_>, job: &Job, arms: usize) -> Bounds {
    let arms = u64::try_from(arms).unwrap_or(u64::MAX);
    let told_ns = job.runtime_ns.map_or(u64::MAX, |runtime_ns| runtime_ns.saturating_mul(arms));
    let nanoseconds = session.comparison_ns().min(told_ns);
    Bounds { nanoseconds, bytes: session.bytes_left() }
}

/// Returns where a job's operations go on its device or file; the same for every arm.
fn slots(session: &Session<'_>, job: &Job, length_bytes: u64) -> Result<Slots, Halt> {
    let start = job.offset_bytes(length_bytes).min(length_bytes);
    let left = length_bytes - start;
    let length = job.size.map_or(left, |size| size.of(length_bytes)).min(left);
    let runs =
        [MappedRun { offset_bytes: start, length_bytes: length, leaf: 0, address_bytes: start }];
    let is_random = job.order == job::JobOrder::Random;
    let step = if is_random { job.align_bytes } else { job.operation_bytes };
    let unit = Unit::new(step.max(1)).expect("a step of at least a byte");
    let plan = SlotsPlan {
        runs: &runs,
        unit,
        operation_bytes: job.operation_bytes,
        shifts_bytes: &[0],
        order: if is_random { SlotOrder::Random } else { SlotOrder::Cursor },
        seed: job.seed.unwrap_or(session.seed),
    };
    Slots::new(plan).map_err(|error| {
        let message = format!("cannot run job {}: its device has no room: {error}", name(job));
        Halt::hinted(message, session.longer_scratch())
    })
}
