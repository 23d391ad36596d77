//! An I/O on its way down: from layer to layer until all of it is on leaves.

use units::ByteRange;
use units::stripe::{Rotation, Stripe};

use super::parity_rows::{Array, ReadsBefore, StripeRows, WrittenBytes};
use super::{ByteRun, Io, Work};
use crate::graph::Stack;
use crate::id::LayerId;
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::resolve::{self, FirstRun, On, behind};
use crate::work_budget::WorkBudget;

/// The most operations that are counted for one I/O.
pub(super) const OPERATIONS_MAX: usize = 65_536;

const PAST_END: &str = "it would lie past the last address";

/// Returns what `io` on layer `id` becomes, within `budget`; `Err` says why that cannot be told.
pub(super) fn work_within(
    stack: &Stack,
    id: LayerId,
    io: Io,
    budget: &WorkBudget,
) -> Result<Work, String> {
    let mut count = Count {
        stack,
        todo: Vec::new(),
        done: Vec::new(),
        is_in_hole: false,
        work: Work::default(),
    };
    let mut steps = 0;
    let kind = if io.write { OperationKind::Write } else { OperationKind::Read };
    count.todo.push(LayerOperation { id, range: io.range, kind });
    while let Some(operation) = count.todo.pop() {
        steps += 1;
        if steps > OPERATIONS_MAX || !budget.spend(1) {
            return Err("it becomes more operations than are counted".to_owned());
        }
        count.step(operation)?;
    }
    // Reading a hole costs the drive nothing; where a write into one goes is known only afterward.
    match (count.is_in_hole, count.done.is_empty(), io.write) {
        (true, true, true) => Err(IN_HOLE.to_owned()),
        (true, false, true) => Err(format!("partly {IN_HOLE}")),
        (true, true, false) => Err("in a hole, which reads as zeros without the drive".to_owned()),
        _ => Ok(count.joined()),
    }
}

/// Why a write into a hole has no cost yet.
const IN_HOLE: &str = "in a hole, which has no place on the drive before its first write";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OperationKind {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
struct LayerOperation {
    id: LayerId,
    range: ByteRange,
    kind: OperationKind,
}

/// An I/O on its way: what is not on leaves yet, and what is.
struct Count<'a> {
    stack: &'a Stack,
    todo: Vec<LayerOperation>,
    /// Kind, leaf, first byte, length.
    done: Vec<(OperationKind, LayerId, u64, u64)>,
    /// True if some of it lies in a hole.
    is_in_hole: bool,
    work: Work,
}

impl Count<'_> {
    fn step(&mut self, operation: LayerOperation) -> Result<(), String> {
        if operation.range.length_bytes() == 0 {
            return Ok(());
        }
        let stack = self.stack;
        match &stack.layer(operation.id).mapping {
            Mapping::Segments(segments) if operation.kind == OperationKind::Write => {
                self.write_segment(segments, operation)
            }
            mapping => self.spread(mapping, operation, 0),
        }
    }

    /// Does an operation whose range counts from where `mapping` begins: byte `from` of the layer.
    fn spread(
        &mut self,
        mapping: &Mapping,
        operation: LayerOperation,
        from: u64,
    ) -> Result<(), String> {
        let (start, length) = (operation.range.start_bytes(), operation.range.length_bytes());
        match (mapping, operation.kind) {
            (Mapping::Mirrored { members }, OperationKind::Write) => {
                members.iter().try_for_each(|member| {
                    let below = member.ok_or("a member was not given")?;
                    self.push(below, start, length, operation.kind)
                })
            }
            (Mapping::Parity { stripe, parity, rotation, members }, OperationKind::Write) => {
                // Which member has parity changes no count, so any rotation serves.
                let rotation = rotation.unwrap_or(Rotation::LeftSymmetric);
                let array = Array { stripe: *stripe, parity: *parity, rotation, members };
                self.write_stripes(&array, operation)
            }
            (Mapping::Striped { stripe, copies, members }, OperationKind::Write) => {
                self.write_copies(*stripe, *copies, members, operation, from)
            }
            (Mapping::Scattered { below, .. }, _) => {
                // The place within a chunk is kept, so counts are as if all chunks lay in order.
                self.push(*below, start, length, operation.kind)
            }
            _ => self.pass_down(operation),
        }
    }

    /// Writes what lies in the first segment, and leaves the rest for later.
    fn write_segment(
        &mut self,
        segments: &[Segment],
        operation: LayerOperation,
    ) -> Result<(), String> {
        let start = operation.range.start_bytes();
        let segment = Segment::behind(segments, start).first();
        let Some(segment) = segment.filter(|segment| segment.range.start_bytes() <= start) else {
            return self.pass_down(operation);
        };
        let length = (segment.range.end_bytes() - start).min(operation.range.length_bytes());
        if let Some(rest) = behind(operation.range, length) {
            self.todo.push(LayerOperation { range: rest, ..operation });
        }
        let is_spread = matches!(
            segment.mapping,
            Mapping::Mirrored { .. }
                | Mapping::Parity { .. }
                | Mapping::Striped { .. }
                | Mapping::Scattered { .. }
        );
        let from = if is_spread { segment.range.start_bytes() } else { 0 };
        let range = ByteRange::new(start - from, length).ok_or("it is past the last address")?;
        let operation = LayerOperation { range, ..operation };
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
        operation: LayerOperation,
        from: u64,
    ) -> Result<(), String> {
        let Copies::Neighbors(count) = copies else {
            return Err("where the second copies lie is not known".to_owned());
        };
        let place = stripe.place(operation.range.start_bytes());
        let length = place.left_in_chunk_bytes.min(operation.range.length_bytes());
        if let Some(rest) = behind(operation.range, length) {
            let start = rest.start_bytes().checked_add(from);
            let range = start.and_then(|start| ByteRange::new(start, rest.length_bytes()));
            let range = range.ok_or(PAST_END)?;
            self.todo.push(LayerOperation { range, ..operation });
        }
        let first = copies.first_member(place.position).unwrap_or(usize::MAX);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        for member in members.iter().skip(first).take(count) {
            let below = member.ok_or("a member was not given")?;
            self.push(below, place.member_bytes, length, operation.kind)?;
        }
        Ok(())
    }

    /// Leaves for later `length` bytes of the layer below, from byte `offset` behind its place on.
    fn push(
        &mut self,
        below: Below,
        offset: u64,
        length: u64,
        kind: OperationKind,
    ) -> Result<(), String> {
        let start = below.offset_bytes.checked_add(offset);
        let range = start.and_then(|start| ByteRange::new(start, length)).ok_or(PAST_END)?;
        self.todo.push(LayerOperation { id: below.layer, range, kind });
        Ok(())
    }

    fn pass_down(&mut self, operation: LayerOperation) -> Result<(), String> {
        let (length, next) = resolve::first(self.stack, operation.id, operation.range);
        if let Some(rest) = behind(operation.range, length) {
            self.todo.push(LayerOperation { range: rest, ..operation });
        }
        match next {
            FirstRun::Down(below) => self.push(below, 0, length, operation.kind),
            FirstRun::Done(On::Leaf(leaf, at)) => {
                self.done.push((operation.kind, leaf, at, length));
                Ok(())
            }
            FirstRun::Done(On::Zeros) => {
                self.is_in_hole = true;
                Ok(())
            }
            FirstRun::Done(On::Compressed(_)) => Err("it is compressed".to_owned()),
            FirstRun::Done(On::Unknown(reason)) => Err(reason),
        }
    }

    /// Splits a write at full stripes.
    fn write_stripes(
        &mut self,
        array: &Array<'_>,
        operation: LayerOperation,
    ) -> Result<(), String> {
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
        let written = WrittenBytes::of(array.stripe, start, end);
        let mut reads = false;
        for rows in written.rows() {
            let kind = array.reads_of(&rows);
            reads |= kind != ReadsBefore::Nothing;
            for position in rows.positions.clone() {
                let (_, member) = array.members_of(written.stripe, position);
                self.update(array, member, &rows, (kind == ReadsBefore::Old, true))?;
            }
            if kind == ReadsBefore::Rest {
                let behind = rows.positions.end..array.stripe.data_members();
                for position in (0..rows.positions.start).chain(behind) {
                    let (_, member) = array.members_of(written.stripe, position);
                    self.update(array, member, &rows, (true, false))?;
                }
            }
            let (parity_at, _) = array.members_of(written.stripe, 0);
            for turn in 0..array.parity {
                let member = (parity_at + turn) % array.count();
                self.update(array, member, &rows, (kind == ReadsBefore::Old, true))?;
            }
        }
        self.work.parity_updates += array.parity;
        self.work.parity_rmws += if reads { array.parity } else { 0 };
        Ok(())
    }

    /// Reads and writes `rows` of a member, as the two words say.
    fn update(
        &mut self,
        array: &Array<'_>,
        member: u64,
        rows: &StripeRows,
        (is_read, is_written): (bool, bool),
    ) -> Result<(), String> {
        let length = rows.end - rows.start;
        if is_read {
            self.member(array, member, rows.start, length, OperationKind::Read)?;
        }
        if is_written {
            self.member(array, member, rows.start, length, OperationKind::Write)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        array: &Array<'_>,
        member: u64,
        at: u64,
        length: u64,
        kind: OperationKind,
    ) -> Result<(), String> {
        let below = usize::try_from(member).ok().and_then(|n| array.members.get(n)).copied();
        let below = below.flatten().ok_or("a member was not given")?;
        self.push(below, at, length, kind)
    }

    /// Joins what is adjacent.
    fn joined(mut self) -> Work {
        self.done.sort_unstable();
        let runs = &mut self.work.runs;
        for (kind, leaf, start_bytes, length_bytes) in self.done {
            let run =
                ByteRun { write: kind == OperationKind::Write, leaf, start_bytes, length_bytes };
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

impl ByteRun {
    /// Returns whether `other`, which begins no earlier, touches it.
    fn meets(&self, other: &ByteRun) -> bool {
        (self.write, self.leaf) == (other.write, other.leaf)
            && self.start_bytes + self.length_bytes >= other.start_bytes
    }
}
