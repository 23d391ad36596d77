//! One job on a device for each arm: a queue for each, and all doing the same.

use device::Queue;
use host::DiskStats;
use host::engine::{Buffers, SyncQueue, UringQueue};
use measure::{Order, Role, Run, Slots, SlotsPlan, Subject};
use report::bench::Experiment;
use units::Unit;
use workload::{Job, job};

use super::measured_file;
use super::pattern::Pattern;
use super::requirements::{depth, name};
use crate::bench::document::{self, About, Seen};
use crate::bench::offset_arms;
use crate::bench::paired_loop::{self, Bounds, Timed};
use crate::bench::plan::{self, Arm};
use crate::bench::ready_device::ReadyDevice;
use crate::bench::scratch_file::ScratchFile;
use crate::bench::session::Session;
use crate::shared::halt::Halt;

/// A job, its arms and what it does.
pub(super) struct DeviceArms<'a> {
    pub(super) ground: &'a ScratchFile,
    pub(super) arms: &'a [Arm],
    pub(super) job: &'a Job,
    pub(super) pattern: Pattern,
    pub(super) title: String,
}

/// Opens each arm's file or device and compares them.
pub(super) fn measured(
    session: &mut Session<'_>,
    case: &DeviceArms<'_>,
    stages: &[ReadyDevice<'_>],
    device_bytes: u64,
) -> Result<Experiment, Halt> {
    let depth = depth(case.job)?;
    let operation_bytes = case.pattern.operation_bytes;
    let mut files = Vec::new();
    let mut length_bytes = device_bytes;
    for stage in stages {
        let (file, bytes) = measured_file::opened(session, case.job, stage, device_bytes)?;
        length_bytes = length_bytes.min(bytes);
        files.push(file);
    }
    let buffers = |seed: u64| {
        let mut buffers = Buffers::new(depth, operation_bytes)?;
        buffers.fill(seed);
        Ok(buffers)
    };
    let seed = session.seed;
    if depth == 1 {
        let queues = files.into_iter().map(|file| SyncQueue::new(vec![file], buffers(seed)?));
        let queues = queues.collect::<Result<Vec<_>, _>>()?;
        compared(session, case, queues, length_bytes, depth)
    } else {
        let queues = files.into_iter().map(|file| UringQueue::new(vec![file], buffers(seed)?));
        let queues = queues.collect::<Result<Vec<_>, _>>()?;
        compared(session, case, queues, length_bytes, depth)
    }
}

fn compared<Q: Queue>(
    session: &mut Session<'_>,
    case: &DeviceArms<'_>,
    queues: Vec<Q>,
    length_bytes: u64,
    depth: u16,
) -> Result<Experiment, Halt> {
    let place = &case.ground.place;
    let mut subjects = Vec::new();
    for queue in queues {
        let slots = slots(session, case, length_bytes)?;
        let counters = place.counted.and_then(|number| DiskStats::open(number).ok());
        subjects.push(Subject::new(queue, counters, case.pattern.work(depth), slots, 1));
    }
    let block_operations =
        offset_arms::calibrated(&mut subjects[0], session.bytes_left(), case.arms.len())?;
    session.wrote(subjects[0].written_bytes());
    for subject in &mut subjects {
        subject.set_block_operations(block_operations);
    }
    let mut turns = Turns { subjects, case };
    let plan = session.experiment(case.arms, plan::ALPHA);
    let bounds = bounds(session, case.job, case.arms.len());
    let done = paired_loop::run(session, plan, &case.title, bounds, &mut turns)?;
    let shift_bytes =
        case.arms.iter().find(|arm| arm.role == Role::Shifted).map(|arm| arm.shift_bytes);
    let is_plain = depth == 1 && turns.subjects[0].work().operations() == 1;
    let about = About {
        title: case.title.clone(),
        unit: if is_plain { "operation" } else { "block" },
        block_operations: u64::from(turns.subjects[0].work().operations()),
        workload: case.pattern.workload(depth),
        arms: case.arms.to_vec(),
        seen: turns
            .subjects
            .iter()
            .map(|subject| offset_arms::seen(subject, 0))
            .collect::<Vec<Seen>>(),
        elapsed_ns: done.elapsed_ns,
        written_bytes: done.written_bytes,
        predicted: shift_bytes.and_then(|shift| {
            let (write, bytes) = (!case.pattern.read, u64::from(case.pattern.operation_bytes));
            let first = place.stretch()?.start_bytes();
            place.predicted(write, first, bytes, shift)
        }),
        turn_ns: place.drive.as_ref().and_then(|drive| drive.turn_ns),
    };
    Ok(document::experiment(about, &done.experiment, done.conclusion))
}

/// Returns what of its time and bytes a job may use: each arm runs for no longer than the job says.
fn bounds(session: &Session<'_>, job: &Job, arms: usize) -> Bounds {
    let arms = u64::try_from(arms).unwrap_or(u64::MAX);
    let told_ns = job.runtime_ns.map_or(u64::MAX, |runtime_ns| runtime_ns.saturating_mul(arms));
    let nanoseconds = session.comparison_ns().min(told_ns);
    Bounds { nanoseconds, bytes: session.bytes_left() }
}

/// Returns where a job's operations go on its device or file; the same for every arm.
fn slots(session: &Session<'_>, case: &DeviceArms<'_>, length_bytes: u64) -> Result<Slots, Halt> {
    let job = case.job;
    let start = job.offset_bytes(length_bytes).min(length_bytes);
    let left = length_bytes - start;
    let length = job.size.map_or(left, |size| size.of(length_bytes)).min(left);
    let runs = [Run { offset_bytes: start, length_bytes: length, leaf: 0, address_bytes: start }];
    let is_random = job.order == job::Order::Random;
    let step = if is_random { job.align_bytes } else { job.operation_bytes };
    let unit = Unit::new(step.max(1)).expect("a step of at least a byte");
    let plan = SlotsPlan {
        runs: &runs,
        unit,
        operation_bytes: job.operation_bytes,
        shifts_bytes: &[0],
        order: if is_random { Order::Random } else { Order::Cursor },
        seed: job.seed.unwrap_or(session.seed),
    };
    Slots::new(plan).map_err(|error| {
        let message = format!("{} has no room on its device: {error}", name(job));
        Halt::hinted(message, "make the devices longer: --scratch".to_owned())
    })
}

/// The arms as the contest times them, each on its own device.
struct Turns<'a, Q: Queue> {
    subjects: Vec<Subject<Q, DiskStats>>,
    case: &'a DeviceArms<'a>,
}

impl<Q: Queue> Timed for Turns<'_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Halt> {
        self.subjects[arm]
            .observe(0)
            .map_err(|fault| offset_arms::of_arm(&self.case.arms[arm], fault))
    }

    fn pair_bytes(&self) -> u64 {
        if self.case.pattern.read {
            return 0;
        }
        let many = u64::try_from(self.subjects.len()).unwrap_or(u64::MAX);
        let operations = u64::from(self.subjects[0].work().operations());
        let bytes = u64::from(self.case.pattern.operation_bytes);
        many.saturating_mul(operations).saturating_mul(bytes)
    }

    fn start_pair(&mut self) {
        self.subjects.iter_mut().for_each(Subject::start_pair);
    }

    fn fault(&mut self) -> Option<String> {
        if let Some(moved) = self.case.ground.moved() {
            return Some(moved);
        }
        // Behind a page cache the drive need not have counted what was asked.
        if !self.case.job.direct {
            return None;
        }
        let names: Vec<&str> = self.case.arms.iter().map(|arm| arm.name.as_str()).collect();
        // The devices lie in one file, which its file system may lock as a whole.
        let serialized = || {
            let why = Subject::serialized_among(&self.subjects, &names)?;
            Some(format!("{why}; {}", offset_arms::BESIDE_LOCKS))
        };
        self.subjects.iter().find_map(Subject::accounting).or_else(serialized)
    }
}
