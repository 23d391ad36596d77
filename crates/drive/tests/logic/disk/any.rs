//! Random disks and random commands.

use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw, Scheduler};
use drive::{CommandKind, DriveCommand, DriveCompletion, Model as _};
use units::random::Random;

use crate::shared::DISK;

/// A disk of one zone and one head, so that places can be worked out by hand.
pub(crate) const PLAN: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 1 << 33,
    outer_track_bytes: 1 << 20,
    inner_track_bytes: 1 << 20,
    zones: 1,
    heads: 1,
    skew_ns: 0,
    settle_ns: 1_000_000,
    link_bytes_per_second: 500_000_000,
    cache_bytes: 8 << 20,
    run_bytes: 1 << 20,
    idle_ns: 20_000_000,
    read_ahead_bytes: 0,
    ..DISK
};

/// A random disk of the same places.
pub(crate) fn plan(random: &mut Random) -> HardDiskPlan {
    HardDiskPlan {
        origin_bytes: random.below(8) * 512,
        heads: 1 + u32::try_from(random.below(4)).expect("small"),
        zones: 1 + u32::try_from(random.below(4)).expect("small"),
        inner_track_bytes: *random.choose(&[1 << 19, 1 << 20]),
        skew_ns: random.below(2_000_000),
        rmw: *random.choose(&[Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial]),
        cache_bytes: *random.choose(&[0, 1 << 20, 8 << 20]),
        idle_ns: random.below(50_000_000),
        holds_tail: random.below(2) == 0,
        depth: 1 + u16::try_from(random.below(32)).expect("small"),
        scheduler: *random.choose(&[Scheduler::Fifo, Scheduler::Nearest]),
        ..PLAN
    }
}

pub(crate) fn disk(plan: HardDiskPlan) -> HardDisk {
    HardDisk::new(plan).expect("such a disk can be")
}

pub(crate) fn command(id: u64, random: &mut Random) -> DriveCommand {
    let action = match random.below(8) {
        0 => CommandKind::Flush,
        1 | 2 => CommandKind::Read,
        3 => CommandKind::Write { fua: true },
        4 => CommandKind::Discard,
        _ => CommandKind::Write { fua: false },
    };
    if action == CommandKind::Flush {
        return DriveCommand { id, action, offset_bytes: 0, length_bytes: 0 };
    }
    let length_bytes = (1 + random.below(64)) * 512;
    DriveCommand { id, action, offset_bytes: random.below(4 << 10) * (1 << 20), length_bytes }
}

/// Commands, some at once and some after a rest, as long as `each` likes; it is told what ended by
/// which time.
pub(crate) fn run(
    disk: &mut HardDisk,
    count: u64,
    random: &mut Random,
    mut each: impl FnMut(&HardDisk, u64, Option<DriveCommand>, &[DriveCompletion]),
) -> u64 {
    let (mut done, mut now_ns) = (Vec::new(), 0);
    let mut step = |disk: &mut HardDisk, now_ns: u64, command: Option<DriveCommand>| {
        match command {
            Some(command) => disk.submit(command, now_ns, &mut done),
            None => disk.advance(now_ns, &mut done),
        }
        each(disk, now_ns, command, &done);
        done.clear();
    };
    for id in 0..count {
        let until_ns = now_ns + *random.choose(&[0, 0, 100_000, 10_000_000, 60_000_000]);
        while let Some(next_ns) = disk.next_ns()
            && next_ns <= until_ns
        {
            now_ns = next_ns;
            step(disk, now_ns, None);
        }
        now_ns = until_ns;
        let command = command(id, random);
        step(disk, now_ns, Some(command));
    }
    while let Some(next_ns) = disk.next_ns() {
        now_ns = next_ns;
        step(disk, now_ns, None);
    }
    now_ns
}
