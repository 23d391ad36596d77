//! ISO 9660: the volume descriptors from 32 KiB on.
//!
//! One idea: the primary descriptor has the block size, in both byte orders, and the label; a
//! Joliet descriptor has the same label in Unicode and without the limit to capitals. Source:
//! ECMA-119, clauses 8.1 to 8.5; Joliet Specification (1995). High Sierra: Linux,
//! `include/uapi/linux/iso_fs.h`.

use units::DiskText;

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::bytes::Block;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};

/// Place where the first descriptor stands.
const FIRST_BYTES: u64 = 32 << 10;

/// A descriptor's length.
const DESCRIPTOR_BYTES: u64 = 2048;

/// More descriptors than any disc has.
const DESCRIPTORS_MAX: u64 = 16;

/// The escape sequences of the three levels of Joliet.
const JOLIET: [&[u8; 3]; 3] = [b"%/@", b"%/C", b"%/E"];

/// The head of a descriptor, as far as it is read, with the dates.
type Descriptor = Block<881>;

/// The ISO 9660 (or High Sierra) on the volume.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let mut primary: Option<(u64, Descriptor)> = None;
    let mut joliet_label = None;
    for number in 0..DESCRIPTORS_MAX {
        let at_bytes = FIRST_BYTES + number * DESCRIPTOR_BYTES;
        if !heads.has(at_bytes + 1, b"CD001") {
            break;
        }
        let Some(descriptor) = heads.block::<881>(at_bytes) else { break };
        match descriptor.byte::<0>() {
            1 if primary.is_none() => primary = Some((at_bytes, descriptor)),
            2 if JOLIET.contains(&&descriptor.array::<88, 3>()) => {
                joliet_label = Some(joliet_text(&descriptor));
            }
            255 => break,
            _ => {}
        }
    }
    match primary {
        Some((at_bytes, descriptor)) => system(at_bytes, &descriptor, joliet_label),
        None => high_sierra(heads),
    }
}

fn system(at_bytes: u64, primary: &Descriptor, joliet_label: Option<DiskText>) -> Option<Found> {
    let mut problems = Vec::new();
    let [little, big] = [primary.le16::<128>(), primary.be16::<130>()];
    let [blocks, blocks_big] = [primary.le32::<80>(), primary.be32::<84>()];
    let block_bytes =
        [little, big].into_iter().find_map(|bytes| field::power_of_two(bytes, 512..=2048))?;
    let pairs = [
        ("logical block size", 128, u32::from(little), u32::from(big)),
        ("volume space size", 80, blocks, blocks_big),
    ];
    for (name, offset, little, big) in pairs {
        if little != big {
            let detail = format!("{name} is {little} little-endian and {big} big-endian");
            problems.push(Problem::new(ProblemKind::Field, at_bytes + offset, detail));
        }
    }
    let plain = DiskText::from_padded(&primary.array::<40, 32>());
    // Joliet cuts long labels: one that the plain label starts with adds nothing.
    let label = match joliet_label {
        Some(joliet) if !joliet.is_empty() && !plain.raw().starts_with(joliet.raw()) => joliet,
        _ => plain,
    };
    let value = FileSystem {
        label: field::not_empty(label),
        id: date(&primary.array::<830, 17>()).or_else(|| date(&primary.array::<813, 17>())),
        size_bytes: u64::from(blocks).checked_mul(block_bytes),
        ..FileSystem::of_blocks("iso9660", block_bytes)
    };
    Some(Parsed { value, problems })
}

/// A Joliet descriptor's label: 16 big-endian UTF-16 units, padded with blanks.
fn joliet_text(descriptor: &Descriptor) -> DiskText {
    let text = DiskText::from_utf16be(&descriptor.array::<40, 32>());
    DiskText::from_padded(text.raw())
}

/// The date that blkid takes for a UUID: 16 digits as `YYYY-MM-DD-hh-mm-ss-cc`; `None` when they
/// are no digits, or all zeros with no time zone, which means that no date was given.
fn date(field: &[u8; 17]) -> Option<String> {
    let (digits, zone) = field.split_at(16);
    let unset = zone == [0] && digits.iter().all(|&digit| digit == b'0');
    if unset || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    let mut parts = vec![digits[..4].to_owned()];
    parts.extend((4..16).step_by(2).map(|start| digits[start..start + 2].to_owned()));
    Some(parts.join("-"))
}

/// The predecessor of ISO 9660: its descriptors start eight bytes later.
fn high_sierra(heads: &Heads<'_>) -> Option<Found> {
    let descriptor: Block<140> = heads.block(FIRST_BYTES)?;
    let plausible = descriptor.byte::<8>() == 1 && descriptor.array::<9, 5>() == *b"CDROM";
    let block_bytes = field::power_of_two(descriptor.le16::<136>(), 512..=2048)?;
    plausible.then(|| {
        Parsed::sound(FileSystem {
            variant: Some("High Sierra".to_owned()),
            label: field::label(&descriptor.array::<48, 32>()),
            ..FileSystem::of_blocks("iso9660", block_bytes)
        })
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    fn disc() -> MemoryDisk {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(32768, b"\x00CD001\x01");
        let at = 32768 + 2048;
        disk.put(at, b"\x01CD001\x01");
        disk.put(at + 40, b"RESCUE                          ");
        disk.put(at + 80, &[0, 2, 0, 0, 0, 0, 2, 0]);
        disk.put(at + 128, &[0, 8, 8, 0]);
        disk.put(at + 813, b"2024010203040506\0");
        disk.put(at + 830, b"0000000000000000\0");
        disk
    }

    fn found(disk: &MemoryDisk) -> Option<Found> {
        read(&Heads::new(disk))
    }

    #[test]
    fn the_primary_descriptor_may_follow_a_boot_record() {
        let parsed = found(&disc()).unwrap();
        assert_eq!(parsed.problems, []);
        let disc = parsed.value;
        assert_eq!((disc.block_bytes, disc.size_bytes), (Some(2048), Some(1 << 20)));
        assert_eq!(disc.label, Some("RESCUE".into()));
        assert_eq!(disc.id.as_deref(), Some("2024-01-02-03-04-05-06"));
    }

    #[test]
    fn a_joliet_label_wins_unless_it_is_the_plain_one_cut() {
        for (label, expected) in [("Rescue", "Rescue"), ("RESC", "RESCUE")] {
            let mut disk = disc();
            let at = 32768 + 2 * 2048;
            let text: Vec<u8> = label.bytes().flat_map(|byte| [0, byte]).collect();
            disk.put(at, b"\x02CD001\x01");
            disk.put(at + 40, &text);
            disk.put(at + 88, b"%/E");
            assert_eq!(found(&disk).unwrap().value.label, Some(expected.into()));
        }
    }

    #[test]
    fn a_block_size_that_differs_between_byte_orders_is_a_problem() {
        let mut disk = disc();
        disk.put(32768 + 2048 + 130, &[2, 0]);
        assert_eq!(found(&disk).unwrap().problems[0].kind, ProblemKind::Field);
    }

    #[test]
    fn high_sierra_is_told_apart() {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(32768 + 8, b"\x01CDROM\x01");
        assert!(found(&disk).is_none());
        disk.put(32768 + 136, &[0, 8]);
        assert_eq!(found(&disk).unwrap().value.variant.as_deref(), Some("High Sierra"));
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        hostile::answers_whatever_stands_in(&disc(), 32768..32768 + 3000, read);
    }
}
