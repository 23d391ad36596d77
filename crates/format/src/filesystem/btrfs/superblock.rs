//! btrfs: a superblock of 4096 bytes at 64 KiB, with copies further on.
//!
//! Source: `kernel-shared/uapi/btrfs_tree.h` of btrfs-progs, `struct btrfs_super_block`.

use crate::bytes::Block;
use crate::checksum::CRC32C;
use crate::filesystem::facts::Beside;
use crate::filesystem::field::{bytes_text, holding, label, power_of_two, uuid};
use crate::filesystem::found::Found;
use crate::heads::Heads;

/// Place where the first superblock stands.
pub(super) const AT: u64 = 65536;
pub(super) const MAGIC: &[u8; 8] = b"_BHRfS_M";
const UNIT_BYTES_MAX: u64 = 65536;
/// The names of the checksums, by number.
const CHECKSUMS: [&str; 4] = ["crc32c", "xxhash64", "sha256", "blake2b"];

/// The file system whose first superblock stands at 64 KiB.
pub(in crate::filesystem) fn read(heads: &Heads<'_>) -> Option<Found> {
    if !heads.has(AT + 64, MAGIC) {
        return None;
    }
    let block = heads.block::<4096>(AT)?;
    if !plausible(&block) {
        return None;
    }
    let mut found = Found::of("btrfs");
    found.value.label = label(&block.array::<299, 256>());
    found.value.id = uuid(block.array::<32, 16>());
    verify(&block, &mut found);
    if block.le64::<48>() != AT {
        found.wrong_field(AT + 48, format!("superblock says it stands at {}", block.le64::<48>()));
    }
    let (sector, node) = (block.le32::<0x90>(), block.le32::<0x94>());
    found.value.sector_bytes = power_of_two(sector, 512..=UNIT_BYTES_MAX);
    found.value.block_bytes = found.value.sector_bytes;
    if found.value.sector_bytes.is_none() {
        found.wrong_field(AT + 0x90, format!("sector of {sector} bytes"));
    }
    if power_of_two(node, u64::from(sector)..=UNIT_BYTES_MAX).is_none() {
        found.wrong_field(AT + 0x94, format!("node of {node} bytes"));
    }
    found.note("node", bytes_text(u64::from(node)));
    read_devices(&block, heads, &mut found);
    Some(found)
}

/// The name is eight bytes; some of what must stand beside it has to.
fn plausible(block: &Block<4096>) -> bool {
    holding(&[
        block.le64::<48>() == AT,
        power_of_two(block.le32::<0x90>(), 512..=UNIT_BYTES_MAX).is_some(),
        power_of_two(block.le32::<0x94>(), 512..=UNIT_BYTES_MAX).is_some(),
        usize::from(block.le16::<196>()) < CHECKSUMS.len(),
    ]) >= 3
}

/// Compares the checksum of all after it, where it is a CRC.
fn verify(block: &Block<4096>, found: &mut Found) {
    let kind = block.le16::<196>();
    match CHECKSUMS.get(usize::from(kind)) {
        Some(name) => found.note("checksum", (*name).to_owned()),
        None => found.wrong_field(AT + 196, format!("checksum type {kind}")),
    }
    if kind == 0 {
        found.compare_checksums(AT, block.le32::<0>(), CRC32C.checksum(&block.0[32..]));
    } else {
        found.unsupported(
            AT,
            format!("checksum of the superblock, of type {kind}, is not verified"),
        );
    }
}

/// Sizes: the superblock's total is that of all devices; this device's own entry stands in it.
fn read_devices(block: &Block<4096>, heads: &Heads<'_>, found: &mut Found) {
    found.set_size(heads, AT + 209, block.le64::<209>(), 1);
    let devices = block.le64::<136>();
    found.note("devices", devices.to_string());
    found.note("device number", block.le64::<201>().to_string());
    if devices > 1 {
        let (of, number) = (devices, block.le64::<201>());
        let uuid = found.value.id.clone();
        found.value.beside = uuid.map(|uuid| Beside::OneOf { of, uuid, number });
    }
    if devices != 1 {
        found.note("size of all devices", bytes_text(block.le64::<112>()));
    }
    if let Some(uuid) = uuid(block.array::<267, 16>()) {
        found.note("device UUID", uuid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    /// The second of two devices, of 1 GiB, with sectors of 4096 and nodes of 16384.
    fn superblock(checksum: u8) -> [u8; 4096] {
        let mut bytes = [0; 4096];
        for (at, value) in [(48, AT), (112, 3 << 30), (136, 2), (201, 2), (209, 1 << 30)] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes[64..72].copy_from_slice(MAGIC);
        bytes[0x90..0x98].copy_from_slice(&[0, 0x10, 0, 0, 0, 0x40, 0, 0]);
        bytes[196] = checksum;
        bytes[299..303].copy_from_slice(b"data");
        let sum = CRC32C.checksum(&bytes[32..]);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Found {
        let mut disk = MemoryDisk::new(1 << 30);
        disk.put(AT, bytes);
        read(&Heads::new(&disk)).unwrap()
    }

    #[test]
    fn the_size_is_that_of_this_device_not_of_all() {
        let found = parse(&superblock(0));
        assert_eq!(found.problems, []);
        assert_eq!(found.value.size_bytes, Some(1 << 30));
        assert_eq!(found.value.sector_bytes, Some(4096));
        assert!(found.value.details.contains(&("node", "16384 bytes".to_owned())));
        assert!(found.value.details.contains(&("devices", "2".to_owned())));
    }

    #[test]
    fn a_changed_byte_breaks_the_crc_and_other_checksums_are_said_to_be_unverified() {
        let mut bytes = superblock(0);
        bytes[4000] ^= 1;
        assert_eq!(parse(&bytes).problems[0].kind, ProblemKind::Checksum);
        assert_eq!(parse(&superblock(2)).problems[0].kind, ProblemKind::Unsupported);
    }
}
