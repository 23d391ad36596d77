//! Files by hand, by the compiler where there is one, and this test's own.

use device::MemoryDisk;
use testkit::{Scratch, need_tools, scratch::text, tool};

use super::*;

const NAMES: &[&str] = &["fsync", "open", "malloc"];

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A library of 64 bits that defines `fsync` and asks for `open`, by the older hash table.
fn library() -> Vec<u8> {
    let mut file = vec![0; 0x400];
    put(&mut file, 0, b"\x7fELF\x02\x01\x01");
    put(&mut file, 16, &[3, 0, 62, 0]);
    put(&mut file, 32, &64_u64.to_le_bytes());
    put(&mut file, 54, &[56, 0, 2, 0]);
    // All of it at 0x10000, and the dynamic section at 0x100.
    for (at, kind, offset, address, length) in
        [(64, 1, 0, 0x10000, 0x400), (120, 2, 0x100, 0x10100, 0x100_u64)]
    {
        put(&mut file, at, &[kind]);
        for (place, value) in [(8, offset), (16, address), (32, length)] {
            put(&mut file, at + place, &value.to_le_bytes());
        }
    }
    for (place, (tag, value)) in [(4, 0x10200), (5, 0x10300), (6, 0x10340_u64)].iter().enumerate() {
        put(&mut file, 0x100 + 16 * place, &[*tag]);
        put(&mut file, 0x108 + 16 * place, &u64::to_le_bytes(*value));
    }
    // One bucket, three links: 1 to 2, 2 to none.
    for (place, number) in [1, 3, 1, 0, 2, 0_u32].iter().enumerate() {
        put(&mut file, 0x200 + 4 * place, &number.to_le_bytes());
    }
    put(&mut file, 0x300, b"\0fsync\0open\0");
    put(&mut file, 0x340 + 24, &[1, 0, 0, 0, 0x12, 0, 1, 0]);
    put(&mut file, 0x340 + 48, &[7, 0, 0, 0, 0x12, 0, 0, 0]);
    file
}

fn read_of(bytes: &[u8]) -> Result<Elf, NoElf> {
    let mut disk = MemoryDisk::new(u64::try_from(bytes.len()).unwrap());
    disk.put(0, bytes);
    read(&disk, NAMES)
}

#[test]
fn what_is_defined_is_told_and_what_is_asked_for_is_not() {
    let found = read_of(&library()).unwrap();
    assert_eq!(found, Elf { is_64: true, machine: 62, is_linked: false, defines: vec!["fsync"] });
}

#[test]
fn a_library_that_is_cut_anywhere_is_refused_or_says_the_same() {
    let whole = library();
    for length in 0..whole.len() {
        if let Ok(found) = read_of(&whole[..length]) {
            assert_eq!(found.defines, ["fsync"], "cut at {length}");
        }
    }
    assert_eq!(read_of(b""), Err(NoElf::Magic));
    assert_eq!(read_of(b"#!/bin/sh\necho it is a script\n"), Err(NoElf::Magic));
    assert_eq!(read_of(b"\x7fELF\x02\x02\x01 the other order"), Err(NoElf::Kind));
}

#[test]
fn a_chain_without_an_end_ends() {
    let mut file = library();
    // Symbol 1 is not the one, and leads to itself.
    put(&mut file, 0x301, b"gsync");
    put(&mut file, 0x200 + 16, &[1]);
    let error = read_of(&file).unwrap_err();
    assert_eq!(error, NoElf::Damaged("a chain of its hash table has no end"));
}

#[test]
fn libraries_that_a_compiler_made_say_what_they_define() {
    need_tools!("cc");
    let scratch = Scratch::new();
    let source = scratch.path().join("source.c");
    std::fs::write(&source, "int fsync(int f) { return f & 0; } int own(int f) { return f; }")
        .unwrap();
    for style in ["gnu", "sysv", "both"] {
        let library = scratch.path().join("library.so");
        let style = format!("-Wl,--hash-style={style}");
        let made = ["-shared", "-fPIC", "-nostdlib", &style, "-o", text(&library), text(&source)];
        tool::run("cc", &made);
        let found = read_of(&std::fs::read(&library).unwrap()).unwrap();
        assert_eq!(found.defines, ["fsync"], "{style}");
        assert!(!found.is_linked);
    }
}

#[test]
fn this_test_is_a_program_of_this_machine() {
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let found = read_of(&own).unwrap();
    assert_eq!(found.is_64, usize::BITS == 64);
    assert!(!found.defines.contains(&"fsync"), "{found:?}");
}
