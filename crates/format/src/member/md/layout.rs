//! Level and layout: number of data members, layout of copies and parity.
//!
//! Source: `drivers/md/raid5.h` (`ALGORITHM_*`), `raid10.c` (`setup_geo`, `raid10_nr_stripes`),
//! `raid0.h` (`enum r0layout`).

use units::stripe::Rotation;
use units::{Known, Source};

use super::MdMember;

/// The layout of a RAID 10's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raid10Copies {
    /// Copies beside each other in the same stripe, at least 1.
    pub near: u32,
    /// Copies farther down, at least 1; each at another member.
    pub far: u32,
    /// True if the far copies follow their stripe at once (`offset`), instead of in a later part of
    /// each member.
    pub offset: bool,
}

impl MdMember {
    /// Members that hold different data in each stripe. RAID 0: all, up to the end of the smallest
    /// member. RAID 4, 5 and 6: all without parity. RAID 10: all divided by the near copies; far
    /// copies do not make a stripe narrower, they lie in stripes of their own. `None` where the
    /// level has no stripes or the numbers make no sense, and for a RAID 10 whose members are no
    /// multiple of the near copies: its stripes have no constant width.
    #[must_use]
    pub fn data_members(&self) -> Option<u64> {
        let disks = self.raid_disks;
        let data = match self.level {
            0 => disks,
            4 | 5 => disks.checked_sub(1)?,
            6 => disks.checked_sub(2)?,
            10 => {
                let near = self.raid10_copies()?.near;
                disks.checked_div(near).filter(|_| disks.is_multiple_of(near))?
            }
            _ => return None,
        };
        (data > 0).then_some(u64::from(data))
    }

    /// Returns how the copies of a RAID 10 lie; `None` for other levels, when the layout word makes
    /// no sense, or when it names more copies than members.
    #[must_use]
    pub fn raid10_copies(&self) -> Option<Raid10Copies> {
        let (near, far) = (self.layout & 0xff, self.layout >> 8 & 0xff);
        // Above bit 16 stands within which sets far copies rotate: 0, 1 or 2.
        let known = self.layout >> 17 <= 2;
        let possible = near > 0 && far > 0 && near * far <= self.raid_disks;
        (self.level == 10 && known && possible).then_some(Raid10Copies {
            near,
            far,
            offset: self.layout >> 16 & 1 == 1,
        })
    }

    /// Returns how parity moves from stripe to stripe (RAID 4, 5, 6), or why that is not known.
    /// During a reshape it holds only for the part that is not reshaped.
    #[must_use]
    pub fn rotation(&self) -> Known<Rotation> {
        let layout = self.layout;
        let why = match (self.level, layout) {
            (4, _) => return Known::yes(Rotation::Last, Source::OnDisk),
            (5 | 6, 0..=5) => match Rotation::of_raid5(layout) {
                Some(rotation) => return Known::yes(rotation, Source::OnDisk),
                None => "the layout is not known",
            },
            (6, 8..=10) => "it is one of DDF's layouts, where P and Q rotate in another way",
            (6, 16..=20) => "it is a RAID 5 layout with Q on the last member, as while converting",
            (5 | 6, _) => "md does not define it",
            _ => return Known::no(format!("RAID level {} has no parity", self.level)),
        };
        Known::no(format!("RAID {} layout {layout}: {why}", self.level))
    }

    /// `bytes` in whole chunks: how much of a member RAID 0 and linear use.
    pub(super) fn whole_chunks(&self, bytes: u64) -> u64 {
        bytes - bytes.checked_rem(self.chunk_bytes).unwrap_or(0)
    }
}
