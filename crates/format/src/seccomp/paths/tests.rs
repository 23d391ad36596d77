//! Filters of known truth, and what they may answer.

use testkit::suppress;

use super::super::NoProgram;
use super::*;

const X86_64: u32 = 0xc000_003e;
const ALLOW: u32 = 0x7fff_0000;
const NOTHING: u32 = 0x0005_0000;

/// A program of these instructions: code, then, otherwise, constant.
fn program(rows: &[(u16, u8, u8, u32)]) -> Result<Program, NoProgram> {
    let bytes = rows.iter().flat_map(|&(code, then, otherwise, constant)| {
        [&code.to_le_bytes()[..], &[then, otherwise], &constant.to_le_bytes()].concat()
    });
    Program::parse(&bytes.collect::<Vec<u8>>())
}

fn asked(number: u32, arguments: &[Argument]) -> Asked {
    let at = |place| arguments.get(place).copied().unwrap_or(Argument::ANY);
    Asked { number, architecture: X86_64, arguments: std::array::from_fn(at) }
}

/// What may become of fsync on x86_64.
fn of_fsync(filters: &[Program]) -> Outcomes {
    outcomes(filters, &asked(74, &[Argument::DESCRIPTOR]))
}

fn actions(outcomes: &Outcomes) -> Vec<Action> {
    assert!(outcomes.is_complete, "{outcomes:?}");
    outcomes.found.iter().map(|(action, _)| *action).collect()
}

#[test]
fn a_filter_that_suppresses_fsync_of_one_descriptor_is_seen_with_that_descriptor() {
    // Whole descriptors, as libseccomp compares them: the upper half first.
    let rows = [
        (0x20, 0, 0, 0),
        (0x15, 0, 5, 74),
        (0x20, 0, 0, 20),
        (0x15, 0, 3, 0),
        (0x20, 0, 0, 16),
        (0x15, 0, 1, 5),
        (0x06, 0, 0, NOTHING),
        (0x06, 0, 0, ALLOW),
    ];
    let filters = [program(&rows).unwrap()];
    let found = of_fsync(&filters);
    let mut seen = actions(&found);
    seen.sort_by_key(|action| *action == Action::Allow);
    assert_eq!(seen, [Action::Error(0), Action::Allow]);
    for (action, call) in &found.found {
        assert_eq!(call.arguments[0] == 5, *action == Action::Error(0), "{call:?}");
    }
    assert_eq!(actions(&outcomes(&filters, &asked(75, &[]))), [Action::Allow]);
}

#[test]
fn what_systemd_suppresses_is_suppressed_for_certain_and_opens_for_syncing_are_refused() {
    for kinds in [suppress::SYSTEMD, suppress::SYSTEMD_FROM_ZERO] {
        let parsed = |&(_, text): &(_, &str)| Program::parse(&suppress::bytes(text)).unwrap();
        let filters: Vec<Program> = kinds.iter().map(parsed).collect();
        let descriptor = [Argument::DESCRIPTOR];
        for number in [74, 75, 277, 306] {
            let found = outcomes(&filters, &asked(number, &descriptor));
            assert_eq!(actions(&found), [Action::Error(0)], "{number}");
        }
        for number in [26, 162] {
            assert_eq!(actions(&outcomes(&filters, &asked(number, &[]))), [Action::Error(0)]);
        }
        for flags in [0x1000, 0x10_1000] {
            let flags = Argument::flags(flags, 0x1_ffff);
            let open = outcomes(&filters, &asked(2, &[Argument::ANY, flags]));
            assert_eq!(actions(&open), [Action::Error(22)]);
            let openat = outcomes(&filters, &asked(257, &[Argument::ANY, Argument::ANY, flags]));
            assert_eq!(actions(&openat), [Action::Error(22)]);
        }
        let plain = Argument::flags(0, 0xfff);
        let openat = outcomes(&filters, &asked(257, &[Argument::ANY, Argument::ANY, plain]));
        assert_eq!(actions(&openat), [Action::Allow]);
        assert_eq!(actions(&outcomes(&filters, &asked(437, &[]))), [Action::Error(38)]);
        let x86 = Asked { architecture: 0x4000_0003, ..asked(118, &descriptor) };
        assert_eq!(actions(&outcomes(&filters, &x86)), [Action::Error(0)]);
    }
}

#[test]
fn a_descriptor_below_0_is_not_asked_about() {
    let below = [(0x20, 0, 0, 16), (0x35, 0, 1, 0x8000_0000), (0x06, 0, 0, 0), (0x06, 0, 0, ALLOW)];
    assert_eq!(actions(&of_fsync(&[program(&below).unwrap()])), [Action::Allow]);
}

#[test]
fn what_one_filter_found_out_counts_in_the_next() {
    // The older one suppresses descriptor 5, the newer kills whoever has it.
    let on_five = |word| {
        let rows = [(0x20, 0, 0, 16), (0x15, 0, 1, 5), (0x06, 0, 0, word), (0x06, 0, 0, ALLOW)];
        program(&rows).unwrap()
    };
    let mut seen = actions(&of_fsync(&[on_five(NOTHING), on_five(0x8000_0000)]));
    seen.sort_by_key(|action| *action == Action::Allow);
    assert_eq!(seen, [Action::Kill, Action::Allow]);
}

#[test]
fn where_a_way_cannot_be_followed_the_answer_says_that_there_may_be_more() {
    // (descriptor * 0x10001) == 0x50005 holds for 5, and is not solved here.
    let rows = [
        (0x20, 0, 0, 16),
        (0x24, 0, 0, 0x1_0001),
        (0x15, 0, 1, 0x5_0005),
        (0x06, 0, 0, NOTHING),
        (0x06, 0, 0, ALLOW),
    ];
    let found = of_fsync(&[program(&rows).unwrap()]);
    assert!(!found.is_complete, "{found:?}");
    assert_eq!(found.found.len(), 1);
    // An answer that is a part of the descriptor.
    let answers = program(&[(0x20, 0, 0, 16), (0x16, 0, 0, 0)]).unwrap();
    assert!(!of_fsync(&[answers]).is_complete);
}

#[test]
fn a_filter_that_forks_at_every_bit_ends_and_is_not_called_complete() {
    let mut rows = Vec::new();
    for round in 0..1000_u32 {
        rows.push((0x20, 0, 0, 16 + 4 * round.rem_euclid(12)));
        rows.push((0x24, 0, 0, 3));
        rows.push((0x45, 0, 1, 1 << round.rem_euclid(32)));
        rows.push((0x87, 0, 0, 0));
    }
    rows.push((0x06, 0, 0, ALLOW));
    let found = of_fsync(&vec![program(&rows).unwrap(); 8]);
    assert!(!found.is_complete);
    assert_eq!(found.found.len(), 1);
}

#[test]
fn every_answer_of_random_filters_is_among_those_told() {
    let mut random = 20_261_121_u64;
    let mut next = |limit: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from((random >> 33).rem_euclid(limit)).unwrap()
    };
    let (mut complete, mut several) = (0, 0);
    for round in 0..2000 {
        let length = 4 + next(24);
        let mut rows: Vec<(u16, u8, u8, u32)> = Vec::new();
        for at in 0..length {
            let left = length - at;
            let short = |number: u32| u8::try_from(number).unwrap();
            rows.push(match next(8) {
                0 | 1 => (0x20, 0, 0, 16 + 4 * next(2)),
                2 => (0x54, 0, 0, next(8)),
                3 => (0x06, 0, 0, [NOTHING, ALLOW, 0x5_0001, 0][usize::try_from(next(4)).unwrap()]),
                4 => ([0x87, 0x07, 0x02, 0x60][usize::try_from(next(4)).unwrap()], 0, 0, 0),
                _ => {
                    let code = [0x15, 0x25, 0x35, 0x45][usize::try_from(next(4)).unwrap()];
                    let (then, otherwise) = (next(left.into()), next(left.into()));
                    (code, short(then), short(otherwise), next(10))
                }
            });
        }
        rows.push((0x06, 0, 0, ALLOW));
        let filters = [program(&rows).unwrap()];
        let told = of_fsync(&filters);
        let truth: Vec<Action> = (0..40_u64)
            .map(|descriptor| {
                let arguments = [descriptor, 0, 0, 0, 0, 0];
                let call = Call { number: 74, architecture: X86_64, address: 0, arguments };
                outcome(&filters, &call)
            })
            .collect();
        for (action, call) in &told.found {
            assert_eq!(outcome(&filters, call), *action, "{round}: {rows:?}");
        }
        if told.is_complete {
            complete += 1;
            several += usize::from(told.found.len() > 1);
            let is_told = |action: &Action| told.found.iter().any(|(found, _)| found == action);
            assert!(truth.iter().all(is_told), "{round}: {truth:?} {told:?} {rows:?}");
        }
    }
    assert!(complete > 1500 && several > 50, "{complete} {several}");
}
