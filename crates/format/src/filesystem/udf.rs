//! UDF: the recognition sequence, the anchor, and the descriptors that it points to.
//!
//! One idea: nothing at the start says how large a block is; the anchor stands in block 256, so the
//! block size is the one under which it is found. Its partition may start at any block, and its
//! file blocks count from there. Source: ECMA-167, parts 2 and 3; OSTA UDF 2.60, clauses 2.1 and
//! 2.2.
//!
//! Not here: the anchors at the end, and discs of several sessions.

use units::DiskText;

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use crate::bytes::Block;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};

/// Place where the volume recognition sequence starts.
const RECOGNITION_BYTES: u64 = 32 << 10;

/// More recognition descriptors than any volume has.
const RECOGNITION_MAX: u64 = 16;

/// More volume descriptors than any volume has: the sequence is at least 16 blocks long.
const DESCRIPTORS_MAX: u64 = 64;

/// The block sizes that are tried.
const BLOCK_SIZES: [u64; 7] = [512, 1024, 2048, 4096, 8192, 16384, 32768];

/// The start of a volume descriptor: its tag and the fields that are read.
type Descriptor = Block<512>;

/// The UDF on the volume.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let (block_bytes, anchor) = BLOCK_SIZES.into_iter().find_map(|block_bytes| {
        let recognized = is_recognized(heads, block_bytes.max(2048));
        let anchor = recognized.then(|| tagged(heads, block_bytes, 256)).flatten()?;
        (anchor.le16::<0>() == 2).then_some((block_bytes, anchor))
    })?;
    let mut parsed = Parsed::sound(FileSystem { ..FileSystem::of_blocks("udf", block_bytes) });
    let start = u64::from(anchor.le32::<20>());
    let blocks = (u64::from(anchor.le32::<16>()) / block_bytes).min(DESCRIPTORS_MAX);
    for block in start..start + blocks {
        let Some(descriptor) = tagged(heads, block_bytes, block) else { break };
        match descriptor.le16::<0>() {
            1 => parsed.value.id = volume_set_id(&descriptor.array::<72, 128>()),
            5 => partition(&descriptor, block_bytes, &mut parsed.value),
            6 => logical_volume(&descriptor, block * block_bytes, &mut parsed),
            8 => break,
            _ => {}
        }
    }
    Some(parsed)
}

/// Returns whether the recognition sequence, in steps of `step_bytes`, names a version of ECMA-167.
fn is_recognized(heads: &Heads<'_>, step_bytes: u64) -> bool {
    for number in 0..RECOGNITION_MAX {
        let at_bytes = RECOGNITION_BYTES + number * step_bytes + 1;
        let Some(name) = heads.block::<5>(at_bytes) else { return false };
        match &name.0 {
            b"NSR02" | b"NSR03" => return true,
            b"BEA01" | b"BOOT2" | b"CD001" | b"CDW02" | b"TEA01" => {}
            _ => return false,
        }
    }
    false
}

/// The descriptor in `block`; `None` when its tag's sum is wrong or it names another block.
fn tagged(heads: &Heads<'_>, block_bytes: u64, block: u64) -> Option<Descriptor> {
    let descriptor: Descriptor = heads.block(block.checked_mul(block_bytes)?)?;
    let tag = descriptor.array::<0, 16>();
    let others = tag.iter().enumerate().filter(|&(at, _)| at != 4).map(|(_, &byte)| byte);
    let sum = others.fold(0, u8::wrapping_add);
    let sound = sum == tag[4] && u64::from(descriptor.le32::<12>()) == block;
    sound.then_some(descriptor)
}

fn partition(descriptor: &Descriptor, block_bytes: u64, system: &mut FileSystem) {
    // Access types: read only, written once.
    system.is_read_only = matches!(descriptor.le32::<184>(), 1 | 2);
    let [start, length] = [descriptor.le32::<188>(), descriptor.le32::<192>()].map(u64::from);
    // Below 2^32 blocks of at most 2^15 bytes: this cannot overflow.
    system.data_offset_bytes = start * block_bytes;
    system.details.push(("partition length", (length * block_bytes).to_string()));
}

fn logical_volume(descriptor: &Descriptor, at_bytes: u64, parsed: &mut Found) {
    parsed.value.label = text(&descriptor.array::<84, 128>());
    if descriptor.array::<217, 19>() == *b"*OSTA UDF Compliant" {
        let revision = descriptor.le16::<240>();
        parsed.value.variant = Some(format!("{:x}.{:02x}", revision >> 8, revision & 0xff));
    }
    let logical = field::power_of_two(descriptor.le32::<212>(), 512..=32768);
    if logical != parsed.value.block_bytes {
        let detail = format!(
            "logical block size is {}, but the anchor stands where blocks have {} bytes",
            descriptor.le32::<212>(),
            parsed.value.block_bytes.unwrap_or_default()
        );
        parsed.problems.push(Problem::new(ProblemKind::Field, at_bytes + 212, detail));
    }
}

/// A text of the field's width (OSTA CS0): first the width of its characters, last how many of the
/// field's bytes are used. `None` when it is empty or of another width than 8 or 16.
fn text(field: &[u8; 128]) -> Option<DiskText> {
    let used = usize::from(field[127]).min(127);
    let bytes = field.get(1..used)?;
    let text = match field[0] {
        8 => {
            let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
            DiskText::from_padded(text.as_bytes())
        }
        16 => DiskText::from_utf16be(bytes),
        _ => return None,
    };
    field::not_empty(text)
}

/// Returns what blkid takes for a UUID: the first 16 characters of the volume set's name where they
/// are hexadecimal; else the first eight, and the next four in hexadecimal; else the first eight
/// so.
fn volume_set_id(field: &[u8; 128]) -> Option<String> {
    let name = text(field)?;
    let mut bytes = [0_u8; 16];
    let taken = name.raw().len().min(16);
    bytes[..taken].copy_from_slice(&name.raw()[..taken]);
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let coded =
        |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    (taken >= 8).then(|| match digits {
        0..8 => coded(&bytes[..8]),
        8..16 => plain(&bytes[..8]) + &coded(&bytes[8..12]),
        _ => plain(&bytes),
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::filesystem::hostile;

    fn descriptor(kind: u8, block: u32, fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0_u8; 512];
        bytes[0] = kind;
        bytes[12..16].copy_from_slice(&block.to_le_bytes());
        for (at, field) in fields {
            bytes[*at..at + field.len()].copy_from_slice(field);
        }
        bytes[4] = bytes[..16].iter().fold(0, |sum, &byte| sum.wrapping_add(byte));
        bytes
    }

    fn volume(block: u64) -> MemoryDisk {
        let mut disk = MemoryDisk::new(16 << 20);
        let step = block.max(2048);
        disk.put(32768, b"\0BEA01\x01");
        disk.put(32768 + step, b"\0NSR03\x01");
        disk.put(32768 + 2 * step, b"\0TEA01\x01");
        let length = u32::try_from(16 * block).unwrap().to_le_bytes();
        let anchor = descriptor(2, 256, &[(16, &length), (20, &[44, 1])]);
        disk.put(256 * block, &anchor);
        let set = descriptor(1, 300, &[(72, b"\x086B01939cXYZ!"), (199, &[13])]);
        disk.put(300 * block, &set);
        let size = u32::try_from(block).unwrap().to_le_bytes();
        let fields: [(usize, &[u8]); 5] = [
            (84, b"\x10\0D\0V"),
            (211, &[5]),
            (212, &size),
            (217, b"*OSTA UDF Compliant"),
            (240, &[1, 2]),
        ];
        disk.put(301 * block, &descriptor(6, 301, &fields));
        disk.put(302 * block, &descriptor(5, 302, &[(188, &[1, 2]), (192, &[9])]));
        disk.put(303 * block, &descriptor(8, 303, &[]));
        disk
    }

    #[test]
    fn the_block_size_is_the_one_under_which_the_anchor_is_found() {
        for block in BLOCK_SIZES {
            let parsed = read(&Heads::new(&volume(block))).unwrap();
            assert_eq!(parsed.problems, []);
            let system = parsed.value;
            assert_eq!(system.block_bytes, Some(block));
            assert_eq!(system.data_offset_bytes, 513 * block);
            assert_eq!(system.label, Some("DV".into()));
            assert_eq!(system.variant.as_deref(), Some("2.01"));
            assert_eq!(system.id.as_deref(), Some("6b01939c58595a21"));
        }
    }

    #[test]
    fn an_anchor_with_a_wrong_sum_is_no_udf() {
        let mut disk = volume(2048);
        disk.put(256 * 2048 + 4, &[0]);
        assert!(read(&Heads::new(&disk)).is_none());
    }

    #[test]
    fn every_changed_or_cut_byte_is_answered() {
        let disk = volume(2048);
        hostile::answers_whatever_stands_in(&disk, 32768..32776, read);
        for block in [256, 300, 301, 302] {
            hostile::answers_whatever_stands_in(&disk, block * 2048..block * 2048 + 256, read);
        }
    }
}
