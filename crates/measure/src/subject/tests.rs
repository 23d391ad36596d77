//! One subject on a model drive that notes what it was asked, fails and miscounts as it is told.

use device::{
    Action, Completion, Counters, CountersError, DiskCounts, Durability, Operation, Queue,
    QueueError, SyncKind,
};
use drive::profile::built_in;
use drive::{HostRules, Model, ModelCounters, ModelQueue};
use units::Unit;

use super::{Fault, Subject, Work};
use crate::{
    ArmPlan, CostVerdict, Experiment, ExperimentPlan, MappedRun, Role, SlotOrder, Slots, SlotsPlan,
    Stop, VerdictLimits,
};

/// A failure of an operation.
#[derive(Clone, Copy)]
enum Failure {
    /// It moves half of its bytes.
    Short,
    /// It fails with this error's number.
    Error(i32),
    /// The queue stops.
    Stop,
}

/// A queue over a model drive, what was pushed, and the most that was in flight at once.
struct Noting {
    queue: ModelQueue<Box<dyn Model>>,
    /// The operation with this number, from 0, fails so.
    failure: Option<(usize, Failure)>,
    /// The number of each slot's operation.
    numbers: [usize; DEPTH as usize],
    pushed: Vec<Operation>,
    flying: usize,
    flying_max: usize,
    is_silent: bool,
}

const DEPTH: u16 = 16;

impl Queue for Noting {
    fn depth(&self) -> u16 {
        self.queue.depth()
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.queue.buffer(slot)
    }

    fn push(&mut self, operation: Operation) {
        self.numbers[usize::from(operation.slot)] = self.pushed.len();
        self.pushed.push(operation);
        self.flying += 1;
        self.flying_max = self.flying_max.max(self.flying);
        self.queue.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        match self.failure {
            Some((number, Failure::Stop)) if number < self.pushed.len() => {
                let reason = "the model was told to".to_owned();
                Err(QueueError { attempted: "a submission to the model", reason })
            }
            _ => self.queue.submit(),
        }
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        let ended = self.queue.reap(completions, least)?;
        self.flying -= ended;
        for completion in &mut completions[..ended] {
            match self.failure {
                Some((number, failure)) if number == self.numbers[usize::from(completion.slot)] => {
                    completion.result = match failure {
                        Failure::Error(error) => Err(error),
                        Failure::Short | Failure::Stop => completion.result.map(|all| all / 2),
                    };
                }
                _ => {}
            }
        }
        Ok(if self.is_silent { 0 } else { ended })
    }

    fn now_ns(&mut self) -> u64 {
        self.queue.now_ns()
    }
}

/// A way of counting.
#[derive(Clone, Copy)]
enum Counting {
    /// Every operation, right.
    Exact,
    /// Nothing of one write in so many: something above answered for it.
    Fewer(u64),
    /// Twice the bytes of each write.
    Twice,
}

struct Miscounting {
    counters: ModelCounters,
    counting: Counting,
}

impl Counters for Miscounting {
    fn counts(&mut self) -> Result<DiskCounts, CountersError> {
        let mut counts = self.counters.counts()?;
        match self.counting {
            Counting::Exact => {}
            Counting::Fewer(one_in) => counts.write_sectors -= counts.writes.div_ceil(one_in) * 8,
            Counting::Twice => counts.write_sectors *= 2,
        }
        Ok(counts)
    }
}

const WRITE: Action = Action::Write { durability: Durability::Cached, atomic: false };

fn work(depth: u16, sync: Option<SyncKind>, sync_every: u32, block_operations: u32) -> Work {
    let operation_bytes = 4096;
    Work { action: WRITE, sync, sync_every, operation_bytes, depth, block_operations }
}

fn subject(
    work: Work,
    failure: Option<(usize, Failure)>,
    counting: Counting,
) -> Subject<Noting, Miscounting> {
    let profile = built_in().iter().find(|profile| profile.name == "optane-p4800x");
    let host = HostRules {
        depth: DEPTH,
        buffer_bytes: 8192,
        start_bytes: 0,
        turnaround_ns: 0,
        has_cache: true,
        has_fua: false,
    };
    let queue = ModelQueue::new(profile.unwrap().model().unwrap(), host);
    let runs =
        [MappedRun { offset_bytes: 1 << 20, length_bytes: 8 << 20, leaf: 0, address_bytes: 0 }];
    let slots = Slots::new(SlotsPlan {
        runs: &runs,
        unit: Unit::new(4096).unwrap(),
        operation_bytes: 4096,
        shifts_bytes: &[0, 512],
        order: SlotOrder::Cursor,
        seed: 1,
    });
    let counters = Miscounting { counters: queue.counters(), counting };
    let numbers = [0; DEPTH as usize];
    let pushed = Vec::new();
    let queue =
        Noting { queue, failure, numbers, pushed, flying: 0, flying_max: 0, is_silent: false };
    Subject::new(queue, Some(counters), work, slots.unwrap(), 2)
}

fn exact(work: Work) -> Subject<Noting, Miscounting> {
    subject(work, None, Counting::Exact)
}

#[test]
fn at_depth_one_an_observation_is_a_write_and_its_sync() {
    let mut subject = exact(work(1, Some(SyncKind::Range), 1, 64));
    let time_ns = subject.observe(1).unwrap();
    let pushed = &subject.queue.pushed;
    let range = |operation: &Operation| (operation.offset_bytes, operation.length_bytes);
    assert_eq!(pushed.len(), 2);
    assert_eq!(range(&pushed[0]), ((1 << 20) + 512, 4096));
    assert_eq!(pushed[1].action, Action::Sync(SyncKind::Range));
    assert_eq!(range(&pushed[1]), range(&pushed[0]), "the sync covers the write");
    let seen = subject.seen(1);
    assert_eq!((seen.operations, seen.observations, seen.busy_ns), (1, 1, time_ns));
    assert_eq!((seen.latencies.count(), seen.latencies.max()), (1, time_ns));
    assert_eq!(seen.counts.unwrap().flushes, Some(0), "sync_file_range sends none");
    assert!(seen.syncs.max() < time_ns);
    assert_eq!(subject.written_bytes(), 4096);
}

#[test]
fn at_depth_one_with_a_sync_for_four_writes_an_observation_has_all_four() {
    let mut subject = exact(work(1, Some(SyncKind::Data), 4, 64));
    subject.observe(0).unwrap();
    let seen = subject.seen(0);
    assert_eq!((seen.operations, seen.latencies.count(), seen.syncs.count()), (4, 4, 1));
    assert_eq!(seen.counts.unwrap().flushes, Some(1));
    let last = subject.queue.pushed[4];
    assert_eq!((last.action, last.length_bytes), (Action::Sync(SyncKind::Data), 0));
}

#[test]
fn a_block_is_kept_at_its_depth_and_drained() {
    let mut subject = exact(work(8, None, 0, 100));
    let time_ns = subject.observe(0).unwrap();
    let seen = subject.seen(0);
    assert_eq!((seen.operations, seen.exact, seen.syncs.count()), (100, 1, 0));
    assert!(time_ns * 4 < seen.latencies.median() * 100, "eight run side by side");
    let queue = &subject.queue;
    assert_eq!((queue.flying, queue.flying_max), (0, 8));
    subject.set_block_operations(5);
    subject.observe(0).unwrap();
    assert_eq!(subject.seen(0).operations, 105);
}

#[test]
fn at_a_depth_each_full_number_of_writes_has_a_sync_and_so_have_the_last() {
    for (every, syncs) in [(1, 100), (30, 4), (50, 2), (1000, 1)] {
        let mut subject = exact(work(8, Some(SyncKind::Data), every, 100));
        subject.observe(0).unwrap();
        assert_eq!(subject.seen(0).syncs.count(), syncs, "one for {every}");
        assert_eq!(subject.seen(0).latencies.count(), 100);
        assert!(matches!(subject.queue.pushed.last().unwrap().action, Action::Sync(_)));
    }
}

#[test]
fn reads_are_never_synced_and_write_nothing() {
    let mut subject = exact(Work { action: Action::Read, ..work(1, Some(SyncKind::All), 1, 1) });
    subject.observe(0).unwrap();
    assert_eq!((subject.seen(0).syncs.count(), subject.seen(0).exact), (0, 1));
    assert_eq!(subject.written_bytes(), 0);
}

#[test]
fn a_short_write_voids_and_the_queue_is_drained() {
    let failure = Some((3, Failure::Short));
    let mut subject = subject(work(8, None, 0, 100), failure, Counting::Exact);
    let expected = "a write of 4096 bytes at offset 1073152 moved 2048 bytes only";
    assert_eq!(subject.observe(0), Err(Fault::Void(expected.to_owned())));
    assert_eq!((subject.queue.flying, subject.seen(0).observations), (0, 0));
    subject.observe(1).unwrap();
}

#[test]
fn a_failed_sync_is_named_with_its_error() {
    let failure = Some((1, Failure::Error(5)));
    let mut subject = subject(work(1, Some(SyncKind::Data), 1, 1), failure, Counting::Exact);
    let Err(Fault::Void(text)) = subject.observe(1) else { panic!("an error is no time") };
    assert_eq!(text, "a sync failed: Input/output error (os error 5)");
}

#[test]
fn a_queue_that_stops_or_gives_nothing_back_is_not_waited_for() {
    let stop = Some((20, Failure::Stop));
    let mut stopping = subject(work(8, None, 0, 100), stop, Counting::Exact);
    assert!(matches!(stopping.observe(0), Err(Fault::Stopped(_))));
    let mut silent = exact(work(1, None, 0, 1));
    silent.queue.is_silent = true;
    assert!(matches!(silent.observe(0), Err(Fault::Stopped(_))));
}

/// The arms' names.
const NAMES: [&str; 2] = ["aligned", "shifted"];

/// The subject after so many observations of each arm.
fn observed(counting: Counting, work: Work, count: u32) -> Subject<Noting, Miscounting> {
    let mut subject = subject(work, None, counting);
    for _ in 0..count {
        subject.observe(0).unwrap();
        subject.observe(1).unwrap();
    }
    subject
}

#[test]
fn a_drive_that_counts_less_than_was_asked_voids_when_it_is_no_chance() {
    let plain = work(1, None, 0, 1);
    let voided = observed(Counting::Fewer(10), plain, 100).accounting();
    assert!(voided.unwrap().contains("in 20 of 200 observations: a cache above it answered"));
    assert_eq!(observed(Counting::Fewer(100), plain, 200).accounting(), None, "4 of 400");
    assert_eq!(observed(Counting::Fewer(1), plain, 1).accounting(), None, "2 of 2");
    let exact = observed(Counting::Exact, plain, 100);
    assert_eq!((exact.accounting(), exact.remarks(&NAMES)), (None, Vec::new()));
    assert_eq!((exact.seen(0).exact, exact.seen(0).counts.unwrap().writes), (100, 100));
}

#[test]
fn a_drive_that_counts_more_is_remarked_and_voids_nothing() {
    let plain = observed(Counting::Twice, work(1, None, 0, 1), 10);
    assert_eq!((plain.accounting(), plain.seen(1).more), (None, 10));
    let said = "the drive wrote 2.0 times what bench wrote, in aligned and shifted operations \
                alike: other programs";
    let remarks = plain.remarks(&NAMES);
    assert_eq!(remarks.len(), 1, "what all arms meet is said once");
    assert!(remarks[0].starts_with(said), "{remarks:?}");
    let synced = observed(Counting::Twice, work(1, Some(SyncKind::Data), 1, 1), 10);
    let remark = &synced.remarks(&NAMES)[0];
    assert!(
        remark.contains("the journal or other programs added theirs, which may hide a part"),
        "{remark}"
    );
}

#[test]
fn a_failure_in_the_middle_voids_the_experiment_and_is_named() {
    let reason = |failure| {
        let work = work(1, None, 0, 1);
        let mut subject = subject(work, Some((20, failure)), Counting::Exact);
        let arms = [("aligned", Role::Baseline), ("shifted", Role::Shifted)];
        let mut experiment = Experiment::new(ExperimentPlan {
            arms: arms.map(|(name, role)| ArmPlan { name: name.to_owned(), role }).to_vec(),
            alpha: 0.05,
            pairs_max: 100,
            limits: VerdictLimits::default(),
            seed: 1,
        })
        .unwrap();
        let mut times_ns = [0; 2];
        while !experiment.standing().is_done {
            subject.start_pair();
            let order = experiment.order().to_vec();
            let observed = order.iter().try_for_each(|&arm| {
                times_ns[arm] = subject.observe(arm)?;
                Ok::<(), Fault>(())
            });
            match observed {
                Ok(()) => experiment.record(&times_ns),
                Err(fault) => experiment.void(fault.to_string()),
            }
        }
        let conclusion = experiment.finish(Stop::Rule);
        assert_eq!(conclusion.verdict, CostVerdict::Void);
        assert_eq!(subject.queue.pushed.len(), 21);
        conclusion.reason
    };
    let short = reason(Failure::Short);
    assert!(short.contains("moved 2048 bytes only"), "{short}");
    assert!(reason(Failure::Error(5)).ends_with("failed: Input/output error (os error 5)"));
    assert!(reason(Failure::Stop).contains("a submission to the model failed"));
}
