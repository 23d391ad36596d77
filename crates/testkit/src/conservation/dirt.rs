//! Dirt: bytes in places that no file system and no table has.

use std::ops::Range;

use units::random::Random;

use super::made_part::MadePart;
use super::oracle::Side;

/// Bytes at a place of the disk.
pub(super) struct Dirt {
    pub(super) name: String,
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

/// Decides where there is dirt: nowhere, in one place, in three, or in half of all places.
pub(super) fn spread(random: &mut Random, side: &Side, parts: &[MadePart]) -> Vec<Dirt> {
    let mut spots = places(random, side, parts);
    random.shuffle(&mut spots);
    let count = *random.choose(&[0, 1, 3, spots.len().div_euclid(2)]);
    spots.truncate(count);
    spots.into_iter().map(|(name, at)| bytes(random, &name, at)).collect()
}

/// All places, by name: boot code, and the first, a middle and the last sector of each gap and of
/// each part that a content leaves.
fn places(random: &mut Random, side: &Side, parts: &[MadePart]) -> Vec<(String, u64)> {
    let mut spots = vec![("boot-code".to_owned(), 0)];
    spots.extend(side.records.iter().map(|&at| ("boot-code".to_owned(), at)));
    let gaps = side.gaps().into_iter().map(|gap| ("gap".to_owned(), gap));
    let tails = parts.iter().filter(|part| !matches!(part.kind, "unknown" | "md")).map(|part| {
        let (from, to) = (part.start + part.content, part.start + part.sectors);
        (format!("{}-of-{}", part.kind, part.number), from * 512..to * 512)
    });
    let ranges: Vec<(String, Range<u64>)> = gaps.chain(tails).collect();
    for (name, range) in ranges {
        let (first, end) = (range.start.div_ceil(512), range.end.div_euclid(512));
        if first < end {
            let middle = first + random.below(end - first);
            for (part, sector) in [("first", first), ("middle", middle), ("last", end - 1)] {
                spots.push((format!("{name}-{part}"), sector * 512));
            }
        }
    }
    spots
}

fn bytes(random: &mut Random, name: &str, at: u64) -> Dirt {
    let (form, bytes) = match random.below(4) {
        _ if name == "boot-code" => ("noise", noise(random, 440)),
        0 => ("noise", noise(random, 512)),
        1 => ("text", format!("KEEP {}", at.div_euclid(512)).into_bytes()),
        2 => ("last-byte", [vec![0; 511], vec![1]].concat()),
        _ => ("ones", vec![0xff; 512]),
    };
    Dirt { name: format!("{name}:{form}"), at, bytes }
}

/// Bytes of which none is 0.
pub(super) fn noise(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| u8::try_from(1 + random.below(255)).unwrap_or(1)).collect()
}
