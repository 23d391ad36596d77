//! Superblock 0.90: 1024 words of 32 bits in the byte order of the machine that made it.
//!
//! Source: `include/uapi/linux/raid/md_p.h`, `mdp_super_t`; `super_90_load` in `drivers/md/md.c`.

use super::{Candidate, Fields, MAGIC, MdMember, MdReshape, MdStanding, SuperblockCandidate};
use crate::{Problem, ProblemKind};

const WORDS: usize = 1024;
/// The format has room for 27 members.
const DISKS: u32 = 27;
const SLACK_BYTES: u64 = 0x1_0000;

/// Word numbers.
mod word {
    pub(super) const MAJOR: usize = 1;
    pub(super) const MINOR: usize = 2;
    pub(super) const SET_ID: [usize; 4] = [5, 13, 14, 15];
    pub(super) const MADE_AT: usize = 6;
    pub(super) const LEVEL: usize = 7;
    pub(super) const SIZE_KIB: usize = 8;
    pub(super) const RAID_DISKS: usize = 10;
    pub(super) const CHECKSUM: usize = 38;
    pub(super) const EVENTS: usize = 39;
    pub(super) const RESHAPE_POSITION: usize = 44;
    pub(super) const NEW_LEVEL: usize = 46;
    pub(super) const DELTA_DISKS: usize = 47;
    pub(super) const NEW_LAYOUT: usize = 48;
    pub(super) const NEW_CHUNK: usize = 49;
    pub(super) const LOGICAL_BLOCK: usize = 50;
    pub(super) const LAYOUT: usize = 64;
    pub(super) const CHUNK: usize = 65;
    /// The first of 27 descriptors of 32 words each: number, major, minor, role, state.
    pub(super) const DISKS: usize = 128;
    /// This member's own descriptor.
    pub(super) const THIS: usize = 992;
}

const AT: Fields =
    Fields { level: 4 * word::LEVEL as u64, chunk: 4 * word::CHUNK as u64, raid_disks: 40 };

const STATE_FAULTY: u32 = 1 << 0;
const STATE_ACTIVE: u32 = 1 << 1;
const STATE_SYNC: u32 = 1 << 2;

/// The superblock's words, in whichever order makes the magic right.
struct SuperblockWords {
    words: [u32; WORDS],
    big_endian: bool,
}

pub(super) fn parse(from: &Candidate) -> Option<SuperblockCandidate> {
    let words = SuperblockWords::of(&from.bytes)?;
    // Other versions are other formats; the kernel refuses them as well.
    if words.words[word::MAJOR] != 0 || !matches!(words.words[word::MINOR], 90 | 91) {
        return None;
    }
    let member = member(from, &words);
    let mut problems = super::geometry_problems(from, &AT, &member, DISKS);
    let (stored, computed) = (words.words[word::CHECKSUM], words.checksum());
    if stored != computed {
        let detail = format!("checksum {stored:#010x}, computed {computed:#010x}");
        problems.push(from.problem(ProblemKind::Checksum, at(word::CHECKSUM), detail));
    }
    problems.extend(size_problem(from, &member));
    Some(SuperblockCandidate {
        member,
        problems,
        checksum_holds: stored == computed,
        made_at: u64::from(words.words[word::MADE_AT]),
    })
}

impl SuperblockWords {
    fn of(bytes: &[u8]) -> Option<SuperblockWords> {
        let block: &[u8; 4 * WORDS] = bytes.first_chunk()?;
        let little = u32::from_le_bytes(*block.first_chunk()?);
        let big_endian = little.swap_bytes() == MAGIC;
        if little != MAGIC && !big_endian {
            return None;
        }
        let mut words = [0; WORDS];
        for (word, stored) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word =
                if big_endian { u32::from_be_bytes(*stored) } else { u32::from_le_bytes(*stored) };
        }
        Some(SuperblockWords { words, big_endian })
    }

    /// The 64-bit number of the words `first` and the next, in the machine's order.
    fn long(&self, first: usize) -> u64 {
        let pair = (u64::from(self.words[first]), u64::from(self.words[first + 1]));
        let (low, high) = if self.big_endian { (pair.1, pair.0) } else { pair };
        high << 32 | low
    }

    /// The sum of all words but the checksum, with the carries added once.
    fn checksum(&self) -> u32 {
        let sum: u64 = self.words.iter().map(|&word| u64::from(word)).sum();
        fold(sum - u64::from(self.words[word::CHECKSUM]))
    }
}

/// The low half plus the high half: how md closes its sums.
pub(super) fn fold(sum: u64) -> u32 {
    let halves = sum.to_le_bytes();
    let [a, b, c, d, e, f, g, h] = halves;
    u32::from_le_bytes([a, b, c, d]).wrapping_add(u32::from_le_bytes([e, f, g, h]))
}

fn member(from: &Candidate, sb: &SuperblockWords) -> MdMember {
    let words = &sb.words;
    let (standing, role) = standing(words);
    // Minor version 91 says that the words for a reshape are meant.
    let reshape = (words[word::MINOR] == 91).then(|| MdReshape {
        position_bytes: sb.long(word::RESHAPE_POSITION).saturating_mul(512),
        level: words[word::NEW_LEVEL].cast_signed(),
        layout: words[word::NEW_LAYOUT],
        chunk_bytes: u64::from(words[word::NEW_CHUNK]),
        delta_disks: words[word::DELTA_DISKS].cast_signed(),
        data_offset_bytes: 0,
    });
    let mut member = MdMember {
        version: from.version,
        superblock_at_bytes: from.at_bytes,
        recorded_at_bytes: None,
        array_id: word::SET_ID.iter().map(|&number| format!("{:08x}", words[number])).collect(),
        member_id: None,
        name: None,
        level: words[word::LEVEL].cast_signed(),
        layout: words[word::LAYOUT],
        chunk_bytes: u64::from(words[word::CHUNK]),
        raid_disks: words[word::RAID_DISKS],
        role,
        gone: gone(words),
        standing,
        data_offset_bytes: 0,
        data_bytes: u64::from(words[word::SIZE_KIB]) * 1024,
        events: sb.long(word::EVENTS),
        reshaping: reshape.is_some(),
        reshape,
        recovered_bytes: None,
        logical_block_bytes: Some(u64::from(words[word::LOGICAL_BLOCK]))
            .filter(|&bytes| bytes != 0),
    };
    if matches!(member.level, -1 | 0) {
        member.data_bytes = member.whole_chunks(from.at_bytes);
    }
    member
}

/// The places that no device has.
fn gone(words: &[u32; WORDS]) -> u32 {
    let raid_disks = words[word::RAID_DISKS];
    let entries = (0..DISKS).filter_map(|number| usize::try_from(number).ok());
    let mut held: Vec<u32> = entries
        .map(|number| word::DISKS + 32 * number)
        .filter(|&start| {
            let state = words[start + 4];
            state & STATE_FAULTY == 0 && state & (STATE_SYNC | STATE_ACTIVE) != 0
        })
        .map(|start| words[start + 3])
        .filter(|&role| role < raid_disks)
        .collect();
    held.sort_unstable();
    held.dedup();
    raid_disks.saturating_sub(u32::try_from(held.len()).unwrap_or(u32::MAX))
}

/// Returns what this member is. Its own descriptor says its number; the table's entry of that
/// number says the state that the array last agreed on.
fn standing(words: &[u32; WORDS]) -> (MdStanding, Option<u32>) {
    let number = words[word::THIS];
    let entry = usize::try_from(number).ok().filter(|_| number < DISKS);
    let start = entry.map_or(word::THIS, |number| word::DISKS + 32 * number);
    let (role, state) = (words[start + 3], words[start + 4]);
    if state & STATE_FAULTY != 0 {
        (MdStanding::Faulty, None)
    } else if state & (STATE_SYNC | STATE_ACTIVE) != 0 && role < words[word::RAID_DISKS] {
        (MdStanding::Active, Some(role))
    } else {
        (MdStanding::Spare, None)
    }
}

/// The format does not say where it stands; only the size that the array uses hints at it.
fn size_problem(from: &Candidate, member: &MdMember) -> Option<Problem> {
    let (used, room) = (member.data_bytes, from.at_bytes);
    let (kind, detail) = if used > room {
        let detail = format!(
            "the array uses {used} bytes of this member, but only {room} are before the \
             superblock: it belongs to something larger"
        );
        (ProblemKind::Outside, detail)
    } else if room - used > SLACK_BYTES.saturating_add(member.chunk_bytes) {
        let detail = format!(
            "the array uses {used} of the {room} bytes before the superblock: it may belong to \
             something smaller that ends here, such as the last partition"
        );
        (ProblemKind::Field, detail)
    } else {
        return None;
    };
    Some(from.problem(kind, at(word::SIZE_KIB), detail))
}

fn at(word: usize) -> u64 {
    u64::try_from(word * 4).unwrap_or(0)
}
