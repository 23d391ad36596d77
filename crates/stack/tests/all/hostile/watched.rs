//! Asking about disks under a watch, and disks that differ from another in one byte.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use device::{Disk, MemoryDisk, ReadError, disk};
use format::ProblemKind;
use stack::hostile::{self, HostileAnswer};
use stack::{Layer, LayerId};
use testkit::memory;
use testkit::running_program::cpu_time;

const MEMORY_BYTES_MAX: usize = 64 << 20;
/// An answer that takes longer hangs: the slowest takes half a second where nothing else runs.
const HANG: Duration = Duration::from_secs(30);

/// Bytes of an image file.
pub(crate) type Bytes = Rc<dyn Disk>;

/// The answer about `disks`; fails with `what` when there is none, or when it hangs or takes too much
/// memory.
pub(crate) fn answer(disks: &[Bytes], what: impl Fn() -> String) -> HostileAnswer {
    let start = cpu_time();
    let ask = || catch_unwind(AssertUnwindSafe(|| hostile::answer(disks.to_vec(), None)));
    let (result, peak_bytes) = memory::peak_of(ask);
    let time = cpu_time().saturating_sub(start);
    assert!(peak_bytes <= MEMORY_BYTES_MAX, "{}: {peak_bytes} bytes of memory", what());
    assert!(time < HANG, "{}: {time:?}", what());
    result.unwrap_or_else(|_| panic!("{}: panicked", what()))
}

/// Returns whether all is to be tried, rather than as much as everyday runs have time for.
pub(crate) fn soak() -> bool {
    std::env::var_os("STRADDLE_SOAK").is_some()
}

/// Returns what is tried instead of the byte `before`: four values, or all.
pub(crate) fn instead_of(before: u8) -> Vec<u8> {
    if soak() {
        return (0..=255).filter(|value| *value != before).collect();
    }
    few_instead_of(before)
}

/// Four values that are tried instead of the byte `before`, one less where one is the same.
pub(crate) fn few_instead_of(before: u8) -> Vec<u8> {
    let mut values = vec![0x00, 0xff, before ^ 0x01, before ^ 0x80];
    values.retain(|value| *value != before);
    values
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
