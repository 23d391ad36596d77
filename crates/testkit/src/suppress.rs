//! Syncs that do nothing, for one thread and all that it starts: what `systemd-nspawn
//! --suppress-sync` makes of its container.
//!
//! `fsync` and its kin return 0 at once; an open with `O_SYNC` or `O_DSYNC` fails with `EINVAL`.
//! Source: systemd, `src/shared/seccomp-util.c` (`seccomp_suppress_sync`).

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The numbers of calls on one architecture: those that return 0, and `open` with the place of its
/// flags among the arguments.
struct Numbers {
    target: TargetArch,
    syncs: &'static [i64],
    opens: &'static [(i64, u8)],
}

/// Linux `arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`: fsync,
/// fdatasync, msync, sync, sync_file_range, syncfs; open, openat.
const NUMBERS: &[(&str, Numbers)] = &[
    (
        "x86_64",
        Numbers {
            target: TargetArch::x86_64,
            syncs: &[74, 75, 26, 162, 277, 306],
            opens: &[(2, 1), (257, 2)],
        },
    ),
    (
        "aarch64",
        Numbers {
            target: TargetArch::aarch64,
            syncs: &[82, 83, 227, 81, 84, 267],
            opens: &[(56, 2)],
        },
    ),
];

const EINVAL: u32 = 22;
const O_DSYNC: u64 = 0x1000;
const O_SYNC: u64 = 0x10_1000;

/// From now on syncs of this thread, and of all that it starts, do nothing. It cannot be undone.
/// `false` where this machine does not allow it, or is of another architecture.
#[must_use]
pub fn syncs() -> bool {
    let found = NUMBERS.iter().find(|(name, _)| *name == std::env::consts::ARCH);
    let Some((_, numbers)) = found else { return false };
    let programs = [synced(numbers), opened(numbers)];
    programs.iter().all(|program| {
        program.as_ref().is_some_and(|program| seccompiler::apply_filter(program).is_ok())
    })
}

fn synced(numbers: &Numbers) -> Option<BpfProgram> {
    let rules = numbers.syncs.iter().map(|&number| (number, Vec::new())).collect();
    filter(rules, SeccompAction::Errno(0), numbers.target)
}

fn opened(numbers: &Numbers) -> Option<BpfProgram> {
    let rule = |place: u8, flags: u64| {
        let compared = SeccompCmpOp::MaskedEq(flags);
        let condition = SeccompCondition::new(place, SeccompCmpArgLen::Dword, compared, flags);
        SeccompRule::new(vec![condition.ok()?]).ok()
    };
    let rules: Option<BTreeMap<i64, Vec<SeccompRule>>> = numbers
        .opens
        .iter()
        .map(|&(number, place)| Some((number, vec![rule(place, O_SYNC)?, rule(place, O_DSYNC)?])))
        .collect();
    filter(rules?, SeccompAction::Errno(EINVAL), numbers.target)
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    action: SeccompAction,
    target: TargetArch,
) -> Option<BpfProgram> {
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, target).ok()?;
    BpfProgram::try_from(filter).ok()
}
