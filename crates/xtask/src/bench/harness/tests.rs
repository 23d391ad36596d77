//! The loop that measures, over every queue of a real machine: it takes no memory between its first
//! submit and its last reap.
//!
//! It stands here because this crate may use both the loop and the queues.

use std::os::fd::OwnedFd;

use device::{Action, Durability, Queue, SyncKind};
use host::DiskStats;
use host::engine::{Access, Buffers, EngineError, NullQueue, SyncQueue, UringQueue, open_measured};
use measure::{MappedRun, SlotOrder, Slots, SlotsPlan, Subject, Work};
use testkit::memory::{Counting, allocations_of};
use testkit::{Scratch, skip};
use units::Unit;

#[global_allocator]
static COUNTING: Counting = Counting;

const OPERATION_BYTES: u32 = 4096;
const FILE_BYTES: u64 = 4 << 20;
const DEPTHS: [u16; 3] = [1, 8, 128];
const PAIRS: u32 = 20;

fn buffers(depth: u16) -> Buffers {
    Buffers::new(depth, OPERATION_BYTES).unwrap()
}

fn file(scratch: &Scratch) -> Vec<OwnedFd> {
    let path = scratch.image("measured", FILE_BYTES);
    vec![open_measured(&path, Access::Write, false).unwrap()]
}

/// Runs some pairs of every kind of work, in both orders; asserts that it allocates nothing.
fn allocates_nothing(name: &str, depth: u16, mut queue: impl Queue) {
    let write = Action::Write { durability: Durability::Cached, atomic: false };
    let works = [(Action::Read, None), (write, None), (write, Some(SyncKind::Data))];
    for (action, sync) in works {
        for order in [SlotOrder::Cursor, SlotOrder::Random] {
            let work = Work {
                action,
                sync,
                sync_every: 1,
                operation_bytes: OPERATION_BYTES,
                depth,
                block_operations: 4 * u32::from(depth),
            };
            let mut subject = Subject::new(queue, None::<DiskStats>, work, slots(order), 2);
            let (ended, allocations) = allocations_of(|| {
                for _ in 0..PAIRS {
                    subject.start_pair();
                    for arm in [0, 1] {
                        subject.observe(arm)?;
                    }
                }
                Ok::<(), measure::Fault>(())
            });
            ended.unwrap();
            assert_eq!(allocations, 0, "{name} at depth {depth}: {work:?}, {order:?}");
            assert!(subject.seen(1).latencies.count() >= u64::from(PAIRS));
            queue = subject.into_parts().0;
        }
    }
}

fn slots(order: SlotOrder) -> Slots {
    let run = MappedRun { offset_bytes: 0, length_bytes: FILE_BYTES, leaf: 0, address_bytes: 0 };
    let plan = SlotsPlan {
        runs: &[run],
        unit: Unit::new(u64::from(OPERATION_BYTES)).unwrap(),
        operation_bytes: OPERATION_BYTES.into(),
        shifts_bytes: &[0, 512],
        order,
        seed: 1,
    };
    Slots::new(plan).unwrap()
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations_of(|| drop(vec![0_u8; 100])).1, 1);
}

#[test]
fn the_loop_allocates_nothing_over_a_target_that_does_nothing() {
    for depth in DEPTHS {
        allocates_nothing("NullQueue", depth, NullQueue::new(buffers(depth)).unwrap());
    }
}

#[test]
fn the_loop_allocates_nothing_over_system_calls() {
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    for depth in DEPTHS {
        let queue = SyncQueue::new(file(&scratch), buffers(depth)).unwrap();
        allocates_nothing("SyncQueue", depth, queue);
    }
}

#[test]
fn the_loop_allocates_nothing_over_io_uring() {
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    for depth in DEPTHS {
        match UringQueue::new(file(&scratch), buffers(depth)) {
            Err(error @ EngineError::Forbidden { .. }) => return skip(&error.to_string()),
            queue => allocates_nothing("UringQueue", depth, queue.unwrap()),
        }
    }
}
