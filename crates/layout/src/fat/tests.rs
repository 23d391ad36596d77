//! A FAT made again in memory: its file, and what is after its last cluster.

use std::rc::Rc;

use device::{Disk, MemoryDisk, disk};

use super::RebuiltFat;
use super::shape::Shape;
use crate::old_table_bytes::{number, put};

const SECTOR: u64 = 512;
const SECTORS: u64 = 128;
const VOLUME_BYTES: u64 = SECTORS * SECTOR + 8192;

/// A FAT12 with `content` in its clusters 2 and 3, and a byte at the end of its partition.
fn volume(content: &[u8]) -> Rc<dyn Disk> {
    let mut volume = MemoryDisk::new(VOLUME_BYTES);
    let mut boot = vec![0; 512];
    let fields = [(11, 2, SECTOR), (13, 1, 1), (14, 2, 1), (16, 1, 2), (17, 2, 16)];
    for (at, length, value) in fields.into_iter().chain([(19, 2, SECTORS), (22, 2, 1)]) {
        put(&mut boot, at, length, value);
    }
    boot[21] = 0xf8;
    boot[510..].copy_from_slice(&[0x55, 0xaa]);
    volume.put(0, &boot);
    for table in [1, 2] {
        volume.put(table * SECTOR, &[0xf8, 0xff, 0xff, 0x03, 0xf0, 0xff]);
    }
    let mut entry = b"FILE    BIN".to_vec();
    entry.resize(32, 0);
    put(&mut entry, 26, 2, 2);
    put(&mut entry, 28, 4, disk::length_of(content));
    volume.put(3 * SECTOR, &entry);
    volume.put(4 * SECTOR, content);
    volume.put(VOLUME_BYTES - 1, &[0xa5]);
    Rc::new(volume)
}

#[test]
fn a_fat_made_again_holds_its_file_and_the_last_byte_after_its_clusters() {
    let content: Vec<u8> = (0..1000_u32).map(|at| (at % 251).to_le_bytes()[0]).collect();
    let found = RebuiltFat::new(&volume(&content), 4096).expect("it fits");
    let read = |at, length| disk::read_vec(&found, at, length).expect("it is read");
    let shape = Shape::read(&found, &read(0, 512)).expect("it is sound");
    let first = number(&read(shape.root().0, 32), 26, 2);
    let first = shape.cluster_at(u32::try_from(first).expect("a cluster"));
    assert_eq!((shape.sector, read(first, 1000)), (4096, content));
    assert_eq!(read(VOLUME_BYTES - 1, 1), [0xa5]);
}
