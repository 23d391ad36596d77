//! Claims about any array and any commands.

use drive::array::{Array, ArrayPlan, Level, Member, ParityWrite};
use drive::{CommandFault, CommandKind, DriveCommand, DriveCompletion, Model};
use units::random::Random;
use units::stripe::{Rotation, Stripe};

use super::recorder::{Recorder, Told};
use crate::shared::run_out;

const ROTATIONS: [Rotation; 6] = [
    Rotation::LeftAsymmetric,
    Rotation::RightAsymmetric,
    Rotation::LeftSymmetric,
    Rotation::RightSymmetric,
    Rotation::First,
    Rotation::Last,
];

/// A random array, small enough that commands often meet.
fn plan(random: &mut Random) -> ArrayPlan {
    let rotation = *random.choose(&ROTATIONS);
    let copies = 2 + random.below(2);
    let (level, members) = match random.below(6) {
        0 => (Level::Raid0, 2 + random.below(4)),
        1 => (Level::Raid1, 2 + random.below(3)),
        2 => (Level::Raid10 { copies }, copies * (1 + random.below(3))),
        3 => (Level::Raid4, 2 + random.below(5)),
        4 => (Level::Raid5(rotation), 2 + random.below(5)),
        _ => (Level::Raid6(rotation), 4 + random.below(4)),
    };
    let chunk_bytes = match level {
        Level::Raid0 => 512 * (1 + random.below(9)),
        _ => 512 << random.below(5),
    };
    ArrayPlan {
        level,
        members,
        chunk_bytes,
        turns: random.below(2) == 0,
        row_bytes: 512,
        parity_write: *random.choose(&[
            ParityWrite::ReadModify,
            ParityWrite::Reconstruct,
            ParityWrite::Fewer,
        ]),
        stripes: 1 + random.below(4),
        hold_ns: random.below(3) * 500,
        lost: 0,
        rebuild_bytes_per_second: 0,
    }
}

fn array(plan: ArrayPlan, random: &mut Random) -> (Array<Recorder>, Vec<u64>) {
    let offsets: Vec<u64> = (0..plan.members).map(|_| random.below(9) * 512).collect();
    let member = |&offset_bytes: &u64| Member {
        model: Recorder::new(65_536 + random.below(9) * 512, random.next_u64()),
        offset_bytes,
    };
    let members = offsets.iter().map(member).collect();
    (Array::new(plan, members).expect("such an array can be"), offsets)
}

/// The sectors of the members, by member and number from the start of its data, that hold sector
/// `sector` of the array: told apart from the model by doing it byte by byte.
fn holders(plan: &ArrayPlan, sector: u64) -> Vec<(usize, u64)> {
    let index = |member: u64| usize::try_from(member).expect("few");
    let copies = |first: u64, count: u64, at: u64| {
        (first..first + count).map(|member| (index(member), at / 512)).collect()
    };
    let (parity, members) = (plan.level.parity(), plan.members);
    match plan.level {
        Level::Raid1 => copies(0, members, sector * 512),
        Level::Raid0 | Level::Raid10 { .. } => {
            let count = if let Level::Raid10 { copies } = plan.level { copies } else { 1 };
            let stripe = Stripe::new(plan.chunk_bytes, members / count).expect("not 0");
            let place = stripe.place(sector * 512);
            copies(place.position * count, count, place.member_bytes)
        }
        Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) => {
            let stripe = Stripe::new(plan.chunk_bytes, members - parity).expect("not 0");
            let place = stripe.place(sector * 512);
            let rotation = plan.level.rotation().expect("it has parity");
            let (_, member) = rotation.members(place.stripe, place.position, members, parity);
            vec![(index(member), place.member_bytes / 512)]
        }
    }
}

/// The sectors that hold the parity of a sector of the array.
fn parities(plan: &ArrayPlan, sector: u64) -> Vec<(usize, u64)> {
    let Some(rotation) = plan.level.rotation() else { return Vec::new() };
    let (parity, members) = (plan.level.parity(), plan.members);
    let stripe = Stripe::new(plan.chunk_bytes, members - parity).expect("not 0");
    let place = stripe.place(sector * 512);
    let (p, _) = rotation.members(place.stripe, place.position, members, parity);
    let member = |turn| usize::try_from((p + turn) % members).expect("few");
    (0..parity).map(|turn| (member(turn), place.member_bytes / 512)).collect()
}

fn sectors(command: &DriveCommand) -> std::ops::Range<u64> {
    command.offset_bytes / 512..(command.offset_bytes + command.length_bytes) / 512
}

/// A random command that fits.
fn command(id: u64, capacity_bytes: u64, random: &mut Random) -> DriveCommand {
    let sectors = capacity_bytes / 512;
    let first = random.below(sectors);
    let count = 1 + random.below((sectors - first).min(40));
    let action = match random.below(8) {
        0 => CommandKind::Flush,
        1 => CommandKind::Discard,
        2 | 3 => CommandKind::Read,
        4 => CommandKind::Write { fua: true },
        _ => CommandKind::Write { fua: false },
    };
    if action == CommandKind::Flush {
        return DriveCommand { id, action, offset_bytes: 0, length_bytes: 0 };
    }
    DriveCommand { id, action, offset_bytes: first * 512, length_bytes: count * 512 }
}

/// Runs until nothing happens any more.
fn told(told: &[Vec<Told>], offsets: &[u64], action: CommandKind) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    for (member, (told, offset)) in told.iter().zip(offsets).enumerate() {
        for told in told.iter().filter(|told| told.action == action) {
            found.extend(
                (told.start - offset..told.end - offset).step_by(512).map(|at| (member, at / 512)),
            );
        }
    }
    found.sort_unstable();
    found
}

fn all_told(array: &Array<Recorder>) -> Vec<Vec<Told>> {
    array.members().map(|member| member.told.clone()).collect()
}

#[test]
fn every_sector_of_a_command_is_in_one_piece_of_each_copy_and_it_ends_with_its_last_piece() {
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let plan = plan(&mut random);
        let (mut array, offsets) = array(plan, &mut random);
        let command = command(7, array.capacity_bytes(), &mut random);
        let mut done = Vec::new();
        array.submit(command, 100, &mut done);
        run_out(&mut array, 0, &mut done);
        let (log, at) = (all_told(&array), format!("seed {seed}: {plan:?}, {command:?}"));
        let last = log.iter().flatten().map(|told| told.to_ns).max().unwrap_or(100);
        assert_eq!(done, [DriveCompletion { id: 7, at_ns: last, outcome: Ok(()) }], "{at}");
        let mut held: Vec<_> =
            sectors(&command).flat_map(|sector| holders(&plan, sector)).collect();
        match command.action {
            CommandKind::Flush => {
                let flushes =
                    |told: &Vec<Told>| told.len() == 1 && told[0].action == CommandKind::Flush;
                assert!(log.iter().all(flushes), "{at}");
                continue;
            }
            CommandKind::Discard if plan.level.parity() > 0 => held.clear(),
            CommandKind::Write { .. } => {
                let mut parity: Vec<_> =
                    sectors(&command).flat_map(|sector| parities(&plan, sector)).collect();
                parity.sort_unstable();
                parity.dedup();
                held.extend(parity);
            }
            CommandKind::Read => {
                // One copy of each.
                let read = told(&log, &offsets, CommandKind::Read);
                assert_eq!(read.len() as u64, command.length_bytes / 512, "{at}");
                for sector in sectors(&command) {
                    let copies = holders(&plan, sector);
                    let count = read.iter().filter(|read| copies.contains(read)).count();
                    assert_eq!(count, 1, "{at}: sector {sector}");
                }
                continue;
            }
            CommandKind::Discard => {}
        }
        held.sort_unstable();
        assert_eq!(told(&log, &offsets, command.action), held, "{at}");
    }
}

/// Commands with the time of each one's begin, what ended, and what the members were told.
struct Run {
    plan: ArrayPlan,
    offsets: Vec<u64>,
    commands: Vec<(DriveCommand, u64)>,
    done: Vec<DriveCompletion>,
    told: Vec<Vec<Told>>,
}

fn run(seed: u64) -> Run {
    let mut random = Random::new(seed);
    let plan = plan(&mut random);
    let (mut array, offsets) = array(plan, &mut random);
    let (mut commands, mut done, mut now_ns) = (Vec::new(), Vec::new(), 0);
    for id in 0..80 {
        let command = command(id, array.capacity_bytes(), &mut random);
        array.submit(command, now_ns, &mut done);
        commands.push((command, now_ns));
        now_ns += random.below(3) * random.below(1000);
    }
    run_out(&mut array, 0, &mut done);
    let told = all_told(&array);
    Run { plan, offsets, commands, done, told }
}

#[test]
fn every_command_ends_once_in_order_of_time_and_writes_have_reached_all_copies_by_then() {
    for seed in 0..150 {
        let Run { plan, offsets, commands, done, told } = run(seed);
        let at = format!("seed {seed}: {plan:?}");
        let mut ids: Vec<u64> = done.iter().map(|done| done.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..80).collect::<Vec<u64>>(), "{at}");
        assert!(done.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns), "{at}");
        for done in &done {
            let (command, from_ns) = commands[usize::try_from(done.id).expect("few")];
            assert!(done.outcome.is_ok() && done.at_ns >= from_ns, "{at}: {command:?}");
            let is_between = |told: &Told| told.from_ns >= from_ns && told.to_ns <= done.at_ns;
            if command.action == CommandKind::Flush {
                let flushes = |told: &Vec<Told>| {
                    told.iter().any(|told| told.action == CommandKind::Flush && is_between(told))
                };
                assert!(told.iter().all(flushes), "{at}: {command:?}");
            }
            let CommandKind::Write { fua } = command.action else { continue };
            for sector in sectors(&command) {
                let places = holders(&plan, sector).into_iter().chain(parities(&plan, sector));
                for (member, number) in places {
                    let byte = number * 512 + offsets[member];
                    let is_it = |told: &&Told| {
                        let is_write = told.action == CommandKind::Write { fua }
                            || told.action == CommandKind::Write { fua: true };
                        is_write && told.start <= byte && byte < told.end && is_between(told)
                    };
                    let count = told[member].iter().filter(is_it).count();
                    assert!(count >= 1, "{at}: {command:?}, sector {sector} on {member}");
                }
            }
        }
    }
}

#[test]
fn two_writes_to_a_stripe_with_parity_never_overlap_in_time_on_a_member() {
    let mut pairs = 0;
    for seed in 0..200 {
        let Run { plan, told, .. } = run(seed);
        if plan.level.parity() == 0 {
            continue;
        }
        for told in told {
            let is_write = |told: &&Told| matches!(told.action, CommandKind::Write { .. });
            let writes: Vec<&Told> = told.iter().filter(is_write).collect();
            for (index, left) in writes.iter().enumerate() {
                for right in &writes[index + 1..] {
                    if left.start < right.end && right.start < left.end {
                        pairs += 1;
                        let is_behind = right.from_ns >= left.to_ns;
                        assert!(is_behind, "seed {seed}: {plan:?}: {left:?}, {right:?}");
                    }
                }
            }
        }
    }
    assert!(pairs > 1000, "{pairs} pairs of writes met");
}

#[test]
fn the_same_commands_give_the_same_times() {
    for seed in 0..50 {
        let (one, two) = (run(seed), run(seed));
        assert!(one.done == two.done && one.told == two.told, "seed {seed}");
    }
}

#[test]
fn a_command_that_does_not_fit_is_refused_and_goes_to_no_member() {
    let mut random = Random::new(1);
    let plan = plan(&mut random);
    let (mut array, _) = array(plan, &mut random);
    let end = array.capacity_bytes();
    let cases = [
        (end, 512, CommandFault::Bounds),
        (u64::MAX - 511, 512, CommandFault::Bounds),
        (0, 0, CommandFault::Sectors),
        (100, 512, CommandFault::Sectors),
    ];
    for (offset_bytes, length_bytes, fault) in cases {
        let mut done = Vec::new();
        array.submit(
            DriveCommand { id: 1, action: CommandKind::Read, offset_bytes, length_bytes },
            5,
            &mut done,
        );
        assert_eq!(done, [DriveCompletion { id: 1, at_ns: 5, outcome: Err(fault) }]);
    }
    assert!(all_told(&array).iter().all(Vec::is_empty));
}

#[test]
fn sequential_writes_that_are_held_become_full_stripes_and_read_nothing() {
    let plan = ArrayPlan {
        level: Level::Raid5(Rotation::LeftSymmetric),
        members: 5,
        chunk_bytes: 4096,
        turns: true,
        row_bytes: 4096,
        parity_write: ParityWrite::Fewer,
        stripes: 4,
        hold_ns: 1_000_000,
        lost: 0,
        rebuild_bytes_per_second: 0,
    };
    let written = |hold_ns| {
        let (mut array, _) = array(ArrayPlan { hold_ns, ..plan }, &mut Random::new(3));
        let mut done = Vec::new();
        for id in 0..40 {
            let action = CommandKind::Write { fua: false };
            let command = DriveCommand { id, action, offset_bytes: id * 1024, length_bytes: 1024 };
            array.submit(command, id * 2000, &mut done);
        }
        run_out(&mut array, 0, &mut done);
        assert_eq!(done.len(), 40);
        let tally = array.tally();
        (tally.parity_updates, tally.parity_rmws, tally.member_reads)
    };
    // 40 KiB are two full stripes of 16 KiB, and a half which is held until it is due.
    assert_eq!(written(1_000_000), (3, 1, 2));
    let (updates, rmws, reads) = written(0);
    assert!(updates > 10 && rmws == updates && reads >= 2 * rmws, "{updates}, {rmws}, {reads}");
}
