//! What has been said of a job so far, and the job that it makes.

use std::num::NonZeroU32;

use super::engine::Engine;
use super::model::{Action, Durability, Extent, Job, Order};
use super::number::KbBase;
use super::place::{Place, Remark};
use crate::InputError;

/// Every option's value, first fio's default. `[global]` fills one, each job changes a copy.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) kb_base: KbBase,
    pub(crate) name: Option<String>,
    pub(crate) action: Action,
    pub(crate) order: Order,
    pub(crate) read_percent: u8,
    /// Of reads and of writes.
    pub(crate) operation_bytes: [u64; 2],
    /// Of reads and of writes.
    pub(crate) align_bytes: Option<[u64; 2]>,
    pub(crate) offset: Extent,
    pub(crate) size: Option<Extent>,
    pub(crate) runtime_ns: Option<u64>,
    pub(crate) time_based: bool,
    pub(crate) engine: Engine,
    pub(crate) direct: bool,
    pub(crate) durability: Durability,
    pub(crate) fsync_every: Option<NonZeroU32>,
    pub(crate) fdatasync_every: Option<NonZeroU32>,
    pub(crate) end_fsync: bool,
    pub(crate) depth: u32,
    pub(crate) numjobs: u32,
    pub(crate) loops: u32,
    pub(crate) stonewall: bool,
    pub(crate) new_group: bool,
    pub(crate) group_reporting: bool,
    pub(crate) norandommap: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) repeatable: bool,
    pub(crate) filename: Option<String>,
    pub(crate) directory: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            kb_base: KbBase::Swapped,
            name: None,
            action: Action::Read,
            order: Order::Sequential,
            read_percent: 50,
            operation_bytes: [4096; 2],
            align_bytes: None,
            offset: Extent::Bytes(0),
            size: None,
            runtime_ns: None,
            time_based: false,
            engine: Engine::Sync,
            direct: false,
            durability: Durability::None,
            fsync_every: None,
            fdatasync_every: None,
            end_fsync: false,
            depth: 1,
            numjobs: 1,
            loops: 1,
            stonewall: false,
            new_group: false,
            group_reporting: false,
            norandommap: false,
            seed: None,
            repeatable: true,
            filename: None,
            directory: None,
        }
    }
}

impl Settings {
    /// The job of the section called `section`, behind `previous`. What is done otherwise than was
    /// said is remarked on at `place`, the section's heading.
    pub(crate) fn job(
        self,
        section: &str,
        previous: Option<&Job>,
        place: &Place,
        remarks: &mut Vec<Remark>,
    ) -> Result<Job, InputError> {
        let mut remark = |option: &str, value: &str, words: &str| {
            remarks.push(Remark::not_honored(place.clone(), option, value, words));
        };
        let operation_bytes = self.one_of(self.operation_bytes, "bs", &mut remark);
        let align_bytes = self.align_bytes.map(|sizes| self.one_of(sizes, "ba", &mut remark));
        if let Some(Extent::Bytes(size_bytes)) = self.size
            && size_bytes < operation_bytes
        {
            let problem = format!(
                "size is {size_bytes} bytes, less than one operation of {operation_bytes} bytes"
            );
            return Err(InputError::new(problem, "raise size or lower bs"));
        }
        let is_capped = self.engine == Engine::Sync && self.depth > 1;
        if is_capped {
            let words = "a synchronous engine has depth 1, as in fio";
            remark("iodepth", &self.depth.to_string(), words);
        }
        let is_endless = self.time_based && self.runtime_ns.is_none();
        if is_endless {
            remark("time_based", "", "it has no runtime, as in fio");
        }
        let align_bytes = align_bytes.unwrap_or(operation_bytes);
        let opens = self.stonewall || self.new_group;
        let group = previous.map_or(0, |job| job.group + u32::from(opens));
        let (line, action) = (line_of(place), self.action());
        Ok(Job {
            name: self.name.unwrap_or_else(|| section.to_owned()),
            line,
            action,
            order: self.order,
            operation_bytes,
            align_bytes,
            offset: self.offset,
            size: self.size,
            runtime_ns: self.runtime_ns,
            time_based: self.time_based && !is_endless,
            engine: self.engine,
            direct: self.direct,
            durability: self.durability,
            fsync_every: self.fsync_every,
            fdatasync_every: self.fdatasync_every,
            end_fsync: self.end_fsync,
            depth: if is_capped { 1 } else { self.depth },
            numjobs: self.numjobs,
            loops: self.loops,
            group,
            stonewall: self.stonewall,
            new_group: self.new_group,
            group_reporting: self.group_reporting,
            // fio: any use of blockalign turns the map off.
            norandommap: self.norandommap || align_bytes != operation_bytes,
            seed: self.seed,
            repeatable: self.repeatable,
            filename: self.filename,
            directory: self.directory,
        })
    }

    /// The action, with its share of reads.
    fn action(&self) -> Action {
        match self.action {
            Action::Mixed { .. } => Action::Mixed { read_percent: self.read_percent },
            other => other,
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
        if matches!(self.action, Action::Mixed { .. }) && read != write {
            remark(option, &format!("{read},{write}"), "reads take the size of writes");
        }
        if self.action == Action::Read { read } else { write }
    }
}

fn line_of(place: &Place) -> usize {
    match place {
        Place::Line { number, .. } => *number,
        Place::Told | Place::File => 0,
    }
}
