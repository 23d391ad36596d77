//! Containers in containers in containers.

use device::MemoryDisk;
use format::ProblemKind;

use super::made::{Gpt, Member, group, id, put_lvm, volume};
use super::watched::{about, told};

#[test]
fn arrays_in_partitions_in_volumes_are_looked_into_as_deep_as_layers_go() {
    let mut disk = MemoryDisk::new(1 << 40);
    let mut at = 0;
    for level in 0..30_u16 {
        // A table, whose partition at 1 MiB is the member of a mirror, whose data at 1 MiB is a
        // physical volume, whose volume at 32 MiB has the next table.
        let mut table = MemoryDisk::new(1 << 20);
        let partitions = vec![(2048, (1 << 40) / 512)];
        Gpt { partitions, entry_count: 1, entry_bytes: 128 }.put(&mut table);
        disk.put(at, &device::disk::read_vec(&table, 0, 4096).unwrap());
        at += 1 << 20;
        let member = Member {
            array: level,
            level: 1,
            layout: 0,
            chunk_sectors: 0,
            raid_disks: 1,
            role: 0,
            data_sectors: 1 << 40,
            data_at_sector: 2048,
        };
        disk.put(at + 4096, &member.superblock());
        at += 1 << 20;
        let level = usize::from(level);
        let on = "type=\"striped\" stripe_count=1 stripes=[\"pv0\",32]";
        let text = group(&id(100 + level), &[id(level)], &volume("lv", 1 << 30, on));
        put_lvm(&mut disk, at, &id(level), &text);
        at += 32 << 20;
    }
    let answer = about(disk);
    assert!(told(&answer, ProblemKind::Unsupported, "nested"));
    assert!(answer.assembled.stack.len() > 24, "{} layers", answer.assembled.stack.len());
}

#[test]
fn a_cache_that_holds_itself_is_looked_into_as_deep_as_layers_go() {
    let heads = concat!(env!("CARGO_MANIFEST_DIR"), "/../format/tests/heads");
    let packed = std::fs::read(format!("{heads}/bcache-backing.pack")).unwrap();
    let whole = device::pack::unpack(&packed).unwrap();
    let superblock = device::disk::read_vec(&whole, 4096, 512).unwrap();
    // Its data begins 8 KiB behind its start; so does the next one.
    let mut disk = MemoryDisk::new(1 << 40);
    for number in 0..100 {
        disk.put(number * 8192 + 4096, &superblock);
    }
    let answer = about(disk);
    assert!(told(&answer, ProblemKind::Unsupported, "nested"));
}
