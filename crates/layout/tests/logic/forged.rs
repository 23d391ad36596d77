//! Plans and records that a stranger wrote: every checksum in them is right.

use device::{Disk, MemoryDisk, disk};
use format::checksum::crc32;
use layout::{Side, Standing, TableChange, check};

use crate::made::tables::{self, Case};

/// Puts the checksums of every GPT in the bytes of `side` right.
fn sealed(mut change: TableChange, side: Side) -> TableChange {
    let bytes = |write: &layout::TableWrite| write.bytes(side).to_vec();
    let is_entries = |write: &&layout::TableWrite| write.what.contains("entries");
    let sums: Vec<(bool, u32)> = (change.writes.iter().filter(is_entries))
        .map(|write| (write.what.starts_with("backup"), crc32(&bytes(write)[..16384])))
        .collect();
    for write in change.writes.iter_mut().filter(|write| write.what.contains("header")) {
        let is_backup = write.what.starts_with("backup");
        let header = if side == Side::New { &mut write.new } else { &mut write.old };
        if let Some((_, sum)) = sums.iter().find(|(backup, _)| *backup == is_backup) {
            header[88..92].copy_from_slice(&sum.to_le_bytes());
        }
        header[16..20].fill(0);
        let own = crc32(&header[..92]);
        header[16..20].copy_from_slice(&own.to_le_bytes());
    }
    change
}

/// `change` with one bit of each copy of a byte turned: `at` in the writes whose names hold `what`.
fn turned(change: &TableChange, what: &str, at: usize, side: Side) -> TableChange {
    let mut change = change.clone();
    for write in change.writes.iter_mut().filter(|write| write.what.contains(what)) {
        let bytes = if side == Side::New { &mut write.new } else { &mut write.old };
        bytes[at] ^= 4;
    }
    sealed(change, side)
}

fn is_refused(change: &TableChange, disk: &MemoryDisk, to: Side) -> bool {
    check(change, disk, to, &|_| Ok(true)).is_err()
}

#[test]
fn of_a_first_table_only_ids_and_the_place_of_its_partition_are_free() {
    for on in ["512e", "4Kn"] {
        let (disk, change) = tables::first(on);
        assert!(!is_refused(&sealed(change.clone(), Side::New), &disk, Side::New));
        let mut free = Vec::new();
        for (what, length) in [("protective MBR", 512), ("header", 512), ("entries", 384)] {
            for at in (0..length).filter(|at| what != "header" || !(16..20).contains(at)) {
                let is_own = is_refused(&turned(&change, what, at, Side::New), &disk, Side::New);
                if !is_own {
                    free.push((what, at));
                }
            }
        }
        let is_id = |&(what, at): &(&str, usize)| match what {
            "header" => (56..72).contains(&at),
            // A version, a variant, and places that leave no room for a partition are not free.
            "entries" => (16..48).contains(&at),
            _ => false,
        };
        // The checksum of the entries is made again.
        free.retain(|&(what, at)| what != "header" || !(88..92).contains(&at));
        assert!(free.iter().all(is_id), "{on}: {free:?}");
        assert!(free.len() > 24, "{on}: {free:?}");
    }
}

#[test]
fn a_write_left_out_repeated_renamed_or_moved_is_refused() {
    for Case { name, disk, change, .. } in tables::cases() {
        assert!(!is_refused(&change, &disk, Side::New), "{name}");
        for index in 0..change.writes.len() {
            let edited = |edit: &dyn Fn(&mut Vec<layout::TableWrite>)| {
                let mut change = change.clone();
                edit(&mut change.writes);
                is_refused(&change, &disk, Side::New)
                    // What is in a FAT is compared where its files are read.
                    || (change.writes.iter().any(|write| write.what == "FAT"))
            };
            assert!(edited(&|all| drop(all.remove(index))), "{name} {index}");
            let again = change.writes[index].clone();
            assert!(edited(&|all| all.push(again.clone())), "{name} {index}");
            assert!(edited(&|all| all[index].what += "\u{1b}[2J"), "{name} {index}");
            assert!(edited(&|all| all[index].at_bytes += 4096), "{name} {index}");
        }
    }
}

#[test]
fn every_byte_of_a_changed_table_is_made_again_from_the_disk() {
    let all = tables::cases();
    for Case { name, disk, change, .. } in all.iter().filter(|case| !case.name.contains("blank")) {
        for (index, write) in change.writes.iter().enumerate().filter(|(_, w)| w.what != "FAT") {
            for at in 0..write.new.len().min(512) {
                let mut forged = change.clone();
                forged.writes[index].new[at] ^= 0x20;
                // An MBR has no checksum: its places are free, within what must be blank.
                let is_place = write.new.len() == 512 && (446..510).contains(&at);
                let is_own = is_refused(&forged, disk, Side::New);
                assert!(is_own || is_place, "{name}: byte {at} of the {}", write.what);
            }
        }
    }
}

#[test]
fn a_record_with_other_old_bytes_than_the_new_table_was_made_of_is_refused() {
    let all = tables::cases();
    for Case { name, disk, change, is_mbr, .. } in &all {
        let mut after = disk.clone();
        change.writes.iter().for_each(|write| after.put(write.at_bytes, &write.new));
        assert!(!is_refused(change, &after, Side::Old), "{name}");
        for (index, write) in change.writes.iter().enumerate().filter(|(_, w)| w.what != "FAT") {
            for at in 0..write.old.len().min(512) {
                let mut forged = change.clone();
                forged.writes[index].old[at] ^= 0x20;
                let is_place = (446..510).contains(&at) && (*is_mbr || write.at_bytes == 0);
                assert!(
                    is_refused(&forged, &after, Side::Old) || is_place,
                    "{name}: byte {at} of the {}",
                    write.what
                );
            }
        }
    }
}

#[test]
fn what_is_in_a_partition_is_no_torn_table_whatever_a_record_says() {
    let (before, change) = tables::converted();
    let tail = change.writes.iter().find(|write| write.what == "backup GPT").expect("a backup");
    // The disk's own table has a partition up to the last usable sector; a record says that zeros
    // were there.
    let last = tables::DISK_BYTES / 512 - 34;
    let mut disk = tables::gpt(512, &[(256, 383), (1024, last)]);
    disk.put(128 << 10, &disk::read_vec(&before, 128 << 10, 64 << 10).expect("it is read"));
    disk.put(tail.at_bytes, b"data");
    let mut forged = change.clone();
    for write in &mut forged.writes {
        let now = disk::read_vec(&disk, write.at_bytes, disk::length_of(&write.new));
        write.old = now.expect("it is read");
        if write.what == "backup GPT" {
            write.old[..4].fill(0);
        }
    }
    assert!(disk.length_bytes() > tail.at_bytes);
    assert!(matches!(forged.standing(&disk), Standing::Foreign(at) if at == tail.at_bytes));
}
