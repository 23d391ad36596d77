//! Real heads, cut short at every length and with every byte changed: each parser still answers,
//! in bounded reads and 64 MiB.
//!
//! The heads are in `tests/heads`; see the readme there. With `STRADDLE_SOAK` set, every byte takes
//! all 255 other values instead of two, and lengths are tried that everyday runs leave out.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use device::{Disk, MemoryDisk, ReadError, Window, disk, pack};
use format::hostile::{Parser, parsers};
use testkit::memory;
use units::ByteRange;

const MEMORY_BYTES_MAX: usize = 64 << 20;
/// An answer that needs more follows something without an end.
const READS_MAX: u64 = 1 << 16;
const READ_BYTES_MAX: u64 = 64 << 20;
const ALLOCATIONS_MAX: u64 = 1 << 16;

#[test]
fn every_parser_answers_when_a_head_is_cut_at_any_length() {
    for_each_head(|head| {
        for length_bytes in cuts(head) {
            let range = ByteRange::new(0, length_bytes).unwrap();
            let cut = Window::new(&head.disk, range);
            for parser in parsers() {
                check(parser, &cut, || {
                    format!("{}: {} cut at {length_bytes}", parser.name(), head.name)
                });
            }
        }
    });
}

#[test]
fn every_parser_answers_when_any_byte_of_a_head_is_changed() {
    for_each_head(|head| {
        for parser in parsers().into_iter().filter(|parser| parser.name() != "probe") {
            change_every_byte(head, parser);
        }
    });
}

#[test]
fn a_parser_that_stumbles_over_one_value_of_one_byte_is_found() {
    fn stumbling(disk: &dyn Disk) {
        let bytes: [u8; 512] = disk::read_array(disk, 0).expect("the disk is long enough");
        assert!(bytes[100] != 0xff, "stumbled");
    }
    let mut disk = MemoryDisk::new(1 << 20);
    disk.put(0, &[1; 512]);
    let held = vec![ByteRange::new(0, 512).unwrap()];
    let head = Head { name: "ones".to_owned(), disk, held };
    let found =
        catch_unwind(AssertUnwindSafe(|| change_every_byte(&head, Parser::new("own", stumbling))));
    let said = found.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(*said, "own: ones with 0xff at 100: panicked");
}

#[test]
fn the_counting_allocator_sees_what_a_parser_takes() {
    let (length, peak) = memory::peak_of(|| vec![1_u8; 3 << 20].len());
    assert_eq!(length, 3 << 20);
    assert!((3 << 20..4 << 20).contains(&peak), "{peak}");
    let greedy = |_: &dyn Disk| drop(std::hint::black_box(vec![1_u8; MEMORY_BYTES_MAX + 1]));
    let greedy = Parser::new("greedy", greedy);
    assert!(catch_unwind(|| check(greedy, &MemoryDisk::new(0), String::new)).is_err());
}

#[test]
fn a_parser_that_reads_or_allocates_without_an_end_is_found() {
    fn reads(disk: &dyn Disk) {
        for _ in 0..=READS_MAX {
            let [_] = disk::read_array(disk, 0).expect("the disk is long enough");
        }
    }
    fn long_reads(disk: &dyn Disk) {
        let mut bytes = vec![0; 1 << 20];
        for _ in 0..=READ_BYTES_MAX >> 20 {
            disk.read_at(0, &mut bytes).expect("the disk is long enough");
        }
    }
    fn allocates(_: &dyn Disk) {
        for size in 0..=ALLOCATIONS_MAX {
            drop(std::hint::black_box(Box::new(size)));
        }
    }
    let disk = MemoryDisk::new(2 << 20);
    for (run, word) in
        [(reads as fn(&dyn Disk), "reads"), (long_reads, "bytes read"), (allocates, "allocations")]
    {
        let found = catch_unwind(|| check(Parser::new("own", run), &disk, || "own".to_owned()));
        let said = found.unwrap_err().downcast::<String>().unwrap();
        assert!(said.starts_with("own: ") && said.ends_with(word), "{said}");
    }
}

/// A head: its name, the disk, and where it holds something.
struct Head {
    name: String,
    disk: MemoryDisk,
    held: Vec<ByteRange>,
}

/// Calls `examine` with each head, on as many threads as there are processors.
fn for_each_head(examine: impl Fn(&Head) + Sync) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/heads");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the heads are there")
        .map(|entry| entry.expect("a directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pack"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "only {} heads are there", files.len());
    let ahead = Mutex::new(files);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = { ahead.lock().expect("no thread panicked").pop() } {
                    let packed = std::fs::read(&file).expect("a head can be read");
                    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    let disk = pack::unpack(&packed).expect("a head is a packed disk");
                    examine(&Head { name, disk, held: pack::ranges(&packed) });
                }
            });
        }
    });
}

fn soak() -> bool {
    std::env::var_os("STRADDLE_SOAK").is_some()
}

/// Runs `parser` with each byte that it reads changed to two other values, or to all: ones, and one
/// of three by turns.
fn change_every_byte(head: &Head, parser: Parser) {
    for at_bytes in read_bytes(head, parser) {
        let [before] = disk::read_array(&head.disk, at_bytes).expect("a head holds it");
        let turn = usize::try_from(at_bytes % 3).expect("below 3");
        let few = vec![0xff, [0x00, before ^ 0x01, before ^ 0x80][turn]];
        let values: Vec<u8> = if soak() { (0..=255).collect() } else { few };
        for value in values.into_iter().filter(|value| *value != before) {
            let changed = Changed { below: &head.disk, at_bytes, value };
            let what = || format!("{}: {} with {value:#x} at {at_bytes}", parser.name(), head.name);
            check(parser, &changed, what);
        }
    }
}

/// Lengths at which to cut: every one in the first two sectors, then each sector that holds
/// something and its neighbors, and every one in the last sector. Everyday runs take every fifth of
/// them, and those at and beside the ends of sectors.
fn cuts(head: &Head) -> Vec<u64> {
    let length_bytes = head.disk.length_bytes();
    let mut cuts: Vec<u64> = (0..=1024.min(length_bytes)).collect();
    for held in &head.held {
        let first = held.start_bytes().saturating_sub(512);
        cuts.extend(
            (first..=held.end_bytes() + 512).step_by(512).filter(|cut| *cut < length_bytes),
        );
    }
    cuts.extend(length_bytes.saturating_sub(512)..=length_bytes);
    cuts.retain(|cut| soak() || cut.is_multiple_of(5) || (cut + 1) % 512 <= 2);
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The bytes that hold something and that `parser` reads; others cannot change its answer, since it
/// depends on nothing else.
fn read_bytes(head: &Head, parser: Parser) -> Vec<u64> {
    let recording = Recording { below: &head.disk, reads: RefCell::default() };
    parser.run(&recording);
    let reads = recording.reads.into_inner();
    let mut bytes = Vec::new();
    for held in &head.held {
        let read = |at: &u64| reads.iter().any(|read| (read.0..read.1).contains(at));
        bytes.extend((held.start_bytes()..held.end_bytes()).filter(read));
    }
    bytes
}

/// Runs `parser` and fails with `what` when it panics, reads or allocates without an end, or takes
/// too much memory.
fn check(parser: Parser, disk: &dyn Disk, what: impl Fn() -> String) {
    let disk = Counted { below: disk, reads: Cell::new(0), read_bytes: Cell::new(0) };
    let run = || catch_unwind(AssertUnwindSafe(|| parser.run(&disk)));
    let ((result, allocations), peak_bytes) = memory::peak_of(|| memory::allocations_of(run));
    assert!(result.is_ok(), "{}: panicked", what());
    assert!(peak_bytes <= MEMORY_BYTES_MAX, "{}: {peak_bytes} bytes of memory", what());
    let (reads, read_bytes) = (disk.reads.get(), disk.read_bytes.get());
    assert!(reads <= READS_MAX, "{}: {reads} reads", what());
    assert!(read_bytes <= READ_BYTES_MAX, "{}: {read_bytes} bytes read", what());
    assert!(allocations <= ALLOCATIONS_MAX, "{}: {allocations} allocations", what());
}

/// A disk that counts what is read.
struct Counted<'a> {
    below: &'a dyn Disk,
    reads: Cell<u64>,
    read_bytes: Cell<u64>,
}

impl Disk for Counted<'_> {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.reads.set(self.reads.get() + 1);
        self.read_bytes.set(self.read_bytes.get() + disk::length_of(buffer));
        self.below.read_at(offset_bytes, buffer)
    }
}

/// A disk with one byte changed.
struct Changed<'a> {
    below: &'a MemoryDisk,
    at_bytes: u64,
    value: u8,
}

impl Disk for Changed<'_> {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.below.read_at(offset_bytes, buffer)?;
        if let Some(at) = self.at_bytes.checked_sub(offset_bytes)
            && let Some(byte) = usize::try_from(at).ok().and_then(|at| buffer.get_mut(at))
        {
            *byte = self.value;
        }
        Ok(())
    }
}

/// A disk that notes what is read.
struct Recording<'a> {
    below: &'a MemoryDisk,
    reads: RefCell<Vec<(u64, u64)>>,
}

impl Disk for Recording<'_> {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let end = offset_bytes.saturating_add(disk::length_of(buffer));
        self.reads.borrow_mut().push((offset_bytes, end));
        self.below.read_at(offset_bytes, buffer)
    }
}
