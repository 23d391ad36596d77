//! Address arithmetic of stripes: where a byte of an array lies on its members.
//!
//! Layout numbers are Linux md's (`drivers/md/raid5.h`, `ALGORITHM_*`); the address functions are
//! those of `raid5_compute_sector` and of dm-stripe, on data disks only.

use std::cmp::Ordering;
use std::num::NonZeroU64;

use crate::ByteRange;

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

/// Movement of parity over the members of a RAID 4, 5 or 6 from stripe to stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// RAID 5 layout 0: parity moves left, data starts at member 0.
    LeftAsymmetric,
    /// RAID 5 layout 1: parity moves right, data starts at member 0.
    RightAsymmetric,
    /// RAID 5 layout 2, md's default: parity moves left, data starts after it.
    LeftSymmetric,
    /// RAID 5 layout 3: parity moves right, data starts after it.
    RightSymmetric,
    /// Parity always on the first member (layout 4).
    First,
    /// Parity always on the last member (RAID 4, and layout 5).
    Last,
}

impl Rotation {
    /// The rotation that md's `layout` word names for RAID 5; `None` for others.
    #[must_use]
    pub fn of_raid5(layout: u32) -> Option<Rotation> {
        Some(match layout {
            0 => Rotation::LeftAsymmetric,
            1 => Rotation::RightAsymmetric,
            2 => Rotation::LeftSymmetric,
            3 => Rotation::RightSymmetric,
            4 => Rotation::First,
            5 => Rotation::Last,
            _ => return None,
        })
    }

    /// The member that holds P in `stripe`, and the member of data `position`, for `members` in all
    /// of which `parity` (1 or 2) hold parity; both from 0. With two, Q follows P.
    ///
    /// Source: `raid5_compute_sector` in `drivers/md/raid5.c`.
    ///
    /// # Panics
    /// When `members` is 0 or not above `parity`, or `parity` is not 1 or 2.
    #[must_use]
    pub fn members(self, stripe: u64, position: u64, members: u64, parity: u64) -> (u64, u64) {
        assert!((1..=2).contains(&parity) && members > parity, "an array needs data members");
        let data = members - parity;
        let turn = stripe % members;
        let left = if parity == 1 { data - turn.min(data) } else { members - 1 - turn };
        match self {
            Rotation::LeftAsymmetric => (left, skip(position, left, parity, members)),
            Rotation::RightAsymmetric => (turn, skip(position, turn, parity, members)),
            Rotation::LeftSymmetric => (left, (left + parity + position) % members),
            Rotation::RightSymmetric => (turn, (turn + parity + position) % members),
            Rotation::First => (0, position + parity),
            Rotation::Last => (data, position),
        }
    }
}

/// The member of data `position` when data is laid from member 0 and steps over the parity at `p`.
fn skip(position: u64, p: u64, parity: u64, members: u64) -> u64 {
    if parity == 2 && p == members - 1 {
        // Q has wrapped to member 0: D D D P becomes Q D D P.
        return position + 1;
    }
    if position >= p { position + parity } else { position }
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

    #[test]
    fn left_symmetric_raid5_of_four_walks_as_md_draws_it() {
        // md's default for 4 disks: D0 D1 D2 P / D4 D5 P D3 / D8 P D6 D7 / P D9 D10 D11
        let drawn: Vec<(u64, Vec<u64>)> = (0..4)
            .map(|stripe| {
                let of = |position| Rotation::LeftSymmetric.members(stripe, position, 4, 1);
                (of(0).0, (0..3).map(|position| of(position).1).collect())
            })
            .collect();
        assert_eq!(
            drawn,
            [(3, vec![0, 1, 2]), (2, vec![3, 0, 1]), (1, vec![2, 3, 0]), (0, vec![1, 2, 3])]
        );
    }

    #[test]
    fn every_rotation_puts_data_and_parity_on_distinct_members() {
        use Rotation::{
            First, Last, LeftAsymmetric, LeftSymmetric, RightAsymmetric, RightSymmetric,
        };
        for rotation in
            [LeftAsymmetric, RightAsymmetric, LeftSymmetric, RightSymmetric, First, Last]
        {
            for parity in [1, 2] {
                for members in parity + 1..8 {
                    for stripe in 0..20 {
                        let mut seen = std::collections::BTreeSet::new();
                        let p = rotation.members(stripe, 0, members, parity).0;
                        seen.insert(p);
                        if parity == 2 {
                            seen.insert((p + 1) % members);
                        }
                        for position in 0..members - parity {
                            let (again, member) =
                                rotation.members(stripe, position, members, parity);
                            assert_eq!(again, p);
                            assert!(
                                seen.insert(member),
                                "{rotation:?} {members} {parity} {stripe}"
                            );
                        }
                    }
                }
            }
        }
    }
}
