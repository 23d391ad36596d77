//! Arrays that lack a member, and those that rebuild one: reads and writes of the members, held
//! against what theory says of them.

use drive::array::{Array, ArrayPlan, Level, Member};
use drive::{CommandKind, DriveCommand, Model};
use units::random::Random;
use units::stripe::Rotation;

use super::recorder::Recorder;
use crate::shared::{RAID5, WRITE};

const MEMBER_BYTES: u64 = 64 << 20;
const CHUNK_BYTES: u64 = RAID5.chunk_bytes;

fn array(plan: ArrayPlan) -> Array<Recorder> {
    let members = (0..plan.members)
        .map(|seed| Member { model: Recorder::new(MEMBER_BYTES, seed), offset_bytes: 0 })
        .collect();
    Array::new(plan, members).expect("such an array can be")
}

/// Does `count` operations of 4 KiB at random, one after the other, each in a chunk of its own
/// choice; returns the array and the time at their end.
fn random(plan: ArrayPlan, action: CommandKind, count: u64) -> (Array<Recorder>, u64) {
    let (mut array, mut random) = (array(plan), Random::new(7));
    let (mut now_ns, mut done) = (0, Vec::new());
    let places = array.capacity_bytes() / 4096;
    for id in 0..count {
        let offset_bytes = random.below(places) * 4096;
        array.submit(
            DriveCommand { id, action, offset_bytes, length_bytes: 4096 },
            now_ns,
            &mut done,
        );
        while done.is_empty() {
            now_ns = array.next_ns().expect("one is in flight");
            array.advance(now_ns, &mut done);
        }
        assert!(done.drain(..).all(|one| one.id == id && one.outcome.is_ok()));
    }
    (array, now_ns)
}

/// Reads and writes of each member for an operation.
fn loads(array: &Array<Recorder>, count: u64) -> Vec<(f64, f64)> {
    let each = |member: &Recorder| {
        let of = |is: fn(CommandKind) -> bool| {
            member.told.iter().filter(|told| is(told.action)).count() as f64 / count as f64
        };
        let is_write = |action| matches!(action, CommandKind::Write { .. });
        (of(|action| action == CommandKind::Read), of(is_write))
    };
    array.members().map(each).collect()
}

#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 0.03 * wanted.max(0.1), "{found}, not {wanted}");
}

const COUNT: u64 = 40_000;

#[test]
fn a_lost_member_of_raid_5_doubles_the_reads_of_each_that_is_left() {
    for members in [3, 5, 8] {
        let plan = ArrayPlan { members, ..RAID5 };
        let share = 1.0 / members as f64;
        for (reads, _) in loads(&random(plan, CommandKind::Read, COUNT).0, COUNT) {
            near(reads, share);
        }
        let (array, _) = random(ArrayPlan { lost: 1, ..plan }, CommandKind::Read, COUNT);
        let loads = loads(&array, COUNT);
        near(loads[0].0, 0.0);
        for (reads, _) in &loads[1..] {
            near(*reads, 2.0 * share);
        }
    }
}

#[test]
fn small_writes_to_raid_5_without_a_member_read_and_write_what_md_does() {
    for members in [5, 8] {
        let n = members as f64;
        let plan = ArrayPlan { members, lost: 1, ..RAID5 };
        let loads = loads(&random(plan, WRITE, COUNT).0, COUNT);
        let (reads, writes) =
            loads.iter().fold((0.0, 0.0), |sum, load| (sum.0 + load.0, sum.1 + load.1));
        // Lost data or parity: the other data is read; else data and parity, as ever.
        near(reads, 4.0 * (n - 2.0) / n);
        near(writes, (2.0 * n - 2.0) / n);
        assert_eq!(loads[0], (0.0, 0.0));
    }
}

#[test]
fn raid_6_without_two_members_reads_all_that_are_left_for_a_chunk_of_theirs() {
    let level = Level::Raid6(Rotation::LeftSymmetric);
    let plan = ArrayPlan { level, members: 6, lost: 2, ..RAID5 };
    let loads = loads(&random(plan, CommandKind::Read, COUNT).0, COUNT);
    for (reads, _) in &loads[2..] {
        // Its own sixth, and the two of those that are lost.
        near(*reads, 3.0 / 6.0);
    }
    assert_eq!(loads[..2], [(0.0, 0.0); 2]);
}

#[test]
fn a_mirror_that_lost_a_copy_reads_and_writes_the_other() {
    let plan = ArrayPlan { level: Level::Raid1, members: 2, lost: 1, ..RAID5 };
    assert_eq!(loads(&random(plan, CommandKind::Read, 100).0, 100), [(0.0, 0.0), (1.0, 0.0)]);
    assert_eq!(loads(&random(plan, WRITE, 100).0, 100), [(0.0, 0.0), (0.0, 1.0)]);
}

#[test]
fn a_whole_stripe_of_an_array_that_lost_a_member_is_read_with_one_read_of_each_that_is_left() {
    let plan = ArrayPlan { members: 5, lost: 1, ..RAID5 };
    let mut array = array(plan);
    let (mut done, length_bytes) = (Vec::new(), 4 * CHUNK_BYTES);
    // Parity of the first stripe is on the last member, so that the first holds data.
    let action = CommandKind::Read;
    array.submit(DriveCommand { id: 0, action, offset_bytes: 0, length_bytes }, 0, &mut done);
    let told: Vec<usize> = array.members().map(|member| member.told.len()).collect();
    assert_eq!(told, [0, 1, 1, 1, 1]);
}

#[test]
fn a_rebuild_goes_at_its_rate_beside_the_workload_and_ends_with_a_whole_array() {
    let rate = 100_000_000;
    let plan = ArrayPlan { members: 5, lost: 1, rebuild_bytes_per_second: rate, ..RAID5 };
    let (array, now_ns) = random(plan, CommandKind::Read, COUNT);
    let bytes = |member: &Recorder, is_read: bool| -> u64 {
        let own = member.told.iter().filter(|told| told.end - told.start > 4096);
        let own = own.filter(|told| (told.action == CommandKind::Read) == is_read);
        own.map(|told| told.end - told.start).sum()
    };
    let members: Vec<&Recorder> = array.members().collect();
    let wanted = (now_ns as f64 / 1e9 * rate as f64).min(MEMBER_BYTES as f64);
    near(bytes(members[0], false) as f64, wanted);
    for member in &members[1..] {
        near(bytes(member, true) as f64, wanted);
    }

    // To its end: every byte of the spare is written once, in order.
    let mut array = self::array(plan);
    let mut now_ns = 0;
    while let Some(next_ns) = array.next_ns() {
        now_ns = next_ns;
        array.advance(now_ns, &mut Vec::new());
    }
    near(now_ns as f64 / 1e9, MEMBER_BYTES as f64 / rate as f64);
    let spare = array.members().next().expect("the first").told.clone();
    assert!(spare.iter().zip(&spare[1..]).all(|(one, next)| one.end == next.start));
    assert_eq!((spare[0].start, spare[spare.len() - 1].end), (0, MEMBER_BYTES));
    // Then it reads each chunk where it lies.
    let before: usize = array.members().map(|member| member.told.len()).sum();
    let action = CommandKind::Read;
    let read = DriveCommand { id: 0, action, offset_bytes: 0, length_bytes: 4096 };
    array.submit(read, now_ns, &mut Vec::new());
    assert_eq!(array.members().map(|member| member.told.len()).sum::<usize>(), before + 1);
}

#[test]
fn an_array_loses_no_more_members_than_its_level_can() {
    let mirrored = Level::Raid10 { copies: 2 };
    for (plan, can) in [
        (ArrayPlan { level: Level::Raid0, lost: 1, ..RAID5 }, false),
        (ArrayPlan { lost: 1, ..RAID5 }, true),
        (ArrayPlan { lost: 2, ..RAID5 }, false),
        (ArrayPlan { level: mirrored, members: 4, lost: 1, ..RAID5 }, true),
        (ArrayPlan { level: mirrored, members: 4, lost: 2, ..RAID5 }, false),
        (ArrayPlan { rebuild_bytes_per_second: 1, ..RAID5 }, false),
    ] {
        assert_eq!(plan.checked().is_ok(), can, "{plan:?}");
    }
}
