//! Bytes outside of file systems after `plan`, `apply` and `convert`: a part of what
//! `cargo xtask soak conservation` tries.

use std::path::{Path, PathBuf};

use testkit::conservation::{ConservedCounts, ConservedDisk, conserved};
use testkit::{Scratch, need_loops, need_tools, scratch, tool};

/// Ends the test unless everything is there that makes the disks and looks at them.
macro_rules! need_disks {
    () => {
        need_loops!();
        need_tools!("sfdisk", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkfs.fat", "mkfs.exfat");
        need_tools!("mkfs.ntfs", "mkswap", "mdadm", "mcopy", "fsck.fat");
    };
}

/// Seed of a disk that every way changes, with the word KEEP outside of its file systems.
const KEEPS: u64 = 1025;

fn taken(program: &Path, seed: u64) -> ConservedDisk {
    let directory = Scratch::in_memory().unwrap_or_else(Scratch::new);
    conserved(program, directory.path(), seed).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn generated_disks_lose_no_byte_in_any_way_and_are_undone_to_the_byte() {
    need_disks!();
    let first = testkit::random(1).next_u64() % 100_000;
    let mut counts = ConservedCounts::default();
    for seed in [KEEPS].into_iter().chain(first..first + 4) {
        let disk = taken(Path::new(env!("CARGO_BIN_EXE_straddle")), seed);
        assert_eq!(disk.faults, [""; 0], "{}", disk.described);
        counts.add(&disk);
    }
    println!("{}", counts.table());
    assert_eq!(counts.hollow(), [""; 0], "each way changes a disk");
}

/// A program that does as straddle does, and runs `lines` after it. `$image` is the disk that it
/// wrote.
fn liar(scratch: &Scratch, lines: &str) -> PathBuf {
    let straddle = env!("CARGO_BIN_EXE_straddle");
    let text = format!(
        "#!/bin/sh\n\
         '{straddle}' \"$@\" || exit\n\
         lie() {{ [ ! -e \"$1\" ] || (image=$1; {lines}) >&2; }}\n\
         case \"$*\" in\n\
         *--script*) mv plan.sh honest.sh\n\
         printf 'sh honest.sh \"$@\" || exit\\nimage=$1\\n%s\\n' '{lines}' >plan.sh ;;\n\
         apply*) for image; do :; done; lie \"$image\" ;;\n\
         convert*-o*) for image; do :; done; lie \"$image\" ;;\n\
         esac\n"
    );
    let program = scratch.file("liar", text.as_bytes());
    tool::run("chmod", &["+x", scratch::text(&program)]);
    program
}

/// Faults of the disk of a seed that every way changes, with a program that lies.
fn faults(seed: u64, lines: &str) -> String {
    let scratch = Scratch::new();
    let disk = taken(&liar(&scratch, lines), seed);
    assert!(!disk.faults.is_empty(), "{disk:?}");
    disk.faults.join("\n")
}

#[test]
fn one_sector_that_a_way_loses_is_found_in_each() {
    need_disks!();
    let faults = faults(KEEPS, "LC_ALL=C sed -i s/KEEP/LOST/ \"$image\"");
    for fault in [
        "script: LOST 1 blocks",
        "apply: LOST 1 blocks",
        "apply: undo does not give every byte back",
        "convert: LOST 1 blocks",
        "in place: LOST 1 blocks",
    ] {
        assert!(faults.contains(fault), "{faults}");
    }
}

#[test]
fn a_partition_that_is_shorter_than_its_content_is_found() {
    need_disks!();
    let shorter = "[ \"$image\" != script.raw ] || echo size=1000 | sfdisk -q -N 1 script.raw";
    let faults = faults(KEEPS, shorter);
    assert!(faults.contains("partition 1: cut"), "{faults}");
}
