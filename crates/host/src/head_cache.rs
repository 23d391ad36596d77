//! Few reads instead of many: the superblocks of twenty formats lie in the same first kilobytes,
//! and most places where a superblock might be are holes.
//!
//! Parsers ask for a sector here and a page there. Each question is answered out of larger, aligned
//! reads, kept while they are useful: 64 KiB at the head, where most superblocks are, and 8 KiB
//! elsewhere, where tables and backup copies lie alone. Nothing is read twice while it is kept, and
//! a hole is not read at all. What is kept is bounded, so a disk's own pointers cannot make it
//! grow.

use std::cell::RefCell;

use device::{Disk, ReadError, disk};

const HEAD_BYTES: u64 = 128 << 10;
const HEAD_UNIT_BYTES: u64 = 64 << 10;
const UNIT_BYTES: u64 = 8 << 10;
/// A longer question goes to the disk as it is.
const CACHED_BYTES_MAX: u64 = 64 << 10;
/// A hole is looked for from so far before the byte that is wanted.
const BEFORE_BYTES: u64 = 1 << 20;
const KEPT_BYTES_MAX: u64 = 1 << 20;
const KEPT_RUNS_MAX: usize = 64;
const SPANS_MAX: usize = 64;

/// Number of reads of the disk below, and of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// The number of reads that the disk below was asked for.
    pub count: u64,
    /// The bytes that they asked for.
    pub bytes: u64,
}

impl ReadCounts {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A disk that can say where its holes are: zeros that were never written.
pub trait Sparse: Disk {
    /// The first byte at or after `offset_bytes`, which is below the disk's length, that may hold
    /// data; the disk's length where only a hole follows, `offset_bytes` where nothing is known.
    fn next_data(&self, offset_bytes: u64) -> u64 {
        offset_bytes
    }

    /// The first byte after `offset_bytes`, which may hold data, that is in a hole; the disk's
    /// length where none follows or nothing is known.
    fn next_hole(&self, offset_bytes: u64) -> u64 {
        let _ = offset_bytes;
        self.length_bytes()
    }

    /// `length_bytes` bytes from `offset_bytes` on, which are within the disk.
    ///
    /// # Errors
    /// Same as [`Disk::read_at`].
    fn read_fresh(&self, offset_bytes: u64, length_bytes: usize) -> Result<Vec<u8>, ReadError> {
        let mut bytes = vec![0; length_bytes];
        self.read_at(offset_bytes, &mut bytes)?;
        Ok(bytes)
    }
}

/// A disk in front of another one that remembers what was read lately. It does not notice when the
/// bytes below change: it lives as long as one look at a disk.
#[derive(Debug)]
pub struct HeadCache<D> {
    below: D,
    length_bytes: u64,
    state: RefCell<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    /// Known runs, by address and without overlaps.
    kept: Vec<CachedRun>,
    /// Index of the run that answered the last question.
    last: usize,
    /// Counts questions, to tell which run was used last.
    now: u64,
    /// Spans without a hole, as far as was asked.
    data: Vec<HeldBytes>,
    /// Starts of data after a hole.
    starts: Vec<u64>,
    /// Larger reads that failed: what lies in them is read as asked, so that one bad sector does
    /// not hide its neighbors and is not tried again and again.
    bad: Vec<HeldBytes>,
    reads: ReadCounts,
}

#[derive(Debug)]
struct CachedRun {
    span: HeldBytes,
    /// Bytes of the span; `None` for zeros.
    bytes: Option<Vec<u8>>,
    used: u64,
}

/// The bytes from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeldBytes {
    start: u64,
    end: u64,
}

impl HeldBytes {
    fn contains(self, at: u64) -> bool {
        self.start <= at && at < self.end
    }
}

impl<D: Sparse> HeadCache<D> {
    /// A cache in front of `below`; it reads nothing yet.
    pub fn new(below: D) -> HeadCache<D> {
        let length_bytes = below.length_bytes();
        HeadCache { below, length_bytes, state: RefCell::default() }
    }

    /// The disk below.
    pub fn below(&self) -> &D {
        &self.below
    }

    /// Counts of reads of the disk below so far.
    #[must_use]
    pub fn reads(&self) -> ReadCounts {
        self.state.borrow().reads
    }

    /// Makes known what lies at `at`, which is in `asked`, and more where that is as good as free;
    /// false when it must be read as it is.
    fn learn(&self, state: &mut CacheState, at: u64, asked: HeldBytes) -> bool {
        let free = state.free(at, self.length_bytes);
        let Some(data) = self.look(state, at, free) else { return true };
        let unit = if at < HEAD_BYTES { HEAD_UNIT_BYTES } else { UNIT_BYTES };
        let start = (at.div_euclid(unit) * unit).max(free.start).max(data.start);
        let wanted = asked.end.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        let span = HeldBytes { start, end: data.end.min(free.end).min(wanted) };
        if state.bad.contains(&span) {
            return false;
        }
        let length =
            usize::try_from(span.end - span.start).expect("at most two units and a question");
        state.reads.add(span.end - span.start);
        let Ok(bytes) = self.below.read_fresh(start, length) else {
            push_bounded(&mut state.bad, span, SPANS_MAX);
            return false;
        };
        state.keep(span, Some(bytes));
        true
    }

    /// The data around `at`, as far as it is known; `None` when a hole is there, which is then kept
    /// as far as it reaches within `free`.
    ///
    /// A question about the end of something is often followed by one a little before it. So a hole
    /// is looked for from where one is known to begin, or from a little before.
    fn look(&self, state: &mut CacheState, at: u64, free: HeldBytes) -> Option<HeldBytes> {
        if let Some(span) = state.data.iter().find(|span| span.contains(at)) {
            return Some(*span);
        }
        let ended = state.data.iter().map(|span| span.end).filter(|&end| end <= at).max();
        let before = free.start.max(at.saturating_sub(BEFORE_BYTES)).max(ended.unwrap_or(0));
        let mut from = before;
        loop {
            let start = self.data_from(state, from, free);
            if start > at {
                return None;
            }
            // What ends where it starts would be asked for for ever.
            let end = self.below.next_hole(start).clamp(start + 1, self.length_bytes);
            let data = HeldBytes { start, end };
            push_bounded(&mut state.data, data, SPANS_MAX);
            if end > at {
                return Some(data);
            }
            // Once more where the next hole begins, then for `at` itself.
            from = if from == before { end } else { at };
        }
    }

    /// Returns the start of data, at or after `from`; the hole before it is kept within `free`.
    fn data_from(&self, state: &mut CacheState, from: u64, free: HeldBytes) -> u64 {
        if state.starts.contains(&from) {
            return from;
        }
        let start = self.below.next_data(from).clamp(from, self.length_bytes);
        let end = start.min(free.end);
        if end > from {
            state.keep(HeldBytes { start: from, end }, None);
        }
        push_bounded(&mut state.starts, start, SPANS_MAX);
        start
    }

    fn read_below(
        &self,
        state: &mut CacheState,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<(), ReadError> {
        state.reads.add(disk::length_of(buffer));
        self.below.read_at(start, buffer)
    }
}

impl<D: Sparse> Disk for HeadCache<D> {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let length_bytes = disk::length_of(buffer);
        disk::check_bounds(self.length_bytes, offset_bytes, length_bytes)?;
        let asked = HeldBytes { start: offset_bytes, end: offset_bytes + length_bytes };
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        if length_bytes > CACHED_BYTES_MAX {
            return self.read_below(state, offset_bytes, buffer);
        }
        let mut done = 0;
        while done < buffer.len() {
            let at = offset_bytes + disk::length_of(&buffer[..done]);
            if let Some(count) = state.answer(at, &mut buffer[done..]) {
                done += count;
            } else if !self.learn(state, at, asked) {
                return self.read_below(state, offset_bytes, buffer);
            }
        }
        Ok(())
    }
}

impl CacheState {
    /// Fills the start of `buffer` with what is known to lie at `at`; how many bytes that is, and
    /// `None` when nothing is known.
    fn answer(&mut self, at: u64, buffer: &mut [u8]) -> Option<usize> {
        // Fields of one superblock are asked for one after the other.
        if !self.kept.get(self.last).is_some_and(|run| run.span.contains(at)) {
            self.last = self.kept.partition_point(|run| run.span.start <= at).checked_sub(1)?;
        }
        let run = self.kept.get_mut(self.last).filter(|run| run.span.contains(at))?;
        self.now += 1;
        run.used = self.now;
        let from = usize::try_from(at - run.span.start).unwrap_or(usize::MAX);
        let Some(bytes) = &run.bytes else {
            let there = usize::try_from(run.span.end - at).unwrap_or(usize::MAX);
            let count = there.min(buffer.len());
            buffer[..count].fill(0);
            return Some(count);
        };
        let there = bytes.get(from..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        Some(count)
    }

    /// The bytes around `at`, of which nothing is known, up to what is known.
    fn free(&self, at: u64, length_bytes: u64) -> HeldBytes {
        let behind = self.kept.partition_point(|run| run.span.start <= at);
        let before = behind.checked_sub(1).and_then(|before| self.kept.get(before));
        HeldBytes {
            start: before.map_or(0, |run| run.span.end),
            end: self.kept.get(behind).map_or(length_bytes, |run| run.span.start),
        }
    }

    /// Keeps what lies in `span`, which overlaps nothing that is kept, after dropping the runs
    /// longest unused until it has its place.
    fn keep(&mut self, span: HeldBytes, bytes: Option<Vec<u8>>) {
        let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, |all| disk::length_of(all));
        let mut kept_bytes =
            length(&bytes) + self.kept.iter().map(|run| length(&run.bytes)).sum::<u64>();
        while kept_bytes > KEPT_BYTES_MAX || self.kept.len() >= KEPT_RUNS_MAX {
            let runs = self.kept.iter().enumerate();
            let Some((oldest, _)) = runs.min_by_key(|(_, run)| run.used) else { break };
            kept_bytes -= length(&self.kept.remove(oldest).bytes);
        }
        self.now += 1;
        let at = self.kept.partition_point(|run| run.span.start < span.start);
        self.kept.insert(at, CachedRun { span, bytes, used: self.now });
    }
}

fn push_bounded<T>(all: &mut Vec<T>, one: T, most: usize) {
    if all.len() >= most {
        all.remove(0);
    }
    all.push(one);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use device::MemoryDisk;
    use units::random::Random;

    use super::*;

    /// A disk whose byte 5000 cannot be read.
    struct BadSector(MemoryDisk);

    impl Disk for BadSector {
        fn length_bytes(&self) -> u64 {
            self.0.length_bytes()
        }

        fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            let length_bytes = disk::length_of(buffer);
            if (offset_bytes..offset_bytes + length_bytes).contains(&5000) {
                let reason = "a bad sector".to_owned();
                return Err(ReadError::Failed { offset_bytes, length_bytes, reason });
            }
            self.0.read_at(offset_bytes, buffer)
        }
    }

    impl Sparse for BadSector {}
    impl Sparse for MemoryDisk {}

    /// A disk whose second half is a hole, and that counts how often it was asked for holes.
    struct HalfHole(MemoryDisk, Cell<u32>);

    impl Disk for HalfHole {
        fn length_bytes(&self) -> u64 {
            self.0.length_bytes()
        }

        fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            let half = self.length_bytes().div_euclid(2);
            assert!(offset_bytes + disk::length_of(buffer) <= half, "a hole is read");
            self.0.read_at(offset_bytes, buffer)
        }
    }

    impl Sparse for HalfHole {
        fn next_data(&self, offset_bytes: u64) -> u64 {
            self.1.set(self.1.get() + 1);
            let half = self.length_bytes().div_euclid(2);
            if offset_bytes < half { offset_bytes } else { self.length_bytes() }
        }

        fn next_hole(&self, _: u64) -> u64 {
            self.1.set(self.1.get() + 1);
            self.length_bytes().div_euclid(2)
        }
    }

    fn sample(length_bytes: u64) -> MemoryDisk {
        let mut disk = MemoryDisk::new(length_bytes);
        for at in (0..length_bytes - 8).step_by(640) {
            disk.put(at, &at.to_le_bytes());
        }
        disk
    }

    #[test]
    fn twenty_small_reads_of_the_head_are_one_read() {
        let disk = HeadCache::new(sample(1 << 20));
        for at in (0..20).map(|n| n * 3000) {
            assert_eq!(disk.read_array::<512>(at), disk.below().read_array::<512>(at));
        }
        assert_eq!(disk.reads(), ReadCounts { count: 1, bytes: 65536 });
    }

    #[test]
    fn every_answer_is_what_the_disk_below_says() {
        let disk = HeadCache::new(sample((4 << 20) + 77));
        let mut random = Random::new(1);
        for _ in 0..3000 {
            let at = random.below(disk.length_bytes() + 10);
            let length = match random.below(4) {
                0 => random.below(200_000),
                _ => random.below(2000),
            };
            let (mine, theirs) =
                (disk::read_vec(&disk, at, length), disk::read_vec(disk.below(), at, length));
            assert!(mine == theirs, "{length} bytes at {at}");
        }
        let kept = |run: &CachedRun| run.bytes.as_ref().map_or(0, Vec::len);
        let kept: usize = disk.state.borrow().kept.iter().map(kept).sum();
        assert!(kept <= 1 << 20, "{kept} bytes are kept");
    }

    #[test]
    fn a_bad_sector_does_not_hide_its_neighbors_and_the_large_read_is_tried_once() {
        let disk = HeadCache::new(BadSector(sample(1 << 20)));
        assert_eq!(disk.read_array::<512>(0), disk.below().read_array::<512>(0));
        assert_eq!(disk.read_array::<512>(512), disk.below().read_array::<512>(512));
        assert!(disk.read_array::<512>(4800).is_err());
        assert_eq!(disk.reads(), ReadCounts { count: 4, bytes: 65536 + 3 * 512 });
    }

    #[test]
    fn the_last_bytes_of_a_disk_with_an_odd_length_are_read_in_place() {
        let disk = HeadCache::new(sample(65_000));
        assert_eq!(disk.read_array::<8>(64_992), disk.below().read_array::<8>(64_992));
        assert!(disk.read_array::<9>(64_992).is_err());
        assert_eq!(disk.read_array::<0>(65_000), Ok([]));
        assert_eq!(disk.reads(), ReadCounts { count: 1, bytes: 65_000 });
    }

    #[test]
    fn a_hole_is_asked_for_once_and_never_read() {
        let mut bytes = MemoryDisk::new(4 << 20);
        for at in (0..2 << 20).step_by(640) {
            bytes.put(at, &at.to_le_bytes());
        }
        let disk = HeadCache::new(HalfHole(bytes, Cell::new(0)));
        let mut random = Random::new(2);
        for _ in 0..1000 {
            let at = (2 << 20) - 9000 + random.below(18_000);
            let expected = disk::read_vec(&disk.below().0, at, 9000).unwrap();
            assert!(disk::read_vec(&disk, at, 9000).unwrap() == expected, "{at}");
        }
        assert_eq!(disk.read_array::<8>(0), disk.below().0.read_array::<8>(0));
        let asked = disk.below().1.get();
        assert!(asked <= 5, "{asked} questions");
    }

    #[test]
    fn what_is_kept_is_not_read_again_by_a_question_that_is_half_of_it() {
        let disk = HeadCache::new(sample(1 << 20));
        for at in [204_800, 204_000, 212_000, 205_000] {
            assert_eq!(
                disk::read_vec(&disk, at, 8192),
                disk::read_vec(disk.below(), at, 8192),
                "{at}"
            );
        }
        assert_eq!(disk.reads(), ReadCounts { count: 3, bytes: 3 * 8192 });
    }
}
