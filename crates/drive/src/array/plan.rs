//! Values of an array, and their bounds.

use units::stripe::{Rotation, Stripe};

use crate::Model;
use crate::plan_bounds::{CAPACITY_BYTES_MAX, PlanFault, check, time};

/// Layout of an array's bytes on its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// In chunks, round the members.
    #[default]
    Raid0,
    /// The same bytes on every member.
    Raid1,
    /// In chunks, round groups of members that hold the same bytes: md's layout "near".
    Raid10 {
        /// Members of a group.
        copies: u64,
    },
    /// In chunks, round the members, with parity on the last.
    Raid4,
    /// In chunks, round the members, with parity that moves.
    Raid5(Rotation),
    /// RAID 5 with two members of each stripe for parity.
    Raid6(Rotation),
}

impl Level {
    /// Members that hold parity in each stripe.
    #[must_use]
    pub fn parity(self) -> u64 {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid10 { .. } => 0,
            Level::Raid4 | Level::Raid5(_) => 1,
            Level::Raid6(_) => 2,
        }
    }

    /// Returns where parity is; `None` where there is none.
    #[must_use]
    pub fn rotation(self) -> Option<Rotation> {
        match self {
            Level::Raid0 | Level::Raid1 | Level::Raid10 { .. } => None,
            Level::Raid4 => Some(Rotation::Last),
            Level::Raid5(rotation) | Level::Raid6(rotation) => Some(rotation),
        }
    }
}

/// Reads that come before a part of a stripe is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ParityWrite {
    /// The old data and the old parity: read-modify-write.
    ReadModify,
    /// The rest of the rows, from which parity is made anew: reconstruct-write.
    Reconstruct,
    /// Whichever reads less; the rest where it is as much, as md does it (`handle_stripe_dirtying`
    /// in `drivers/md/raid5.c`, with `rmw_level` 1).
    #[default]
    Fewer,
}

/// Values of an array: [`ArrayPlan::checked`] gives the bounds of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayPlan {
    /// Layout of the bytes on the members.
    pub level: Level,
    /// Number of members.
    pub members: u64,
    /// Bytes of a stripe on one member. RAID 1 has none; the value is ignored there.
    pub chunk_bytes: u64,
    /// True if the members turn, so that it matters which of several copies' arms is nearest.
    pub turns: bool,
    /// Parity is worked out for rows of so many bytes of each member: 4096 for md, whose stripe
    /// cache keeps pages. Not looked at where there is no parity, as what follows.
    pub row_bytes: u64,
    /// Reads that come before a part of a stripe is written.
    pub parity_write: ParityWrite,
    /// Number of stripes written at once, at most; further writes wait.
    pub stripes: u64,
    /// Time that a partly written stripe waits for the rest. 0: not at all. It does not wait while
    /// others wait for room, either.
    pub hold_ns: u64,
    /// Number of members that are lost: the first ones.
    pub lost: u64,
    /// Bytes of the first lost member that are rebuilt on a spare in a second, at most; 0 for no
    /// spare.
    pub rebuild_bytes_per_second: u64,
}

/// The most members: devices of md's superblock 1 (`drivers/md/md.h`).
const MEMBERS_MAX: u64 = 1920;
/// The most members with two parities: 255 data members have distinct factors in GF(2^8), see
/// H. Peter Anvin, "The mathematics of RAID-6".
const RAID6_MEMBERS_MAX: u64 = 257;
/// The longest chunk.
const CHUNK_BYTES_MAX: u64 = 1 << 30;

impl ArrayPlan {
    /// The plan, where such an array can be; its members are looked at by [`super::Array::new`].
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<ArrayPlan, PlanFault> {
        let (members, wanted_members) = self.members_wanted();
        let copies = match self.level {
            Level::Raid10 { copies } => copies,
            _ => 1,
        };
        let is_copied = copies > 0 && self.members.is_multiple_of(copies);
        let least = if matches!(self.level, Level::Raid10 { .. }) { 2 } else { 1 };
        let has_parity = self.level.parity() > 0;
        let (chunk, wanted_chunk) = self.chunk_wanted();
        let row = self.row_bytes.is_power_of_two()
            && self.row_bytes >= 512
            && self.chunk_bytes.is_multiple_of(self.row_bytes);
        let stripes = (1..=65_536).contains(&self.stripes);
        let checks = [
            (members, "members", self.members, wanted_members),
            (copies >= least && is_copied, "copies", copies, "2 at least, and divide members"),
            (chunk, "chunk", self.chunk_bytes, wanted_chunk),
            (row || !has_parity, "row", self.row_bytes, "a power of two from 512 to chunk"),
            (stripes || !has_parity, "stripes", self.stripes, "from 1 to 65536"),
            time("hold", self.hold_ns),
            (
                self.lost < self.copies() || self.lost <= self.level.parity(),
                "lost",
                self.lost,
                self.lost_wanted(),
            ),
            (
                self.lost > 0 || self.rebuild_bytes_per_second == 0,
                "rebuild",
                self.rebuild_bytes_per_second,
                "0 where no member is lost",
            ),
        ];
        check(checks)?;
        Ok(self)
    }

    /// Returns how many members may be lost, in words.
    fn lost_wanted(&self) -> &'static str {
        match self.level.parity().max(self.copies().saturating_sub(1)) {
            0 => "0: this level can lose no member",
            1 => "0 or 1",
            2 => "0, 1 or 2",
            _ => "fewer than there are copies",
        }
    }

    /// Returns whether there are as many members as the level can have, and what those are.
    fn members_wanted(&self) -> (bool, &'static str) {
        match self.level {
            // As md: raid5.c wants 4 for level 6.
            Level::Raid6(_) => ((4..=RAID6_MEMBERS_MAX).contains(&self.members), "from 4 to 257"),
            _ => ((2..=MEMBERS_MAX).contains(&self.members), "from 2 to 1920"),
        }
    }

    /// Returns whether the level can have such chunks, and what those are: RAID 0 takes any whole
    /// sectors, the others powers of two (`setup_conf` in `drivers/md/raid5.c`, `setup_geo` in
    /// raid10.c).
    fn chunk_wanted(&self) -> (bool, &'static str) {
        let size = (512..=CHUNK_BYTES_MAX).contains(&self.chunk_bytes);
        match self.level {
            Level::Raid1 => (true, "anything"),
            Level::Raid0 => (
                size && self.chunk_bytes.is_multiple_of(512),
                "a multiple of 512 from 512 bytes to 1 GiB",
            ),
            _ => (size && self.chunk_bytes.is_power_of_two(), "a power of two from 512 to 1 GiB"),
        }
    }

    /// The members that hold other bytes than their neighbors, in each stripe.
    pub(super) fn data_members(&self) -> u64 {
        match self.level {
            Level::Raid0 => self.members,
            Level::Raid1 => 1,
            Level::Raid10 { copies } => self.members / copies,
            Level::Raid4 | Level::Raid5(_) | Level::Raid6(_) => self.members - self.level.parity(),
        }
    }

    /// Returns how many members hold each chunk.
    pub(super) fn copies(&self) -> u64 {
        match self.level {
            Level::Raid1 => self.members,
            Level::Raid10 { copies } => copies,
            _ => 1,
        }
    }
}

/// A member of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<M> {
    /// Model of the member.
    pub model: M,
    /// The first of its bytes that the array uses.
    pub offset_bytes: u64,
}

/// Shape of an array on its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayShape {
    /// Its chunk and data members.
    pub(super) stripe: Stripe,
    /// Number of bytes it holds.
    pub(super) capacity_bytes: u64,
    /// Its addressable unit.
    pub(super) logical_bytes: u64,
}

impl ArrayShape {
    /// The shape of `plan`, which was checked, over `members`, of which the smallest counts.
    ///
    /// # Errors
    /// When the members do not fit the plan.
    pub(super) fn of<M: Model>(
        plan: &ArrayPlan,
        members: &[Member<M>],
    ) -> Result<ArrayShape, PlanFault> {
        let fault = |value, found, wanted| PlanFault { value, found, wanted };
        let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
        if count != plan.members {
            return Err(fault("the number of models", count, "what members says"));
        }
        let logical = members.iter().map(|member| member.model.logical_bytes()).max().unwrap_or(0);
        let mut least = u64::MAX;
        for Member { model, offset_bytes } in members {
            if logical == 0 || !logical.is_multiple_of(model.logical_bytes().max(1)) {
                return Err(fault(
                    "a member's logical_bytes",
                    model.logical_bytes(),
                    "a part of the largest",
                ));
            }
            if !offset_bytes.is_multiple_of(model.logical_bytes()) {
                let wanted = "a multiple of the member's logical sector";
                return Err(fault("data_offset", *offset_bytes, wanted));
            }
            let Some(bytes) = model.capacity_bytes().checked_sub(*offset_bytes) else {
                return Err(fault("data_offset", *offset_bytes, "within the member"));
            };
            least = least.min(bytes);
        }
        let chunk_bytes = if plan.level == Level::Raid1 { logical } else { plan.chunk_bytes };
        if !chunk_bytes.is_multiple_of(logical) {
            return Err(fault("chunk", chunk_bytes, "a multiple of the logical sector"));
        }
        if plan.level.parity() > 0 && !plan.row_bytes.is_multiple_of(logical) {
            return Err(fault("row", plan.row_bytes, "a multiple of the logical sector"));
        }
        let whole = least - least % chunk_bytes;
        if whole == 0 {
            let wanted = "small enough for a chunk after it on each member";
            let offset = members.iter().map(|member| member.offset_bytes).max().unwrap_or(0);
            return Err(fault("data_offset", offset, wanted));
        }
        let data = plan.data_members();
        let bytes = whole.checked_mul(data).filter(|&bytes| bytes <= CAPACITY_BYTES_MAX);
        let capacity_bytes = bytes.ok_or(fault("a member's bytes", whole, "2^56 over all"))?;
        let stripe = Stripe::new(chunk_bytes, data).expect("both are bounded, and not 0");
        Ok(ArrayShape { stripe, capacity_bytes, logical_bytes: logical })
    }
}
