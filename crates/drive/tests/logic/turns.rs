//! Cost of a synced 4 KiB write on a disk that turns, in turns.

use device::{Action, Completion, Operation, Queue, SyncKind};
use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw};
use drive::{HostRules, Model as _, ModelQueue};

use crate::shared::{DISK, TURN_NS};

/// The median time of a write and its sync, one behind the other, from `start_bytes`.
fn synced(plan: HardDiskPlan, start_bytes: u64) -> u64 {
    let host = HostRules {
        depth: 1,
        buffer_bytes: 4096,
        start_bytes,
        turnaround_ns: 10_000,
        has_cache: true,
        has_fua: false,
    };
    let mut queue = ModelQueue::new(HardDisk::new(plan).expect("such a disk can be"), host);
    let mut times = Vec::new();
    for number in 0..500 {
        let begun_ns = queue.now_ns();
        let write = Action::Write { durability: Default::default(), atomic: false };
        for action in [write, Action::Sync(SyncKind::Data)] {
            let length_bytes = if action == write { 4096 } else { 0 };
            let offset_bytes = number * 4096;
            queue.push(Operation { action, file: 0, slot: 0, offset_bytes, length_bytes });
            queue.submit().expect("a model takes all");
            let none = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
            let mut completions = [none];
            assert_eq!(queue.reap(&mut completions, 1), Ok(1));
            assert_eq!(completions[0].result, Ok(length_bytes));
        }
        times.push(queue.now_ns() - begun_ns);
    }
    let tally = queue.model().tally();
    assert_eq!(tally.busy_ns, tally.seek_ns + tally.wait_ns + tally.transfer_ns);
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn a_misaligned_write_takes_the_turns_of_its_policy_and_an_aligned_one_takes_one() {
    let aligned = 131_072 * 1024;
    let policies = [(Rmw::Buffered, 1), (Rmw::Batched, 2), (Rmw::PerSector, 3), (Rmw::Serial, 4)];
    for (rmw, turns) in policies {
        let plan = HardDiskPlan { rmw, ..DISK };
        for (start, turns) in [(aligned, 1), (aligned + 2048, turns)] {
            let took = synced(plan, start);
            let wanted = turns * TURN_NS;
            assert!(took.abs_diff(wanted) * 100 < wanted, "{rmw:?} at {start}: {took} ns");
        }
    }
}
