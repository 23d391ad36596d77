//! Impossible behavior of a disk: to be in two places, to be early, to forget a promise.

use drive::hard_disk::{HardDiskPlan, Scheduler};
use drive::{CommandKind, DriveCommand, Model as _};
use units::ByteRange;
use units::random::Random;

use super::any::{PLAN, command, disk, plan, run};
use crate::shared::TURN_NS;

#[test]
fn the_arm_is_in_one_place_at_a_time_and_its_account_adds_up() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let plan = plan(&mut random);
        let mut disk = disk(plan);
        let (mut busy_ns, mut free_ns, mut idle_ns, mut ended) = (0, 0, 0, 0);
        let end_ns = run(&mut disk, 100, &mut random, |disk, now_ns, _, done| {
            let tally = disk.tally();
            assert_eq!(tally.busy_ns, tally.seek_ns + tally.wait_ns + tally.transfer_ns);
            ended += done.len();
            let took_ns = tally.busy_ns - busy_ns;
            if took_ns > 0 {
                // It begins something, which it can only when it has ended what was before.
                assert!(now_ns >= free_ns, "seed {seed}: busy until {free_ns}, now {now_ns}");
                idle_ns += now_ns - free_ns;
                (busy_ns, free_ns) = (tally.busy_ns, now_ns + took_ns);
            }
        });
        assert_eq!((ended, disk.tally().commands), (100, 100), "seed {seed}: {plan:?}");
        assert_eq!(busy_ns + idle_ns, free_ns, "seed {seed}");
        assert!(free_ns <= end_ns && busy_ns > 0, "seed {seed}: {free_ns}, {end_ns}");
    }
}

#[test]
fn a_disk_that_reads_ahead_is_not_busy_for_longer_than_it_was_there() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let plan = HardDiskPlan { read_ahead_bytes: 1 << 20, ..plan(&mut random) };
        let (mut disk, mut done, mut now_ns) = (disk(plan), Vec::new(), 0);
        for id in 0..300 {
            // Runs of reads, so that what was read ahead is found.
            let offset_bytes = id / 30 * (1 << 26) + id % 30 * 8192;
            let command =
                DriveCommand { id, action: CommandKind::Read, offset_bytes, length_bytes: 8192 };
            disk.submit(command, now_ns, &mut done);
            while done.len() as u64 <= id {
                now_ns = disk.next_ns().expect("a read ends");
                disk.advance(now_ns, &mut done);
            }
            now_ns += *random.choose(&[0, 20_000, 5_000_000]);
        }
        let tally = disk.tally();
        assert_eq!(tally.busy_ns, tally.seek_ns + tally.wait_ns + tally.transfer_ns);
        assert!(tally.busy_ns <= now_ns, "seed {seed}: {} of {now_ns} ns", tally.busy_ns);
        assert!(tally.seeks < 40, "seed {seed}: the head goes on by itself: {tally:?}");
    }
}

#[test]
fn a_read_takes_the_seek_the_wait_the_transfer_and_what_a_slow_wire_adds() {
    for link_bytes_per_second in [500_000_000, 1_000_000] {
        places(HardDiskPlan { link_bytes_per_second, ..PLAN });
    }
}

/// Reads sectors one after the other, and works out anew, in fractions, how long each takes.
fn places(plan: HardDiskPlan) {
    let (mut disk, mut random) = (disk(plan), Random::new(3));
    let turn = TURN_NS as f64;
    let track_sectors = plan.outer_track_bytes / 4096;
    let tracks = (plan.capacity_bytes / 4096 + 1).div_ceil(track_sectors);
    let (mut now_ns, mut track, mut done) = (0, 0_u64, Vec::new());
    for id in 0..2000 {
        let sector = random.below(plan.capacity_bytes / 4096);
        let (to, index) = (sector / track_sectors, sector % track_sectors);
        let (action, offset_bytes, length_bytes) = (CommandKind::Read, sector * 4096, 4096);
        disk.submit(DriveCommand { id, action, offset_bytes, length_bytes }, now_ns, &mut done);
        while done.is_empty() {
            let next_ns = disk.next_ns().expect("a read ends");
            disk.advance(next_ns, &mut done);
        }
        let ended_ns = done.remove(0).at_ns;
        let share = to.abs_diff(track) as f64 / tracks as f64;
        let stroke = (plan.full_stroke_ns - plan.settle_ns) as f64;
        let seek = if to == track { 0.0 } else { plan.settle_ns as f64 + stroke * share.sqrt() };
        let there = (now_ns + plan.command_ns) as f64 + seek;
        let place = index as f64 / track_sectors as f64 * turn;
        let wait = (place - there).rem_euclid(turn);
        let pass = turn / track_sectors as f64;
        let wire = 4096.0 / plan.link_bytes_per_second as f64 * 1e9;
        let far = (ended_ns as f64 - (there + wait + pass.max(wire))).abs();
        // A seek is rounded to a millionth. A sector that begins to pass as the head arrives may be
        // caught or missed for that.
        let is_on_edge = wait < 2000.0 || turn - wait < 2000.0;
        let is_turn_off = (far - turn).abs() < 2000.0;
        assert!(far < 2000.0 || (is_turn_off && is_on_edge), "read {id} is {far} ns off");
        (now_ns, track) = (ended_ns + random.below(10_000_000), to);
    }
}

#[test]
fn nothing_ends_before_its_bytes_have_been_on_the_wire() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut disk = disk(plan(&mut random));
        let (mut flying, mut last_ns, mut ended) = (Vec::new(), 0, 0);
        run(&mut disk, 100, &mut random, |_, now_ns, command, done| {
            flying.extend(command.map(|command| (command, now_ns)));
            for done in done {
                assert!(last_ns <= done.at_ns && done.at_ns <= now_ns, "seed {seed}");
                last_ns = done.at_ns;
                let place = flying.iter().position(|(command, _)| command.id == done.id);
                let (command, from_ns) = flying.swap_remove(place.expect("it was submitted once"));
                let on_wire = command.length_bytes * 1_000_000_000 / PLAN.link_bytes_per_second;
                let is_moved = !matches!(command.action, CommandKind::Flush | CommandKind::Discard);
                let least_ns = PLAN.command_ns + if is_moved { on_wire } else { 0 };
                assert!(done.at_ns >= from_ns + least_ns, "seed {seed}: {command:?}");
                ended += 1;
            }
        });
        assert!(flying.is_empty() && ended == 100, "seed {seed}");
    }
}

#[test]
fn a_disk_without_a_choice_ends_commands_in_their_order() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let scheduler = Scheduler::Fifo;
        let plan = HardDiskPlan { cache_bytes: 0, scheduler, ..plan(&mut random) };
        let mut writes = Vec::new();
        run(&mut disk(plan), 100, &mut random, |_, _, _, done| {
            writes.extend(done.iter().map(|done| done.id));
        });
        // Discards need no medium, and reads have their way back over the wire.
        let mut random = Random::new(seed);
        let _ = self::plan(&mut random);
        let mut actions = Vec::new();
        for id in 0..100 {
            let _ = random.below(5);
            actions.push(command(id, &mut random).action);
        }
        let is_write = |id: &&u64| {
            matches!(actions[usize::try_from(**id).expect("few")], CommandKind::Write { .. })
        };
        let writes: Vec<u64> = writes.iter().filter(is_write).copied().collect();
        assert!(writes.is_sorted() && writes.len() > 20, "seed {seed}: {writes:?}");
    }
}

fn range(command: &DriveCommand) -> ByteRange {
    ByteRange::new(command.offset_bytes, command.length_bytes).expect("it is on the disk")
}

/// A write as the host knows it: when it was sent, and when it was answered.
#[derive(Clone, Copy, Debug)]
struct Known {
    command: DriveCommand,
    from_ns: u64,
    to_ns: Option<u64>,
}

#[test]
fn what_a_flush_or_a_forced_write_promised_is_on_the_medium() {
    let (mut flushes, mut forced) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut disk = disk(plan(&mut random));
        let mut known: Vec<Known> = Vec::new();
        run(&mut disk, 100, &mut random, |disk, now_ns, command, done| {
            known.extend(command.map(|command| Known { command, from_ns: now_ns, to_ns: None }));
            for done in done {
                let ended = known.iter().position(|known| known.command.id == done.id);
                let ended = ended.expect("it was submitted");
                known[ended].to_ns = Some(done.at_ns);
                let Known { command, from_ns, .. } = known[ended];
                // Bytes that a later write may have made new again say nothing.
                let is_alone = |one: &Known, since_ns: u64| {
                    known.iter().all(|other| {
                        let is_write = matches!(other.command.action, CommandKind::Write { .. });
                        let is_later = other.to_ns.is_none_or(|to_ns| to_ns > since_ns);
                        let is_other = other.command.id != one.command.id;
                        let meets = range(&other.command).overlaps(range(&one.command));
                        !(is_write && is_later && is_other && meets)
                    })
                };
                match command.action {
                    CommandKind::Write { fua: true } if is_alone(&known[ended], from_ns) => {
                        forced += 1;
                        assert!(disk.is_on_medium(range(&command)), "seed {seed}: {command:?}");
                    }
                    CommandKind::Flush => {
                        for one in &known {
                            let is_write = matches!(one.command.action, CommandKind::Write { .. });
                            let is_before = one.to_ns.is_some_and(|to_ns| to_ns <= from_ns);
                            if is_write && is_before && is_alone(one, from_ns) {
                                flushes += 1;
                                let is_on = disk.is_on_medium(range(&one.command));
                                assert!(is_on, "seed {seed}: {one:?} at {now_ns}");
                            }
                        }
                    }
                    _ => {}
                }
            }
        });
    }
    assert!(flushes > 1000 && forced > 1000, "{flushes} covered, {forced} forced");
}

#[test]
fn a_flush_covers_the_writes_that_ended_before_it_and_no_others() {
    let mut disk = disk(PLAN);
    let mut done = Vec::new();
    let write = CommandKind::Write { fua: false };
    let command = |id, action, offset_bytes: u64, length_bytes| DriveCommand {
        id,
        action,
        offset_bytes,
        length_bytes,
    };
    let before = command(1, write, 1 << 20, 4096);
    let behind = command(3, write, 1 << 30, 4096);
    disk.submit(before, 0, &mut done);
    disk.advance(1_000_000, &mut done);
    assert_eq!((done.len(), disk.is_on_medium(range(&before))), (1, false));
    disk.submit(command(2, CommandKind::Flush, 0, 0), 1_000_000, &mut done);
    disk.submit(behind, 1_000_000, &mut done);
    while done.len() < 3 {
        let next_ns = disk.next_ns().expect("all end");
        disk.advance(next_ns, &mut done);
    }
    assert_eq!(done.iter().map(|done| done.id).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(disk.is_on_medium(range(&before)) && !disk.is_on_medium(range(&behind)));
    // The host is silent, and the cache is emptied.
    disk.advance(done[2].at_ns + PLAN.idle_ns + 10 * TURN_NS, &mut done);
    assert!(disk.is_on_medium(range(&behind)));
}
