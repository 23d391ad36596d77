//! Method of measuring that was asked for, and what each may use.

use std::path::PathBuf;

use units::text::escape;
use workload::JobFile;
use workload::job::JobPace;

use super::file_system::recipe;
use super::method_budget::MethodBudget;
use super::plan;
use super::session::Session;
use super::suite::SuiteRow;
use super::{command, job, shifted, suite};
use crate::arguments::{FileSystem, SuiteSteps};
use crate::shared::halt::Halt;
use crate::shared::job_file;
use crate::shared::measure_target::MeasureTarget;

/// Above the least device of a file system, for what runs on it.
const ROOM_BYTES: u64 = 32 << 20;
/// The arms of a job or command with one shift.
const ARMS: u64 = 3;

/// Method of measuring in a directory.
pub(super) enum DirectoryMethod {
    /// Direct I/O in the scratch file.
    Inside,
    /// fio's jobs.
    Job(JobFile),
    /// The requests of a raidtest file.
    Requests(PathBuf),
    /// File systems, made and used.
    Suite(Vec<SuiteRow>),
    /// A command on shifted devices.
    Command,
}

impl DirectoryMethod {
    /// The way that was asked for; what it needs is there.
    pub(super) fn of(session: &mut Session<'_>) -> Result<DirectoryMethod, Halt> {
        let bench = session.bench;
        if let Some(path) = &bench.job {
            let file = job_file::read(path, &bench.set)?;
            let paced = file.jobs.iter().filter(|job| job.pace != JobPace::default());
            for name in paced.map(|job| escape(job.name.as_bytes())) {
                session.note(format!(
                    "{name}: rate, rate_iops and thinktime are not kept: each job runs as fast as \
                     it can"
                ));
            }
            job::mixed_are_plain(&file.jobs, |job| job::file_system_of(bench, job).is_some())?;
            let inside = job::fits_inside(&file.jobs) && bench.fs.is_none();
            if !inside {
                shifted::need_root("this job")?;
            }
            return Ok(DirectoryMethod::Job(file));
        }
        if let Some(path) = &bench.raidtest {
            return Ok(DirectoryMethod::Requests(path.clone()));
        }
        if bench.suite {
            shifted::need_root("the suite")?;
            return suite(session);
        }
        if bench.command.is_empty() {
            return Ok(DirectoryMethod::Inside);
        }
        shifted::need_root("a command")?;
        command::check(bench)?;
        Ok(DirectoryMethod::Command)
    }

    /// Returns whether a file system is mounted for it.
    pub(super) fn mounts(&self, bench: &SuiteSteps) -> bool {
        match self {
            DirectoryMethod::Inside | DirectoryMethod::Requests(_) => false,
            DirectoryMethod::Suite(_) => true,
            DirectoryMethod::Job(file) => {
                file.jobs.iter().any(|job| job::file_system_of(bench, job).is_some())
            }
            DirectoryMethod::Command => command::mounts(bench),
        }
    }

    /// Returns what it may use unless the user says otherwise.
    pub(super) fn budget(&self, bench: &SuiteSteps) -> MethodBudget {
        match self {
            DirectoryMethod::Inside if bench.full => MethodBudget::FULL,
            DirectoryMethod::Inside => MethodBudget::HEADLINE,
            DirectoryMethod::Requests(_) => MethodBudget::JOB,
            DirectoryMethod::Suite(lines) => {
                suite::budget(lines, bench.pairs.unwrap_or(suite::ROUNDS))
            }
            DirectoryMethod::Job(file) => {
                let jobs = u64::try_from(file.jobs.len()).unwrap_or(u64::MAX);
                let kinds = file.jobs.iter().filter_map(|job| job::file_system_of(bench, job));
                // Each arm has a file system of its own.
                let scratch = kinds.map(|kind| ARMS * device_bytes(kind)).max().unwrap_or(0);
                let scratch_bytes = MethodBudget::JOB.scratch_bytes.max(scratch);
                let written_bytes = MethodBudget::JOB.written_bytes.saturating_mul(jobs);
                let written_bytes = written_bytes.saturating_add(scratch_bytes * 2);
                MethodBudget { scratch_bytes, written_bytes, ..MethodBudget::JOB }
            }
            DirectoryMethod::Command => {
                let kind = bench.fs.or(command::mounts(bench).then_some(FileSystem::Ext4));
                let scratch = kind.map_or(0, device_bytes);
                let scratch_bytes = MethodBudget::COMMAND.scratch_bytes.max(scratch);
                MethodBudget { scratch_bytes, ..MethodBudget::COMMAND }
            }
        }
    }

    /// Returns what would be compared, a line each.
    pub(super) fn experiments(&self, bench: &SuiteSteps) -> Vec<String> {
        match self {
            DirectoryMethod::Inside => Vec::new(),
            DirectoryMethod::Job(file) => {
                file.jobs.iter().map(|one| format!("{}: {}", job::name(one), one.title())).collect()
            }
            DirectoryMethod::Requests(_) => {
                vec!["the file's requests, one and 64 at a time".to_owned()]
            }
            DirectoryMethod::Suite(lines) => {
                let title =
                    |line: &SuiteRow| format!("{}: mkfs, unpack, copy, read, delete", line.name());
                lines.iter().map(title).collect()
            }
            DirectoryMethod::Command => vec![command::words(bench).join(" ")],
        }
    }
}

fn device_bytes(kind: FileSystem) -> u64 {
    recipe(kind).device_bytes_min + ROOM_BYTES
}

fn suite(session: &mut Session<'_>) -> Result<DirectoryMethod, Halt> {
    let (can, cannot) = suite::lines(session.bench);
    if can.is_empty() {
        return Err(Halt::refused(cannot.join("; "), None));
    }
    for reason in cannot {
        session.note(reason);
    }
    Ok(DirectoryMethod::Suite(can))
}

/// Returns what was named, where it goes together with what else was typed.
pub(super) fn target(bench: &SuiteSteps) -> Result<MeasureTarget, Halt> {
    plan::addressable(&bench.shift, bench.size)?;
    let target = MeasureTarget::of(&bench.target, "bench")?;
    if let MeasureTarget::Directory(directory) = &target {
        bench.raw.write_device_needs_a_device("bench", directory.given())?;
    }
    Ok(target)
}
