//! Write amplification of the model beside that of a translation layer that keeps every page's
//! place, of a small drive: random writes, a hot span, long pieces and writes in order.

use drive::{CommandKind, Flash, FlashPlan, Model as _, Victim};

use crate::shared::{WRITE, command, drive, is_near};

const UNIT: u64 = 4096;
const BLOCK_UNITS: usize = 128;
/// Units of the small drive.
const UNITS: usize = 1 << 17;

/// The model's drive: 64 MiB are erased as one, of 32 GiB with 7 % spare.
const DRIVE: FlashPlan = FlashPlan {
    capacity_bytes: 32 << 30,
    logical_bytes: 4096,
    unit_bytes: UNIT,
    origin_bytes: 0,
    page_bytes: 4096,
    planes: 1,
    pages_per_block: 512,
    dies: 32,
    channels: 8,
    channel_bytes_per_second: 10_000_000_000,
    read_ns: 50_000,
    program_ns: 600_000,
    erase_ns: 3_000_000,
    host_ns: 0,
    unit_ns: 0,
    run_unit_ns: 0,
    command_ns: 0,
    flush_ns: 0,
    flushes_alone: false,
    link_bytes_per_second: 10_000_000_000,
    buffer_bytes: 1 << 20,
    is_volatile: false,
    tells_cache: false,
    flush_programs: 1,
    rmw_slots: 32,
    rmw_queue: 0,
    rmw_waits: false,
    joined_parts: 0,
    slc_bytes: 0,
    slc_program_ns: 0,
    slc_idle_ns: 0,
    spare_bytes: (32 << 30) * 7 / 100,
    kept_back_bytes: 0,
    victim: Victim::Greedy,
    used_bytes: 32 << 30,
    erased_bytes: 0,
};

/// A translation layer that keeps every unit's place, and collects the block with the least valid.
/// Units that it moves go to a block of their own.
struct Layer {
    /// Block of each unit.
    place: Vec<usize>,
    /// Units that were written to each block, in order.
    written: Vec<Vec<usize>>,
    valid: Vec<usize>,
    free: Vec<usize>,
    /// Blocks that are filled: with what the host writes, and with what is moved.
    open: [usize; 2],
    programs: u64,
}

impl Layer {
    /// A full one of so many units, each written once in order, with 7 % spare.
    fn new(units: usize) -> Layer {
        // Besides the spare, five that are open or kept free.
        let blocks = units * 107 / 100 / BLOCK_UNITS + 5;
        let mut layer = Layer {
            place: vec![usize::MAX; units],
            written: vec![Vec::new(); blocks],
            valid: vec![0; blocks],
            free: (2..blocks).rev().collect(),
            open: [0, 1],
            programs: 0,
        };
        (0..units).for_each(|unit| layer.put(unit, 0));
        layer
    }

    fn put(&mut self, unit: usize, which: usize) {
        if let Some(valid) = self.valid.get_mut(self.place[unit]) {
            *valid -= 1;
        }
        let block = self.open[which];
        self.place[unit] = block;
        self.written[block].push(unit);
        self.valid[block] += 1;
        self.programs += 1;
        if self.written[block].len() == BLOCK_UNITS {
            self.open[which] = self.free.pop().expect("one is kept free");
        }
    }

    fn write(&mut self, unit: usize) {
        while self.free.len() < 3 {
            let full = (0..self.valid.len()).filter(|block| !self.open.contains(block));
            let full = full.filter(|block| self.written[*block].len() == BLOCK_UNITS);
            let least = full.min_by_key(|block| self.valid[*block]).expect("some are full");
            for unit in std::mem::take(&mut self.written[least]) {
                if self.place[unit] == least {
                    self.put(unit, 1);
                }
            }
            self.free.push(least);
        }
        self.put(unit, 0);
    }

    /// Programs for a hundred of the host's, once it has written each place often.
    fn percent(&mut self, mut next: impl FnMut() -> usize) -> u64 {
        let count = 4 * self.place.len();
        (0..count).for_each(|_| self.write(next()));
        let before = self.programs;
        (0..count).for_each(|_| self.write(next()));
        (self.programs - before) * 100 / count as u64
    }
}

/// Programs for a hundred of the host's on the model: pieces of `bytes` at places that are a
/// multiple of that.
fn model_percent(
    plan: FlashPlan,
    bytes: u64,
    count: u64,
    mut place: impl FnMut(u64) -> u64,
) -> u64 {
    let mut flash = Flash::new(plan).expect("such a drive can be");
    drive(&mut flash, 32, count, |_, number| command(WRITE, place(number) * bytes, bytes));
    let tally = flash.tally();
    tally.programs * 100 / (tally.programs - tally.moves)
}

#[test]
fn random_writes_cost_what_a_layer_that_keeps_every_place_pays() {
    let mut random = testkit::random(1);
    let mut layer = Layer::new(UNITS);
    let wanted = layer.percent(|| usize::try_from(random.below(UNITS as u64)).unwrap());
    let found = model_percent(DRIVE, UNIT, 60_000, |_| random.below(DRIVE.capacity_bytes / UNIT));
    is_near(found, wanted, 8);
}

#[test]
fn a_hot_tenth_leaves_the_rest_where_it_is() {
    let mut random = testkit::random(2);
    let mut layer = Layer::new(UNITS);
    let wanted = layer.percent(|| usize::try_from(random.below(UNITS as u64 / 10)).unwrap());
    let hot = DRIVE.capacity_bytes / UNIT / 10;
    let found = model_percent(DRIVE, UNIT, 60_000, |_| random.below(hot));
    is_near(found, wanted, 8);
    assert!(found < 170, "{found}");
}

#[test]
fn where_a_tenth_has_nine_tenths_of_the_writes_weighing_heat_costs_less() {
    let whole = DRIVE.capacity_bytes / UNIT;
    let found = [Victim::Greedy, Victim::CostBenefit].map(|victim| {
        let mut random = testkit::random(3);
        let reach = |random: &mut units::random::Random| match random.below(10) {
            0 => whole / 10 + random.below(whole * 9 / 10),
            _ => random.below(whole / 10),
        };
        model_percent(FlashPlan { victim, ..DRIVE }, UNIT, 60_000, |_| reach(&mut random))
    });
    // With 7 % spare: 3.1 is the best that shares can give; equal ones give that of random writes.
    assert!(found[1] < 400 && found[1] < found[0] * 6 / 10, "{found:?}");
}

#[test]
fn writes_in_order_move_nothing_on_a_full_drive_however_many_streams() {
    for (bytes, streams) in [(UNIT, 1), (UNIT, 8), (131_072, 1), (1 << 20, 4)] {
        let apart = DRIVE.capacity_bytes / bytes / streams;
        let found = model_percent(DRIVE, bytes, 20_000, |number| {
            number % streams * apart + number / streams
        });
        assert!(found <= 105, "{found} with {streams} of {bytes}");
    }
}

#[test]
fn longer_pieces_at_random_cost_less_as_fewer_fill_a_block() {
    let mut random = testkit::random(4);
    for (pieces, bytes) in [(64, 1 << 20), (4, 16 << 20)] {
        let mut layer = Layer::new(UNITS);
        let length = BLOCK_UNITS / pieces;
        let (mut at, mut left) = (0, 0);
        let wanted = layer.percent(|| {
            if left == 0 {
                at = usize::try_from(random.below((UNITS / length) as u64)).unwrap() * length;
                left = length;
            }
            left -= 1;
            at + length - left - 1
        });
        let count = 30_000.min((1 << 38) / bytes);
        let places = DRIVE.capacity_bytes / bytes;
        let found = model_percent(DRIVE, bytes, count, |_| random.below(places));
        is_near(found, wanted, 14);
    }
}

/// The dies of a drive that moves nothing share its erases, however many pages a block has.
#[test]
fn each_die_erases_what_it_programmed() {
    let rate = |pages_per_block: u32| {
        let plan = FlashPlan { pages_per_block, used_bytes: 1 << 30, ..DRIVE };
        let mut flash = Flash::new(plan).unwrap();
        let seen = drive(&mut flash, 32, 8000, |_, number| {
            command(WRITE, number % 1024 * (1 << 20), 1 << 20)
        });
        assert_eq!(flash.tally().moves, 0);
        seen.per_second()
    };
    let all = rate(256);
    is_near(all, rate(255), 1);
    is_near(all, 32 * 4096 * 1_000_000_000 / (600_000 + 3_000_000 / 256) / (1 << 20), 2);
    // The built-in drive of the first report: 428 MB/s, not 269.
    let known = drive::profile::called("dc-s3700").unwrap().clone().with("used", "10 GB").unwrap();
    let mut model = known.model().unwrap();
    let seen =
        drive(&mut model, 32, 4000, |_, number| command(WRITE, number % 4096 * (1 << 20), 1 << 20));
    is_near(seen.per_second() * 1_048_576 / 1_000_000, 428, 2);
}

/// Units that were read and joined fill pages with others.
#[test]
fn misaligned_writes_program_no_more_pages_than_their_units_fill() {
    let plan = FlashPlan { page_bytes: 16_384, planes: 2, used_bytes: 16 << 30, ..DRIVE };
    let mut flash = Flash::new(plan).unwrap();
    let mut random = testkit::random(5);
    drive(&mut flash, 32, 8000, |_, _| command(WRITE, random.below(1 << 21) * 4096 + 4096, 4096));
    let programs = |flash: &Flash| flash.tally().programs - flash.tally().moves;
    let aligned = (flash.tally().rmw_reads, programs(&flash));
    let plan = FlashPlan { logical_bytes: 512, ..plan };
    let mut flash = Flash::new(plan).unwrap();
    drive(&mut flash, 32, 8000, |_, _| command(WRITE, random.below(1 << 21) * 4096 + 512, 4096));
    let misaligned = (flash.tally().rmw_reads, programs(&flash));
    assert_eq!((aligned.0, misaligned.0), (0, 16_000));
    is_near(aligned.1, 1000, 1);
    is_near(misaligned.1, 2000, 1);
    // A unit of 16 KiB that is written by a quarter: two of them to a program.
    let plan = FlashPlan { unit_bytes: 16_384, ..plan };
    let mut flash = Flash::new(plan).unwrap();
    drive(&mut flash, 32, 8000, |_, _| command(WRITE, random.below(1 << 21) * 4096, 4096));
    is_near(programs(&flash), 4000, 1);
}

/// FLUSH CACHE of ATA: reads beside a program that syncs wait for it, and it for them.
#[test]
fn a_flush_that_is_alone_keeps_reads_waiting() {
    let worst = |flushes_alone: bool| {
        let plan = FlashPlan { flushes_alone, is_volatile: true, flush_programs: 2, ..DRIVE };
        let mut flash = Flash::new(plan).unwrap();
        let mut done = Vec::new();
        flash.submit(command(WRITE, 0, 4096), 0, &mut done);
        flash.advance(1_000_000, &mut done);
        flash.submit(command(CommandKind::Flush, 0, 0), 1_000_000, &mut done);
        flash.submit(command(CommandKind::Read, (1 << 30) + 16 * 4096, 4096), 1_000_000, &mut done);
        flash.advance(100_000_000, &mut done);
        let ends = |at: usize| done[at].at_ns - 1_000_000;
        (ends(1), ends(2))
    };
    let (read_ns, flush_ns) = worst(false);
    assert!(read_ns < 60_000 && flush_ns >= 600_000, "{read_ns} {flush_ns}");
    let (flush_ns, read_ns) = worst(true);
    assert!(flush_ns >= 600_000 && read_ns >= flush_ns + 50_000, "{read_ns} {flush_ns}");
}

#[test]
fn a_write_of_a_part_can_wait_for_the_read_of_its_unit() {
    let took = |rmw_waits: bool| {
        let plan = FlashPlan { logical_bytes: 512, rmw_waits, ..DRIVE };
        let mut flash = Flash::new(plan).unwrap();
        drive(&mut flash, 1, 1, |_, _| command(WRITE, 512, 512)).end_ns
    };
    assert!(took(false) < 1000, "{}", took(false));
    assert!((50_000..52_000).contains(&took(true)), "{}", took(true));
}
