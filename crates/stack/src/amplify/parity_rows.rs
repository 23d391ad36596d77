//! An array with parity, and the rows of it that a write touches.

use std::ops::Range;

use units::stripe::{Rotation, Stripe};

use crate::mapping::Below;

/// An array with parity.
pub(super) struct Array<'a> {
    pub(super) stripe: Stripe,
    pub(super) parity: u64,
    pub(super) rotation: Rotation,
    pub(super) members: &'a [Option<Below>],
}

impl Array<'_> {
    /// Its members.
    pub(super) fn count(&self) -> u64 {
        self.stripe.data_members() + self.parity
    }

    /// The member that holds P in `stripe`, and that of the data at `position`.
    pub(super) fn members_of(&self, stripe: u64, position: u64) -> (u64, u64) {
        self.rotation.members(stripe, position, self.count(), self.parity)
    }

    /// Returns what is read before `rows` are written: whichever is less, the rest where both are
    /// as much (`handle_stripe_dirtying` in `drivers/md/raid5.c`, with `rmw_level` 1).
    pub(super) fn reads_of(&self, rows: &StripeRows) -> ReadsBefore {
        let written = rows.positions.end - rows.positions.start;
        match self.stripe.data_members() - written {
            0 => ReadsBefore::Nothing,
            rest if written + self.parity < rest => ReadsBefore::Old,
            _ => ReadsBefore::Rest,
        }
    }
}

/// Reads before rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadsBefore {
    /// All of them is written.
    Nothing,
    /// The old data and the old parity: read-modify-write.
    Old,
    /// The data that is not written, from which parity is made anew: reconstruct-write.
    Rest,
}

/// Bytes of one stripe that a write covers.
pub(super) struct WrittenBytes {
    /// The stripe.
    pub(super) stripe: u64,
    /// The first and the last of its chunks that are written.
    first: u64,
    last: u64,
    /// Place where the write begins in the first and ends in the last, as bytes of their members.
    from: u64,
    upto: u64,
    /// Place where the chunks begin and end on their members.
    base: u64,
    end: u64,
}

/// Rows of a stripe that are alike, as bytes of each member.
pub(super) struct StripeRows {
    /// Place where they begin.
    pub(super) start: u64,
    /// Place where they end.
    pub(super) end: u64,
    /// The data that is written, by its places in the stripe.
    pub(super) positions: Range<u64>,
}

impl WrittenBytes {
    /// Those of `start..end`, which is in one stripe and not empty.
    pub(super) fn of(stripe: Stripe, start: u64, end: u64) -> WrittenBytes {
        let (first, last) = (stripe.place(start), stripe.place(end - 1));
        let base = first.stripe * stripe.chunk_bytes();
        WrittenBytes {
            stripe: first.stripe,
            first: first.position,
            last: last.position,
            from: first.member_bytes,
            upto: last.member_bytes + 1,
            base,
            end: base.saturating_add(stripe.chunk_bytes()),
        }
    }

    /// The rows of which something is written.
    pub(super) fn rows(&self) -> impl Iterator<Item = StripeRows> {
        let (low, high) = (self.from.min(self.upto), self.from.max(self.upto));
        let parts = [(self.base, low), (low, high), (high, self.end)];
        parts.into_iter().filter(|(start, end)| start < end).filter_map(|(start, end)| {
            // The first chunk is written to its end, the last from its begin, those between whole.
            let first = if start >= self.from { self.first } else { self.first + 1 };
            let behind = if end <= self.upto { self.last + 1 } else { self.last };
            (first < behind).then_some(StripeRows { start, end, positions: first..behind })
        })
    }
}
