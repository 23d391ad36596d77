//! btrfs: its superblock, and its chunks, which are how its logical addresses, in which FIEMAP
//! answers, lie on its devices.
//!
//! The superblock holds the chunks of the chunk tree itself; through them the tree is walked, which
//! has an item for each chunk. Source: `kernel-shared/uapi/btrfs_tree.h` of btrfs-progs (`struct
//! btrfs_chunk`, `btrfs_stripe`, `btrfs_header`), `fs/btrfs/volumes.c` of Linux for the profiles.

use std::collections::BTreeMap;

use device::Disk;
use serde::Serialize;
use units::ByteRange;
use units::stripe::Stripe;

use crate::{Parsed, Problem, ProblemKind};

mod item;
pub(super) mod superblock;
mod tree;

use tree::BtrfsDevices;

/// Layout of a chunk's bytes on its stripes; its word is what `mkfs.btrfs -d` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Once, on one device.
    Single,
    /// Twice, on one device.
    Dup,
    /// In stripes over the devices.
    Raid0,
    /// On two devices.
    Raid1,
    /// On three devices.
    Raid1c3,
    /// On four devices.
    Raid1c4,
    /// In stripes over pairs of devices.
    Raid10,
    /// In stripes with one parity.
    Raid5,
    /// In stripes with two parities.
    Raid6,
}

units::words!(Profile);

impl Profile {
    /// Stripes of each row that hold parity: 0, 1 or 2.
    #[must_use]
    pub fn parity(self) -> u64 {
        match self {
            Profile::Raid5 => 1,
            Profile::Raid6 => 2,
            _ => 0,
        }
    }
}

/// Place where one stripe of a chunk lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkStripe {
    /// The number of the device within the file system, from 1.
    pub device: u64,
    /// The byte of the device at which the stripe starts.
    pub offset_bytes: u64,
}

/// A run of logical addresses, and how it lies on the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The logical addresses.
    pub logical: ByteRange,
    /// Their layout; `None` for a profile that is not known, or whose number of stripes cannot be.
    pub profile: Option<Profile>,
    /// Its contents, as the kernel's bits: 1 data, 2 system, 4 metadata.
    pub holds: u64,
    /// The length of what lies together on one device before the next takes over, in bytes; 64 KiB
    /// so far.
    pub stripe_bytes: u64,
    /// The stripes, in the order of the item.
    pub stripes: Vec<ChunkStripe>,
}

/// A place of a copy of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyPlace {
    /// The number of the device within the file system.
    pub device: u64,
    /// The byte of the device.
    pub at_bytes: u64,
}

impl Chunk {
    /// Returns how many stripes of a row hold data, each once: 1 where nothing is striped.
    #[must_use]
    pub fn data_members(&self) -> u64 {
        let stripes = u64::try_from(self.stripes.len()).unwrap_or(u64::MAX);
        match self.profile {
            Some(Profile::Raid0) => stripes,
            Some(Profile::Raid10) => stripes.div_euclid(2),
            Some(Profile::Raid5 | Profile::Raid6) => {
                stripes.saturating_sub(self.profile.map_or(0, Profile::parity))
            }
            _ => 1,
        }
    }

    /// Every place that holds the byte `within_bytes` of this chunk, and how many bytes from there
    /// on lie in one piece on each; `None` where the profile is not known or an address exceeds 64
    /// bits.
    #[must_use]
    pub fn places(&self, within_bytes: u64) -> Option<(Vec<CopyPlace>, u64)> {
        let profile = self.profile?;
        let rest = self.logical.length_bytes().checked_sub(within_bytes)?;
        let place = |stripe: &ChunkStripe, bytes: u64| {
            let at_bytes = stripe.offset_bytes.checked_add(bytes)?;
            Some(CopyPlace { device: stripe.device, at_bytes })
        };
        let whole = |stripes: &[ChunkStripe]| -> Option<Vec<CopyPlace>> {
            stripes.iter().map(|stripe| place(stripe, within_bytes)).collect()
        };
        match profile {
            Profile::Single
            | Profile::Dup
            | Profile::Raid1
            | Profile::Raid1c3
            | Profile::Raid1c4 => Some((whole(&self.stripes)?, rest)),
            Profile::Raid0 | Profile::Raid10 | Profile::Raid5 | Profile::Raid6 => {
                let laid = Stripe::new(self.stripe_bytes, self.data_members())?.place(within_bytes);
                let count = u64::try_from(self.stripes.len()).ok()?;
                let (first, copies) = match profile {
                    Profile::Raid10 => (laid.position * 2, 2),
                    // The rows turn by one device each, parity and all.
                    Profile::Raid5 | Profile::Raid6 => {
                        ((laid.stripe % count + laid.position) % count, 1)
                    }
                    _ => (laid.position, 1),
                };
                let first = usize::try_from(first).ok()?;
                let stripes = self.stripes.get(first..first.checked_add(copies)?)?;
                let places = stripes.iter().map(|stripe| place(stripe, laid.member_bytes));
                Some((places.collect::<Option<_>>()?, rest.min(laid.left_in_chunk_bytes)))
            }
        }
    }
}

/// The chunks of a file system, in the order of their logical addresses and without overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkMap {
    chunks: BTreeMap<u64, Chunk>,
    /// Number of stripes all of them have.
    stripes: usize,
}

/// The most stripes that are kept: items may share their bytes, so the tree's length is no bound.
const STRIPES_MAX: usize = 1 << 20;

impl ChunkMap {
    /// The chunks of items as they stand in the chunk tree: the logical address at which each
    /// starts, and its bytes. What is damaged or overlaps one before is left out, and told.
    pub fn of_items<'a>(items: impl IntoIterator<Item = (u64, &'a [u8])>) -> Parsed<ChunkMap> {
        let mut found = Parsed::sound(ChunkMap::default());
        for (logical_bytes, bytes) in items {
            found.take(logical_bytes, bytes, 0);
        }
        found
    }

    /// Every chunk, in the order of the addresses.
    pub fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.values()
    }

    /// The chunk that holds byte `logical_bytes`; `None` when none does.
    #[must_use]
    pub fn chunk(&self, logical_bytes: u64) -> Option<&Chunk> {
        let (_, chunk) = self.chunks.range(..=logical_bytes).next_back()?;
        (logical_bytes < chunk.logical.end_bytes()).then_some(chunk)
    }

    /// Every place that holds byte `logical_bytes`, and how many bytes from there on lie in one
    /// piece on each; `None` when no chunk holds it, or its profile is not known.
    #[must_use]
    pub fn places(&self, logical_bytes: u64) -> Option<(Vec<CopyPlace>, u64)> {
        let chunk = self.chunk(logical_bytes)?;
        chunk.places(logical_bytes - chunk.logical.start_bytes())
    }

    /// The numbers of the devices that the chunks lie on, each once, in order.
    #[must_use]
    pub fn devices(&self) -> Vec<u64> {
        let all = self.chunks().flat_map(|chunk| &chunk.stripes).map(|stripe| stripe.device);
        all.collect::<std::collections::BTreeSet<u64>>().into_iter().collect()
    }

    fn overlaps(&self, range: ByteRange) -> bool {
        let last = self.chunks.range(..range.end_bytes()).next_back();
        last.is_some_and(|(_, chunk)| chunk.logical.overlaps(range))
    }
}

impl Parsed<ChunkMap> {
    /// Adds the chunk of an item that stands at `at_bytes`, or what is wrong with it.
    fn take(&mut self, logical_bytes: u64, bytes: &[u8], at_bytes: u64) {
        let mut wrong = |kind, detail: String| {
            if self.problems.len() < PROBLEMS_MAX {
                self.problems.push(Problem::new(kind, at_bytes, detail));
            }
        };
        match item::chunk(logical_bytes, bytes) {
            Err(detail) => wrong(ProblemKind::Field, detail),
            Ok(chunk) if self.value.chunks.get(&logical_bytes) == Some(&chunk) => {}
            Ok(chunk) if self.value.overlaps(chunk.logical) => {
                wrong(ProblemKind::Overlap, format!("two chunks hold address {logical_bytes}"));
            }
            Ok(_) if self.value.stripes >= STRIPES_MAX => {
                wrong(ProblemKind::Chain, "chunks have more stripes than are kept".to_owned());
            }
            Ok(chunk) => {
                self.value.stripes += chunk.stripes.len();
                self.value.chunks.insert(logical_bytes, chunk);
            }
        }
    }
}

/// Number of problems kept: one is enough to know, thousands help nobody.
const PROBLEMS_MAX: usize = 64;

/// The chunks of the btrfs file system on `devices`, which may lack some of its devices and hold
/// others that are not its own; `None` when none of them holds a btrfs superblock.
///
/// The superblock of the highest generation is believed. Nodes are read from any copy that is
/// there, checked by address, file system, level, generation and, where it is a CRC, checksum. What
/// cannot be read is told, and missing from the map.
#[must_use]
pub fn chunks(devices: &[&dyn Disk]) -> Option<Parsed<ChunkMap>> {
    Some(BtrfsDevices::open(devices)?.chunks())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(profile: Profile, devices: u64) -> Chunk {
        let stripes = (1..=devices).map(|device| ChunkStripe { device, offset_bytes: 1 << 20 });
        Chunk {
            logical: ByteRange::new(1 << 30, 1 << 24).unwrap(),
            profile: Some(profile),
            holds: 1,
            stripe_bytes: 65536,
            stripes: stripes.collect(),
        }
    }

    fn devices(chunk: &Chunk, within: u64) -> Vec<u64> {
        let (places, _) = chunk.places(within).unwrap();
        places.iter().map(|place| place.device).collect()
    }

    #[test]
    fn raid5_rows_turn_by_one_device() {
        let raid5 = chunk(Profile::Raid5, 3);
        let of = |unit: u64| devices(&raid5, unit * 65536)[0];
        // D0 D1 P / P D2 D3 / D5 P D4
        assert_eq!((0..6).map(of).collect::<Vec<_>>(), [1, 2, 2, 3, 3, 1]);
    }

    #[test]
    fn raid10_places_each_stripe_on_a_pair() {
        let raid10 = chunk(Profile::Raid10, 4);
        assert_eq!(devices(&raid10, 0), [1, 2]);
        assert_eq!(devices(&raid10, 65536), [3, 4]);
        let (places, left) = raid10.places(2 * 65536 + 4096).unwrap();
        assert_eq!(places[0].at_bytes, (1 << 20) + 65536 + 4096);
        assert_eq!(left, 65536 - 4096);
    }

    #[test]
    fn mirrors_hold_every_byte_on_every_device_to_the_chunks_end() {
        let mirror = chunk(Profile::Raid1c3, 3);
        let (places, left) = mirror.places(4096).unwrap();
        assert_eq!((places.len(), left), (3, (1 << 24) - 4096));
        assert_eq!(mirror.places(1 << 24).unwrap().1, 0);
        assert_eq!(mirror.places((1 << 24) + 1), None);
    }
}
