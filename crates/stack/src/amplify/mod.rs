//! What one application I/O becomes on the drives: reads, writes, read-modify-writes, parity.
//!
//! Operations are counted, never timed. A drive writes whole granules; one that a write covers only
//! in part is read first (RMW). An array with parity reads old data and old parity of rows that it
//! gets in part, and writes both (the read-modify-write path of `drivers/md/raid5.c`, whose rows
//! are pages; md may instead read the rest of the row where that is fewer reads, which changes
//! reads but not writes). Modelled arrays and drives count the same:
//! `crates/straddle/tests/{amplify,amplify_drive}.rs`.

mod rows;
#[cfg(test)]
mod tests;

use units::stripe::{Rotation, Stripe};
use units::{ByteRange, Unit};

use crate::budget::Budget;
use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::resolve::{self, Next, On};
use crate::unit::UnitKind;
use rows::{Array, Rows};

/// The most operations that are counted for one I/O.
const OPERATIONS_MAX: usize = 65_536;

/// One application I/O on a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Whether it writes.
    pub write: bool,
    /// The bytes of the layer.
    pub range: ByteRange,
}

/// What an I/O costs on the drives. Reads and writes count granules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Granules read, those of RMWs and of parity included.
    pub reads: u64,
    /// Granules written, those of parity included.
    pub writes: u64,
    /// Granules read and written again because a write covers them only in part.
    pub rmws: u64,
    /// Parity chunks brought up to date, each with a read of what is old of it unless all rows are
    /// written whole.
    pub parity_updates: u64,
    /// Parity chunks among those whose old content, and that of the data, had to be read first.
    pub parity_rmws: u64,
    /// Leaves that take part.
    pub leaves: u64,
}

/// What an I/O becomes on the leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The runs, none of which touch each other: what is read first, then what is written, each in
    /// the order of leaves and addresses. What a drive reads to write whole granules is not there.
    pub runs: Vec<Run>,
    /// As [`Effort::parity_updates`].
    pub parity_updates: u64,
    /// As [`Effort::parity_rmws`].
    pub parity_rmws: u64,
}

/// Bytes of a leaf that are read or written as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Whether they are written.
    pub write: bool,
    /// The leaf.
    pub leaf: LayerId,
    /// The first byte.
    pub start_bytes: u64,
    /// How many; not 0.
    pub length_bytes: u64,
}

/// What `io` on layer `id` costs; `Err` says why it cannot be told.
///
/// # Errors
/// When a part of the range lies on something unknown, not expressible or compressed, or when the
/// I/O becomes more operations than are counted.
pub fn amplify(stack: &Stack, id: LayerId, io: Io) -> Result<Effort, String> {
    amplify_within(stack, id, io, &Budget::of(OPERATIONS_MAX))
}

/// What is read and written on which leaf for `io` on layer `id`: what [`amplify`] counts.
///
/// # Errors
/// As [`amplify`].
pub fn work(stack: &Stack, id: LayerId, io: Io) -> Result<Work, String> {
    work_within(stack, id, io, &Budget::of(OPERATIONS_MAX))
}

/// As [`amplify`], and no more than `budget` allows.
pub(crate) fn amplify_within(
    stack: &Stack,
    id: LayerId,
    io: Io,
    budget: &Budget,
) -> Result<Effort, String> {
    work_within(stack, id, io, budget).map(|work| work.effort(stack))
}

fn work_within(stack: &Stack, id: LayerId, io: Io, budget: &Budget) -> Result<Work, String> {
    let mut count = Count { stack, todo: Vec::new(), done: Vec::new(), work: Work::default() };
    let mut steps = 0;
    let kind = if io.write { Kind::Write } else { Kind::Read };
    count.todo.push(Operation { id, range: io.range, kind });
    while let Some(operation) = count.todo.pop() {
        steps += 1;
        if steps > OPERATIONS_MAX || !budget.spend(1) {
            return Err("it becomes more operations than are counted".to_owned());
        }
        count.step(operation)?;
    }
    Ok(count.joined())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    id: LayerId,
    range: ByteRange,
    kind: Kind,
}

struct Count<'a> {
    stack: &'a Stack,
    todo: Vec<Operation>,
    /// Kind, leaf, first byte, length.
    done: Vec<(Kind, LayerId, u64, u64)>,
    work: Work,
}

impl Count<'_> {
    fn step(&mut self, operation: Operation) -> Result<(), String> {
        if operation.range.length_bytes() == 0 {
            return Ok(());
        }
        let stack = self.stack;
        match &stack.layer(operation.id).mapping {
            Mapping::Segments(segments) if operation.kind == Kind::Write => {
                self.write_segment(segments, operation)
            }
            mapping => self.spread(mapping, operation, 0),
        }
    }

    /// Does an operation whose range counts from where `mapping` begins: byte `from` of the layer.
    fn spread(&mut self, mapping: &Mapping, operation: Operation, from: u64) -> Result<(), String> {
        match (mapping, operation.kind) {
            (Mapping::Mirrored { members }, Kind::Write) => {
                for member in members {
                    let below = member.ok_or("a member was not given")?;
                    self.push(below, operation.range.start_bytes(), operation)?;
                }
                Ok(())
            }
            (Mapping::Parity { stripe, parity, rotation, members }, Kind::Write) => {
                // Which member has parity changes no count, so any rotation serves.
                let rotation = rotation.unwrap_or(Rotation::LeftSymmetric);
                let array = Array { stripe: *stripe, parity: *parity, rotation, members };
                self.write_stripes(&array, operation)
            }
            (Mapping::Striped { stripe, copies, members }, Kind::Write) => {
                self.write_copies(*stripe, *copies, members, operation, from)
            }
            (Mapping::Scattered { below, .. }, _) => {
                // The place within a chunk is kept, so counts are as if all chunks lay in order.
                self.push(*below, operation.range.start_bytes(), operation)
            }
            _ => self.pass_down(operation),
        }
    }

    /// Writes what lies in the first segment, and leaves the rest for later.
    fn write_segment(&mut self, segments: &[Segment], operation: Operation) -> Result<(), String> {
        let start = operation.range.start_bytes();
        let segment = Segment::behind(segments, start).first();
        let Some(segment) = segment.filter(|segment| segment.range.start_bytes() <= start) else {
            return self.pass_down(operation);
        };
        let length = (segment.range.end_bytes() - start).min(operation.range.length_bytes());
        if let Some(rest) = behind(operation.range, length) {
            self.todo.push(Operation { range: rest, ..operation });
        }
        let is_spread = matches!(
            segment.mapping,
            Mapping::Mirrored { .. } | Mapping::Parity { .. } | Mapping::Striped { .. }
        );
        let from = if is_spread { segment.range.start_bytes() } else { 0 };
        let range = ByteRange::new(start - from, length).ok_or("it is behind the last address")?;
        let operation = Operation { range, ..operation };
        match is_spread {
            true => self.spread(&segment.mapping, operation, from),
            false => self.pass_down(operation),
        }
    }

    fn write_copies(
        &mut self,
        stripe: Stripe,
        copies: Copies,
        members: &[Option<Below>],
        operation: Operation,
        from: u64,
    ) -> Result<(), String> {
        let Copies::Neighbours(count) = copies else {
            return Err("where the second copies lie is not known".to_owned());
        };
        let place = stripe.place(operation.range.start_bytes());
        let length = place.left_in_chunk_bytes.min(operation.range.length_bytes());
        if let Some(rest) = behind(operation.range, length) {
            let start = rest.start_bytes().checked_add(from);
            let range = start.and_then(|start| ByteRange::new(start, rest.length_bytes()));
            let range = range.ok_or("it would lie behind the last address")?;
            self.todo.push(Operation { range, ..operation });
        }
        let first = copies.first_member(place.position).unwrap_or(usize::MAX);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        for member in members.iter().skip(first).take(count) {
            let below = member.ok_or("a member was not given")?;
            let start = below.offset_bytes.checked_add(place.member_bytes);
            let range = start.and_then(|start| ByteRange::new(start, length));
            let range = range.ok_or("it would lie behind the last address")?;
            self.todo.push(Operation { id: below.layer, range, kind: operation.kind });
        }
        Ok(())
    }

    fn push(&mut self, below: Below, offset: u64, operation: Operation) -> Result<(), String> {
        let start = below.offset_bytes.checked_add(offset);
        let range = start.and_then(|start| ByteRange::new(start, operation.range.length_bytes()));
        let range = range.ok_or("it would lie behind the last address")?;
        self.todo.push(Operation { id: below.layer, range, kind: operation.kind });
        Ok(())
    }

    fn pass_down(&mut self, operation: Operation) -> Result<(), String> {
        let (length, next) = resolve::first(self.stack, operation.id, operation.range);
        if let Some(rest) = behind(operation.range, length) {
            self.todo.push(Operation { range: rest, ..operation });
        }
        match next {
            Next::Down(below) => {
                let range = ByteRange::new(below.offset_bytes, length);
                let range = range.ok_or("it would lie behind the last address")?;
                self.todo.push(Operation { id: below.layer, range, kind: operation.kind });
                Ok(())
            }
            Next::Done(On::Leaf(leaf, at)) => {
                self.done.push((operation.kind, leaf, at, length));
                Ok(())
            }
            Next::Done(On::Zeros) => Err("it lies in a hole, which is placed when written".into()),
            Next::Done(On::Compressed(_)) => Err("it is compressed".to_owned()),
            Next::Done(On::Unknown(reason)) => Err(reason),
        }
    }

    /// Splits a write at full stripes. Table: what is written of a row, which is the same bytes of
    /// every member's chunk, and what that costs.
    ///
    /// | written | reads | writes |
    /// |---|---|---|
    /// | all of it | none | all data, all parity |
    /// | a part | the old part, old parity | both |
    fn write_stripes(&mut self, array: &Array<'_>, operation: Operation) -> Result<(), String> {
        let full = array.stripe.full_bytes();
        let (start, end) = (operation.range.start_bytes(), operation.range.end_bytes());
        if (end - start).div_ceil(full) > 4096 {
            return Err("it becomes more operations than are counted".to_owned());
        }
        let mut at = start;
        while at < end {
            let stripe_start = at - at % full;
            let stop = end.min(stripe_start.saturating_add(full));
            self.write_stripe(array, at, stop)?;
            at = stop;
        }
        Ok(())
    }

    /// Writes `start..end`, which is in one stripe.
    fn write_stripe(&mut self, array: &Array<'_>, start: u64, end: u64) -> Result<(), String> {
        let rows = Rows::of(array.stripe, start, end);
        let mut reads = false;
        let mut at = start;
        while at < end {
            let place = array.stripe.place(at);
            let length = place.left_in_chunk_bytes.min(end - at);
            let (parity_at, data_at) = array.members_of(place.stripe, place.position);
            let part = (place.member_bytes, place.member_bytes + length);
            reads |= self.update(array, data_at, part, &rows)?;
            at += length;
            if at < end {
                continue;
            }
            for turn in 0..array.parity {
                let member = (parity_at + turn) % array.count();
                for part in rows.touched.into_iter().flatten() {
                    self.update(array, member, part, &rows)?;
                }
            }
        }
        self.work.parity_updates += array.parity;
        self.work.parity_rmws += if reads { array.parity } else { 0 };
        Ok(())
    }

    /// Writes `part` of a member, and reads what of it is in rows that are not written whole;
    /// whether there was any.
    fn update(
        &mut self,
        array: &Array<'_>,
        member: u64,
        part: (u64, u64),
        rows: &Rows,
    ) -> Result<bool, String> {
        let (start, end) = part;
        self.member(array, member, start, end - start, Kind::Write)?;
        let (from, upto) = rows.whole.unwrap_or((end, end));
        let mut reads = false;
        for (start, end) in [(start, end.min(from)), (start.max(upto), end)] {
            if start < end {
                reads = true;
                self.member(array, member, start, end - start, Kind::Read)?;
            }
        }
        Ok(reads)
    }

    fn member(
        &mut self,
        array: &Array<'_>,
        member: u64,
        at: u64,
        length: u64,
        kind: Kind,
    ) -> Result<(), String> {
        let below = usize::try_from(member).ok().and_then(|n| array.members.get(n)).copied();
        let below = below.flatten().ok_or("a member was not given")?;
        let start = below.offset_bytes.checked_add(at);
        let range = start.and_then(|start| ByteRange::new(start, length));
        let range = range.ok_or("it would lie behind the last address")?;
        self.todo.push(Operation { id: below.layer, range, kind });
        Ok(())
    }

    /// Joins what is adjacent.
    fn joined(mut self) -> Work {
        self.done.sort_unstable();
        let runs = &mut self.work.runs;
        for (kind, leaf, start_bytes, length_bytes) in self.done {
            let run = Run { write: kind == Kind::Write, leaf, start_bytes, length_bytes };
            match runs.last_mut() {
                Some(last) if last.meets(&run) => {
                    let end = start_bytes + length_bytes - last.start_bytes;
                    last.length_bytes = last.length_bytes.max(end);
                }
                _ => runs.push(run),
            }
        }
        self.work
    }
}

impl Run {
    /// Whether `other`, which begins no earlier, touches it.
    fn meets(&self, other: &Run) -> bool {
        (self.write, self.leaf) == (other.write, other.leaf)
            && self.start_bytes + self.length_bytes >= other.start_bytes
    }
}

impl Work {
    /// Counts granules.
    fn effort(self, stack: &Stack) -> Effort {
        let Work { runs, parity_updates, parity_rmws } = self;
        let mut effort = Effort { parity_updates, parity_rmws, ..Effort::default() };
        let mut leaves: Vec<LayerId> = runs.iter().map(|run| run.leaf).collect();
        leaves.sort_unstable();
        leaves.dedup();
        for Run { write, leaf, start_bytes, length_bytes } in runs {
            let granule = granule_of(stack, leaf);
            let touched = granule.touched(start_bytes, length_bytes);
            if write {
                let partial = granule.partial(start_bytes, length_bytes);
                effort.writes += touched;
                effort.rmws += partial;
                effort.reads += partial;
            } else {
                effort.reads += touched;
            }
        }
        effort.leaves = u64::try_from(leaves.len()).unwrap_or(u64::MAX);
        effort
    }
}

/// The granule of a leaf, or 4096 from 0 where it has none.
pub(crate) fn granule_of(stack: &Stack, leaf: LayerId) -> Unit {
    let used = stack.layer(leaf).units.used(UnitKind::Granule).map(|(unit, _)| unit);
    used.unwrap_or_else(|| Unit::new(4096).expect("4096 is not 0"))
}

fn behind(range: ByteRange, length: u64) -> Option<ByteRange> {
    let rest = range.length_bytes().checked_sub(length).filter(|&rest| rest > 0)?;
    ByteRange::new(range.start_bytes() + length, rest)
}
