//! In which order commands end, and which are refused: no disk could do it otherwise.

use std::collections::BTreeMap;

use device::{Action as Asked, Completion, Durability, Operation, Queue as _, SyncKind};
use drive::hard_disk::{HardDisk, HardDiskPlan, Scheduler};
use drive::{CommandFault, CommandKind, DriveCommand, HostRules, Model as _, ModelQueue};
use units::random::Random;

use super::any::{PLAN, disk, plan, run};
use crate::shared::TURN_NS;

/// Reads of single sectors all at once; the order in which they end, and when.
fn reads(plan: HardDiskPlan, count: u64, random: &mut Random) -> Vec<(u64, u64)> {
    let (mut disk, mut done) = (disk(plan), Vec::new());
    for id in 0..count {
        let offset_bytes = random.below(PLAN.capacity_bytes / 4096) * 4096;
        let command =
            DriveCommand { id, action: CommandKind::Read, offset_bytes, length_bytes: 4096 };
        disk.submit(command, 0, &mut done);
    }
    while let Some(next_ns) = disk.next_ns() {
        disk.advance(next_ns, &mut done);
    }
    done.iter().map(|done| (done.id, done.at_ns)).collect()
}

#[test]
fn commands_overtake_only_those_that_are_among_the_choices() {
    let mut overtakes = 0;
    for seed in 0..100 {
        let mut random = Random::new(seed);
        // Misaligned sectors are two; reads of one are read in one piece.
        let plan = HardDiskPlan { cache_bytes: 0, origin_bytes: 0, ..plan(&mut random) };
        let ended = reads(plan, 80, &mut random);
        assert_eq!(ended.len(), 80, "seed {seed}");
        let mut waiting: Vec<u64> = (0..80).collect();
        for (id, _) in ended {
            let place = waiting.iter().position(|waits| *waits == id).expect("each ends once");
            let choices = match plan.scheduler {
                Scheduler::Fifo => 1,
                Scheduler::Nearest => usize::from(plan.depth),
            };
            assert!(place < choices, "seed {seed}: {id} was behind {place} others");
            overtakes += u64::from(place > 0);
            waiting.remove(place);
        }
    }
    assert!(overtakes > 1000, "{overtakes}");
}

#[test]
fn choosing_is_never_slower_than_a_turn_and_a_stroke_for_each_and_pays() {
    let (mut chosen_ns, mut in_order_ns) = (0, 0);
    for seed in 0..30 {
        let last_ns = |scheduler| {
            let mut random = Random::new(seed);
            let plan = HardDiskPlan { scheduler, cache_bytes: 0, ..PLAN };
            let ended = reads(plan, 80, &mut random);
            let most_ns = PLAN.full_stroke_ns + 2 * TURN_NS;
            assert!(ended.windows(2).all(|two| two[1].1 - two[0].1 <= most_ns), "seed {seed}");
            ended.last().expect("some ended").1
        };
        chosen_ns += last_ns(Scheduler::Nearest);
        in_order_ns += last_ns(Scheduler::Fifo);
    }
    assert!(chosen_ns * 3 < in_order_ns * 2, "{chosen_ns} and {in_order_ns} ns");
}

#[test]
fn a_command_beyond_the_end_or_of_parts_of_sectors_is_refused_and_leaves_no_trace() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut disk = disk(plan(&mut random));
        let (capacity, mut done) = (PLAN.capacity_bytes, Vec::new());
        let wrong = [
            (capacity, 512, CommandFault::Bounds),
            (capacity - 512, 1024, CommandFault::Bounds),
            (u64::MAX - 511, 512, CommandFault::Bounds),
            (0, u64::MAX, CommandFault::Bounds),
            (capacity - 512, 0, CommandFault::Sectors),
            (random.below(1 << 20) * 512 + 1 + random.below(511), 512, CommandFault::Sectors),
            (512, 1 + random.below(511), CommandFault::Sectors),
        ];
        let fua = random.below(2) == 0;
        let actions = [CommandKind::Read, CommandKind::Write { fua }, CommandKind::Discard];
        for (offset_bytes, length_bytes, fault) in wrong {
            for action in actions {
                let command = DriveCommand { id: 7, action, offset_bytes, length_bytes };
                disk.submit(command, 5, &mut done);
                let ended = done.pop().expect("it ends at once");
                assert_eq!((ended.at_ns, ended.outcome), (5, Err(fault)), "{command:?}");
            }
        }
        assert!(disk.next_ns().is_none() && disk.tally() == Default::default(), "seed {seed}");
        let last = DriveCommand {
            id: 8,
            action: CommandKind::Write { fua: true },
            offset_bytes: capacity - 512,
            length_bytes: 512,
        };
        disk.submit(last, 5, &mut done);
        disk.advance(60_000_000_000, &mut done);
        assert_eq!(done.iter().map(|done| done.outcome).collect::<Vec<_>>(), [Ok(())]);
    }
}

#[test]
fn what_was_discarded_is_not_written_any_more() {
    let mut done = Vec::new();
    for (discarded, written) in [(false, 1), (true, 0)] {
        let mut disk = disk(PLAN);
        let write = CommandKind::Write { fua: false };
        let (offset_bytes, length_bytes) = (1 << 20, 1 << 16);
        disk.submit(
            DriveCommand { id: 0, action: write, offset_bytes, length_bytes },
            0,
            &mut done,
        );
        disk.advance(1_000_000, &mut done);
        if discarded {
            let action = CommandKind::Discard;
            let discard = DriveCommand { id: 1, action, offset_bytes, length_bytes };
            disk.submit(discard, 1_000_000, &mut done);
        }
        let flush =
            DriveCommand { id: 2, action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 };
        disk.submit(flush, 2_000_000, &mut done);
        disk.advance(10_000_000_000, &mut done);
        assert_eq!(disk.tally().medium_writes, written);
        assert_eq!(done.last().map(|done| done.id), Some(2));
    }
}

#[test]
#[should_panic(expected = "time does not run backward")]
fn a_disk_that_is_told_an_earlier_time_says_so() {
    let (mut disk, mut done) = (disk(PLAN), Vec::new());
    disk.advance(1000, &mut done);
    disk.advance(999, &mut done);
}

#[test]
fn a_write_that_is_forced_takes_its_pass_and_a_flush_of_nothing_takes_none() {
    let pass_ns = TURN_NS / (PLAN.outer_track_bytes / 4096);
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let mut disk = disk(HardDiskPlan { origin_bytes: 0, ..plan(&mut random) });
        let mut begun_ns = BTreeMap::new();
        run(&mut disk, 100, &mut random, |disk, now_ns, command, done| {
            begun_ns.extend(command.map(|command| (command.id, (command, now_ns))));
            for done in done {
                let (command, from_ns) = begun_ns[&done.id];
                if command.action == (CommandKind::Write { fua: true }) {
                    assert!(done.at_ns - from_ns >= PLAN.command_ns + pass_ns, "{command:?}");
                }
            }
            let tally = disk.tally();
            assert!(tally.transfer_ns >= tally.medium_writes * pass_ns, "{tally:?}");
        });
        let (mut done, now_ns) = (Vec::new(), 1 << 40);
        disk.advance(now_ns, &mut done);
        let busy_ns = disk.tally().busy_ns;
        let flush =
            DriveCommand { id: 0, action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 };
        disk.submit(flush, now_ns, &mut done);
        disk.advance(now_ns + PLAN.command_ns, &mut done);
        assert_eq!((done.len(), disk.tally().busy_ns), (1, busy_ns), "seed {seed}");
    }
}

/// Operations of all kinds through a queue, up to four in flight.
fn queued(plan: HardDiskPlan, host: HostRules, random: &mut Random) -> ModelQueue<HardDisk> {
    let mut queue = ModelQueue::new(disk(plan), host);
    let mut flying: BTreeMap<u16, Operation> = BTreeMap::new();
    let mut last_ns = 0;
    for number in 0..200 {
        while flying.len() == usize::from(host.depth) || (number == 199 && !flying.is_empty()) {
            let mut ended =
                [Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) }; 4];
            let count = queue.reap(&mut ended, 1).expect("all end");
            assert!(count > 0);
            for ended in &ended[..count] {
                let operation = flying.remove(&ended.slot).expect("each ends once");
                let is_beyond = operation.offset_bytes >= PLAN.capacity_bytes;
                let wanted = if is_beyond { Err(28) } else { Ok(operation.length_bytes) };
                assert_eq!(ended.result, wanted, "{operation:?}");
                assert!(ended.completed_ns >= ended.submitted_ns.max(last_ns), "{ended:?}");
                last_ns = ended.completed_ns;
            }
            assert!(queue.now_ns() >= last_ns);
        }
        let durability = *random.choose(&[Durability::Cached, Durability::Data]);
        let action = *random.choose(&[
            Asked::Read,
            Asked::Write { durability, atomic: false },
            Asked::Sync(SyncKind::Data),
        ]);
        let is_sync = matches!(action, Asked::Sync(_));
        let offset_bytes = match random.below(10) {
            0 if !is_sync => PLAN.capacity_bytes,
            _ => random.below(PLAN.capacity_bytes / 4096) * 4096,
        };
        let length_bytes = if is_sync { 0 } else { 4096 };
        let slot = (0..host.depth).find(|slot| !flying.contains_key(slot)).expect("one is free");
        let operation = Operation { action, file: 0, slot, offset_bytes, length_bytes };
        flying.insert(slot, operation);
        queue.push(operation);
        queue.submit().expect("a model takes all");
    }
    queue
}

#[test]
fn a_queue_tells_each_end_once_in_time_and_sends_no_flush_where_there_is_no_cache() {
    let mut flushes = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let plan = plan(&mut random);
        let has_cache = plan.cache_bytes > 0;
        let host = HostRules {
            depth: 4,
            buffer_bytes: 4096,
            start_bytes: 0,
            turnaround_ns: random.below(20_000),
            has_cache,
            has_fua: random.below(2) == 0,
        };
        let queue = queued(plan, host, &mut random);
        let tally = queue.model().tally();
        assert!(has_cache || tally.flushes == 0, "seed {seed}: {tally:?}");
        assert_eq!(tally.busy_ns, tally.seek_ns + tally.wait_ns + tally.transfer_ns);
        flushes += tally.flushes;
    }
    assert!(flushes > 1000, "{flushes}");
}
