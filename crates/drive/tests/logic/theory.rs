//! Rates that follow from a few times by arithmetic alone: each within 2 %.

use drive::hard_disk::{HardDiskPlan, Rmw};
use drive::profile::{self, DriveProfile};
use drive::{CommandKind, HardDisk, Model};

use crate::shared::{DISK, TURN_NS, WRITE, command, drive, is_near};

const READ: CommandKind = CommandKind::Read;
/// Tracks of one length, so that places and ways are distributed alike.
const PLAIN: HardDiskPlan = HardDiskPlan {
    inner_track_bytes: DISK.outer_track_bytes,
    cache_bytes: 0,
    read_ahead_bytes: 0,
    ..DISK
};
const UNITS: u64 = PLAIN.capacity_bytes / 4096;
/// A mean seek over two places anywhere, and between any of a tenth of the disk, whose root is 0.316.
const SEEK_NS: u64 = 1_200_000 + 14_800_000 * 8 / 15;
const SHORT_SEEK_NS: u64 = 1_200_000 + 14_800_000 * 316 / 1000 * 8 / 15;
/// A command, a sector under the head and its way over the wire.
const REST_NS: u64 = 30_000 + TURN_NS / 430 + 4096 * 1000 / 550;

/// Nanoseconds of an operation with one in flight.
fn alone_ns(model: &mut impl Model, action: CommandKind, mut place: impl FnMut() -> u64) -> u64 {
    let count = 20_000;
    drive(model, 1, count, |_, _| command(action, place() * 4096, 4096)).end_ns / count
}

fn profile(name: &str, changes: &[(&str, &str)]) -> Box<dyn Model> {
    let known = profile::called(name).expect(name).clone();
    let with = |profile: DriveProfile, (key, value): &(&str, &str)| {
        profile.with(key, value).expect("such a drive can be")
    };
    changes.iter().fold(known, with).model().expect("such a drive can be")
}

#[test]
fn a_random_read_takes_a_mean_seek_and_half_a_turn() {
    let mut random = testkit::random(1);
    for (reach, seek_ns) in [(UNITS, SEEK_NS), (UNITS / 10, SHORT_SEEK_NS)] {
        let mut disk = HardDisk::new(PLAIN).expect("such a disk can be");
        let found = alone_ns(&mut disk, READ, || random.below(reach));
        is_near(found, seek_ns + TURN_NS / 2 + REST_NS, 2);
    }
}

#[test]
fn a_synced_write_takes_as_many_turns_as_its_parts_need() {
    let policies = [(Rmw::Buffered, 1), (Rmw::Batched, 2), (Rmw::PerSector, 3), (Rmw::Serial, 4)];
    for (rmw, turns) in policies {
        for (shift_bytes, turns) in [(0, 1), (2048, turns)] {
            let plan = HardDiskPlan { rmw, cache_bytes: 64 << 20, ..PLAIN };
            let mut disk = HardDisk::new(plan).expect("such a disk can be");
            let seen = drive(&mut disk, 1, 4000, |_, number| match number % 2 {
                0 => command(WRITE, number / 2 * 4096 + shift_bytes, 4096),
                _ => command(CommandKind::Flush, 0, 0),
            });
            is_near(seen.end_ns / 2000, turns * TURN_NS, 2);
        }
    }
}

/// The mean of the longest of so many seeks to one place, each from anywhere and with a wait of its
/// own.
fn later_ns(members: u32) -> u64 {
    let mut random = testkit::random(4);
    let mut one = || {
        let place = random.below(1 << 20);
        let reach_ns = |random: &mut units::random::Random| {
            let way = place.abs_diff(random.below(1 << 20));
            1_200_000 + ((14_800_000 * (way << 20).isqrt()) >> 20) + random.below(TURN_NS)
        };
        (0..members).map(|_| reach_ns(&mut random)).max().unwrap_or(0)
    };
    (0..100_000).map(|_| one()).sum::<u64>() / 100_000
}

/// Old data and old parity are read side by side, on spindles at any angle; a turn after the later of
/// them all is written.
#[test]
fn a_small_write_on_parity_takes_the_later_read_and_a_turn() {
    let disk: &[(&str, &str)] = &[
        ("member.cache", "0"),
        ("member.inner_rate", "210 MB"),
        ("parity_write", "read-modify"),
        ("drift", "3"),
    ];
    let mut random = testkit::random(2);
    for (name, members) in [("raid5-5x64k", 2), ("raid6-6x64k", 3)] {
        let later_ns = later_ns(members);
        let mut array = profile(name, disk);
        let units = array.capacity_bytes() / 4096;
        let found = alone_ns(&mut array, WRITE, || random.below(units));
        is_near(found, later_ns + TURN_NS + 2 * REST_NS, 2);
    }
}

/// With so many in flight that each member always has more than it chooses among.
#[test]
fn deep_reads_go_as_fast_as_all_members_do() {
    let disk: &[(&str, &str)] = &[("member.capacity", "100 GB"), ("chunk", "64 KiB")];
    let mut one = profile("hdd-7200-512n", &[("capacity", "100 GB")]);
    let mut random = testkit::random(3);
    let mut rate = |model: &mut Box<dyn Model>, depth: u64| {
        let units = model.capacity_bytes() / 4096;
        drive(model, depth, 40_000, |_, _| command(READ, random.below(units) * 4096, 4096))
            .per_second()
    };
    let alone = rate(&mut one, 128);
    for (level, members) in [("raid0", 2), ("raid0", 4), ("raid1", 2), ("raid10", 4)] {
        let count = members.to_string();
        let changes = [disk, &[("level", level), ("members", &count), ("copies", "2")]].concat();
        let mut array = profile("raid0-2x16k", &changes);
        // Of several copies the one whose arm is nearer is read, which helps a little.
        let percent = if level == "raid1" || level == "raid10" { 3 } else { 2 };
        is_near(rate(&mut array, 128 * members), alone * members, percent);
    }
}

#[test]
fn a_volume_bursts_until_its_credits_are_spent_and_then_gets_its_baseline() {
    // 3000 a second spend 2700 of them: 20 s.
    let mut volume = profile("gp2-100", &[("credits", "54000")]);
    let places = volume.capacity_bytes() / 4096;
    let seen =
        drive(&mut volume, 32, 66_000, |_, number| command(READ, number % places * 4096, 4096));
    is_near(seen.ends_ns[59_999], 20_000_000_000, 2);
    is_near(seen.end_ns - seen.ends_ns[59_999], 20_000_000_000, 2);
    let mut volume = profile("gp2-100", &[]);
    let seen = drive(&mut volume, 32, 4000, |_, number| command(READ, number << 18, 1 << 18));
    is_near(seen.per_second() << 18, 128 << 20, 2);
}
