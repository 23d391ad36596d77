//! `bench --job`: fio's job files. Their workload runs on shifted devices, or inside the scratch
//! file where nobody is root; the paths that they name are never opened.

mod devices;
mod job_work;
mod measured_file;
mod requirements;

use host::PrivateMounts;
use measure::Role;
use units::text;
use workload::{Job, JobFile};

pub(crate) use self::requirements::{file_system_of, fits_inside, mixed_are_plain, name};

use self::job_work::work;
use super::in_scratch_file;
use super::plan;
use super::scratch_file::ScratchFile;
use super::session::{Results, Session};
use crate::shared::halt::Halt;
use crate::world::World;

/// Runs every job of the file, one after the other.
pub(crate) fn run<W: World>(
    session: &mut Session<'_>,
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    mounts: Option<&PrivateMounts>,
    file: &JobFile,
    found: &mut Results,
) -> Result<(), Halt> {
    for remark in &file.remarks {
        session.note(text::escape(remark.to_string().as_bytes()));
    }
    if file.jobs.len() > 1 {
        session.note("jobs run one after the other, not at once");
    }
    let mut left_out = Vec::new();
    for job in &file.jobs {
        if job.total_depth() > 1 && session.is_busy {
            left_out.push(name(job));
            continue;
        }
        scaled(session, job);
        // One queue for all arms where a job allows it: see ARCHITECTURE.md.
        let is_plain = file_system_of(session.bench, job).is_none();
        if is_plain && fits_inside(std::slice::from_ref(job)) {
            in_file(session, world, ground, job, found)?;
        } else {
            for asked in plan::questions(&ground.arms(session, job.operation_bytes)?) {
                found.experiments.push(devices::run(
                    session,
                    world,
                    ground,
                    (mounts, job, &asked),
                )?);
            }
        }
        if session.interrupt.is_raised() {
            return Err(Halt::Interrupted);
        }
    }
    if left_out.len() == file.jobs.len() {
        return Err(Halt::busy());
    }
    for name in left_out {
        session.note(format!("job {name} is left out: the drive is busy"));
    }
    Ok(())
}

/// Says what of a job is bounded here.
fn scaled(session: &mut Session<'_>, job: &Job) {
    let name = name(job);
    if let Some(path) = job.filename.as_ref().or(job.directory.as_ref()) {
        let path = text::escape(path.as_bytes());
        session.note(format!(
            "job {name}: {path} is not opened; the workload runs on scratch devices"
        ));
    }
    let budget_ns = session.comparison_ns();
    if let Some(runtime_ns) = job.runtime_ns.filter(|&runtime_ns| runtime_ns > budget_ns) {
        let seconds = |ns: u64| ns.div_euclid(1_000_000_000);
        session.note(format!(
            "job {name}: runtime is scaled down from {} s to {} s for all arms; --seconds allows \
             more",
            seconds(runtime_ns),
            seconds(budget_ns)
        ));
    }
}

/// A direct job inside the scratch file: over all of it, whatever region the job names.
fn in_file<W: World>(
    session: &mut Session<'_>,
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    job: &Job,
    found: &mut Results,
) -> Result<(), Halt> {
    let works = [work(session, job)?];
    let arms = ground.arms(session, job.operation_bytes)?;
    let before = found.experiments.len();
    let measured = in_scratch_file::on_scratch(session, world, ground, &works, &arms, found);
    for experiment in &mut found.experiments[before..] {
        let arm = experiment.arms.iter().find(|arm| arm.role == Role::Shifted);
        let arm = arm.map_or(String::new(), |arm| format!(", {}", arm.name));
        experiment.title = format!("{}: {}, inside the scratch file{arm}", name(job), job.title());
    }
    measured
}
