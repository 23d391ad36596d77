//! Asking about disks under a watch, and disks that differ from another in one byte.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use device::{Disk, MemoryDisk, ReadError, disk};
use format::ProblemKind;
use stack::hostile::{self, HostileAnswer};
use stack::{Layer, LayerId};
use testkit::memory;

const MEMORY_BYTES_MAX: usize = 64 << 20;
/// The most reads of one answer, and the most bytes that they ask for: five times as many as the
/// largest answer takes. A time would depend on what else the machine does.
const READS_MAX: u64 = 4_000_000;
const READ_BYTES_MAX: u64 = 3 << 30;

/// Bytes of an image file.
pub(crate) type Bytes = Rc<dyn Disk>;

/// The answer about `disks`; fails with `what` when there is none, or when it reads too much or
/// takes too much memory.
pub(crate) fn answer(disks: &[Bytes], what: impl Fn() -> String) -> HostileAnswer {
    let counts = Rc::new(ReadCounts::default());
    let counted = disks.iter().map(|disk| -> Bytes {
        Rc::new(Counted { below: Rc::clone(disk), counts: Rc::clone(&counts) })
    });
    let counted: Vec<Bytes> = counted.collect();
    let ask = || catch_unwind(AssertUnwindSafe(|| hostile::answer(counted, None)));
    let (result, peak_bytes) = memory::peak_of(ask);
    assert!(peak_bytes <= MEMORY_BYTES_MAX, "{}: {peak_bytes} bytes of memory", what());
    let (reads, bytes) = (counts.reads.get(), counts.bytes.get());
    let is_much = reads > READS_MAX || bytes > READ_BYTES_MAX;
    assert!(!is_much, "{}: {bytes} bytes in {reads} reads", what());
    result.unwrap_or_else(|_| panic!("{}: panicked", what()))
}

/// Returns whether all is to be tried, rather than as much as everyday runs have time for.
pub(crate) fn soak() -> bool {
    std::env::var_os("STRADDLE_SOAK").is_some()
}

/// Returns what is tried instead of the byte `before` at `at_bytes`: one of four values by turns, or
/// all.
pub(crate) fn one_instead_of(before: u8, at_bytes: u64) -> Vec<u8> {
    if soak() {
        return (0..=255).filter(|value| *value != before).collect();
    }
    let few = few_instead_of(before);
    let turn = usize::try_from(at_bytes % 7).expect("below 7") % few.len();
    vec![few[turn]]
}

/// Returns one of `values`, the next one at each call, or all of them where all is to be tried.
pub(crate) fn one_by_turns(values: &[u8], turn: &mut usize) -> Vec<u8> {
    *turn += 1;
    if soak() { values.to_vec() } else { vec![values[*turn % values.len()]] }
}

/// Four values that are tried instead of the byte `before`, one less where one is the same.
pub(crate) fn few_instead_of(before: u8) -> Vec<u8> {
    let mut values = vec![0x00, 0xff, before ^ 0x01, before ^ 0x80];
    values.retain(|value| *value != before);
    values
}

/// Reads of some disks, and the bytes that they asked for.
#[derive(Default)]
struct ReadCounts {
    reads: Cell<u64>,
    bytes: Cell<u64>,
}

/// A disk whose reads are counted.
struct Counted {
    below: Bytes,
    counts: Rc<ReadCounts>,
}

impl Disk for Counted {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let ReadCounts { reads, bytes } = &*self.counts;
        reads.set(reads.get() + 1);
        bytes.set(bytes.get().saturating_add(disk::length_of(buffer)));
        self.below.read_at(offset_bytes, buffer)
    }
}

/// A disk with one byte changed.
pub(crate) struct Changed {
    pub(crate) below: Rc<MemoryDisk>,
    pub(crate) at_bytes: u64,
    pub(crate) value: u8,
}

impl Disk for Changed {
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

/// A disk that notes what is read of it: first byte and the one behind the last.
pub(crate) struct Recording {
    pub(crate) below: Rc<MemoryDisk>,
    pub(crate) reads: RefCell<Vec<(u64, u64)>>,
}

impl Recording {
    pub(crate) fn new(below: Rc<MemoryDisk>) -> Recording {
        Recording { below, reads: RefCell::default() }
    }

    /// The bytes of `held` that were read; no others can change the answer.
    pub(crate) fn telling_bytes(&self, held: &[units::ByteRange]) -> Vec<(u64, u8)> {
        let reads = joined(self.reads.take());
        let mut telling = Vec::new();
        for (start, end) in reads {
            for held in held {
                let (start, end) = (start.max(held.start_bytes()), end.min(held.end_bytes()));
                for at in start..end.max(start) {
                    let [byte] = disk::read_array(&self.below, at).expect("it was read before");
                    telling.push((at, byte));
                }
            }
        }
        telling
    }
}

/// Runs that do not overlap, in order.
fn joined(mut runs: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    runs.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in runs {
        match joined.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

impl Disk for Recording {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let end = offset_bytes.saturating_add(disk::length_of(buffer));
        self.reads.borrow_mut().push((offset_bytes, end));
        self.below.read_at(offset_bytes, buffer)
    }
}

/// A disk that repeats one byte behind its head.
pub(crate) struct Filled {
    pub(crate) head: MemoryDisk,
    pub(crate) head_bytes: u64,
    pub(crate) with: u8,
}

impl Disk for Filled {
    fn length_bytes(&self) -> u64 {
        self.head.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.head.read_at(offset_bytes, buffer)?;
        let kept = usize::try_from(self.head_bytes.saturating_sub(offset_bytes));
        if let Some(behind) = buffer.get_mut(kept.unwrap_or(usize::MAX)..) {
            behind.fill(self.with);
        }
        Ok(())
    }
}

/// The answer about one disk made by hand.
pub(crate) fn about(disk: MemoryDisk) -> HostileAnswer {
    answer(&[Rc::new(disk)], || "a disk made by hand".to_owned())
}

/// Returns whether some layer has a problem of `kind` whose text has `words`, and the findings name it.
pub(crate) fn told(answer: &HostileAnswer, kind: ProblemKind, words: &str) -> bool {
    let wrong = |(id, layer): (LayerId, &Layer)| {
        let mut problems = layer.problems.iter();
        problems.any(|problem| problem.kind == kind && problem.detail.contains(words))
            && answer.findings.iter().any(|finding| finding.layer == id)
    };
    answer.assembled.stack.iter().any(wrong)
}
