//! What a synced 4 KiB write costs a disk that turns, in turns.

use device::{Action, Completion, Operation, Queue, SyncKind};
use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw, Scheduler};
use drive::{Host, Model as _, ModelQueue};

const TURN_NS: u64 = 60_000_000_000 / 7200;

/// A 7200 rpm 512e disk of 6 TB.
const PLAN: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 6_001_175_126_016,
    logical_bytes: 512,
    physical_bytes: 4096,
    origin_bytes: 0,
    rpm: 7200,
    outer_track_bytes: 1_761_280,
    inner_track_bytes: 880_640,
    zones: 16,
    heads: 12,
    skew_ns: 1_500_000,
    settle_ns: 1_200_000,
    full_stroke_ns: 16_000_000,
    rmw: Rmw::PerSector,
    command_ns: 30_000,
    link_bytes_per_second: 550_000_000,
    cache_bytes: 128 << 20,
    run_bytes: 32 << 20,
    idle_ns: 50_000_000,
    holds_tail: true,
    read_ahead_bytes: 1 << 20,
    depth: 32,
    scheduler: Scheduler::Nearest,
};

/// The median time of a write and its sync, one behind the other, from `start_bytes`.
fn synced(plan: HardDiskPlan, start_bytes: u64) -> u64 {
    let host = Host {
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
        let plan = HardDiskPlan { rmw, ..PLAN };
        for (start, turns) in [(aligned, 1), (aligned + 2048, turns)] {
            let took = synced(plan, start);
            let wanted = turns * TURN_NS;
            assert!(took.abs_diff(wanted) * 100 < wanted, "{rmw:?} at {start}: {took} ns");
        }
    }
}
