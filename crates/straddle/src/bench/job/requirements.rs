//! Requirements of a job: its depth and its file system; and which jobs cannot be run here.

use units::text;
use workload::{Job, job};

use crate::arguments::{FileSystem, SuiteSteps};
use crate::shared::halt::Halt;

/// The most operations in flight.
const DEPTH_MAX: u64 = 1024;

/// Returns whether all that is asked can be done by direct I/O inside the scratch file.
pub(crate) fn fits_inside(jobs: &[Job]) -> bool {
    jobs.iter().all(|job| job.direct && !matches!(job.action, job::JobDirection::Mixed { .. }))
}

/// Refuses a file with a job that mixes reads and writes in a way that is not measured, before
/// anything is written; `on` says on which jobs a file system is made.
///
/// # Errors
/// For the first such job, with what would be measured.
pub(crate) fn mixed_are_plain(jobs: &[Job], on: impl Fn(&Job) -> bool) -> Result<(), Halt> {
    let is_mixed = |job: &&Job| matches!(job.action, job::JobDirection::Mixed { .. });
    for job in jobs.iter().filter(is_mixed) {
        let syncs = job.fsync_every.is_some() || job.fdatasync_every.is_some();
        let (why, hint) = if on(job) {
            (
                "on a file system: mixed jobs run without one only",
                "measure one of the two: --set rw=randwrite or --set rw=randread",
            )
        } else if job.is_durable() || syncs {
            (
                "and syncs: which reads wait for a sync is not reproduced",
                "measure the durable writes alone: --set rw=randwrite",
            )
        } else if !job.direct {
            (
                "through the page cache: a write that stays there takes no time of the drive",
                "bypass the page cache in all jobs: --set direct=1",
            )
        } else {
            continue;
        };
        let message = format!("cannot run job {}: mixes reads and writes {why}", name(job));
        return Err(Halt::hinted(message, hint.to_owned()));
    }
    Ok(())
}

/// A job's name, harmless to print.
pub(crate) fn name(job: &Job) -> String {
    text::escape(job.name.as_bytes())
}

/// Returns how many operations a job keeps in flight.
///
/// # Errors
/// When they are more than one ring takes here.
pub(super) fn depth(job: &Job) -> Result<u16, Halt> {
    let depth = job.total_depth();
    match u16::try_from(depth) {
        Ok(deep) if depth <= DEPTH_MAX => Ok(deep),
        _ => Err(Halt::refused(
            format!(
                "cannot run job {}: it keeps {depth} operations in flight, and at most {DEPTH_MAX} \
                 are possible",
                name(job)
            ),
            Some("keep fewer in flight: --set iodepth=32 --set numjobs=1".to_owned()),
        )),
    }
}

/// The file system that a job runs on: as specified, or, where it names a directory, ext4.
pub(crate) fn file_system_of(bench: &SuiteSteps, job: &Job) -> Option<FileSystem> {
    bench.fs.or(job.directory.is_some().then_some(FileSystem::Ext4))
}
