//! The model of one drive counts what the stack says of writes and reads on that drive.

use drive::hard_disk::{Firmware, HardDisk, HardDiskPlan, Rmw, Scheduler};
use drive::{
    CommandKind, DriveCommand, DriveTally, Flash, FlashPlan, Memory, MemoryPlan, Model, Victim,
};
use stack::amplify::{Effort, Io, amplify};
use stack::mapping::{Below, Mapping};
use stack::{Layer, LayerId, LayerKind, Stack, UnitKind};
use units::random::Random;
use units::{ByteRange, Known, Source};

const CAPACITY_BYTES: u64 = 1 << 28;
/// Bytes that are left alone at both ends, where a drive with an origin has a cut granule.
const EDGE_BYTES: u64 = 1 << 20;
const SECTOR: u64 = 512;
const SEEDS: u64 = 300;
const OPERATIONS: u64 = 40;

/// A 512e disk that writes through, so that it counts what it is told.
fn hard_disk(granule: u64, origin_bytes: u64, random: &mut Random) -> HardDisk {
    let plan = HardDiskPlan {
        capacity_bytes: CAPACITY_BYTES,
        logical_bytes: SECTOR,
        physical_bytes: granule,
        origin_bytes,
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
        rmw: *random.choose(&[Rmw::Batched, Rmw::PerSector, Rmw::Serial]),
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
    HardDisk::new(plan).expect("such a disk can be")
}

/// A drive that programs each write at once, and has more free blocks than are needed.
fn flash(granule: u64, origin_bytes: u64, random: &mut Random) -> Flash {
    let plan = FlashPlan {
        capacity_bytes: CAPACITY_BYTES,
        logical_bytes: SECTOR,
        unit_bytes: granule,
        origin_bytes,
        page_bytes: granule,
        planes: 1,
        pages_per_block: 256,
        dies: 1 + u32::try_from(random.below(8)).expect("few"),
        channels: 1,
        channel_bytes_per_second: 400_000_000,
        read_ns: 50_000,
        program_ns: 600_000,
        erase_ns: 3_000_000,
        host_ns: 10_000,
        unit_ns: 1_000,
        run_unit_ns: 1_000,
        command_ns: 5_000,
        flush_ns: 20_000,
        flushes_alone: false,
        link_bytes_per_second: 550_000_000,
        buffer_bytes: 0,
        is_volatile: false,
        tells_cache: false,
        flush_programs: 1,
        rmw_slots: 1 + u32::try_from(random.below(4)).expect("few"),
        rmw_queue: 0,
        rmw_waits: false,
        slc_bytes: 0,
        slc_program_ns: 0,
        slc_idle_ns: 0,
        joined_parts: 0,
        spare_bytes: CAPACITY_BYTES,
        kept_back_bytes: 0,
        victim: Victim::Greedy,
        used_bytes: CAPACITY_BYTES,
        erased_bytes: CAPACITY_BYTES,
    };
    Flash::new(plan).expect("such a drive can be")
}

fn memory(granule: u64) -> Memory {
    let plan = MemoryPlan {
        capacity_bytes: CAPACITY_BYTES,
        logical_bytes: SECTOR,
        line_bytes: granule,
        banks: 4,
        read_ns: 300,
        write_ns: 100,
        host_ns: 1_000,
        command_ns: 5_000,
        link_bytes_per_second: 2_000_000_000,
    };
    Memory::new(plan).expect("such a drive can be")
}

/// A layer at `offset_bytes` of a drive, as a partition lies on it.
fn layers(granule: u64, origin_bytes: u64, offset_bytes: u64) -> (Stack, LayerId) {
    let mut stack = Stack::new();
    let mut add = |mapping, length_bytes| {
        let length = Known::yes(length_bytes, Source::OnDisk);
        stack.add(Layer::new(LayerKind::ImageFile, "x".into(), length, mapping))
    };
    let layer = add(Mapping::Leaf, CAPACITY_BYTES);
    let part = add(Mapping::Linear(Below { layer, offset_bytes }), CAPACITY_BYTES - offset_bytes);
    let units = &mut stack.layer_mut(layer).units;
    units.put_used_from(UnitKind::Granule, granule, origin_bytes, Source::Told, "");
    (stack, part)
}

/// Picks the counters of a model that have what it read and wrote for a command.
type Counted = fn(&DriveTally) -> [u64; 3];

/// Sectors read for commands and for parts, sectors written, parts read first.
fn of_a_disk(tally: &DriveTally) -> [u64; 3] {
    [tally.sectors_read + tally.rmw_reads, tally.sectors_written, tally.rmw_reads]
}

/// Pages read, those of parts among them; pages written, parts read first.
fn of_flash(tally: &DriveTally) -> [u64; 3] {
    [tally.medium_reads, tally.medium_writes, tally.rmw_reads]
}

/// Lines read, and of parts; lines written, parts read first.
fn of_memory(tally: &DriveTally) -> [u64; 3] {
    [tally.medium_reads + tally.rmw_reads, tally.medium_writes, tally.rmw_reads]
}

/// Does random operations on a drive of each seed, and compares each with what the stack says;
/// what was done.
fn check(
    name: &str,
    counted: Counted,
    granules: &[u64],
    model: fn(u64, u64, &mut Random) -> Box<dyn Model>,
) -> String {
    let (mut operations, mut parts) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let granule = *random.choose(granules);
        let origin_bytes = match name {
            "memory" => 0,
            _ => random.below(granule / SECTOR) * SECTOR,
        };
        let offset_bytes = EDGE_BYTES + random.below(64) * SECTOR;
        let (stack, part) = layers(granule, origin_bytes, offset_bytes);
        let mut drive = model(granule, origin_bytes, &mut random);
        let (mut now_ns, mut done) = (0, Vec::new());
        for id in 0..OPERATIONS {
            let write = random.below(4) > 0;
            let length_bytes = (1 + random.below(48)) * SECTOR;
            let most = CAPACITY_BYTES - offset_bytes - EDGE_BYTES - length_bytes;
            let start = random.below(most / SECTOR) * SECTOR;
            let range = ByteRange::new(start, length_bytes).expect("it is in the layer");
            let said = amplify(&stack, part, Io { write, range }).expect("all is known");
            let before = counted(&drive.tally());
            let action = if write { CommandKind::Write { fua: false } } else { CommandKind::Read };
            let offset_bytes = offset_bytes + start;
            drive.submit(
                DriveCommand { id, action, offset_bytes, length_bytes },
                now_ns,
                &mut done,
            );
            while let Some(next_ns) = drive.next_ns() {
                now_ns = next_ns;
                drive.advance(now_ns, &mut done);
            }
            assert!(done.drain(..).all(|done| done.outcome.is_ok()), "seed {seed}");
            let after = counted(&drive.tally());
            let [reads, writes, rmws] = [0, 1, 2].map(|at| after[at] - before[at]);
            let found = Effort { reads, writes, rmws, leaves: 1, ..Effort::default() };
            let at = format!("{name}, seed {seed}, {action:?} of {range:?}, granule {granule}");
            assert_eq!(found, said, "{at} from {origin_bytes}, partition at {offset_bytes}");
            operations += 1;
            parts += rmws;
        }
    }
    assert!(parts > operations / 10, "{name}: parts were written");
    format!("{name}: seeds 0 to {SEEDS}, {operations} operations, {parts} parts read first")
}

#[test]
fn a_hard_disk_reads_writes_and_rewrites_the_sectors_that_amplify_says() {
    let done = check("disk", of_a_disk, &[512, 4096], |granule, origin_bytes, random| {
        Box::new(hard_disk(granule, origin_bytes, random))
    });
    println!("{done}");
}

#[test]
fn flash_reads_programs_and_rewrites_the_units_that_amplify_says() {
    let done = check("flash", of_flash, &[4096, 8192, 16_384], |granule, origin_bytes, random| {
        Box::new(flash(granule, origin_bytes, random))
    });
    println!("{done}");
}

#[test]
fn persistent_memory_reads_writes_and_rewrites_the_lines_that_amplify_says() {
    let model: fn(u64, u64, &mut Random) -> Box<dyn Model> =
        |granule, _, _| Box::new(memory(granule));
    println!("{}", check("memory", of_memory, &[256, 4096], model));
}
