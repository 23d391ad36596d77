//! Modeled drives count what the stack says an I/O becomes on the drives.

use drive::array::{Array, ArrayPlan, Level, Member, ParityWrite};
use drive::hard_disk::{Firmware, HardDisk, HardDiskPlan, Rmw, Scheduler};
use drive::{CommandKind, DriveCommand, DriveTally, Model as _};
use stack::amplify::{Effort, Io, amplify};
use stack::mapping::{Below, Copies, Mapping};
use stack::{Layer, LayerId, LayerKind, Stack, UnitKind};
use units::random::Random;
use units::stripe::{Rotation, Stripe};
use units::{ByteRange, Known, Source};

/// A disk that writes through, so that it counts what it is told.
const DISK: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 1 << 27,
    logical_bytes: 512,
    physical_bytes: 4096,
    origin_bytes: 0,
    rpm: 7200,
    outer_track_bytes: 1 << 20,
    inner_track_bytes: 1 << 19,
    zones: 4,
    heads: 2,
    skew_ns: 1_500_000,
    settle_ns: 1_000_000,
    average_seek_ns: 0,
    full_stroke_ns: 16_000_000,
    write_settle_ns: 0,
    rmw: Rmw::PerSector,
    command_ns: 10_000,
    link_bytes_per_second: 500_000_000,
    cache_bytes: 0,
    cache_pieces: u32::MAX,
    window: 32,
    run_bytes: 1 << 20,
    idle_ns: 1_000_000,
    holds_tail: false,
    read_ahead_bytes: 0,
    depth: 32,
    scheduler: Scheduler::Fifo,
    firmware: Firmware::IDEAL,
};

/// An array, specified to both sides.
#[derive(Clone, Debug)]
struct Case {
    plan: ArrayPlan,
    physical_bytes: u64,
    offsets: Vec<u64>,
}

fn case(random: &mut Random) -> Case {
    let rotation = *random.choose(&[
        Rotation::LeftAsymmetric,
        Rotation::RightAsymmetric,
        Rotation::LeftSymmetric,
        Rotation::RightSymmetric,
        Rotation::First,
        Rotation::Last,
    ]);
    let copies = 2 + random.below(2);
    let (level, members) = match random.below(6) {
        0 => (Level::Raid0, 2 + random.below(4)),
        1 => (Level::Raid1, 2 + random.below(3)),
        2 => (Level::Raid10 { copies }, copies * (1 + random.below(3))),
        3 => (Level::Raid4, 2 + random.below(5)),
        4 => (Level::Raid5(rotation), 2 + random.below(6)),
        _ => (Level::Raid6(rotation), 4 + random.below(5)),
    };
    let plan = ArrayPlan {
        level,
        members,
        chunk_bytes: 4096 << random.below(5),
        turns: true,
        // The stack counts what the host writes, in sectors.
        row_bytes: 512,
        parity_write: ParityWrite::Fewer,
        stripes: 256,
        hold_ns: 0,
        lost: 0,
        rebuild_bytes_per_second: 0,
    };
    let is_copied = matches!(level, Level::Raid1 | Level::Raid10 { .. });
    let step = *random.choose(&[512, 4096]);
    let first = random.below(40) * step;
    let offset = |_| if is_copied { first } else { random.below(40) * step };
    let offsets = (0..members).map(offset).collect();
    Case { plan, physical_bytes: *random.choose(&[512, 4096]), offsets }
}

/// The array as layers: the drives' bytes, and what lies on them.
fn layers(case: &Case) -> (Stack, LayerId) {
    let mut stack = Stack::new();
    let length = Known::yes(1 << 30, Source::OnDisk);
    let mut add = |mapping| {
        let layer = Layer::new(LayerKind::ImageFile, "x".into(), length.clone(), mapping);
        stack.add(layer)
    };
    let leaves: Vec<LayerId> = case.offsets.iter().map(|_| add(Mapping::Leaf)).collect();
    let below = |(&layer, &offset_bytes)| Some(Below { layer, offset_bytes });
    let members: Vec<Option<Below>> = leaves.iter().zip(&case.offsets).map(below).collect();
    let (plan, parity) = (&case.plan, case.plan.level.parity());
    let stripe = |data| Stripe::new(plan.chunk_bytes, data).expect("neither is 0");
    let array = add(match plan.level {
        Level::Raid1 => Mapping::Mirrored { members },
        Level::Raid0 => {
            Mapping::Striped { stripe: stripe(plan.members), copies: Copies::Neighbors(1), members }
        }
        Level::Raid10 { copies } => Mapping::Striped {
            stripe: stripe(plan.members / copies),
            copies: Copies::Neighbors(copies),
            members,
        },
        level => Mapping::Parity {
            stripe: stripe(plan.members - parity),
            parity,
            rotation: level.rotation(),
            members,
        },
    });
    for leaf in leaves {
        let units = &mut stack.layer_mut(leaf).units;
        units.put_used(UnitKind::Granule, case.physical_bytes, Source::Told, "");
    }
    (stack, array)
}

/// The array as a model.
fn model(case: &Case) -> Array<HardDisk> {
    let plan = HardDiskPlan { physical_bytes: case.physical_bytes, ..DISK };
    let disk = || HardDisk::new(plan).expect("such a disk can be");
    let member = |&offset_bytes: &u64| Member { model: disk(), offset_bytes };
    let members = case.offsets.iter().map(member).collect();
    Array::new(case.plan, members).expect("such an array can be")
}

/// Returns what the model counted between two accounts, in the stack's words.
fn counted(before: &DriveTally, after: &DriveTally, leaves: u64) -> Effort {
    let rmws = after.rmw_reads - before.rmw_reads;
    Effort {
        reads: after.sectors_read - before.sectors_read + rmws,
        writes: after.sectors_written - before.sectors_written,
        rmws,
        parity_updates: after.parity_updates - before.parity_updates,
        parity_rmws: after.parity_rmws - before.parity_rmws,
        leaves,
    }
}

#[test]
fn a_modeled_array_counts_what_amplify_says() {
    let (mut equal, mut apart) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let case = case(&mut random);
        let (stack, id) = layers(&case);
        let (mut array, mut done) = (model(&case), Vec::new());
        let mut now_ns = 0;
        for number in 0..12 {
            let full = case.plan.chunk_bytes * case.plan.members;
            let sectors = array.capacity_bytes() / 512;
            let first = random.below(sectors);
            let most = if random.below(3) == 0 { 3 * full / 512 } else { 64 };
            let count = 1 + random.below(most.min(sectors - first));
            let write = random.below(3) > 0;
            let action = if write { CommandKind::Write { fua: false } } else { CommandKind::Read };
            let (offset_bytes, length_bytes) = (first * 512, count * 512);
            let accounts = |array: &Array<HardDisk>| {
                array.members().map(|member| member.tally().commands).collect::<Vec<u64>>()
            };
            let (before, commands) = (array.tally(), accounts(&array));
            array.submit(
                DriveCommand { id: number, action, offset_bytes, length_bytes },
                now_ns,
                &mut done,
            );
            while let Some(next_ns) = array.next_ns() {
                now_ns = next_ns;
                array.advance(now_ns, &mut done);
            }
            let touched = accounts(&array).iter().zip(&commands).filter(|(a, b)| a > b).count();
            let found = counted(&before, &array.tally(), touched as u64);
            let range = ByteRange::new(offset_bytes, length_bytes).expect("it is in the array");
            let said = amplify(&stack, id, Io { write, range }).expect("all is known");
            let at = format!("seed {seed}, {action:?} of {range:?} on {case:?}");
            // Where chunks end within granules, the stack joins what meets on a member in any
            // case; the array does not where one of two stripes must be read for, and is later.
            let data = case.plan.members - case.plan.level.parity();
            let stripe_bytes = case.plan.chunk_bytes * data;
            let is_one = offset_bytes / stripe_bytes == (range.end_bytes() - 1) / stripe_bytes;
            let is_whole = |offset: &u64| offset.is_multiple_of(case.physical_bytes);
            if case.plan.level.parity() == 0 || is_one || case.offsets.iter().all(is_whole) {
                equal += 1;
                assert_eq!(found, said, "{at}");
            } else {
                apart += 1;
                let parts =
                    |effort: &Effort| (effort.parity_updates, effort.parity_rmws, effort.leaves);
                assert_eq!(parts(&found), parts(&said), "{at}");
                let is_more = found.reads >= said.reads && found.writes >= said.writes;
                // At each seam that is not joined a granule is touched twice, and read twice more.
                let seams = 2 * case.plan.members * (length_bytes / stripe_bytes + 2);
                let is_near =
                    found.writes <= said.writes + seams && found.reads <= said.reads + 3 * seams;
                assert!(is_more && is_near, "{at}: {found:?}, {said:?}");
            }
        }
    }
    println!("{equal} equal, {apart} apart by seams alone");
    assert!(equal > 10_000);
}
