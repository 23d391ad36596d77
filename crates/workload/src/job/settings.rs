//! Settings of a job so far, and the job that they make.

use std::num::NonZeroU32;

use super::engine::Engine;
use super::model::{Durability, Job, JobDirection, JobLength, JobOrder, JobPace};
use super::number::KbBase;
use super::remark::{Remark, SettingPlace};
use crate::InputError;

/// Every option's value, first fio's default. `[global]` fills one, each job changes a copy.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) kb_base: KbBase,
    /// Name by the option `name`, in the place of the section's.
    pub(crate) name: Option<String>,
    pub(crate) read_percent: u8,
    /// Of reads and of writes.
    pub(crate) operation_bytes: [u64; 2],
    /// Of reads and of writes.
    pub(crate) align_bytes: Option<[u64; 2]>,
    /// Most operations a second and most bytes a second, each of reads and of writes; 0: no limit.
    pub(crate) rate_iops: [u64; 2],
    pub(crate) rate_bytes: [u64; 2],
    pub(crate) think_ns: u64,
    pub(crate) think_every: NonZeroU32,
    /// Settings that go into the job as they are.
    pub(crate) job: Job,
}

impl Default for Settings {
    fn default() -> Settings {
        let operation_bytes = 4096;
        let job = Job {
            name: String::new(),
            line: 0,
            action: JobDirection::Read,
            order: JobOrder::Sequential,
            operation_bytes,
            align_bytes: operation_bytes,
            offset: JobLength::Bytes(0),
            size: None,
            runtime_ns: None,
            time_based: false,
            engine: Engine::Sync,
            direct: false,
            durability: Durability::None,
            fsync_every: None,
            fdatasync_every: None,
            depth: 1,
            numjobs: 1,
            pace: JobPace::default(),
            stonewall: false,
            seed: None,
            filename: None,
            directory: None,
        };
        Settings {
            kb_base: KbBase::Swapped,
            name: None,
            read_percent: 50,
            operation_bytes: [operation_bytes; 2],
            align_bytes: None,
            rate_iops: [0; 2],
            rate_bytes: [0; 2],
            think_ns: 0,
            think_every: NonZeroU32::MIN,
            job,
        }
    }
}

impl Settings {
    /// The job of the section called `section`. What is done otherwise than was
    /// said is remarked on at `place`, the section's heading.
    pub(crate) fn job(
        mut self,
        section: &str,
        place: &SettingPlace,
        remarks: &mut Vec<Remark>,
    ) -> Result<Job, InputError> {
        let mut remark = |option: &str, value: &str, words: &str| {
            remarks.push(Remark::not_honored(place.clone(), option, value, words));
        };
        if let JobDirection::Mixed { read_percent } = &mut self.job.action {
            *read_percent = self.read_percent;
        }
        let operation_bytes = self.one_of(self.operation_bytes, "bs", &mut remark);
        let align_bytes = self.align_bytes.map(|sizes| self.one_of(sizes, "ba", &mut remark));
        let align_bytes = align_bytes.unwrap_or(operation_bytes);
        let pace = self.pace(operation_bytes);
        let mut job = self.job;
        if let Some(JobLength::Bytes(size_bytes)) = job.size
            && size_bytes < operation_bytes
        {
            let problem = format!(
                "size is {size_bytes} bytes, less than one operation of {operation_bytes} bytes"
            );
            return Err(InputError::new(problem, "raise size or lower bs"));
        }
        if job.engine == Engine::Sync && job.depth > 1 {
            let words = "a synchronous engine has depth 1, as in fio";
            remark("iodepth", &job.depth.to_string(), words);
            job.depth = 1;
        }
        if job.time_based && job.runtime_ns.is_none() {
            remark("time_based", "", "ignored without runtime, as in fio");
            job.time_based = false;
        }
        Ok(Job {
            name: self.name.unwrap_or_else(|| section.to_owned()),
            line: match place {
                SettingPlace::Line { number, .. } => *number,
                SettingPlace::Told | SettingPlace::File => 0,
            },
            operation_bytes,
            align_bytes,
            pace,
            ..job
        })
    }

    /// When operations of so many bytes come. Of a job that reads and writes, the direction that is
    /// the slower for its share holds up the other.
    fn pace(&self, operation_bytes: u64) -> JobPace {
        const SECOND_NS: u64 = 1_000_000_000;
        let read_percent = match self.job.action {
            JobDirection::Read => 100,
            JobDirection::Write => 0,
            JobDirection::Mixed { .. } => u64::from(self.read_percent),
        };
        // Of 100 operations, so many are of the direction.
        let limit = |operations: u64, ns: u64, share: u64| {
            let is_limited = operations > 0 && share > 0;
            is_limited.then(|| (operations.saturating_mul(100), ns.saturating_mul(share)))
        };
        let shares = [read_percent, 100 - read_percent];
        let limits = (0..2).flat_map(|way| {
            let bytes_ns = SECOND_NS.saturating_mul(operation_bytes);
            [
                limit(self.rate_iops[way], SECOND_NS, shares[way]),
                limit(self.rate_bytes[way], bytes_ns, shares[way]),
            ]
        });
        let slower = |one: &(u64, u64), other: &(u64, u64)| {
            let scaled = |operations: u64, ns: u64| u128::from(operations) * u128::from(ns);
            scaled(one.0, other.1).cmp(&scaled(other.0, one.1))
        };
        JobPace {
            most: limits.flatten().min_by(slower),
            rest: (self.think_ns > 0).then_some((self.think_ns, self.think_every)),
        }
    }

    /// Of the size of reads and that of writes, the one that counts here. A mixed job has one size,
    /// that of its writes.
    fn one_of(
        &self,
        [read, write]: [u64; 2],
        option: &str,
        remark: &mut impl FnMut(&str, &str, &str),
    ) -> u64 {
        if matches!(self.job.action, JobDirection::Mixed { .. }) && read != write {
            remark(option, &format!("{read},{write}"), "reads take the size of writes");
        }
        if self.job.action == JobDirection::Read { read } else { write }
    }
}
