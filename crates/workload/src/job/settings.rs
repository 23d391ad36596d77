//! Settings of a job so far, and the job that they make.

use super::engine::Engine;
use super::model::{Durability, Job, JobDirection, JobLength, JobOrder};
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
    /// Operations a second, of reads and of writes.
    pub(crate) rate_iops: Option<[u64; 2]>,
    /// Bytes a second, of reads and of writes.
    pub(crate) rate_bytes: Option<[u64; 2]>,
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
            per_second: None,
            think_ns: 0,
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
            rate_iops: None,
            rate_bytes: None,
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
        let per_second = self.per_second(operation_bytes);
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
            per_second,
            ..job
        })
    }

    /// Operations a second; of a mixed job those of reads and of writes together.
    fn per_second(&self, operation_bytes: u64) -> Option<u64> {
        let of = |[read, write]: [u64; 2]| match self.job.action {
            JobDirection::Read => read,
            JobDirection::Write => write,
            JobDirection::Mixed { .. } => read.saturating_add(write),
        };
        let bytes = self.rate_bytes.map(|rate| (of(rate) / operation_bytes).max(1));
        let each = [self.rate_iops.map(of), bytes];
        each.into_iter().flatten().min()
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
