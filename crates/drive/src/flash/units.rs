//! Mapping units that a range touches.

use units::ByteRange;

use super::FlashPlan;
use super::partial_units::UnitPart;

/// Addresses as the flash counts them: shifted so that units start at multiples of their length.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitAddresses {
    unit_bytes: u64,
    shift_bytes: u64,
    end: u64,
}

/// A range in such addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitSpan {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The first unit.
    pub(super) first: u64,
    /// The last unit.
    pub(super) last: u64,
    /// True if the first is touched in part.
    is_head_part: bool,
    /// True if the last is touched in part.
    is_tail_part: bool,
}

impl UnitAddresses {
    /// The layout of a drive.
    pub(super) fn new(plan: &FlashPlan) -> UnitAddresses {
        let shift_bytes = (plan.unit_bytes - plan.origin_bytes) % plan.unit_bytes;
        let end = plan.capacity_bytes + shift_bytes;
        UnitAddresses { unit_bytes: plan.unit_bytes, shift_bytes, end }
    }

    /// The range that a command names.
    pub(super) fn span(&self, range: ByteRange) -> UnitSpan {
        let start = range.start_bytes() + self.shift_bytes;
        let end = range.end_bytes() + self.shift_bytes;
        let (first, last) = (start / self.unit_bytes, (end - 1) / self.unit_bytes);
        let (head, tail) = (self.unit(first), self.unit(last));
        let is_head_part = start > head.from || end < head.upto;
        let is_tail_part = start > tail.from || end < tail.upto;
        UnitSpan { start, end, first, last, is_head_part, is_tail_part }
    }

    /// All of a unit that the drive has: the first and the last may be cut.
    pub(super) fn unit(&self, unit: u64) -> UnitPart {
        let from = (unit * self.unit_bytes).max(self.shift_bytes);
        UnitPart { unit, from, upto: ((unit + 1) * self.unit_bytes).min(self.end) }
    }

    /// The whole units within `span`, as a range of addresses; empty, or the wrong way round, where
    /// there is none.
    pub(super) fn inner(&self, span: &UnitSpan) -> (u64, u64) {
        let start = if span.is_head_part { self.unit(span.first).upto } else { span.start };
        let end = if span.is_tail_part { self.unit(span.last).from } else { span.end };
        (start, end)
    }
}

impl UnitSpan {
    /// Returns how many units it touches.
    pub(super) fn units(&self) -> u64 {
        self.last - self.first + 1
    }

    /// Returns what it has of units that it touches in part: the first, the last.
    pub(super) fn parts(&self, layout: &UnitAddresses) -> [Option<UnitPart>; 2] {
        let part = |unit: u64| {
            let all = layout.unit(unit);
            UnitPart { unit, from: all.from.max(self.start), upto: all.upto.min(self.end) }
        };
        let is_two = self.first != self.last;
        let head = self.is_head_part.then(|| part(self.first));
        let tail = (self.is_tail_part && is_two).then(|| part(self.last));
        [head, tail]
    }
}
