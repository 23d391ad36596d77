//! What is known by name only: one table of signatures and places.
//!
//! One idea: a signature counts at its place only, and one of four bytes or a short word only with
//! what must follow it. Sources: Linux `drivers/md/dm-snap-persistent.c`, `drivers/md/dm-vdo`,
//! `fs/zonefs/zonefs.h`, `fs/befs/befs_fs_types.h`, `fs/hpfs/hpfs.h`,
//! `include/uapi/linux/bfs_fs.h`,
//! `drivers/block/drbd/drbd_meta_data.c`, `fs/ubifs/ubifs-media.h`, `drivers/mtd/ubi/ubi-media.h`;
//! `Ceph`, `src/os/bluestore/BlueStore.cc`; Stratis, "Stratis Software Design", section "Static
//! header"; Microsoft, "ReFS" boot sector and `BitLocker` volume header; util-linux, libblkid, for
//! the names and for VMFS and Oracle.

use units::DiskText;

use super::field;
use crate::Parsed;
use crate::filesystem::{FileSystem, Heads};

/// The longest label in the table.
const LABEL_MAX: usize = 64;

/// A place on a volume.
#[derive(Clone, Copy)]
enum Place {
    /// Bytes from its start.
    Start(u64),
    /// Bytes before its end, which is first rounded down to a multiple: bytes, multiple.
    End(u64, u64),
}

/// What is known by name.
struct Named {
    /// The name that blkid uses.
    kind: &'static str,
    /// Where the signature stands.
    place: Place,
    /// The signature, and what else must stand at which distance from it.
    signature: &'static [u8],
    also: &'static [(u64, &'static [u8])],
    /// Where the label stands, from the volume's start, and its length.
    label: Option<(u64, usize)>,
    /// Where the UUID stands, from the volume's start.
    uuid_bytes: Option<u64>,
}

/// An entry without label and UUID at a place from the start.
const fn named(
    kind: &'static str,
    at_bytes: u64,
    signature: &'static [u8],
    also: &'static [(u64, &'static [u8])],
) -> Named {
    let place = Place::Start(at_bytes);
    Named { kind, place, signature, also, label: None, uuid_bytes: None }
}

/// An entry without label and UUID at a place from the end.
const fn ending(kind: &'static str, place: Place, signature: &'static [u8]) -> Named {
    Named { kind, place, signature, also: &[], label: None, uuid_bytes: None }
}

/// The signature of each of the two headers of a Stratis block device.
const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";

/// DRBD's metadata: the signature stands 60 bytes into the last whole 4 KiB.
const DRBD: Place = Place::End(4096 - 60, 4096);

/// The GUID in the header of a `BitLocker` volume, 4967d63b-2e29-4ad8-8399-f6a339e3d001, as stored.
const BITLOCKER: &[u8] = &[
    0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a, 0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3, 0xd0, 0x01,
];

/// What follows the signature of a BeFS: its byte order, and a second signature.
const BEFS_LITTLE: &[(u64, &[u8])] = &[(4, b"EGIB"), (36, &[0x31, 0x10, 0x12, 0xdd])];
const BEFS_BIG: &[(u64, &[u8])] = &[(4, b"BIGE"), (36, &[0xdd, 0x12, 0x10, 0x31])];

/// All that is known by name.
const NAMED: &[Named] = &[
    named("BitLocker", 3, b"-FVE-FS-", &[(507, &[0x55, 0xaa])]),
    // On a removable drive it looks like a FAT, but for its GUID.
    named("BitLocker", 3, b"MSWIN4.1", &[(421, BITLOCKER)]),
    named("ReFS", 3, b"ReFS\0\0\0\0\0", &[(13, b"FSRS")]),
    // A version follows, which is a small number.
    named("VMFS_volume_member", 0x10_0000, &[0x0d, 0xd0, 0x01, 0xc0], &[(5, &[0, 0, 0])]),
    named("VMFS", 0x20_0000, &[0x5e, 0xf1, 0xab, 0x2f], &[(5, &[0, 0, 0])]),
    named("ceph_bluestore", 0, b"bluestore block device", &[]),
    Named { label: Some((40, 24)), ..named("oracleasm", 32, b"ORCLDISK", &[]) },
    named("ocfs", 8192, b"OracleCFS", &[]),
    named("vdo", 0, b"dmvdo001", &[]),
    // Valid and version are both 1.
    named("DM_snapshot_cow", 0, b"SnAp", &[(4, &[1, 0, 0, 0, 1, 0, 0, 0])]),
    named("stratis", 516, STRATIS, &[]),
    named("stratis", 9 * 512 + 4, STRATIS, &[]),
    ending("drbd", DRBD, &[0x83, 0x74, 0x02, 0x6b]),
    ending("drbd", DRBD, &[0x83, 0x74, 0x02, 0x6c]),
    ending("drbd", DRBD, &[0x83, 0x74, 0x02, 0x6d]),
    ending("isw_raid_member", Place::End(1024, 512), b"Intel Raid ISM Cfg Sig. "),
    Named { label: Some((8, 64)), uuid_bytes: Some(72), ..named("zonefs", 0, b"SFOZ", &[]) },
    Named { label: Some((512, 32)), ..named("befs", 544, b"1SFB", BEFS_LITTLE) },
    Named { label: Some((512, 32)), ..named("befs", 544, b"BFS1", BEFS_BIG) },
    Named { label: Some((0, 32)), ..named("befs", 32, b"1SFB", BEFS_LITTLE) },
    Named { label: Some((0, 32)), ..named("befs", 32, b"BFS1", BEFS_BIG) },
    // Where the data starts, a version and a block size: small numbers.
    named("bfs", 0, &[0xce, 0xfa, 0xad, 0x1b], &[(6, &[0, 0])]),
    named("vxfs", 1024, &[0xf5, 0xfc, 0x01, 0xa5], &[(5, &[0, 0, 0])]),
    named("exfs", 0, b"EXFS", &[(4, &[0, 0])]),
    named("hpfs", 8192, &[0x49, 0xe8, 0x95, 0xf9], &[(4, &[0xc5, 0xe9, 0x53, 0xfa])]),
    // The version of an erase counter header; the type of a superblock node.
    named("ubi", 0, b"UBI#\x01\0\0\0", &[]),
    named("ubifs", 0, &[0x31, 0x18, 0x10, 0x06], &[(20, &[6])]),
];

/// The first entry whose signature, and all that must follow it, is on the volume.
pub(super) fn read(heads: &Heads<'_>) -> Option<Parsed<FileSystem>> {
    let entry = NAMED.iter().find(|entry| stands(heads, entry))?;
    let label = entry.label.and_then(|(at_bytes, length)| {
        let mut bytes = [0; LABEL_MAX];
        let field = bytes.get_mut(..length)?;
        heads.read(at_bytes, field).ok()?;
        Some(DiskText::from_padded(field)).filter(|label| !label.is_empty())
    });
    let id = entry.uuid_bytes.and_then(|at_bytes| field::uuid(heads.block::<16>(at_bytes)?.0));
    Some(Parsed::sound(FileSystem { label, id, ..FileSystem::named(entry.kind) }))
}

fn stands(heads: &Heads<'_>, entry: &Named) -> bool {
    let length = heads.length_bytes();
    let place = match entry.place {
        Place::Start(bytes) => Some(bytes),
        Place::End(bytes, multiple) => (length - length % multiple).checked_sub(bytes),
    };
    place.is_some_and(|at_bytes| {
        heads.has(at_bytes, entry.signature)
            && entry.also.iter().all(|&(distance, also)| heads.has(at_bytes + distance, also))
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    const LENGTH: u64 = (4 << 20) + 100;

    /// A volume with what `entry` asks for, but for the last `missing` of its conditions.
    fn volume(entry: &Named, missing: usize) -> MemoryDisk {
        let mut disk = MemoryDisk::new(LENGTH);
        let at_bytes = match entry.place {
            Place::Start(bytes) => bytes,
            Place::End(bytes, multiple) => LENGTH - LENGTH % multiple - bytes,
        };
        let conditions = [(0, entry.signature)];
        let conditions: Vec<_> = conditions.iter().chain(entry.also).collect();
        for (distance, bytes) in &conditions[..conditions.len() - missing] {
            // Conditions may be zeros, which are there already.
            disk.put(at_bytes + distance, bytes);
        }
        disk
    }

    // Few tools that make these are at hand, so the volumes are made from the table.
    #[test]
    fn every_entry_is_found_at_its_place_and_nothing_on_zeros() {
        for entry in NAMED {
            let disk = volume(entry, 0);
            assert_eq!(read(&Heads::new(&disk)).unwrap().value.kind, entry.kind);
            let zeros = volume(entry, 1 + entry.also.len());
            assert!(read(&Heads::new(&zeros)).is_none());
        }
    }

    #[test]
    fn a_signature_without_what_must_follow_it_is_none() {
        for entry in NAMED.iter().filter(|entry| !entry.also.is_empty()) {
            if entry.also.iter().all(|(_, bytes)| bytes.iter().all(|&byte| byte == 0)) {
                continue;
            }
            assert!(read(&Heads::new(&volume(entry, 1))).is_none(), "{}", entry.kind);
        }
    }

    #[test]
    fn every_signature_has_four_bytes_or_more_and_fits_what_is_compared() {
        assert!(NAMED.iter().all(|entry| (4..=64).contains(&entry.signature.len())));
        assert!(
            NAMED.iter().all(|entry| entry.label.is_none_or(|(_, length)| length <= LABEL_MAX))
        );
    }

    #[test]
    fn a_zonefs_has_its_label_and_uuid() {
        let mut disk = MemoryDisk::with_head(8192, b"SFOZ");
        disk.put(8, b"zones");
        disk.put(72, &[0x55; 16]);
        let found = read(&Heads::new(&disk)).unwrap().value;
        assert_eq!(found.label, Some("zones".into()));
        assert_eq!(found.id.as_deref(), Some("55555555-5555-5555-5555-555555555555"));
    }

    #[test]
    fn an_empty_or_short_volume_is_none() {
        for length in [0, 1, 511, 512, 1023, 4096] {
            assert!(read(&Heads::new(&MemoryDisk::new(length))).is_none());
        }
    }
}
