//! Programs by hand, and what the kernel would answer.

use super::*;

const X86_64: u32 = 0xc000_003e;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

/// A program of these instructions: code, then, otherwise, constant.
fn program(rows: &[(u16, u8, u8, u32)]) -> Result<Program, NoProgram> {
    let bytes = rows.iter().flat_map(|&(code, then, otherwise, constant)| {
        let head = code.to_le_bytes();
        let tail = constant.to_le_bytes();
        [head[0], head[1], then, otherwise, tail[0], tail[1], tail[2], tail[3]]
    });
    Program::parse(&bytes.collect::<Vec<u8>>())
}

fn call(number: u32, arguments: [u32; 6]) -> SystemCall {
    SystemCall { number, architecture: X86_64, arguments: arguments.map(Argument::value) }
}

/// The filter of `systemd-nspawn --suppress-sync`: fsync does nothing, an open with O_SYNC fails.
fn suppressing() -> Program {
    let rows = [
        (0x20, 0, 0, 4),
        (0x15, 0, 7, X86_64),
        (0x20, 0, 0, 0),
        (0x15, 4, 0, 74),
        (0x15, 0, 4, 257),
        (0x20, 0, 0, 32),
        (0x54, 0, 0, 0x10_1000),
        (0x15, 2, 1, 0x10_1000),
        (0x06, 0, 0, ERRNO),
        (0x06, 0, 0, ALLOW),
        (0x06, 0, 0, ERRNO | 22),
    ];
    program(&rows).unwrap()
}

#[test]
fn a_filter_that_suppresses_sync_says_so_call_by_call() {
    let filters = [suppressing()];
    assert_eq!(outcome(&filters, &call(74, [3, 0, 0, 0, 0, 0])), Some(FilterAction::Error(0)));
    assert_eq!(outcome(&filters, &call(1, [3, 0, 0, 0, 0, 0])), Some(FilterAction::Allow));
    assert_eq!(
        outcome(&filters, &call(257, [0, 0, 0x10_1002, 0, 0, 0])),
        Some(FilterAction::Error(22))
    );
    assert_eq!(outcome(&filters, &call(257, [0, 0, 0x1002, 0, 0, 0])), Some(FilterAction::Allow));
    let other = SystemCall { architecture: 0xc000_00b7, ..call(74, [0; 6]) };
    assert_eq!(outcome(&filters, &other), Some(FilterAction::Allow));
    assert_eq!(outcome(&[], &call(74, [0; 6])), Some(FilterAction::Allow));
}

#[test]
fn the_strictest_filter_wins_and_among_equals_the_newest() {
    let returns = |word| program(&[(0x06, 0, 0, word)]).unwrap();
    let decided = |words: &[u32]| {
        let filters: Vec<Program> = words.iter().map(|&word| returns(word)).collect();
        outcome(&filters, &call(74, [0; 6])).unwrap()
    };
    assert_eq!(decided(&[ALLOW, ERRNO | 5, ALLOW]), FilterAction::Error(5));
    assert_eq!(decided(&[ERRNO, ERRNO | 5]), FilterAction::Error(5));
    assert_eq!(decided(&[0x8000_0000, 0, ERRNO]), FilterAction::Kill);
    assert_eq!(decided(&[0x0003_0000, ERRNO]), FilterAction::Trap);
    assert_eq!(decided(&[0x7ffc_0000]), FilterAction::Allow);
    assert_eq!(decided(&[0x7fc0_0000, 0x7ff0_0000]), FilterAction::Notify);
    assert_eq!(decided(&[0x1234_0000]), FilterAction::Kill);
}

#[test]
fn arithmetic_memory_and_jumps_give_what_the_kernel_gives() {
    // ((number * 2 + 4) ^ 1) >> 1, kept in a cell, moved to the index and back.
    let rows = [
        (0x20, 0, 0, 0),
        (0x24, 0, 0, 2),
        (0x04, 0, 0, 4),
        (0xa4, 0, 0, 1),
        (0x74, 0, 0, 1),
        (0x02, 0, 0, 3),
        (0x61, 0, 0, 3),
        (0x87, 0, 0, 0),
        (0x05, 0, 0, 0),
        (0x16, 0, 0, 0),
    ];
    assert_eq!(program(&rows).unwrap().returned(&call(40, [0; 6])), Some(42));
    let length = program(&[(0x80, 0, 0, 0), (0x16, 0, 0, 0)]).unwrap();
    assert_eq!(length.returned(&call(0, [0; 6])), Some(64));
    // A division by an index of 0 ends the program.
    let divided = program(&[(0x00, 0, 0, 7), (0x3c, 0, 0, 0), (0x06, 0, 0, 9)]).unwrap();
    assert_eq!(divided.returned(&call(0, [0; 6])), Some(0));
}

#[test]
fn upper_halves_of_arguments_are_words_of_their_own() {
    let upper = program(&[(0x20, 0, 0, 20), (0x16, 0, 0, 0)]).unwrap();
    let mut call = call(0, [5; 6]);
    call.arguments[0].high = WordRange::only(7);
    assert_eq!(upper.returned(&call), Some(7));
}

#[test]
fn an_answer_that_depends_on_an_argument_is_none() {
    let asked = |code, constant| {
        let rows =
            [(0x20, 0, 0, 16), (code, 0, 1, constant), (0x06, 0, 0, ERRNO), (0x06, 0, 0, ALLOW)];
        let arguments = [Argument::DESCRIPTOR; 6];
        outcome(&[program(&rows).unwrap()], &SystemCall { arguments, ..call(74, [0; 6]) })
    };
    let (equal, greater, at_least, bits) = (0x15, 0x25, 0x35, 0x45);
    assert_eq!(asked(equal, 5), None);
    assert_eq!(asked(equal, u32::MAX), Some(FilterAction::Allow));
    assert_eq!(asked(greater, 0x7fff_ffff), Some(FilterAction::Allow));
    assert_eq!(asked(greater, 5), None);
    assert_eq!(asked(at_least, 0), Some(FilterAction::Error(0)));
    assert_eq!(asked(bits, 1), None);
    // Masked to nothing, it is known.
    let rows =
        [(0x20, 0, 0, 16), (0x54, 0, 0, 0), (0x15, 0, 1, 0), (0x06, 0, 0, ERRNO), (0x06, 0, 0, 0)];
    let any = SystemCall { arguments: [Argument::ANY; 6], ..call(74, [0; 6]) };
    assert_eq!(outcome(&[program(&rows).unwrap()], &any), Some(FilterAction::Error(0)));
}

#[test]
fn what_the_kernel_would_not_install_is_no_program() {
    let bad = |rows: &[(u16, u8, u8, u32)], at| {
        assert_eq!(program(rows), Err(NoProgram::Instruction { at }), "{rows:?}");
    };
    assert_eq!(program(&[]), Err(NoProgram::Length { bytes: 0 }));
    assert_eq!(Program::parse(&[6, 0, 0]), Err(NoProgram::Length { bytes: 3 }));
    assert!(Program::parse(&[6; 8 * 4097]).is_err());
    bad(&[(0x20, 0, 0, 0)], 0);
    bad(&[(0x20, 0, 0, 64), (0x06, 0, 0, 0)], 0);
    bad(&[(0x20, 0, 0, 2), (0x06, 0, 0, 0)], 0);
    bad(&[(0x05, 0, 0, 1), (0x06, 0, 0, 0)], 0);
    bad(&[(0x15, 0, 1, 0), (0x06, 0, 0, 0)], 0);
    bad(&[(0x34, 0, 0, 0), (0x06, 0, 0, 0)], 0);
    bad(&[(0x02, 0, 0, 16), (0x06, 0, 0, 0)], 0);
    bad(&[(0x94, 0, 0, 1), (0x06, 0, 0, 0)], 0);
    bad(&[(0x28, 0, 0, 0), (0x06, 0, 0, 0)], 0);
}
