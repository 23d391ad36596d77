//! `bench --job`: fio's job files. Their workload runs on shifted devices, or inside the scratch
//! file where nobody is root; the paths that they name are never opened.

mod case;
mod devices;
mod layout;
mod pattern;

use host::PrivateMounts;
use measure::Role;
use units::text;
use workload::{Job, JobFile, job};

use self::pattern::pattern;
use super::plan::{self, Arm};
use super::scratch_file::ScratchFile;
use super::session::Session;
use super::{in_scratch_file, method};
use crate::bench::results::Results;
use crate::shared::halt::{Halt, refused};

/// The most operations in flight.
const DEPTH_MAX: u64 = 1024;
/// Returns whether all that is asked can be done by direct I/O inside the scratch file.
pub(crate) fn fits_inside(jobs: &[Job]) -> bool {
    jobs.iter().all(|job| job.direct && !matches!(job.action, job::Action::Mixed { .. }))
}

/// Refuses a file with a job that mixes reads and writes in a way that is not measured, before
/// anything is written; `on` says on which jobs a file system is made.
///
/// # Errors
/// For the first such job, with what would be measured.
pub(crate) fn mixed_are_plain(jobs: &[Job], on: impl Fn(&Job) -> bool) -> Result<(), Halt> {
    let is_mixed = |job: &&Job| matches!(job.action, job::Action::Mixed { .. });
    for job in jobs.iter().filter(is_mixed) {
        let syncs = job.fsync_every.is_some() || job.fdatasync_every.is_some();
        let (why, hint) = if on(job) {
            (
                "on a file system: mixed jobs run without one only",
                "--set rw=randwrite and --set rw=randread measure one of the two",
            )
        } else if job.is_durable() || syncs {
            (
                "and syncs: which reads wait for a sync is not reproduced",
                "--set rw=randwrite measures the durable writes alone; other jobs may sync",
            )
        } else if !job.direct {
            (
                "through the page cache: a write that stays there takes no time of the drive",
                "--set direct=1 measures all jobs of the file past it",
            )
        } else {
            continue;
        };
        let message = format!("cannot run job {}: mixes reads and writes {why}", name(job));
        return Err(Halt::hinted(message, hint.to_owned()));
    }
    Ok(())
}

/// Runs every job of the file, one after the other.
pub(crate) fn run(
    session: &mut Session<'_>,
    ground: &ScratchFile,
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
        let is_plain = method::file_system_of(session.bench, job).is_none();
        if is_plain && fits_inside(std::slice::from_ref(job)) {
            in_file(session, ground, job, found)?;
        } else {
            for asked in plan::questions(&arms(session, ground, job)?) {
                found.experiments.push(devices::run(session, ground, mounts, job, &asked)?);
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
        session.note(format!("{name} is left out: the drive is busy"));
    }
    Ok(())
}

/// A job's name, harmless to print.
pub(crate) fn name(job: &Job) -> String {
    text::escape(job.name.as_bytes())
}

/// Says what of a job is bounded here.
fn scaled(session: &mut Session<'_>, job: &Job) {
    let name = name(job);
    if let Some(path) = job.filename.as_ref().or(job.directory.as_ref()) {
        let path = text::escape(path.as_bytes());
        session.note(format!("{name}: {path} is not opened; the workload runs on scratch devices"));
    }
    let budget_ns = session.comparison_ns();
    if let Some(runtime_ns) = job.runtime_ns.filter(|&runtime_ns| runtime_ns > budget_ns) {
        let seconds = |ns: u64| ns.div_euclid(1_000_000_000);
        session.note(format!(
            "{name}: runtime is scaled down from {} s to {} s for all arms; --seconds allows more",
            seconds(runtime_ns),
            seconds(budget_ns)
        ));
    }
}

fn depth(job: &Job) -> Result<u16, Halt> {
    let depth = job.total_depth();
    match u16::try_from(depth) {
        Ok(deep) if depth <= DEPTH_MAX => Ok(deep),
        _ => Err(Halt::from(refused(
            format!("{} keeps {depth} operations in flight; {DEPTH_MAX} are the most", name(job)),
            Some("--set iodepth=32 --set numjobs=1".to_owned()),
        ))),
    }
}

/// The arms of a job.
fn arms(session: &Session<'_>, ground: &ScratchFile, job: &Job) -> Result<Vec<Arm>, Halt> {
    let step = ground.step_bytes()?;
    let unit = ground.place.unit;
    Ok(plan::arms(&session.bench.shift, false, step, job.operation_bytes, unit)?)
}

/// A direct job inside the scratch file: over all of it, whatever region the job names.
fn in_file(
    session: &mut Session<'_>,
    ground: &ScratchFile,
    job: &Job,
    found: &mut Results,
) -> Result<(), Halt> {
    let pattern = pattern(session, job)?;
    let arms = arms(session, ground, job)?;
    let works = [pattern.inside(depth(job)?)];
    let before = found.experiments.len();
    let measured = in_scratch_file::on_scratch(session, ground, &works, &arms, found);
    for experiment in &mut found.experiments[before..] {
        let arm = experiment.arms.iter().find(|arm| arm.role == Role::Shifted);
        let arm = arm.map_or(String::new(), |arm| format!(", {}", arm.name));
        experiment.title = format!("{}: {}, inside the scratch file{arm}", name(job), job.title());
    }
    measured
}
