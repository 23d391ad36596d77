//! A small hard disk, and a host that sends it whatever chance says.

use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw, Scheduler};
use drive::power::{Cut, HostPromises, Logged, Sectors, Survivors, UnderHead};
use drive::{CommandKind, DriveCommand, DriveCompletion, Model};
use units::random::Random;

use crate::shared::DISK;

/// 16 MiB, with tracks of 16 physical sectors, so that a cut often finds one under the head.
pub(crate) const PLAN: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 16 << 20,
    outer_track_bytes: 64 << 10,
    inner_track_bytes: 32 << 10,
    zones: 4,
    heads: 2,
    skew_ns: 500_000,
    settle_ns: 300_000,
    full_stroke_ns: 4_000_000,
    cache_bytes: 128 << 10,
    run_bytes: 16 << 10,
    idle_ns: 5_000_000,
    read_ahead_bytes: 0,
    depth: 8,
    ..DISK
};

/// A disk as chance says: any policy, 512e, 512e from another origin, or 512n, with or without
/// cache.
pub(crate) fn any_plan(random: &mut Random) -> HardDiskPlan {
    let all = [Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial];
    let (physical_bytes, origin_bytes) = *random.choose(&[(4096, 0), (4096, 3584), (512, 0)]);
    HardDiskPlan {
        rmw: *random.choose(&all),
        physical_bytes,
        origin_bytes,
        cache_bytes: *random.choose(&[0, 32 << 10, 128 << 10]),
        idle_ns: *random.choose(&[0, 5_000_000]),
        scheduler: *random.choose(&[Scheduler::Fifo, Scheduler::Nearest]),
        holds_tail: random.below(2) == 1,
        ..PLAN
    }
}

/// Returns what a disk of `plan` tells.
pub(crate) fn told(plan: &HardDiskPlan) -> HostPromises {
    let sectors = Sectors {
        logical_bytes: plan.logical_bytes,
        physical_bytes: plan.physical_bytes,
        origin_bytes: plan.origin_bytes,
    };
    HostPromises { sectors, has_volatile_cache: plan.cache_bytes > 0 }
}

/// A disk with its logs.
pub(crate) fn disk(plan: HardDiskPlan) -> Logged<HardDisk> {
    let disk = HardDisk::new(plan).expect("such a disk can be");
    Logged::new(disk, told(&plan), 10_000).expect("a disk keeps a log")
}

/// Sends `commands` commands to the first 64 KiB, up to 8 in flight, and lets up to 20 ms pass.
/// When that was, in nanoseconds.
pub(crate) fn drive(model: &mut impl Model, commands: u64, random: &mut Random) -> u64 {
    let (mut done, mut now_ns, mut flying) = (Vec::<DriveCompletion>::new(), 0, 0);
    for id in 0..commands {
        now_ns += *random.choose(&[0, 1_000, 100_000, 1_000_000, 10_000_000]);
        let action = match random.below(20) {
            0..=9 => CommandKind::Write { fua: false },
            10..=12 => CommandKind::Write { fua: true },
            13..=16 => CommandKind::Flush,
            17..=18 => CommandKind::Read,
            _ => CommandKind::Discard,
        };
        let (offset_bytes, length_bytes) = match action {
            CommandKind::Flush => (0, 0),
            _ => (512 * random.below(112), 512 * (1 + random.below(16))),
        };
        model.submit(DriveCommand { id, action, offset_bytes, length_bytes }, now_ns, &mut done);
        flying += 1;
        while flying - done.len() > 8 {
            now_ns = now_ns.max(model.next_ns().expect("something is in flight"));
            model.advance(now_ns, &mut done);
        }
        flying -= done.len();
        done.clear();
    }
    now_ns += random.below(20_000_000);
    model.advance(now_ns, &mut done);
    now_ns
}

/// A cut as chance says, until `end_ns`.
pub(crate) fn any_cut(end_ns: u64, random: &mut Random) -> Cut {
    let survivors = [
        Survivors::None,
        Survivors::All,
        Survivors::Chosen(random.below(256)),
        Survivors::Random(random.next_u64()),
        Survivors::Worst,
    ];
    let heads = [UnderHead::Completes, UnderHead::Old, UnderHead::Unreadable];
    Cut {
        survivors: *random.choose(&survivors),
        under_head: *random.choose(&heads),
        ..Cut::at(random.below(end_ns + 1))
    }
}
