//! What a process's seccomp filters make of each call that syncs.
//!
//! Sources of the numbers: Linux `arch/x86/entry/syscalls/syscall_64.tbl` and
//! `include/uapi/asm-generic/unistd.h`; of the flags: `include/uapi/asm-generic/fcntl.h`,
//! `include/uapi/linux/fs.h`; of the architectures: `include/uapi/linux/audit.h`.

use format::seccomp::{Action, Call, Program, outcome};

use super::evidence::{CallFate, Fate};

const O_DSYNC: u64 = 0x1000;
const O_SYNC: u64 = 0x10_1000;
const RWF_DSYNC: u64 = 2;
const RWF_SYNC: u64 = 4;
const MS_SYNC: u64 = 4;
const SYNC_RANGE: u64 = 7;
/// `AT_FDCWD`, as a register holds it.
const HERE: u64 = 0xffff_ff9c;
const READ_WRITE: u64 = 2;
/// Addresses and lengths that a program may well pass.
const PLACE: u64 = 0x7f00_0000_1000;
const LENGTH: u64 = 8192;
const FILE: u64 = 3;

/// Calls by one kind of machine.
struct Machine {
    /// As `std::env::consts::ARCH` has it.
    name: &'static str,
    architecture: u32,
    calls: &'static [(&'static str, u32, [u64; 6])],
}

const MACHINES: [Machine; 2] = [
    Machine {
        name: "x86_64",
        architecture: 0xc000_003e,
        calls: &[
            ("fsync", 74, [FILE, 0, 0, 0, 0, 0]),
            ("fdatasync", 75, [FILE, 0, 0, 0, 0, 0]),
            ("sync_file_range", 277, [FILE, 0, LENGTH, SYNC_RANGE, 0, 0]),
            ("sync", 162, [0; 6]),
            ("syncfs", 306, [FILE, 0, 0, 0, 0, 0]),
            ("msync", 26, [PLACE, LENGTH, MS_SYNC, 0, 0, 0]),
            ("open with O_SYNC", 2, [PLACE, O_SYNC | READ_WRITE, 0, 0, 0, 0]),
            ("open with O_DSYNC", 2, [PLACE, O_DSYNC | READ_WRITE, 0, 0, 0, 0]),
            ("openat with O_SYNC", 257, [HERE, PLACE, O_SYNC | READ_WRITE, 0, 0, 0]),
            ("openat with O_DSYNC", 257, [HERE, PLACE, O_DSYNC | READ_WRITE, 0, 0, 0]),
            ("pwritev2 with RWF_SYNC", 328, [FILE, PLACE, 1, 0, 0, RWF_SYNC]),
            ("pwritev2 with RWF_DSYNC", 328, [FILE, PLACE, 1, 0, 0, RWF_DSYNC]),
        ],
    },
    Machine {
        name: "aarch64",
        architecture: 0xc000_00b7,
        calls: &[
            ("fsync", 82, [FILE, 0, 0, 0, 0, 0]),
            ("fdatasync", 83, [FILE, 0, 0, 0, 0, 0]),
            ("sync_file_range", 84, [FILE, 0, LENGTH, SYNC_RANGE, 0, 0]),
            ("sync", 81, [0; 6]),
            ("syncfs", 267, [FILE, 0, 0, 0, 0, 0]),
            ("msync", 227, [PLACE, LENGTH, MS_SYNC, 0, 0, 0]),
            ("openat with O_SYNC", 56, [HERE, PLACE, O_SYNC | READ_WRITE, 0, 0, 0]),
            ("openat with O_DSYNC", 56, [HERE, PLACE, O_DSYNC | READ_WRITE, 0, 0, 0]),
            ("pwritev2 with RWF_SYNC", 287, [FILE, PLACE, 1, 0, 0, RWF_SYNC]),
            ("pwritev2 with RWF_DSYNC", 287, [FILE, PLACE, 1, 0, 0, RWF_DSYNC]),
        ],
    },
];

/// What becomes of each call that syncs, under `filters` (the bytes of programs, the oldest first)
/// on a machine of the kind that `std::env::consts::ARCH` names.
///
/// # Errors
/// When a filter is no program, or nothing is known of such a machine; the text says which.
pub fn fates(filters: &[Vec<u8>], machine: &str) -> Result<Vec<CallFate>, String> {
    let machine = MACHINES.iter().find(|known| known.name == machine).ok_or_else(|| {
        format!(
            "the numbers of calls on {} are not known here",
            units::text::escape(machine.as_bytes())
        )
    })?;
    let programs: Result<Vec<Program>, _> =
        filters.iter().map(|bytes| Program::parse(bytes)).collect();
    let programs = programs.map_err(|error| format!("a filter cannot be understood: {error}"))?;
    let fate = |&(call, number, arguments): &(&str, u32, [u64; 6])| {
        let seen = Call { number, architecture: machine.architecture, arguments };
        let fate = match outcome(&programs, &seen) {
            Action::Allow => Fate::Done,
            Action::Error(0) => Fate::Suppressed,
            Action::Notify | Action::Trace => Fate::Decided,
            Action::Error(_) | Action::Trap | Action::Kill => Fate::Refused,
        };
        CallFate { call: call.to_owned(), fate }
    };
    Ok(machine.calls.iter().map(fate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter that answers `word` to call `number`, and lets all others through.
    fn filter(number: u32, word: u32) -> Vec<u8> {
        let rows: [(u16, u8, u8, u32); 4] =
            [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, word), (0x06, 0, 0, 0x7fff_0000)];
        let bytes = rows.iter().flat_map(|&(code, then, otherwise, constant)| {
            [&code.to_le_bytes()[..], &[then, otherwise], &constant.to_le_bytes()].concat()
        });
        bytes.collect()
    }

    #[test]
    fn each_call_is_asked_about_with_the_numbers_of_its_machine() {
        let of = |machine: &str, number, word| {
            let found = fates(&[filter(number, word)], machine).unwrap();
            let hit = found.into_iter().filter(|call| call.fate != Fate::Done);
            hit.map(|call| (call.call, call.fate)).collect::<Vec<_>>()
        };
        let one = |call: &str, fate| vec![(call.to_owned(), fate)];
        assert_eq!(of("x86_64", 74, 0x0005_0000), one("fsync", Fate::Suppressed));
        assert_eq!(of("aarch64", 83, 0x0005_0000), one("fdatasync", Fate::Suppressed));
        assert_eq!(of("x86_64", 162, 0x0005_0001), one("sync", Fate::Refused));
        assert_eq!(of("x86_64", 26, 0x7fc0_0000), one("msync", Fate::Decided));
        assert_eq!(of("x86_64", 1, 0x0005_0000), vec![]);
        assert_eq!(of("aarch64", 287, 0x0005_0000).len(), 2);
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert!(fates(&[], "riscv64").unwrap_err().contains("riscv64"));
        assert!(fates(&[vec![1, 2, 3]], "x86_64").unwrap_err().contains("3 bytes"));
        let free = fates(&[], "x86_64").unwrap();
        assert!(free.iter().all(|call| call.fate == Fate::Done));
    }
}
