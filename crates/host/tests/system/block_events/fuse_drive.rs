//! A thousand generated loads against a drive that counts by itself: a loop device over a file of
//! FUSE, whose server sees each request that reaches it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex};

use host::block_events::{BlockEvents, BlockLevel, BlockShape, Direction};
use host::tracepoint::{CountedScope, TracepointCounter};
use testkit::fuse::{Fuse, FuseBehavior, FuseRequest};
use testkit::{Loop, Scratch, need_loops, skip};
use units::Unit;
use units::random::Random;

use super::{MIB, aligned, events, filter, number_of};

const LOADS: u32 = 1000;
/// Requests that reach the file in one piece: FUSE cuts at 1 MiB.
const REQUEST_KIB_MAX: &str = "128";
/// Shapes that are counted.
const SHAPES: [BlockShape; 7] = [
    BlockShape::Any,
    BlockShape::Off(4096),
    BlockShape::Off(16384),
    BlockShape::Off(65536),
    BlockShape::UpTo(4096),
    BlockShape::UpTo(16384),
    BlockShape::UpTo(65536),
];

/// Writes and reads that reached the file, of each shape.
type Seen = [[u64; SHAPES.len()]; 2];

fn note(seen: &Mutex<Seen>, way: usize, offset_bytes: u64, length_bytes: u64) {
    let mut seen = seen.lock().unwrap();
    for (column, shape) in SHAPES.into_iter().enumerate() {
        let off = |bytes| Unit::new(bytes).unwrap().partial(offset_bytes, length_bytes) > 0;
        let is_seen = match shape {
            BlockShape::Any => true,
            BlockShape::Off(bytes) => off(bytes),
            BlockShape::StartOff(bytes) => !offset_bytes.is_multiple_of(bytes),
            BlockShape::UpTo(bytes) => length_bytes <= bytes,
        };
        seen[way][column] += u64::from(is_seen);
    }
}

/// One load: some writes and reads, by one to four threads, direct or through the page cache, then
/// a flush.
fn load(path: &Path, random: &mut Random) {
    let is_direct = random.below(2) == 0;
    let mut open = OpenOptions::new();
    open.read(true).write(true);
    if is_direct {
        open.custom_flags(libc::O_DIRECT);
    }
    let file = open.open(path).unwrap();
    let threads = 1 + random.below(4);
    let seeds: Vec<u64> = (0..threads).map(|_| random.next_u64()).collect();
    std::thread::scope(|scope| {
        for seed in seeds {
            let file = &file;
            scope.spawn(move || operations(file, &mut Random::new(seed)));
        }
    });
    file.sync_data().unwrap();
}

fn operations(file: &File, random: &mut Random) {
    let mut memory = vec![1; 256 << 10];
    let buffer = aligned(&mut memory);
    let grain = *random.choose(&[1_u64, 1, 8, 32]);
    for _ in 0..4 {
        let sectors = grain * (1 + random.below(3));
        let start = grain * random.below((16 * MIB / 512 - sectors) / grain);
        let part = &mut buffer[..usize::try_from(sectors * 512).unwrap()];
        match random.below(3) {
            0 => file.read_exact_at(part, start * 512).unwrap(),
            _ => file.write_all_at(part, start * 512).unwrap(),
        }
    }
}

fn counted(counters: &[Vec<TracepointCounter>; 2]) -> Seen {
    counters.each_ref().map(|counters| {
        let counts: Vec<u64> = counters.iter().map(|counter| counter.count().unwrap()).collect();
        counts.try_into().unwrap()
    })
}

fn counters(events: &BlockEvents, number: (u32, u32)) -> [Vec<TracepointCounter>; 2] {
    [Direction::Write, Direction::Read].map(|way| {
        let count = |shape| {
            let filter = filter(number, BlockLevel::Requests, way, shape);
            events.count(&filter, CountedScope::Machine).unwrap()
        };
        SHAPES.map(count).into()
    })
}

#[test]
fn a_thousand_loads_are_counted_as_the_drive_itself_counts_them() {
    need_loops!();
    let Some(events) = events() else { return };
    let scratch = Scratch::new();
    let back = File::options().read(true).write(true).open(scratch.image("back", 16 * MIB));
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let told = Arc::clone(&seen);
    let watch = move |request: FuseRequest<'_>| match request {
        FuseRequest::Write { offset_bytes, data } => {
            note(&told, 0, offset_bytes, data.len() as u64);
        }
        FuseRequest::Read { offset_bytes, length_bytes } => {
            note(&told, 1, offset_bytes, length_bytes);
        }
        _ => {}
    };
    let watched = FuseBehavior { watch: Box::new(watch), discards: false };
    let Some(fuse) = Fuse::watched(back.unwrap(), &scratch.path().join("fuse"), watched) else {
        return skip("needs FUSE");
    };
    let device = Loop::attach_direct(&fuse.file(), 512);
    let name = device.path().file_name().unwrap().to_str().unwrap().to_owned();
    let queue = Path::new("/sys/block").join(name).join("queue/max_sectors_kb");
    std::fs::write(queue, REQUEST_KIB_MAX).unwrap();
    let counters = counters(&events, number_of(&device));
    let mut random = testkit::random(1);
    let mut before = (counted(&counters), *seen.lock().unwrap());
    for number in 0..LOADS {
        load(device.path(), &mut random);
        let now = (counted(&counters), *seen.lock().unwrap());
        let since = |now: Seen, before: Seen| -> Seen {
            let column = |way: usize, column: usize| now[way][column] - before[way][column];
            [0, 1].map(|way| std::array::from_fn(|place| column(way, place)))
        };
        assert_eq!(since(now.0, before.0), since(now.1, before.1), "load {number}");
        before = now;
    }
    assert!(before.1[0][1] > 1000, "the loads were off the granule: {before:?}");
}
