//! Rotations of RAID 4, 5 and 6: the members that hold data and parity in each stripe.
//!
//! Layout numbers are Linux md's (`drivers/md/raid5.h`, `ALGORITHM_*`).

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
