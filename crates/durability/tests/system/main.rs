//! Programs and libraries as the compiler of this machine makes them.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use device::MemoryDisk;
use durability::elf::{Elf, NoElf, read};
use testkit::{Scratch, need_tools, scratch::text, tool};

fn read_of(bytes: &[u8]) -> Result<Elf, NoElf> {
    let mut disk = MemoryDisk::new(u64::try_from(bytes.len()).unwrap());
    disk.put(0, bytes);
    read(&disk, &["fsync", "open", "malloc"])
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
        let whole = std::fs::read(&library).unwrap();
        let found = read_of(&whole).unwrap();
        assert_eq!(found.defines, ["fsync"], "{style}");
        for length in (0..whole.len()).step_by(97) {
            if let Ok(cut) = read_of(&whole[..length]) {
                assert_eq!(cut.defines, ["fsync"], "cut at {length}");
            }
        }
    }
}

#[test]
fn tells_a_program_without_dynamic_symbols_from_one_without_section_headers() {
    need_tools!("cc", "objcopy");
    let scratch = Scratch::new();
    let source = scratch.path().join("source.c");
    std::fs::write(&source, "void _start(void) { for (;;) {} }").unwrap();
    let program = scratch.path().join("program");
    tool::run("cc", &["-static-pie", "-fPIE", "-nostdlib", "-o", text(&program), text(&source)]);
    tool::run("objcopy", &["--remove-section=.dynsym", text(&program)]);
    let mut bytes = std::fs::read(&program).unwrap();
    assert_eq!(read_of(&bytes).unwrap().defines, [""; 0]);
    // e_shoff, and e_shnum with e_shstrndx.
    let (table, counts) = if usize::BITS == 64 { (40..48, 60..64) } else { (32..36, 48..52) };
    bytes[table].fill(0);
    bytes[counts].fill(0);
    assert!(matches!(read_of(&bytes), Err(NoElf::Damaged(_))));
}
