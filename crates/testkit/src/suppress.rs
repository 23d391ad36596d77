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

/// From now on `fsync` and `fdatasync` of this thread, and of all that it starts, do nothing on
/// descriptors from `least` to `most`. As [`syncs`] else.
#[must_use]
pub fn syncs_of(least: u32, most: u32) -> bool {
    let found = NUMBERS.iter().find(|(name, _)| *name == std::env::consts::ARCH);
    let Some((_, numbers)) = found else { return false };
    let condition = |compared, value: u32| {
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, compared, value.into()).ok()
    };
    let rule = || {
        let least = condition(SeccompCmpOp::Ge, least)?;
        SeccompRule::new(vec![least, condition(SeccompCmpOp::Le, most)?]).ok()
    };
    let rules: Option<BTreeMap<i64, Vec<SeccompRule>>> =
        numbers.syncs[..2].iter().map(|&number| Some((number, vec![rule()?]))).collect();
    let program = rules.and_then(|rules| filter(rules, SeccompAction::Errno(0), numbers.target));
    program.is_some_and(|program| seccompiler::apply_filter(&program).is_ok())
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

/// Filters as `systemd-nspawn --suppress-sync` installs them, one for each architecture, the oldest
/// first; each the bytes of a program, in hexadecimal. libseccomp 2.5.4 made them of the rules of
/// `seccomp_suppress_sync`.
pub const SYSTEMD: &[(&str, &str)] = &[
    (
        "x86",
        "20000000040000001500001703000040200000000000000015000500240000001500040076000000\
     15000300900000001500020094000000150001003a01000015000001580100000600000000000500\
     15000001b50100000600000026000500150000050500000020000000180000005400000000101000\
     15000800001010005400000000100000150006070010000015000006270100002000000020000000\
     54000000001010001500020000101000540000000010000015000001001000000600000016000500\
     060000000000ff7f",
    ),
    (
        "x32",
        "2000000004000000150000183e0000c020000000000000003500001600000040150005001a000040\
     150004004a000040150003004b00004015000200a200004015000100150100401500000132010040\
     060000000000050015000001b5010040060000002600050015000005020000402000000018000000\
     54000000001010001500080000101000540000000010000015000607001000001500000601010040\
     20000000200000005400000000101000150002000010100054000000001000001500000100100000\
     0600000016000500060000000000ff7f",
    ),
    (
        "x86_64",
        "20000000040000001500001f3e0000c0200000000000000035000001000000401500001cffffffff\
     150005001a000000150004004a000000150003004b00000015000200a20000001500010015010000\
     1500000132010000060000000000050015000001b501000006000000260005001500000802000000\
     200000001c00000054000000000000001500000f0000000020000000180000005400000000101000\
     15000b000010100054000000001000001500090a0010000015000009010100002000000024000000\
     54000000000000001500000600000000200000002000000054000000001010001500020000101000\
     540000000010000015000001001000000600000016000500060000000000ff7f",
    ),
    (
        "aarch64",
        "200000000400000015000014b70000c0200000000000000015000500510000001500040052000000\
     1500030053000000150002005400000015000100e3000000150000010b0100000600000000000500\
     15000001b50100000600000026000500150000093800000020000000240000005400000000000000\
     15000006000000002000000020000000540000000010100015000200001010005400000000100000\
     15000001001000000600000016000500060000000000ff7f",
    ),
];

/// The same by its newer versions, which leave calls on descriptors below 0 to the kernel.
pub const SYSTEMD_FROM_ZERO: &[(&str, &str)] = &[
    (
        "x86",
        "20000000040000001500001903000040200000000000000015000900240000001500080090000000\
     15000001b5010000060000002600050015000300760000001500020094000000150001003a010000\
     1500000358010000200000001000000025000e00ffffff7f06000000000005001500000505000000\
     20000000180000005400000000101000150008000010100054000000001000001500060700100000\
     15000006270100002000000020000000540000000010100015000200001010005400000000100000\
     15000001001000000600000016000500060000000000ff7f",
    ),
    (
        "x86_64",
        "2000000004000000150000243e0000c02000000000000000350000010000004015000021ffffffff\
     15001f001a00000015001e00a200000015000001b501000006000000260005001500000802000000\
     200000001c0000005400000000000000150000190000000020000000180000005400000000101000\
     15000d0000101000540000000010000015000b140010000015000d004a00000015000c004b000000\
     1500000901010000200000002400000054000000000000001500000e000000002000000020000000\
     54000000001010001500020000101000540000000010000015000009001000000600000016000500\
     15000100150100001500000632010000200000001400000025000400000000001500000200000000\
     200000001000000025000100ffffff7f0600000000000500060000000000ff7f",
    ),
];

/// The bytes that `text` names in hexadecimal.
///
/// # Panics
/// When it names none.
#[must_use]
pub fn bytes(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}
