//! Claims about every flash drive, persistent memory and network volume that can be: plans and
//! commands are random, and their seed is printed.

use std::collections::BTreeMap;

use drive::{
    Cloud, CloudPlan, CommandFault, CommandKind, DriveCommand, DriveCompletion, DriveTally, Flash,
    FlashPlan, Ideal, Memory, MemoryPlan, Model, Spread, Victim, VolumeLimits,
};
use testkit::memory::{Counting, allocations_of, peak_of};
use units::random::Random;

#[global_allocator]
static COUNTING: Counting = Counting;

const WRITE: CommandKind = CommandKind::Write { fua: false };

fn power(random: &mut Random, least: u32, most: u32) -> u64 {
    1 << (u64::from(least) + random.below(u64::from(most - least + 1)))
}

fn count(random: &mut Random, least: u32, most: u32) -> u32 {
    least + u32::try_from(random.below(u64::from(most - least + 1))).expect("it is below a u32")
}

fn flash_plan(random: &mut Random) -> FlashPlan {
    let unit_bytes = power(random, 9, 16);
    let logical_bytes = power(random, 9, 12).min(unit_bytes);
    let page_bytes = power(random, 9, 16);
    let capacity_bytes = (1 << 20) + random.below(1 << 14) * logical_bytes;
    let dies = count(random, 1, 40);
    let spare_bytes = capacity_bytes / 100 + 1 + random.below(capacity_bytes);
    let used_bytes = *random.choose(&[0, capacity_bytes / 2, capacity_bytes]);
    let planes = *random.choose(&[1, 1, 2, 4]);
    let buffer_bytes = *random.choose(&[0, 1, 4, 64]) * page_bytes * u64::from(planes);
    let time = |random: &mut Random, most: u64| random.below(2) * random.below(most);
    let run_unit_ns = time(random, 5000);
    FlashPlan {
        capacity_bytes,
        logical_bytes,
        unit_bytes,
        origin_bytes: random.below(unit_bytes / logical_bytes) * logical_bytes,
        page_bytes,
        planes,
        pages_per_block: count(random, 1, 512),
        dies,
        channels: count(random, 1, dies),
        channel_bytes_per_second: power(random, 20, 33),
        read_ns: time(random, 100_000),
        program_ns: time(random, 2_000_000),
        erase_ns: time(random, 10_000_000),
        host_ns: time(random, 50_000),
        unit_ns: run_unit_ns + time(random, 30_000),
        run_unit_ns,
        command_ns: time(random, 50_000),
        flush_ns: time(random, 50_000),
        flushes_alone: random.below(2) == 0,
        link_bytes_per_second: power(random, 20, 33),
        buffer_bytes,
        is_volatile: random.below(2) == 0,
        tells_cache: false,
        flush_programs: count(random, 1, 4),
        rmw_slots: count(random, 1, 8),
        rmw_queue: 0,
        rmw_waits: random.below(2) == 0,
        joined_parts: if buffer_bytes == 0 { 0 } else { *random.choose(&[0, 1, 16]) },
        slc_bytes: 0,
        slc_program_ns: 0,
        slc_idle_ns: 0,
        spare_bytes,
        kept_back_bytes: *random.choose(&[0, spare_bytes - capacity_bytes / 100]),
        victim: *random.choose(&[Victim::Greedy, Victim::CostBenefit]),
        used_bytes,
        erased_bytes: 0,
    }
}

/// The same with cells of one bit, and with a queue before the slots.
fn quick_plan(random: &mut Random) -> FlashPlan {
    let plan = flash_plan(random);
    let pages = u32::try_from(plan.buffer_bytes / plan.unit_bytes).expect("few");
    FlashPlan {
        rmw_queue: count(random, 0, pages),
        slc_bytes: plan.capacity_bytes / *random.choose(&[1, 4, 64]),
        slc_program_ns: random.below(plan.program_ns + 1),
        slc_idle_ns: random.below(500_000),
        ..plan
    }
}

fn memory_plan(random: &mut Random) -> MemoryPlan {
    MemoryPlan {
        capacity_bytes: 1 << 21,
        logical_bytes: power(random, 9, 12),
        line_bytes: power(random, 6, 14),
        banks: count(random, 1, 20),
        read_ns: random.below(10_000),
        write_ns: random.below(10_000),
        host_ns: random.below(2000),
        command_ns: random.below(2000),
        link_bytes_per_second: power(random, 20, 33),
    }
}

fn cloud_plan(random: &mut Random) -> CloudPlan {
    let baseline_per_second = 1 + random.below(20_000);
    CloudPlan {
        request_ns: random.below(500_000),
        response_ns: random.below(500_000),
        jitter_ns: random.below(500_000),
        spread: *random.choose(&[Spread::Uniform, Spread::Triangular]),
        seed: random.next_u64(),
        limits: VolumeLimits {
            baseline_per_second,
            burst_per_second: baseline_per_second + random.below(20_000),
            credits: random.below(2) * random.below(500),
            counted_bytes: power(random, 9, 18),
            bytes_per_second: power(random, 20, 33),
        },
    }
}

/// Any command, right or wrong.
fn any_command(random: &mut Random, capacity_bytes: u64, logical_bytes: u64) -> DriveCommand {
    let fua = random.below(4) == 0;
    let action = *random.choose(&[
        CommandKind::Read,
        CommandKind::Write { fua },
        WRITE,
        WRITE,
        CommandKind::Flush,
        CommandKind::Discard,
    ]);
    let sectors = capacity_bytes / logical_bytes;
    let (mut offset_bytes, mut length_bytes) = match random.below(10) {
        0 => (0, capacity_bytes),
        1 => (random.next_u64(), random.next_u64()),
        2 => (random.below(capacity_bytes), random.below(8192)),
        _ => {
            let first = random.below(sectors);
            let most = (sectors - first).min(1 + random.below(32));
            (first * logical_bytes, most * logical_bytes)
        }
    };
    if action == CommandKind::Flush {
        (offset_bytes, length_bytes) = (0, 0);
    }
    DriveCommand { id: 0, action, offset_bytes, length_bytes }
}

/// Outcome of random commands.
struct Outcome {
    /// Every end, in order.
    done: Vec<DriveCompletion>,
    /// Bytes written by those that succeeded.
    written_bytes: u64,
    read_bytes: u64,
    /// Commands that succeeded.
    succeeded: u64,
    end_ns: u64,
}

/// Gives `model` `count` random commands at random times, and a flush behind all.
fn exercise(model: &mut impl Model, random: &mut Random, count: u64) -> Outcome {
    let (capacity_bytes, logical_bytes) = (model.capacity_bytes(), model.logical_bytes());
    let mut flying: BTreeMap<u64, (DriveCommand, u64)> = BTreeMap::new();
    let mut outcome =
        Outcome { done: Vec::new(), written_bytes: 0, read_bytes: 0, succeeded: 0, end_ns: 0 };
    let (mut now_ns, mut told_ns) = (0, 0);
    let mut done = Vec::new();
    let mut number = 0;
    while number <= count || !flying.is_empty() {
        let is_last = number == count;
        if number < count || (is_last && flying.is_empty()) {
            let command = match is_last {
                true => DriveCommand {
                    id: 0,
                    action: CommandKind::Flush,
                    offset_bytes: 0,
                    length_bytes: 0,
                },
                false => any_command(random, capacity_bytes, logical_bytes),
            };
            flying.insert(number, (command, now_ns));
            model.submit(DriveCommand { id: number, ..command }, now_ns, &mut done);
            number += 1;
        }
        if number >= count || random.below(3) == 0 {
            now_ns = match model.next_ns() {
                Some(next_ns) if number >= count || random.below(2) == 0 => next_ns,
                _ => now_ns + random.below(2_000_000),
            };
            model.advance(now_ns, &mut done);
        }
        for done in done.drain(..) {
            let (command, begun_ns) = flying.remove(&done.id).expect("each ends once");
            assert!(done.at_ns >= begun_ns, "{command:?} at {begun_ns} ended at {}", done.at_ns);
            assert!(done.at_ns >= told_ns, "{done:?} is told after {told_ns}");
            assert!(done.at_ns <= now_ns, "{done:?} is told at {now_ns}");
            told_ns = done.at_ns;
            assert_eq!(done.outcome, command.checked(capacity_bytes, logical_bytes), "{command:?}");
            outcome.succeeded += u64::from(done.outcome.is_ok());
            match command.action {
                CommandKind::Write { .. } if done.outcome.is_ok() => {
                    outcome.written_bytes += command.length_bytes;
                }
                CommandKind::Read if done.outcome.is_ok() => {
                    outcome.read_bytes += command.length_bytes
                }
                _ => {}
            }
            outcome.done.push(done);
        }
    }
    outcome.end_ns = told_ns;
    outcome
}

/// Checks that the model counted what the host saw.
fn adds_up(tally: DriveTally, outcome: &Outcome) {
    assert_eq!(tally.commands, outcome.succeeded);
    assert_eq!(tally.written_bytes, outcome.written_bytes);
    assert_eq!(tally.read_bytes, outcome.read_bytes);
    let parts_ns = tally.seek_ns + tally.wait_ns + tally.transfer_ns;
    let cells_ns = tally.read_ns + tally.program_ns + tally.erase_ns;
    assert_eq!(tally.busy_ns, parts_ns + cells_ns);
}

const SEEDS: u64 = 150;

#[test]
fn any_flash_drive_ends_every_command_in_time_and_its_account_adds_up() {
    for seed in 0..SEEDS {
        let mut random = testkit::random(seed);
        let is_quick = seed % 2 == 1;
        let plan = if is_quick { quick_plan(&mut random) } else { flash_plan(&mut random) };
        println!("{plan:?}");
        let mut flash = Flash::new(plan).expect("it is within its bounds");
        let outcome = exercise(&mut flash, &mut random, 300);
        let tally = flash.tally();
        adds_up(tally, &outcome);
        let own = tally.programs - tally.moves;
        let quickest_ns = if is_quick { plan.slc_program_ns } else { plan.program_ns };
        let programs_ns = tally.programs * quickest_ns..=tally.programs * plan.program_ns;
        assert!(programs_ns.contains(&tally.program_ns), "{tally:?}");
        assert_eq!(tally.read_ns, tally.medium_reads * plan.read_ns);
        assert_eq!(tally.erase_ns, tally.erases * plan.erase_ns);
        // Each die erases by itself, and some programs for each die are not yet enough to.
        let erased = (tally.erases + u64::from(plan.dies) + 1) * u64::from(plan.pages_per_block);
        assert!(tally.programs <= erased, "{tally:?}");
        let erased = tally.erases.saturating_sub(plan.dies.into());
        assert!(tally.programs >= erased * u64::from(plan.pages_per_block), "{tally:?}");
        // All that was written was programmed, but what a buffer that does not forget still has.
        let forgets = plan.is_volatile || plan.buffer_bytes == 0;
        let program_bytes = plan.page_bytes * u64::from(plan.planes);
        let open_bytes = if forgets { 0 } else { program_bytes };
        if plan.joined_parts == 0 {
            assert!(own * program_bytes + open_bytes >= outcome.written_bytes, "{tally:?}");
        }
    }
}

/// Dies program no faster than they can: of what was acknowledged, no flush ends before that much
/// could be programmed, nor before as many programs as it takes one behind the other.
#[test]
fn a_flush_ends_no_sooner_than_what_was_acknowledged_before_it_can_be_programmed() {
    let mut dirty = 0;
    for seed in 0..SEEDS {
        let mut random = testkit::random(seed);
        let plan = FlashPlan {
            is_volatile: true,
            joined_parts: 0,
            erase_ns: 0,
            used_bytes: 0,
            program_ns: 1 + random.below(2_000_000),
            ..flash_plan(&mut random)
        };
        let program_bytes = plan.page_bytes * u64::from(plan.planes);
        let plan = FlashPlan { buffer_bytes: (1 + random.below(64)) * program_bytes, ..plan };
        println!("{plan:?}");
        let mut flash = Flash::new(plan).expect("it is within its bounds");
        let sectors = plan.capacity_bytes / plan.logical_bytes;
        let (mut now_ns, mut acknowledged, mut flushed_ns) = (0, 0, 0);
        let mut done = Vec::new();
        for id in 0..300 {
            let offset_bytes = random.below(sectors) * plan.logical_bytes;
            let length_bytes = (plan.capacity_bytes - offset_bytes).min(16 * plan.logical_bytes);
            let is_flush = random.below(4) == 0;
            let command = match is_flush {
                true => DriveCommand {
                    id,
                    action: CommandKind::Flush,
                    offset_bytes: 0,
                    length_bytes: 0,
                },
                false => DriveCommand { id, action: WRITE, offset_bytes, length_bytes },
            };
            flash.submit(command, now_ns, &mut done);
            while !done.iter().any(|done| done.id == id) {
                let next_ns = flash.next_ns().expect("it will end");
                flash.advance(next_ns, &mut done);
            }
            let end_ns = done.iter().find(|done| done.id == id).unwrap().at_ns;
            if is_flush {
                let pages = u64::div_ceil(acknowledged, program_bytes);
                let dies = u64::from(plan.dies);
                assert!(end_ns * dies >= pages * plan.program_ns, "{command:?} at {end_ns}");
                assert!(flash.tally().busy_ns <= end_ns * dies, "{:?}", flash.tally());
                if done.iter().any(|done| done.id < id) {
                    let serial_ns = u64::from(plan.flush_programs) * plan.program_ns;
                    assert!(end_ns >= flushed_ns + serial_ns, "{command:?} at {end_ns}");
                    dirty += 1;
                }
                flushed_ns = end_ns;
                done.clear();
            } else {
                acknowledged += length_bytes;
            }
            now_ns = now_ns.max(end_ns) + random.below(2) * random.below(100_000);
            flash.advance(now_ns, &mut done);
        }
    }
    assert!(dirty > 1000, "{dirty}");
}

/// A second flush is not cheap because the first has not ended.
#[test]
fn a_flush_behind_a_flush_does_not_end_before_it() {
    for seed in 0..SEEDS {
        let mut random = testkit::random(seed);
        let plan = FlashPlan { is_volatile: true, ..flash_plan(&mut random) };
        let mut flash = Flash::new(plan).expect("it is within its bounds");
        let mut done = Vec::new();
        let mut now_ns = 0;
        for (id, action, length_bytes) in
            [(0, WRITE, 1 << 19), (1, CommandKind::Flush, 0), (2, CommandKind::Flush, 0)]
        {
            let command = DriveCommand { id, action, offset_bytes: 0, length_bytes };
            flash.submit(command, now_ns, &mut done);
            if id == 0 {
                now_ns = flash.next_ns().expect("the write will end");
                flash.advance(now_ns, &mut done);
            }
        }
        flash.advance(u64::MAX, &mut done);
        let ids: Vec<u64> = done.iter().map(|done| done.id).collect();
        assert_eq!(ids, [0, 1, 2], "{plan:?}");
        let programs_ns = u64::from(plan.flush_programs - 1) * plan.program_ns;
        if plan.buffer_bytes > 0 {
            assert!(done[1].at_ns >= now_ns + programs_ns, "{plan:?}");
        }
    }
}

#[test]
fn any_persistent_memory_ends_every_command_in_time_and_its_account_adds_up() {
    for seed in 0..SEEDS {
        let mut random = testkit::random(seed);
        let plan = memory_plan(&mut random);
        println!("{plan:?}");
        let mut memory = Memory::new(plan).expect("it is within its bounds");
        let outcome = exercise(&mut memory, &mut random, 300);
        adds_up(memory.tally(), &outcome);
        assert!(memory.tally().busy_ns <= outcome.end_ns * u64::from(plan.banks));
        assert!(memory.tally().medium_writes * plan.line_bytes >= outcome.written_bytes);
    }
}

#[test]
fn any_network_volume_over_any_store_ends_every_command_in_time() {
    for seed in 0..SEEDS {
        let mut random = testkit::random(seed);
        let plan = cloud_plan(&mut random);
        println!("{plan:?}");
        let way_ns = plan.request_ns + plan.response_ns;
        let ideal = Ideal::new(1 << 21, 4096).unwrap();
        let mut cloud = Cloud::new(plan, ideal).expect("it is within its bounds");
        let outcome = exercise(&mut cloud, &mut random, 100);
        adds_up(cloud.tally(), &outcome);
        // Each way takes its time, and limits hold from the first command to the last.
        assert!(outcome.end_ns >= way_ns);
        let bytes = outcome.written_bytes + outcome.read_bytes;
        let least_ns = u128::from(bytes.saturating_sub(1 << 21)) * 1_000_000_000
            / u128::from(plan.limits.bytes_per_second);
        assert!(u128::from(outcome.end_ns) + 1_000_000 >= least_ns);
        let flash = Flash::new(flash_plan(&mut random)).unwrap();
        let mut cloud = Cloud::new(plan, flash).expect("it is within its bounds");
        let outcome = exercise(&mut cloud, &mut random, 100);
        adds_up(cloud.tally(), &outcome);
    }
}

/// A hash of every end (FNV-1a): what is told, and when.
fn hash(done: &[DriveCompletion]) -> u64 {
    let numbers = done.iter().flat_map(|done| [done.id, done.at_ns]);
    let bytes = numbers.flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Not from `STRADDLE_SEED`: the values are this seed's, on any machine. A change of a model
/// changes them, and says so in the commit.
#[test]
fn one_seed_gives_one_answer_on_every_machine() {
    let random = || Random::new(7);
    let flash = |mut random: Random| {
        let plan = flash_plan(&mut random);
        hash(&exercise(&mut Flash::new(plan).unwrap(), &mut random, 2000).done)
    };
    let memory = |mut random: Random| {
        let plan = memory_plan(&mut random);
        hash(&exercise(&mut Memory::new(plan).unwrap(), &mut random, 2000).done)
    };
    let cloud = |mut random: Random| {
        let plan = cloud_plan(&mut random);
        let memory = Memory::new(memory_plan(&mut random)).unwrap();
        hash(&exercise(&mut Cloud::new(plan, memory).unwrap(), &mut random, 2000).done)
    };
    assert_eq!(flash(random()), flash(random()));
    assert_ne!(flash(random()), flash(Random::new(8)));
    assert_eq!(
        [flash(random()), memory(random()), cloud(random())],
        [0x1cd2_4c7f_c1d2_ceba, 0x2554_784d_4e82_0072, 0xe789_e05b_a99a_d73e],
    );
}

#[test]
fn a_flash_drive_that_cannot_be_is_refused_with_the_value_and_its_bounds() {
    let plan = flash_plan(&mut Random::new(1));
    let wrong = [
        (FlashPlan { unit_bytes: 3, ..plan }, "unit is 3"),
        (FlashPlan { unit_bytes: plan.logical_bytes / 2, ..plan }, "unit is"),
        (FlashPlan { origin_bytes: plan.unit_bytes, ..plan }, "origin is"),
        (FlashPlan { page_bytes: 0, ..plan }, "page is 0"),
        (FlashPlan { capacity_bytes: 0, ..plan }, "capacity is 0"),
        (FlashPlan { capacity_bytes: u64::MAX, ..plan }, "capacity is 18446744073709551615"),
        (FlashPlan { logical_bytes: 0, ..plan }, "logical_sector is 0"),
        (FlashPlan { dies: 0, ..plan }, "dies is 0"),
        (FlashPlan { dies: 1_000_000_000, ..plan }, "dies is 1000000000"),
        (FlashPlan { channels: plan.dies + 1, ..plan }, "channels is"),
        (FlashPlan { pages_per_block: 0, ..plan }, "pages_per_block is 0"),
        (FlashPlan { link_bytes_per_second: 0, ..plan }, "link is 0"),
        (FlashPlan { program_ns: u64::MAX, ..plan }, "program is 18446744073709551615"),
        (FlashPlan { buffer_bytes: u64::MAX, ..plan }, "buffer is 18446744073709551615"),
        (FlashPlan { rmw_slots: 0, ..plan }, "rmw_slots is 0"),
        (FlashPlan { joined_parts: 4, buffer_bytes: 0, ..plan }, "joined_parts is 4"),
        (FlashPlan { flush_programs: 0, ..plan }, "flush_programs is 0"),
        (FlashPlan { rmw_queue: 1, buffer_bytes: 0, ..plan }, "rmw_queue is 1"),
        (FlashPlan { slc_bytes: u64::MAX, ..plan }, "slc is 18446744073709551615"),
        (FlashPlan { slc_program_ns: u64::MAX, ..plan }, "slc_program is 18446744073709551615"),
        (FlashPlan { slc_idle_ns: u64::MAX, ..plan }, "slc_idle is 18446744073709551615"),
        (FlashPlan { spare_bytes: 0, ..plan }, "spare is 0"),
        (FlashPlan { kept_back_bytes: plan.spare_bytes, ..plan }, "kept_back is"),
        (FlashPlan { planes: 0, ..plan }, "planes is 0"),
        (FlashPlan { spare_bytes: u64::MAX, ..plan }, "spare is 18446744073709551615"),
        (FlashPlan { used_bytes: u64::MAX, ..plan }, "used is 18446744073709551615"),
        (FlashPlan { erased_bytes: u64::MAX, ..plan }, "erased is 18446744073709551615"),
    ];
    for (plan, wanted) in wrong {
        let fault = Flash::new(plan).unwrap_err().to_string();
        assert!(fault.starts_with(wanted) && fault.contains(", must be "), "{fault}");
    }
}

/// The largest drive with the slowest parts: nothing overflows, and a command ends.
#[test]
fn the_most_that_a_plan_allows_is_simulated() {
    let plan = FlashPlan {
        capacity_bytes: 1 << 56,
        spare_bytes: 1 << 56,
        kept_back_bytes: 0,
        used_bytes: 1 << 56,
        erased_bytes: 0,
        read_ns: 10_000_000_000,
        program_ns: 10_000_000_000,
        erase_ns: 10_000_000_000,
        host_ns: 10_000_000_000,
        unit_ns: 10_000_000_000,
        run_unit_ns: 10_000_000_000,
        link_bytes_per_second: 1000,
        channel_bytes_per_second: 1000,
        ..flash_plan(&mut Random::new(1))
    };
    let mut flash = Flash::new(plan).unwrap();
    let mut done = Vec::new();
    for (id, action) in
        [CommandKind::Read, WRITE, CommandKind::Discard, CommandKind::Flush].into_iter().enumerate()
    {
        let length_bytes = if action == CommandKind::Flush { 0 } else { 1 << 56 };
        let id = u64::try_from(id).unwrap();
        flash.submit(DriveCommand { id, action, offset_bytes: 0, length_bytes }, 0, &mut done);
    }
    flash.advance(u64::MAX, &mut done);
    assert_eq!(done.len(), 4);
    let beyond = DriveCommand { id: 9, action: WRITE, offset_bytes: 1 << 56, length_bytes: 512 };
    flash.submit(beyond, u64::MAX, &mut done);
    assert_eq!(done[4].outcome, Err(CommandFault::Bounds));
}

#[test]
fn a_drive_in_its_stride_asks_for_no_memory_however_long_it_runs() {
    let mut random = testkit::random(1);
    let buffer_bytes = 1 << 20;
    let plan = FlashPlan {
        capacity_bytes: 1 << 30,
        logical_bytes: 512,
        unit_bytes: 4096,
        origin_bytes: 0,
        page_bytes: 16_384,
        used_bytes: 1 << 30,
        spare_bytes: 1 << 27,
        kept_back_bytes: 0,
        erased_bytes: 0,
        buffer_bytes,
        is_volatile: true,
        joined_parts: 16,
        ..flash_plan(&mut random)
    };
    let mut flash = Flash::new(plan).unwrap();
    let mut done = Vec::with_capacity(64);
    let mut now_ns = 0;
    let mut run = |flash: &mut Flash, count: u64| {
        for number in 0..count {
            let offset_bytes = random.below((1 << 21) - 16) * 512;
            let (action, length_bytes) = match number % 50 {
                0 => (CommandKind::Flush, 0),
                1..10 => (CommandKind::Read, 4096),
                _ => (WRITE, 4096),
            };
            let command = DriveCommand { id: number, action, offset_bytes, length_bytes };
            flash.submit(command, now_ns, &mut done);
            while done.is_empty() {
                now_ns = flash.next_ns().expect("one is in flight");
                flash.advance(now_ns, &mut done);
            }
            done.clear();
        }
    };
    let ((), peak) = peak_of(|| run(&mut flash, 10_000));
    assert!(peak < 1 << 20, "{peak} bytes");
    let ((), allocations) = allocations_of(|| run(&mut flash, 100_000));
    assert_eq!(allocations, 0);
    // The allocator counts.
    assert!(allocations_of(|| vec![0_u8; 100]).1 > 0);
}
