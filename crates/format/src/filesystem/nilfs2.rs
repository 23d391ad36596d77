//! NILFS2: the superblock at 1 KiB and its copy in the last whole 4 KiB.
//!
//! One idea: its signature is two bytes only, so nothing is believed without the checksum. Source:
//! Linux, `include/uapi/linux/nilfs2_ondisk.h`, `fs/nilfs2/the_nilfs.c`.

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::bytes::Block;
use crate::checksum::seeded_crc32;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};
/// Place where the first superblock stands.
const FIRST_BYTES: u64 = 1024;

/// The alignment of the second one: it stands before the last multiple of this.
const SECOND_ALIGNMENT_BYTES: u64 = 4096;

/// The signature, at byte 6.
const MAGIC: [u8; 2] = [0x34, 0x34];

/// The fields that are read, and the most that the checksum covers.
type Superblock = Block<1024>;

/// The NILFS2 on the volume. A superblock that is missing or wrong is a problem.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let end = heads.length_bytes() - heads.length_bytes() % SECOND_ALIGNMENT_BYTES;
    let second_bytes = end.checked_sub(SECOND_ALIGNMENT_BYTES).filter(|&at| at > FIRST_BYTES)?;
    let named = |at_bytes: u64| heads.has(at_bytes + 6, &MAGIC);
    if !named(FIRST_BYTES) && !named(second_bytes) {
        return None;
    }
    let first = superblock(heads, FIRST_BYTES);
    let second = superblock(heads, second_bytes);
    let mut problems = Vec::new();
    for (name, at_bytes, copy) in
        [("first", FIRST_BYTES, &first), ("second", second_bytes, &second)]
    {
        if copy.is_none() {
            let detail = format!("the {name} superblock is missing or its checksum is wrong");
            problems.push(Problem::new(ProblemKind::Copies, at_bytes, detail));
        }
    }
    let value = system(&first.or(second)?)?;
    Some(Parsed { value, problems })
}

/// The superblock at `at_bytes`, when its signature and its checksum are right.
fn superblock(heads: &Heads<'_>, at_bytes: u64) -> Option<Superblock> {
    let superblock: Superblock = heads.block(at_bytes)?;
    let length = usize::from(superblock.le16::<8>());
    let covered = superblock.0.get(..length).filter(|covered| covered.len() >= 0xf8)?;
    if superblock.array::<6, 2>() != MAGIC {
        return None;
    }
    let sum = seeded_crc32(superblock.le32::<12>(), &[&covered[..16], &[0; 4], &covered[20..]]);
    (sum == superblock.le32::<16>()).then_some(superblock)
}

fn system(superblock: &Superblock) -> Option<FileSystem> {
    let power = u64::from(superblock.le32::<20>()).checked_add(10)?;
    let block_bytes = field::power(power, 1024..=65536)?;
    let segment_bytes = u64::from(superblock.le32::<48>()).checked_mul(block_bytes)?;
    Some(FileSystem {
        variant: Some(superblock.le32::<0>().to_string()),
        label: field::label(&superblock.array::<0xa8, 80>()),
        id: field::uuid(superblock.array::<0x98, 16>()),
        size_bytes: Some(superblock.le64::<32>()),
        details: vec![("segment", segment_bytes.to_string())],
        ..FileSystem::of_blocks("nilfs2", block_bytes)
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    /// The register after `bytes`, computed bit by bit.
    fn register(seed: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(seed, |sum, &byte| {
            (0..8).fold(sum ^ u32::from(byte), |sum, _| {
                (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 }
            })
        })
    }

    fn head(power: u32) -> Vec<u8> {
        let mut bytes = vec![0; 1024];
        bytes[0] = 2;
        bytes[6..10].copy_from_slice(&[0x34, 0x34, 0x18, 1]);
        bytes[12..16].copy_from_slice(&[7, 8, 9, 10]);
        bytes[20..24].copy_from_slice(&power.to_le_bytes());
        bytes[32..40].copy_from_slice(&(8_u64 << 20).to_le_bytes());
        bytes[48..52].copy_from_slice(&2048_u32.to_le_bytes());
        bytes[0xa8..0xab].copy_from_slice(b"log");
        let sum = register(u32::from_le_bytes([7, 8, 9, 10]), &bytes[..0x118]);
        bytes[16..20].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn volume() -> MemoryDisk {
        let mut disk = MemoryDisk::new((8 << 20) + 100);
        disk.put(1024, &head(2));
        disk.put((8 << 20) - 4096, &head(2));
        disk
    }

    #[test]
    fn block_and_segment_sizes_are_read_under_the_checksum() {
        let parsed = read(&Heads::new(&volume())).unwrap();
        assert_eq!(parsed.problems, []);
        assert_eq!(parsed.value.block_bytes, Some(4096));
        assert_eq!(parsed.value.label, Some("log".into()));
        assert_eq!(parsed.value.details, [("segment", "8388608".to_owned())]);
    }

    #[test]
    fn the_second_superblock_stands_in_and_none_without_a_right_checksum() {
        let mut disk = volume();
        disk.put(1024 + 0xa8, b"x");
        assert_eq!(read(&Heads::new(&disk)).unwrap().problems.len(), 1);
        disk.put((8 << 20) - 4096 + 0xa8, b"x");
        assert!(read(&Heads::new(&disk)).is_none());
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&volume(), 1024..1024 + 300, read);
    }
}
