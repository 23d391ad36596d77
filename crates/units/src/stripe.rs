//! Address arithmetic of stripes: where a byte of an array lies on its members.
//!
//! The functions are those of `raid5_compute_sector` and of dm-stripe, on data disks only.

use std::cmp::Ordering;
use std::num::NonZeroU64;

use crate::ByteRange;
pub use crate::raid_rotation::Rotation;

/// A chunk length and the number of members that hold data in each stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    chunk_bytes: NonZeroU64,
    data_members: NonZeroU64,
}

/// Position of a byte of a striped range: the data position, the stripe, and the byte address
/// within one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripePlace {
    /// The stripe's number, from 0.
    pub stripe: u64,
    /// The data position in the stripe, from 0, below the number of data members.
    pub position: u64,
    /// The byte address within a member, from the start of its data.
    pub member_bytes: u64,
    /// The bytes from here to the end of the chunk, at least 1.
    pub left_in_chunk_bytes: u64,
}

impl Stripe {
    /// Chunks of `chunk_bytes` over `data_members`; `None` when either is 0 or a full stripe
    /// exceeds
    /// `u64::MAX`.
    #[must_use]
    pub fn new(chunk_bytes: u64, data_members: u64) -> Option<Stripe> {
        chunk_bytes.checked_mul(data_members)?;
        Some(Stripe {
            chunk_bytes: NonZeroU64::new(chunk_bytes)?,
            data_members: NonZeroU64::new(data_members)?,
        })
    }

    /// The chunk's length in bytes.
    #[must_use]
    pub fn chunk_bytes(self) -> u64 {
        self.chunk_bytes.get()
    }

    /// The number of members that hold data in a stripe.
    #[must_use]
    pub fn data_members(self) -> u64 {
        self.data_members.get()
    }

    /// The data of a full stripe, in bytes.
    #[must_use]
    pub fn full_bytes(self) -> u64 {
        self.chunk_bytes.get() * self.data_members.get()
    }

    /// Returns the position of byte `address` of the array.
    #[must_use]
    pub fn place(self, address: u64) -> StripePlace {
        let (chunk, within) = (address / self.chunk_bytes, address % self.chunk_bytes);
        let (stripe, position) = (chunk / self.data_members, chunk % self.data_members);
        StripePlace {
            stripe,
            position,
            // At most `address`, so it cannot overflow.
            member_bytes: stripe * self.chunk_bytes.get() + within,
            left_in_chunk_bytes: self.chunk_bytes.get() - within,
        }
    }

    /// The bytes of the member at data `position` that hold what of `range` is there: one run,
    /// since its chunks follow each other; `None` where there is nothing.
    ///
    /// # Panics
    /// When `position` is not below the number of data members.
    #[must_use]
    pub fn share(self, range: ByteRange, position: u64) -> Option<ByteRange> {
        assert!(position < self.data_members.get(), "a position is below the number of members");
        let start = self.share_before(range.start_bytes(), position);
        let end = self.share_before(range.end_bytes(), position);
        ByteRange::new(start, end - start).filter(|_| start < end)
    }

    /// Returns how many of the bytes before `address` are at `position`.
    fn share_before(self, address: u64, position: u64) -> u64 {
        let (chunk_bytes, place) = (self.chunk_bytes.get(), self.place(address));
        let within = chunk_bytes - place.left_in_chunk_bytes;
        place.stripe * chunk_bytes
            + match place.position.cmp(&position) {
                Ordering::Less => 0,
                Ordering::Equal => within,
                Ordering::Greater => chunk_bytes,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_go_round_the_members() {
        let stripe = Stripe::new(16384, 2).unwrap();
        let place = stripe.place(16384 * 3 + 512);
        assert_eq!((place.stripe, place.position, place.member_bytes), (1, 1, 16896));
        assert_eq!(place.left_in_chunk_bytes, 16384 - 512);
    }

    #[test]
    fn every_byte_of_a_range_is_in_the_share_of_the_position_that_place_names() {
        let stripe = Stripe::new(4, 3).unwrap();
        for (start, end) in (0..30).flat_map(|start| (start..40).map(move |end| (start, end))) {
            let range = ByteRange::new(start, end - start).unwrap();
            for position in 0..3 {
                let named: Vec<u64> = (start..end)
                    .map(|address| stripe.place(address))
                    .filter(|place| place.position == position)
                    .map(|place| place.member_bytes)
                    .collect();
                let share = stripe.share(range, position);
                let bytes = share.map_or(0..0, |share| share.start_bytes()..share.end_bytes());
                assert_eq!(bytes.collect::<Vec<_>>(), named, "{start}..{end} at {position}");
            }
        }
    }
}
