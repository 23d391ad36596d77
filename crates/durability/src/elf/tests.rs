//! Files by hand, and this test's own.

use device::MemoryDisk;

use super::*;

const NAMES: &[&str] = &["fsync", "open", "malloc"];

fn read_of(bytes: &[u8]) -> Result<Elf, NoElf> {
    let mut disk = MemoryDisk::new(u64::try_from(bytes.len()).unwrap());
    disk.put(0, bytes);
    read(&disk, NAMES)
}

#[test]
fn refuses_what_is_not_an_elf_file() {
    assert_eq!(read_of(b""), Err(NoElf::Magic));
    assert_eq!(read_of(b"#!/bin/sh\necho it is a script\n"), Err(NoElf::Magic));
    assert!(matches!(read_of(b"\x7fELF\x02\x01\x01 cut short"), Err(NoElf::Damaged(_))));
}

#[test]
fn this_test_is_a_program_of_this_machine() {
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let found = read_of(&own).unwrap();
    assert_eq!(found.is_64, usize::BITS == 64);
    assert!(!found.defines.contains(&"fsync"), "{found:?}");
}
