//! An array with parity, and the rows of it that a write touches.

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
}

/// Rows of a stripe that a write touches, as bytes of each member.
pub(super) struct Rows {
    /// Those of which at least a part is written; in one run, or two.
    pub(super) touched: [Option<(u64, u64)>; 2],
    /// Those that are written whole.
    pub(super) whole: Option<(u64, u64)>,
}

impl Rows {
    /// Those of `start..end`, which is in one stripe and not empty.
    pub(super) fn of(stripe: Stripe, start: u64, end: u64) -> Rows {
        let (first, last) = (stripe.place(start), stripe.place(end - 1));
        let base = first.stripe * stripe.chunk_bytes();
        // The first chunk is written to its end, the last from its begin, those between whole.
        let (from, upto) = (first.member_bytes, last.member_bytes + 1);
        let touched = match last.position - first.position {
            0 => [Some((from, upto)), None],
            1 if upto < from => [Some((base, upto)), Some((from, base + stripe.chunk_bytes()))],
            _ => [Some((base, base + stripe.chunk_bytes())), None],
        };
        let is_on_all = last.position - first.position + 1 == stripe.data_members();
        Rows { touched, whole: (is_on_all && from < upto).then_some((from, upto)) }
    }
}
