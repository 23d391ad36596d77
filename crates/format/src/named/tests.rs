//! The table against volumes made from it.

use device::MemoryDisk;

use super::*;
use crate::heads::MAGIC_MAX;

const LENGTH: u64 = (4 << 20) + 100;

/// A volume with what `entry` asks for at its place number `place`, but for the last `missing` of
/// its conditions.
fn volume(entry: &Named, place: usize, missing: usize) -> MemoryDisk {
    let mut disk = MemoryDisk::new(LENGTH);
    let at_bytes = entry.place.of(LENGTH).nth(place).unwrap();
    let conditions = [(0, entry.mark)];
    let conditions: Vec<_> = conditions.iter().chain(entry.also).collect();
    for (beside, bytes) in &conditions[..conditions.len() - missing] {
        // Conditions may be zeros, which are there already.
        disk.put(at_bytes + beside, bytes);
    }
    disk
}

fn found(disk: &MemoryDisk, class: Class) -> Option<&'static str> {
    find(&Heads::new(disk), |other| other == class).map(|(entry, _)| entry.kind)
}

// Few tools that make these are at hand, so the volumes are made from the table.
#[test]
fn finds_every_entry_at_its_place_and_nothing_on_zeros() {
    for entry in NAMED {
        for place in 0..entry.place.of(LENGTH).count() {
            assert_eq!(found(&volume(entry, place, 0), entry.class), Some(entry.kind));
            assert_eq!(found(&volume(entry, place, 1 + entry.also.len()), entry.class), None);
            assert!(entry.leaves_mark(&volume(entry, place, 0)), "{}", entry.kind);
        }
    }
}

#[test]
fn a_mark_without_what_must_stand_beside_it_is_none() {
    for entry in NAMED.iter().filter(|entry| !entry.also.is_empty()) {
        if entry.also.iter().all(|(_, bytes)| bytes.iter().all(|&byte| byte == 0)) {
            continue;
        }
        assert_eq!(entry.find(&Heads::new(&volume(entry, 0, 1))), None, "{}", entry.kind);
    }
}

#[test]
fn every_mark_with_what_stands_beside_it_has_three_bytes_or_more() {
    for entry in NAMED {
        let beside: usize = entry.also.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!((3..=MAGIC_MAX).contains(&(entry.mark.len() + beside)), "{}", entry.kind);
    }
}

#[test]
fn every_command_names_its_file() {
    for entry in NAMED {
        if let Class::Packed(command) | Class::Image(command) = entry.class {
            assert!(command.contains("FILE"), "{command}");
        }
    }
}

#[test]
fn an_empty_or_short_volume_holds_nothing() {
    for length in [0, 1, 511, 512, 1023, 4096] {
        assert!(find(&Heads::new(&MemoryDisk::new(length)), |_| true).is_none());
    }
}
