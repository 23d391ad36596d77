//! A chunk item: 48 bytes, and 32 for each stripe.

use units::ByteRange;

use super::{Chunk, ChunkStripe, Profile};
use crate::bytes::{block, block_at};

/// The bytes before the stripes.
pub(super) const HEAD: usize = 48;
/// The bytes of a stripe.
const STRIPE: usize = 32;
/// The most stripes: more do not fit in the largest node.
const STRIPES_MAX: usize = 2048;
const STRIPE_BYTES_MAX: u64 = 1 << 30;

/// The kernel's bits of the profiles (`BTRFS_BLOCK_GROUP_*`).
const PROFILES: [(u64, Profile); 8] = [
    (1 << 3, Profile::Raid0),
    (1 << 4, Profile::Raid1),
    (1 << 5, Profile::Dup),
    (1 << 6, Profile::Raid10),
    (1 << 7, Profile::Raid5),
    (1 << 8, Profile::Raid6),
    (1 << 9, Profile::Raid1c3),
    (1 << 10, Profile::Raid1c4),
];
/// The bits that say what a chunk holds.
const HOLDS: u64 = 7;

/// Returns how long an item with its stripes is; `None` when `bytes` do not hold its head.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let head = block::<HEAD>(bytes)?;
    Some(HEAD + STRIPE * usize::from(head.le16::<44>()))
}

/// The chunk whose item is `bytes` and whose key says `logical_bytes`.
pub(super) fn chunk(logical_bytes: u64, bytes: &[u8]) -> Result<Chunk, String> {
    let name = || format!("chunk at {logical_bytes}");
    let head = block::<HEAD>(bytes).ok_or_else(|| format!("{}: item is too short", name()))?;
    let length_bytes = head.le64::<0>();
    let logical = ByteRange::new(logical_bytes, length_bytes).filter(|_| length_bytes > 0);
    let logical = logical.ok_or_else(|| format!("{}: {length_bytes} bytes", name()))?;
    let stripe_bytes = head.le64::<16>();
    if !stripe_bytes.is_power_of_two() || !(512..=STRIPE_BYTES_MAX).contains(&stripe_bytes) {
        return Err(format!("{}: stripe of {stripe_bytes} bytes", name()));
    }
    let count = usize::from(head.le16::<44>());
    if count == 0 || count > STRIPES_MAX || bytes.len() < HEAD + count * STRIPE {
        return Err(format!("{}: {count} stripes in {} bytes", name(), bytes.len()));
    }
    let stripe = |index: usize| {
        let stripe = block_at::<STRIPE>(bytes, HEAD + index * STRIPE)?;
        Some(ChunkStripe { device: stripe.le64::<0>(), offset_bytes: stripe.le64::<8>() })
    };
    let stripes: Vec<ChunkStripe> = (0..count).filter_map(stripe).collect();
    let kind = head.le64::<24>();
    let profile = profile(kind & !HOLDS).filter(|&profile| fits(profile, count));
    Ok(Chunk { logical, profile, holds: kind & HOLDS, stripe_bytes, stripes })
}

/// The profile of the bits beside those that say what is held; `None` for others.
fn profile(bits: u64) -> Option<Profile> {
    if bits == 0 {
        return Some(Profile::Single);
    }
    PROFILES.iter().find(|(bit, _)| *bit == bits).map(|(_, profile)| *profile)
}

/// Returns whether a chunk of this profile may have as many stripes.
fn fits(profile: Profile, stripes: usize) -> bool {
    match profile {
        Profile::Single => stripes == 1,
        Profile::Dup | Profile::Raid1 => stripes == 2,
        Profile::Raid1c3 => stripes == 3,
        Profile::Raid1c4 => stripes == 4,
        Profile::Raid0 => stripes >= 1,
        Profile::Raid10 => stripes >= 2 && stripes.is_multiple_of(2),
        Profile::Raid5 => stripes >= 2,
        Profile::Raid6 => stripes >= 3,
    }
}
