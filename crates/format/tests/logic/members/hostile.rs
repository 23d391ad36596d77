//! Every truncation and many changes of real and made superblocks: always an answer, never a panic,
//! never much reading.

use std::cell::Cell;

use device::{Disk, MemoryDisk, ReadError, disk};
use format::member::{bcache, integrity, luks, md};

use super::encode::{IntegritySb, MdOne, MdZero, json, luks1, luks2, segment};

/// A disk that counts what is read from it.
struct Counted<'a> {
    below: &'a dyn Disk,
    bytes: Cell<u64>,
    reads: Cell<u64>,
}

impl Disk for Counted<'_> {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.bytes.set(self.bytes.get() + disk::length_of(buffer));
        self.reads.set(self.reads.get() + 1);
        self.below.read_at(offset_bytes, buffer)
    }
}

/// Asks every reader; all that they say is also printed.
fn ask(below: &dyn Disk) {
    let disk = Counted { below, bytes: Cell::new(0), reads: Cell::new(0) };
    let said = (md::read(&disk), luks::read(&disk), bcache::read(&disk), integrity::read(&disk));
    if let Some(member) = &said.0 {
        let _ = (member.value.data_members(), member.value.rotation(), member.value.belongs_here());
    }
    if let Some(found) = &said.3 {
        let _ = (found.value.place_bytes(0), found.value.place_bytes(u64::MAX - 1));
    }
    assert!(!format!("{said:?}").contains('\u{1b}'));
    assert!(disk.bytes.get() <= 10 << 20, "{} bytes", disk.bytes.get());
    assert!(disk.reads.get() <= 30, "{} reads", disk.reads.get());
}

/// Changes each of `places` of `head`, which stands at `at` of a device of `length_bytes`.
fn change(length_bytes: u64, at: u64, head: &[u8], places: impl Iterator<Item = usize>) {
    let mut disk = MemoryDisk::new(length_bytes);
    disk.put(at, head);
    for place in places.filter(|&place| place < head.len()) {
        let byte = head[place];
        let address = at + u64::try_from(place).expect("it fits");
        for value in [0, 1, 0x7f, 0x80, 0xff, byte ^ 1, byte.wrapping_add(1)] {
            disk.put(address, &[value]);
            ask(&disk);
        }
        disk.put(address, &[byte]);
    }
}

#[test]
fn md_superblocks_survive_every_change_of_a_byte() {
    let zero = (128 << 20) - 0x1_0000;
    change(128 << 20, 4096, include_bytes!("../../heads/md-1.2-raid5.bin"), 0..300);
    change(128 << 20, 0, &MdOne { super_offset: 0, ..MdOne::raid5() }.bytes(), 0..300);
    change(128 << 20, zero, &MdZero::raid5().bytes(), (0..300).chain(508..680).chain(3960..3996));
}

#[test]
fn luks_headers_survive_every_change_of_a_byte() {
    let text = json(&segment(16 << 20), "\"online-reencrypt\"");
    let mut both = luks2(0x4000, 0, 3, &text);
    both.extend(luks2(0x4000, 0x4000, 3, &text));
    change(64 << 20, 0, &both, (0..300).chain(440..520).chain(4090..4110 + text.len()));
    change(64 << 20, 0, &luks1(4096), 0..592);
}

#[test]
fn changed_json_is_survived_when_its_checksum_is_right() {
    let text = json(&segment(16 << 20), "\"online-reencrypt\"");
    for place in 0..text.len() {
        for value in [b'0', b'"', b'{', b'}', b'[', b',', b'-', b'\\', b'e', 0x01] {
            let mut changed = text.clone().into_bytes();
            changed[place] = value;
            let changed = String::from_utf8(changed).unwrap();
            let mut disk = MemoryDisk::with_head(64 << 20, &luks2(0x4000, 0, 3, &changed));
            disk.put(0x4000, &luks2(0x4000, 0x4000, 3, &text));
            ask(&disk);
        }
    }
}

#[test]
fn bcache_and_integrity_superblocks_survive_every_change_of_a_byte() {
    change(64 << 20, 4096, include_bytes!("../../heads/bcache-backing.bin"), 0..512);
    let sb = IntegritySb {
        version: 5,
        log_interleave: 15,
        tag: 4,
        journal: 7,
        provided: 100_000,
        flags: 0x18,
        log_block: 3,
    };
    change(64 << 20, 0, &sb.bytes(), 0..64);
}

#[test]
fn every_truncation_is_survived() {
    let text = json(&segment(16 << 20), "");
    let mut luks = luks2(0x4000, 0, 3, &text);
    luks.extend(luks2(0x4000, 0x4000, 3, &text));
    let mut starts = MdOne { super_offset: 0, ..MdOne::raid5() }.bytes();
    starts.extend(MdOne::raid5().bytes());
    let mut bcache = vec![0; 4096];
    bcache.extend(include_bytes!("../../heads/bcache-backing.bin"));
    bcache.resize(4096 + 2300, 0);
    let mut zero = MdZero::raid5().bytes();
    zero.resize(0x1_0000, 0);
    for mut bytes in [luks, starts, bcache, luks1(4096), zero] {
        // Each length up to 9 KiB, which holds every fixed structure; then each sector.
        while !bytes.is_empty() {
            ask(&bytes);
            let shorter = bytes.len() - 1;
            let next = if shorter < 9216 { shorter } else { shorter / 512 * 512 };
            bytes.truncate(next);
        }
    }
}

#[test]
fn random_bytes_are_nothing() {
    let mut random = testkit::random(0x6d65_6d62);
    for _ in 0..50 {
        let bytes: Vec<u8> = (0..16384).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        assert_eq!(md::read(&bytes), None);
        assert_eq!(luks::read(&bytes), None);
        assert_eq!(bcache::read(&bytes), None);
        assert_eq!(integrity::read(&bytes), None);
    }
}
