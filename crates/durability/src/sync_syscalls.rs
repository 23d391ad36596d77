//! System calls that sync: their numbers and arguments on each kind of machine.
//!
//! Sources of the numbers: Linux `arch/x86/entry/syscalls/syscall_{32,64}.tbl`,
//! `arch/arm/tools/syscall.tbl` and `include/uapi/asm-generic/unistd.h`; of the flags:
//! `include/uapi/asm-generic/fcntl.h`, `include/uapi/linux/fs.h`; of the architectures:
//! `include/uapi/linux/{audit,elf-em}.h`.

use crate::seccomp::Argument;

const ANY: Argument = Argument::ANY;
const FILE: Argument = Argument::DESCRIPTOR;
/// `O_WRONLY` with `O_SYNC`, and with `O_DSYNC`.
const O_SYNC: Argument = Argument::value(0x10_1001);
const O_DSYNC: Argument = Argument::value(0x1001);
/// `RWF_SYNC` and `RWF_DSYNC`.
const RWF_SYNC: Argument = Argument::value(4);
const RWF_DSYNC: Argument = Argument::value(2);
const MS_SYNC: Argument = Argument::value(4);
/// `SYNC_FILE_RANGE_WRITE`.
const SYNC_RANGE: Argument = Argument::value(2);

/// The program that is run: its machine, as its ELF header has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramKind {
    /// `e_machine`.
    pub machine: u16,
    /// True if its addresses have 64 bits.
    pub is_64: bool,
}

impl ProgramKind {
    /// The kind of most programs on a machine, as `std::env::consts::ARCH` names it.
    #[must_use]
    pub fn of(machine: &str) -> Option<ProgramKind> {
        MACHINES.iter().find(|known| known.name == machine).map(|known| known.kind)
    }
}

/// Calls by one kind of machine.
pub(crate) struct MachineCalls {
    name: &'static str,
    pub(crate) kind: ProgramKind,
    pub(crate) architecture: u32,
    /// Offset of every number.
    pub(crate) base: u32,
    /// Its column of numbers in [`CALLS`].
    pub(crate) column: usize,
}

/// A call by its name, its number on each kind of machine, and its arguments; those after them may
/// be anything.
pub(crate) type Row = (&'static str, [u32; 5], &'static [Argument]);

/// Columns of numbers.
const X86_64: usize = 0;
const X32: usize = 1;
const X86: usize = 2;
const ARM: usize = 3;
const GENERIC: usize = 4;
/// No number: the call has another form there, or none.
pub(crate) const NO: u32 = u32::MAX;

/// On 32 bits, numbers of 64 bits take two arguments each.
pub(crate) const CALLS: &[Row] = &[
    ("fsync", [74, 74, 118, 118, 82], &[FILE]),
    ("fdatasync", [75, 75, 148, 148, 83], &[FILE]),
    ("sync_file_range", [277, 277, NO, NO, 84], &[FILE, ANY, ANY, SYNC_RANGE]),
    ("sync_file_range", [NO, NO, 314, NO, NO], &[FILE, ANY, ANY, ANY, ANY, SYNC_RANGE]),
    ("sync_file_range2", [NO, NO, NO, 341, NO], &[FILE, SYNC_RANGE]),
    ("sync", [162, 162, 36, 36, 81], &[]),
    ("syncfs", [306, 306, 344, 373, 267], &[FILE]),
    ("msync", [26, 26, 144, 144, 227], &[ANY, ANY, MS_SYNC]),
    ("open with O_SYNC", [2, 2, 5, 5, NO], &[ANY, O_SYNC]),
    ("open with O_DSYNC", [2, 2, 5, 5, NO], &[ANY, O_DSYNC]),
    ("openat with O_SYNC", [257, 257, 295, 322, 56], &[ANY, ANY, O_SYNC]),
    ("openat with O_DSYNC", [257, 257, 295, 322, 56], &[ANY, ANY, O_DSYNC]),
    ("openat2", [437; 5], &[]),
    ("pwritev2 with RWF_SYNC", [328, NO, 379, 393, 287], &[FILE, ANY, ANY, ANY, ANY, RWF_SYNC]),
    ("pwritev2 with RWF_DSYNC", [328, NO, 379, 393, 287], &[FILE, ANY, ANY, ANY, ANY, RWF_DSYNC]),
    ("pwritev2 with RWF_SYNC", [NO, 547, NO, NO, NO], &[FILE, ANY, ANY, ANY, RWF_SYNC]),
    ("pwritev2 with RWF_DSYNC", [NO, 547, NO, NO, NO], &[FILE, ANY, ANY, ANY, RWF_DSYNC]),
];

const fn machine(
    name: &'static str,
    (machine, is_64): (u16, bool),
    (architecture, base): (u32, u32),
    column: usize,
) -> MachineCalls {
    MachineCalls { name, kind: ProgramKind { machine, is_64 }, architecture, base, column }
}

pub(crate) const MACHINES: [MachineCalls; 7] = [
    machine("x86_64", (62, true), (0xc000_003e, 0), X86_64),
    machine("x32", (62, false), (0xc000_003e, 0x4000_0000), X32),
    machine("x86", (3, false), (0x4000_0003, 0), X86),
    machine("aarch64", (183, true), (0xc000_00b7, 0), GENERIC),
    machine("arm", (40, false), (0x4000_0028, 0), ARM),
    machine("riscv64", (243, true), (0xc000_00f3, 0), GENERIC),
    machine("loongarch64", (258, true), (0xc000_0102, 0), GENERIC),
];
