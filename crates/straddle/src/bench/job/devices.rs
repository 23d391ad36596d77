//! A job on a device for each arm, bare or with a file system on it.

use host::PrivateMounts;
use report::bench::Experiment;
use workload::{Job, job};

use super::device_arms::{self, DeviceArms};
use super::pattern::{drawn, pattern};
use super::requirements::{depth, file_system_of, name};
use crate::bench::file_system::{self, Recipe};
use crate::bench::plan::Arm;
use crate::bench::ready_device::{ReadyDevice, Wanted};
use crate::bench::replay::Replay;
use crate::bench::requests;
use crate::bench::scratch_file::ScratchFile;
use crate::bench::session::Session;
use crate::bench::shifted;
use crate::shared::halt::Halt;

/// Requests that are drawn where a job mixes reads and writes.
const DRAWN: usize = 65_536;

/// A job on a device for each arm.
pub(super) fn run(
    session: &mut Session<'_>,
    ground: &ScratchFile,
    mounts: Option<&PrivateMounts>,
    job: &Job,
    arms: &[Arm],
) -> Result<Experiment, Halt> {
    let kind = file_system_of(session.bench, job);
    let interrupt = session.interrupt.clone();
    let wanted = match (kind, mounts) {
        (Some(kind), Some(mounts)) => {
            let recipe = file_system::recipe(kind);
            Some(Wanted { recipe, mounts, interrupt: &interrupt })
        }
        _ => None,
    };
    let shift_bytes = arms.iter().map(|arm| arm.shift_bytes).max().unwrap_or(0);
    // File systems must not share bytes; raw devices take turns on the same ones.
    let count = if wanted.is_some() { arms.len() } else { 1 };
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let regions = shifted::regions(ground, count, shift_bytes)?;
    let region = |arm: usize| regions.get(arm).or(regions.last()).copied();
    let stages: Vec<ReadyDevice<'_>> = (0..arms.len())
        .map(|arm| {
            let region = region(arm).expect("there is at least one region");
            ReadyDevice::set(ground, region, arms[arm].shift_bytes, wanted)
        })
        .collect::<Result<_, _>>()?;
    let title = titled(job, wanted.map(|wanted| wanted.recipe));
    let device_bytes = regions[0].device_bytes;
    let experiment = if let job::Action::Mixed { .. } = job.action {
        let all = drawn(session, job, device_bytes, DRAWN)?;
        let depth = depth(job)?;
        let start = |arm: &Arm| regions[0].start_bytes(arm.shift_bytes);
        let starts = arms.iter().map(start).collect();
        let replay = Replay::new(ground, starts, &all, depth, session.seed)?;
        requests::compared(session, ground, arms, replay, (&title, &all, depth))?
    } else {
        let pattern = pattern(session, job)?;
        let case = DeviceArms { ground, arms, job, pattern, title };
        device_arms::measured(session, &case, &stages, device_bytes)?
    };
    stages.into_iter().try_for_each(ReadyDevice::end)?;
    Ok(experiment)
}

fn titled(job: &Job, recipe: Option<&Recipe>) -> String {
    let place = recipe.map_or("no file system".to_owned(), |recipe| format!("on {}", recipe.name));
    format!("{}: {}, {place}", name(job), job.title())
}
