//! Counts and copies of block events against loads that are known to the last write.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

mod fuse_drive;

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};

use host::block_events::{BlockEvents, BlockFilter, BlockLevel, BlockShape, Direction};
use host::tracepoint::{CountedScope, Tracefs, TracepointError};
use testkit::{Loop, Scratch, need_loops, skip};
use units::random::Random;

const MIB: u64 = 1 << 20;

/// The events, or a skip where this machine lets nobody count.
fn events() -> Option<BlockEvents> {
    match Tracefs::open().and_then(|tracefs| BlockEvents::open(&tracefs)) {
        Ok(events) => Some(events),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// A loop device with its number.
fn device(scratch: &Scratch) -> (Loop, (u32, u32)) {
    let device = Loop::attach_direct(&scratch.image("disk", 64 * MIB), 512);
    let number = number_of(&device);
    (device, number)
}

fn number_of(device: &Loop) -> (u32, u32) {
    let number = std::fs::metadata(device.path()).unwrap().rdev();
    (rustix::fs::major(number), rustix::fs::minor(number))
}

/// The part of `memory` that direct I/O takes, 128 KiB long.
fn aligned(memory: &mut [u8]) -> &mut [u8] {
    let at = memory.as_ptr().align_offset(4096);
    &mut memory[at..at + (128 << 10)]
}

fn filter(
    number: (u32, u32),
    level: BlockLevel,
    direction: Direction,
    shape: BlockShape,
) -> BlockFilter {
    BlockFilter { devices: vec![number], level, direction, shape }
}

/// Does `count` direct reads or writes at random places of random lengths, and returns
/// how many writes and reads were off 4 KiB and off 16 KiB.
fn load(device: &Loop, random: &mut Random, count: u32) -> [[u64; 3]; 2] {
    let mut open = OpenOptions::new();
    open.read(true).write(true).custom_flags(libc::O_DIRECT);
    let file = open.open(device.path()).unwrap();
    let mut memory = vec![0; 256 << 10];
    let buffer = aligned(&mut memory);
    let mut seen = [[0; 3]; 2];
    for _ in 0..count {
        let granules = [1_u64, 8, 32][usize::try_from(random.below(3)).unwrap()];
        let sectors = granules * (1 + random.below(4));
        let start = granules * random.below((64 * MIB / 512 - sectors) / granules);
        let part = &mut buffer[..usize::try_from(sectors * 512).unwrap()];
        let is_write = random.below(2) == 0;
        match is_write {
            true => file.write_all_at(part, start * 512).unwrap(),
            false => file.read_exact_at(part, start * 512).unwrap(),
        }
        let row = &mut seen[usize::from(!is_write)];
        row[0] += 1;
        for (column, mask) in [(1, 7), (2, 31)] {
            row[column] += u64::from(start & mask != 0 || sectors & mask != 0);
        }
    }
    seen
}

#[test]
fn counts_are_equal_to_what_was_done() {
    need_loops!();
    let Some(events) = events() else { return };
    let scratch = Scratch::new();
    let (device, number) = device(&scratch);
    let counter = |direction, shape| {
        events
            .count(&filter(number, BlockLevel::Requests, direction, shape), CountedScope::Machine)
            .unwrap()
    };
    let counters: Vec<_> = [Direction::Write, Direction::Read]
        .into_iter()
        .map(|way| {
            [BlockShape::Any, BlockShape::Off(4096), BlockShape::Off(16384)]
                .map(|shape| counter(way, shape))
        })
        .collect();
    let mut random = testkit::random(17);
    let done = load(&device, &mut random, 3000);
    for (counters, done) in counters.iter().zip(done) {
        let counted = counters.each_ref().map(|counter| counter.count().unwrap());
        assert_eq!(counted, done);
    }
    let none = events.count(
        &filter(number, BlockLevel::Requests, Direction::Write, BlockShape::Off(512)),
        CountedScope::Machine,
    );
    load(&device, &mut random, 10);
    assert_eq!(none.unwrap().count().unwrap(), 0, "nothing is off a sector");
}

#[test]
fn what_gave_its_files_back_keeps_its_count_and_goes_on_where_it_is_told_to() {
    need_loops!();
    let Some(events) = events() else { return };
    let scratch = Scratch::new();
    let (device, number) = device(&scratch);
    let mut random = testkit::random(18);
    let wanted = filter(number, BlockLevel::Requests, Direction::Write, BlockShape::Off(4096));
    let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    for scope in [CountedScope::Machine, CountedScope::Thread(own)] {
        let bios = filter(number, BlockLevel::Bios, Direction::Write, BlockShape::Off(4096));
        let mut counter = events.count(&bios, scope).unwrap();
        let first = load(&device, &mut random, 200)[0][1];
        counter.release().unwrap();
        load(&device, &mut random, 100);
        assert_eq!(counter.count().unwrap(), first, "{scope:?}");
        counter.listen(true).unwrap();
        let next = load(&device, &mut random, 200)[0][1];
        assert_eq!(counter.count().unwrap(), first + next, "{scope:?}");
    }

    let mut stream = events.stream(&wanted, 4096).unwrap();
    let (mut done, mut copied) = (0, 0);
    for _ in 0..2 {
        stream.listen(true).unwrap();
        done += load(&device, &mut random, 1000)[0][1];
        stream.listen(false).unwrap();
        stream.drain(|_, _| copied += 1);
        stream.release().unwrap();
        load(&device, &mut random, 100);
        stream.drain(|_, _| panic!("there are no rings"));
    }
    let Some(lost) = stream.lost().unwrap() else {
        return skip("this kernel does not count what is lost (before Linux 6.0)");
    };
    assert!(lost > 0, "nobody read the rings of a page");
    assert_eq!(copied + lost, done);
}

#[test]
fn a_thread_is_counted_alone() {
    need_loops!();
    let Some(events) = events() else { return };
    let scratch = Scratch::new();
    let (device, number) = device(&scratch);
    let bios = filter(number, BlockLevel::Bios, Direction::Write, BlockShape::Any);
    let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    let counter = events.count(&bios, CountedScope::Thread(own)).unwrap();
    let mut random = testkit::random(17);
    let mine = load(&device, &mut random, 100);
    std::thread::scope(|scope| {
        // A thread that is started now is a child of this one, and is counted with it.
        let others = scope.spawn(|| load(&device, &mut random, 100)[0][0]).join().unwrap();
        assert_eq!(counter.count().unwrap(), mine[0][0] + others);
    });
    let first = events.count(&bios, CountedScope::Thread(1)).unwrap();
    load(&device, &mut random, 50);
    assert_eq!(first.count().unwrap(), 0, "process 1 wrote nothing there");
}

#[test]
fn a_stream_copies_each_event_or_says_how_many_it_lost() {
    need_loops!();
    let Some(events) = events() else { return };
    let scratch = Scratch::new();
    let (device, number) = device(&scratch);
    let mut random = testkit::random(17);
    let wanted = filter(number, BlockLevel::Requests, Direction::Write, BlockShape::Off(4096));
    let fields = events.fields(BlockLevel::Requests);
    // A large ring holds all; one of a page overflows, since nobody reads it meanwhile.
    for ring_bytes in [1 << 20, 4096] {
        let mut stream = events.stream(&wanted, ring_bytes).unwrap();
        load(&device, &mut random, 20);
        stream.listen(true).unwrap();
        let (done, mut records) = (load(&device, &mut random, 2000)[0][1], Vec::new());
        stream.drain(|time_ns, raw| records.push(fields.record(time_ns, raw).unwrap()));
        stream.listen(false).unwrap();
        assert!(records.iter().all(|record| record.device == number));
        assert!(records.iter().all(|one| one.sector % 8 != 0 || one.sectors % 8 != 0));
        let Some(lost) = stream.lost().unwrap() else {
            return skip("this kernel does not count what is lost (before Linux 6.0)");
        };
        assert_eq!(lost > 0, ring_bytes == 4096);
        assert_eq!(u64::try_from(records.len()).unwrap() + lost, done);
    }
}

#[test]
fn an_event_that_is_not_there_is_named() {
    need_loops!();
    if events().is_none() {
        return;
    }
    let error = Tracefs::open().unwrap().event("block/no_such_event").unwrap_err();
    assert!(matches!(error, TracepointError::NoEvent { .. }), "{error:?}");
    assert!(error.to_string().contains("block/no_such_event"), "{error}");
}
