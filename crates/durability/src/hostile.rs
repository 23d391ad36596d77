//! The parsers as functions of raw bytes, for the fuzz targets: whatever the bytes are, each
//! answers without a panic, soon, and in little memory.

use std::hint::black_box;

use device::{Disk, disk};

use crate::elf;
use crate::seccomp::{self, Argument, SystemCall};

/// Reads `disk` as a program or library.
pub fn elf(disk: &dyn Disk) {
    drop(black_box(elf::read(disk, &["fsync", "", "open64"])));
}

/// The longest filter and more, asked about calls of all kinds: what it does with every descriptor
/// it does with each.
///
/// # Panics
/// When that does not hold: that is the finding.
pub fn seccomp(disk: &dyn Disk) {
    let length = disk.length_bytes().min(1 << 16);
    let bytes = disk::read_vec(disk, 0, length).unwrap_or_default();
    let Ok(filter) = seccomp::Program::parse(&bytes) else { return };
    let filters = std::slice::from_ref(&filter);
    for number in [0, 74, 257, u32::MAX] {
        let of = |argument| {
            let call = SystemCall { number, architecture: 0xc000_003e, arguments: [argument; 6] };
            seccomp::outcome(filters, &call)
        };
        let each = of(Argument::DESCRIPTOR);
        for argument in [0, 3, 1000, 0x1002, 0x10_1002, 0x7fff_ffff] {
            let one = of(Argument::value(argument));
            assert!(each.is_none() || one == each, "{argument}: {one:?}, of each {each:?}");
        }
    }
}
