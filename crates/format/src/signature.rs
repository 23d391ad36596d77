//! Marks of data that no other parser here reads, for whoever is about to write over them.
//!
//! The parsers say what a disk holds, and check what they find. This table only says that something
//! may be there: its marks are looked for alone, without checksums, since a refusal too many costs
//! a question and one too few costs the data. Never used to say what a disk is. All that
//! [`crate::named`] knows is looked for as well.
//!
//! Sources: util-linux, `libblkid/src/superblocks` and `libblkid/src/partitions`; ECMA-119 and
//! ECMA-167 (volume recognition).

use device::Disk;

use crate::filesystem::Heads;
use crate::named::NAMED;
use crate::named::Place::{self, End, Start};

const UDF: &str = "udf";

/// What blkid calls it, where its mark stands, and the mark.
const MARKS: &[(&str, Place, &[u8])] = &[
    ("jmicron_raid_member", End(512, 512), b"JM"),
    ("LVM2_member", Start(0x18), b"LVM2 001"),
    ("LVM2_member", Start(0x218), b"LVM2 001"),
    ("LVM2_member", Start(0x418), b"LVM2 001"),
    ("LVM2_member", Start(0x618), b"LVM2 001"),
    ("ocfs2", Start(1 << 10), b"OCFSV2"),
    ("ocfs2", Start(2 << 10), b"OCFSV2"),
    ("ocfs2", Start(4 << 10), b"OCFSV2"),
    ("ocfs2", Start(8 << 10), b"OCFSV2"),
    ("gfs2", Start(64 << 10), &[0x01, 0x16, 0x19, 0x70]),
    ("vxfs", Start(8 << 10), &[0xa5, 0x01, 0xfc, 0xf5]),
    ("reiser4", Start(64 << 10), b"ReIsEr4"),
    ("iso9660", Start(32_769), b"CD001"),
    ("iso9660", Start(32_777), b"CDROM"),
    (UDF, Start(32_769), b"BEA01"),
    (UDF, Start(32_769), b"BOOT2"),
    (UDF, Start(32_769), b"CDW02"),
    (UDF, Start(32_769), b"NSR0"),
    ("sun", Start(508), &[0xda, 0xbe]),
    ("sgi", Start(0), &[0x0b, 0xe5, 0xa9, 0x41]),
];

/// The names, as blkid has them where it has, of what left a mark on `disk`, each once. Bytes that
/// cannot be read hold none.
#[must_use]
pub fn marks(disk: &dyn Disk) -> Vec<&'static str> {
    let heads = Heads::new(disk);
    let named = NAMED.iter().filter(|entry| entry.leaves_mark(disk)).map(|entry| entry.kind);
    let others = MARKS.iter().filter(|(_, place, mark)| {
        place.of(disk.length_bytes()).any(|at_bytes| heads.has(at_bytes, mark))
    });
    let mut found: Vec<&'static str> = Vec::new();
    for kind in named.chain(others.map(|(name, ..)| *name)) {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    const LENGTH_BYTES: u64 = 4 << 20;

    #[test]
    fn each_mark_is_found_at_its_place_and_not_a_byte_beside_it() {
        for &(name, place, mark) in MARKS {
            let at = place.of(LENGTH_BYTES).next().unwrap();
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(at, mark);
            assert!(marks(&disk).contains(&name), "{name} at {at}");
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(at + 1, mark);
            assert!(!marks(&disk).contains(&name), "{name} beside {at}");
        }
    }

    #[test]
    fn whatever_is_known_by_name_leaves_a_mark() {
        for entry in NAMED {
            let mut disk = MemoryDisk::with_head(LENGTH_BYTES, b"");
            disk.put(entry.place.of(LENGTH_BYTES).next().unwrap(), entry.mark);
            assert!(marks(&disk).contains(&entry.kind), "{}", entry.kind);
        }
    }

    #[test]
    fn a_blank_disk_of_any_length_has_no_mark() {
        for length in [0, 1, 511, 512, 4096, 65_536, LENGTH_BYTES + 1] {
            assert!(marks(&MemoryDisk::with_head(length, b"")).is_empty(), "{length}");
        }
    }
}
