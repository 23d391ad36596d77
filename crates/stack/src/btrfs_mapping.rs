//! The address space of a btrfs over its devices, from its chunks.

use std::collections::BTreeMap;

use format::filesystem::btrfs::{Chunk, ChunkMap, ChunkStripe, Profile};
use units::stripe::{Rotation, Stripe};

use crate::id::LayerId;
use crate::mapping::{Below, Copies, Mapping, Segment};

/// Returns how the logical addresses of a btrfs lie on its devices, of which `devices` gives the
/// layers by their numbers; those that are missing there are members that were not given.
///
/// Source: `btrfs_map_block` and `map_blocks_raid56_read` in `fs/btrfs/volumes.c` of Linux.
#[must_use]
pub fn btrfs_mapping(map: &ChunkMap, devices: &BTreeMap<u64, LayerId>) -> Mapping {
    let segment =
        |chunk: &Chunk| Segment { range: chunk.logical, mapping: mapping(chunk, devices) };
    Mapping::Segments(map.chunks().map(segment).collect())
}

fn mapping(chunk: &Chunk, devices: &BTreeMap<u64, LayerId>) -> Mapping {
    let members = || -> Vec<Option<Below>> {
        let member = |stripe: &ChunkStripe| {
            let layer = *devices.get(&stripe.device)?;
            Some(Below { layer, offset_bytes: stripe.offset_bytes })
        };
        chunk.stripes.iter().map(member).collect()
    };
    let unknown = |reason: String| {
        let on = devices.values().copied().collect();
        Mapping::Unknown { on, reason }
    };
    let Some(profile) = chunk.profile else {
        return unknown("its btrfs chunk has a profile that is not known here".to_owned());
    };
    let Some(stripe) = Stripe::new(chunk.stripe_bytes, chunk.data_members()) else {
        return unknown("its btrfs chunk has impossible stripes".to_owned());
    };
    match profile {
        Profile::Single => match (members().pop().flatten(), chunk.stripes.first()) {
            (Some(below), _) => Mapping::Linear(below),
            (None, Some(stripe)) => unknown(format!("it lies on missing device {}", stripe.device)),
            (None, None) => unknown("its btrfs chunk has no stripe".to_owned()),
        },
        Profile::Dup | Profile::Raid1 | Profile::Raid1c3 | Profile::Raid1c4 => {
            Mapping::Mirrored { members: members() }
        }
        Profile::Raid0 => {
            Mapping::Striped { stripe, copies: Copies::Neighbors(1), members: members() }
        }
        Profile::Raid10 => {
            Mapping::Striped { stripe, copies: Copies::Neighbors(2), members: members() }
        }
        Profile::Raid5 | Profile::Raid6 => {
            // Row r has its data from member r on, and parity behind it. That is the right
            // symmetric rotation, in which row r has its parity from member r on, with the members
            // turned by the number of parities.
            let parity = profile.parity();
            let mut members = members();
            members.rotate_right(usize::try_from(parity).expect("1 or 2"));
            Mapping::Parity { stripe, parity, rotation: Some(Rotation::RightSymmetric), members }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Stack;
    use crate::layer::{Layer, LayerKind};
    use crate::resolve::{On, resolve};
    use units::{ByteRange, Known, Source};

    /// A chunk item of 64 MiB at 1 GiB over devices 1 to `count`, each from its own number in MiB
    /// on.
    fn item(bits: u64, count: u16) -> Vec<u8> {
        let mut item = vec![0; 48];
        item[..8].copy_from_slice(&(64_u64 << 20).to_le_bytes());
        item[16..24].copy_from_slice(&65536_u64.to_le_bytes());
        item[24..32].copy_from_slice(&(bits | 1).to_le_bytes());
        item[44..46].copy_from_slice(&count.to_le_bytes());
        for device in 1..=u64::from(count) {
            item.extend(device.to_le_bytes());
            item.extend((device << 20).to_le_bytes());
            item.extend([0; 16]);
        }
        item
    }

    #[test]
    fn the_mapping_of_every_profile_leads_where_the_chunk_says() {
        let mut random = units::random::Random::new(5);
        for (bits, count) in [(0, 1), (8, 3), (16, 2), (64, 4), (128, 3), (128, 2), (256, 4)] {
            let start = 1 << 30;
            let item = item(bits, count);
            let map = ChunkMap::of_items([(start, item.as_slice())]).value;
            let mut stack = Stack::new();
            let length = Known::yes(1 << 40, Source::OnDisk);
            let devices: BTreeMap<u64, LayerId> = (1..=u64::from(count))
                .map(|number| {
                    let leaf = Mapping::Leaf;
                    let layer = Layer::new(LayerKind::ImageFile, "x".into(), length.clone(), leaf);
                    (number, stack.add(layer))
                })
                .collect();
            let mapping = btrfs_mapping(&map, &devices);
            let layer = Layer::new(LayerKind::ImageFile, "x".into(), length, mapping);
            let system = stack.add(layer);
            for _ in 0..500 {
                let at = start + random.below(64 << 20);
                let (places, left) = map.places(at).unwrap();
                let found = resolve(&stack, system, ByteRange::new(at, 1 << 20).unwrap());
                let first = (devices[&places[0].device], places[0].at_bytes);
                assert_eq!(found[0].on, On::Leaf(first.0, first.1), "{bits} at {at}");
                assert_eq!(found[0].length_bytes, left.min(1 << 20), "{bits} at {at}");
            }
        }
    }
}
