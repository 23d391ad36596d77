//! Direct I/O inside the scratch file: aligned and shifted operations take turns. Needs no root.

use host::engine::Access;
use measure::Role;

use super::paired_loop::Bounds;
use super::plan::{self, PlannedArm};
use super::scratch_file::ScratchFile;
use super::session::{Results, Session};
use super::timed_arms::{self, ArmSetting};
use super::work::ArmWork;
use crate::shared::halt::Halt;
use crate::world::{ScratchSpace as _, World};

/// Compares all that was asked for.
pub(crate) fn run<W: World>(
    session: &mut Session<'_>,
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    found: &mut Results,
) -> Result<(), Halt> {
    let size = plan::operation_bytes(session.bench.size, ground.place.unit)?;
    let arms = ground.arms(session, u64::from(size))?;
    on_scratch(session, world, ground, &ArmWork::all(session.bench, size), &arms, found)
}

/// Compares `arms` under `works` in the scratch file.
pub(crate) fn on_scratch<W: World>(
    session: &mut Session<'_>,
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    works: &[ArmWork],
    arms: &[PlannedArm],
    found: &mut Results,
) -> Result<(), Halt> {
    each(session, world, works, arms, found, |access| {
        let opened = ground.scratch.open(access);
        let file = opened?;
        let moved = || ground.moved();
        Ok((file, &ground.place, Box::new(moved) as Box<dyn Fn() -> Option<String> + '_>))
    })
}

/// Ground of one comparison: the open file, where it lies, and whether it still lies there.
pub(crate) type OpenFile<'a, F> =
    (F, &'a crate::shared::measured_bytes::MeasuredBytes, Box<dyn Fn() -> Option<String> + 'a>);

/// Compares the arms under each workload, with the error and the bytes shared among them.
pub(crate) fn each<'a, W: World>(
    session: &mut Session<'_>,
    world: &W,
    works: &[ArmWork],
    arms: &[PlannedArm],
    found: &mut Results,
    open: impl Fn(Access) -> Result<OpenFile<'a, W::File>, Halt>,
) -> Result<(), Halt> {
    let works: Vec<ArmWork> = works.iter().copied().filter(|work| suits(session, work)).collect();
    if works.is_empty() {
        return Err(Halt::busy());
    }
    let asked = plan::questions(arms);
    let all: Vec<(ArmWork, &[PlannedArm])> =
        works.iter().flat_map(|work| asked.iter().map(|arms| (*work, &arms[..]))).collect();
    let alpha = plan::ALPHA / f64::from(u32::try_from(all.len().max(1)).unwrap_or(u32::MAX));
    for (done, (work, arms)) in all.iter().enumerate() {
        let left = u64::try_from(all.len() - done).unwrap_or(1);
        let bytes = session.bytes_left().div_euclid(left);
        let bounds = Bounds { nanoseconds: session.comparison_ns(), bytes };
        let access = if work.read { Access::Read } else { Access::Write };
        let (file, place, moved) = open(access)?;
        let (work, title) = (*work, work.title());
        let setting = ArmSetting { place, arms, work, title, alpha, bounds, moved: &*moved };
        let slots = timed_arms::slots(session, &setting)?;
        let mut experiment = timed_arms::compare(session, world, &setting, vec![(file, slots)])?;
        if asked.len() > 1
            && let Some(arm) = arms.iter().find(|arm| arm.role == Role::Shifted)
        {
            experiment.title = format!("{}, {}", experiment.title, arm.name);
        }
        found.experiments.push(experiment);
        if session.interrupt.is_raised() {
            return Err(Halt::Interrupted);
        }
    }
    Ok(())
}

/// Returns whether a workload may run: on a busy drive depth 1 alone.
fn suits(session: &Session<'_>, work: &ArmWork) -> bool {
    !session.is_busy || work.depth == 1
}
