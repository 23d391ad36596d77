//! Nothing is allocated while it is measured: from the first submit of an observation to its last
//! reap, and where its time is recorded.

use crate::{
    ArmPlan, Experiment, ExperimentPlan, MappedRun, Role, SlotOrder, Slots, SlotsPlan, Subject,
    VerdictLimits, Work,
};
use device::{
    Action, Completion, Counters, CountersError, DiskCounts, Durability, Operation, Queue,
    QueueError, SyncKind,
};
use testkit::memory::{Counting, allocations_of, peak_of};
use units::Unit;

#[global_allocator]
static COUNTING: Counting = Counting;

const DEPTH: u16 = 8;

/// A queue that does nothing, in no time.
struct Null {
    pushed: Vec<u16>,
    buffer: [u8; 4096],
    now_ns: u64,
}

impl Queue for Null {
    fn depth(&self) -> u16 {
        DEPTH
    }

    fn buffer(&mut self, _slot: u16) -> &mut [u8] {
        &mut self.buffer
    }

    fn push(&mut self, operation: Operation) {
        self.pushed.push(operation.slot);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        Ok(())
    }

    fn reap(&mut self, completions: &mut [Completion], _least: usize) -> Result<usize, QueueError> {
        let mut ended = 0;
        for (completion, slot) in completions.iter_mut().zip(self.pushed.drain(..)) {
            let submitted_ns = self.now_ns;
            self.now_ns += 1000 + submitted_ns % 7;
            let (completed_ns, result) = (self.now_ns, Ok(4096));
            *completion = Completion { slot, submitted_ns, completed_ns, result };
            ended += 1;
        }
        Ok(ended)
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }
}

/// Counters that stand still.
struct Still;

impl Counters for Still {
    fn counts(&mut self) -> Result<DiskCounts, CountersError> {
        Ok(DiskCounts::default())
    }
}

fn subject(work: Work, order: SlotOrder) -> Subject<Null, Still> {
    let null =
        Null { pushed: Vec::with_capacity(usize::from(DEPTH)), buffer: [0; 4096], now_ns: 0 };
    let runs = [MappedRun { offset_bytes: 0, length_bytes: 4 << 20, leaf: 0, address_bytes: 0 }];
    let slots = Slots::new(SlotsPlan {
        runs: &runs,
        unit: Unit::new(4096).expect("it has a length"),
        operation_bytes: 4096,
        shifts_bytes: &[0, 512, 0],
        order,
        seed: 1,
    });
    Subject::new(null, Some(Still), work, slots.expect("there is room"), 3)
}

fn experiment() -> Experiment {
    let arms = [Role::Baseline, Role::Shifted, Role::Control];
    let arms = arms.map(|role| ArmPlan { name: role.word().to_owned(), role });
    let (limits, pairs_max) = (VerdictLimits::default(), 3000);
    Experiment::new(ExperimentPlan { arms: arms.to_vec(), alpha: 0.05, pairs_max, limits, seed: 1 })
        .expect("it is sound")
}

/// Returns what `code` returns, which holds no more memory on its way than before.
fn without_allocation<T>(what: &str, code: impl FnOnce() -> T) -> T {
    let (value, peak_bytes) = peak_of(code);
    assert_eq!(peak_bytes, 0, "{what} allocates");
    value
}

#[test]
fn the_counter_sees_an_allocation() {
    let (_, peak_bytes) = peak_of(|| vec![1_u8; 100]);
    assert!(peak_bytes >= 100);
}

#[test]
fn observing_and_recording_allocate_nothing() {
    let action = Action::Write { durability: Durability::Cached, atomic: false };
    for (depth, sync_every, order) in [
        (1, 0, SlotOrder::Cursor),
        (1, 1, SlotOrder::Random),
        (DEPTH, 0, SlotOrder::Random),
        (DEPTH, 5, SlotOrder::Cursor),
    ] {
        let work = Work {
            action,
            sync: Some(SyncKind::Data),
            sync_every,
            operation_bytes: 4096,
            depth,
            block_operations: 64,
        };
        let (mut subject, mut experiment) = (subject(work, order), experiment());
        let mut times_ns = [0; 3];
        for _ in 0..2500 {
            // Each call by itself, so that memory that one frees hides nothing that another takes.
            without_allocation("the start of a pair", || subject.start_pair());
            let order = without_allocation("the order", || experiment.order());
            for &arm in order {
                let time = without_allocation("an observation", || subject.observe(arm));
                times_ns[arm] = time.unwrap();
            }
            without_allocation("a record", || experiment.record(&times_ns));
        }
        assert!(experiment.standing().pairs >= 2400 && experiment.regimes().len() == 1);
    }
}

/// Durable writes that take no time of their own, on a clock that goes on by itself.
struct Instant {
    now_ns: u64,
}

impl device::Durable for Instant {
    fn begin(&mut self, _way: usize) -> Result<(), device::DurableFault> {
        Ok(())
    }

    fn once(&mut self, _way: usize) -> Result<u64, device::DurableFault> {
        self.now_ns += 50_000;
        Ok(50_000)
    }

    fn end(&mut self, _way: usize) -> Result<(), device::DurableFault> {
        Ok(())
    }

    fn written_bytes(&self) -> u64 {
        0
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn goes_on(&self) -> bool {
        true
    }
}

#[test]
fn a_hundred_rounds_of_durable_writes_allocate_no_more_than_one() {
    let ways: Vec<_> = crate::durable::pg_rows().into_iter().map(|row| row.way).collect();
    let ran = |rounds| {
        let limits = crate::durable::DurableLimits {
            elapsed_ns: u64::MAX,
            written_bytes: u64::MAX,
            slice_ns: 1_000_000,
            slice_bytes: u64::MAX,
            rounds,
        };
        let mut double = Instant { now_ns: 0 };
        let (seen, count) = allocations_of(|| crate::durable::run(&mut double, &ways, limits, 1));
        assert_eq!(seen.rounds + seen.discarded_rounds, rounds);
        count
    };
    assert_eq!(ran(1), ran(100));
}
