//! Effects of a process's seccomp filters on each call that syncs.

use crate::seccomp::{Argument, FilterAction, Program, SystemCall, outcome};

use super::process_evidence::{CallFate, Fate};
use super::sync_syscalls::{CALLS, MACHINES, NO, ProgramKind, Row};

/// The filters of some threads.
#[derive(Clone, Copy, Debug)]
pub struct FilterSet<'a> {
    /// Number of threads that have them.
    pub threads: usize,
    /// Seccomp's strict mode, in which each of these calls ends the thread.
    pub is_strict: bool,
    /// The oldest first, each the bytes of a program.
    pub programs: &'a [Vec<u8>],
}

/// Returns the fate of each call that syncs, under the filters of each of `sets`, in a program of
/// `kind`. Calls that it makes in the way of another kind are not looked at.
///
/// # Errors
/// When a filter is no program, or nothing is known of such a machine; the text says which.
pub fn fates(sets: &[FilterSet<'_>], kind: ProgramKind) -> Result<Vec<CallFate>, String> {
    let machine = MACHINES.iter().find(|known| known.kind == kind).ok_or_else(|| {
        let bits = if kind.is_64 { 64 } else { 32 };
        format!(
            "the numbers of calls on machine {} of {bits} bits are not known here",
            kind.machine
        )
    })?;
    let parsed = |set: &FilterSet<'_>| {
        let programs: Result<Vec<Program>, _> =
            set.programs.iter().map(|bytes| Program::parse(bytes)).collect();
        let programs =
            programs.map_err(|error| format!("a filter cannot be understood: {error}"))?;
        Ok((set.threads, (!set.is_strict).then_some(programs)))
    };
    let sets: Vec<(usize, Option<Vec<Program>>)> =
        sets.iter().map(parsed).collect::<Result<_, String>>()?;
    let fate = |&(call, numbers, known): &Row| {
        let number = Some(numbers[machine.column]).filter(|&number| number != NO)?;
        let at = |place: usize| known.get(place).copied().unwrap_or(Argument::ANY);
        let asked = SystemCall {
            number: machine.base + number,
            architecture: machine.architecture,
            arguments: std::array::from_fn(at),
        };
        let each: Vec<(usize, Fate)> = sets
            .iter()
            .map(|(threads, programs)| match programs {
                Some(programs) => (*threads, fate_of(outcome(programs, &asked))),
                None => (*threads, Fate::Refused),
            })
            .collect();
        Some(CallFate { call: call.to_owned(), fate: of_all(&each) })
    };
    Ok(CALLS.iter().filter_map(fate).collect())
}

/// Returns the meaning of an answer of filters for the caller.
fn fate_of(action: Option<FilterAction>) -> Fate {
    match action {
        None => Fate::Unclear,
        Some(FilterAction::Allow) => Fate::Done,
        Some(FilterAction::Error(0)) => Fate::Suppressed,
        Some(FilterAction::Notify | FilterAction::Trace | FilterAction::Trap) => Fate::Decided,
        Some(FilterAction::Error(_) | FilterAction::Kill) => Fate::Refused,
    }
}

/// Returns the fate of a call in all threads.
fn of_all(each: &[(usize, Fate)]) -> Fate {
    let Some((_, first)) = each.first() else { return Fate::Done };
    if each.iter().all(|(_, fate)| fate == first) {
        return first.clone();
    }
    let count = |counts: &dyn Fn(&Fate) -> bool| -> usize {
        each.iter().filter(|(_, fate)| counts(fate)).map(|(threads, _)| threads).sum()
    };
    let silent = count(&|fate| matches!(fate, Fate::Suppressed | Fate::Sometimes(_)));
    let all = count(&|_| true);
    if silent > 0 {
        return Fate::Sometimes(format!("in {silent} of the {all} threads that were read"));
    }
    let first_of = |wanted: Fate| each.iter().any(|(_, fate)| *fate == wanted).then_some(wanted);
    first_of(Fate::Decided).or_else(|| first_of(Fate::Unclear)).unwrap_or(Fate::Done)
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

    /// Returns the fates of calls where all threads have `filters`.
    fn of_one(filters: &[Vec<u8>], machine: &str) -> Result<Vec<CallFate>, String> {
        let set = FilterSet { threads: 1, is_strict: false, programs: filters };
        fates(&[set], ProgramKind::of(machine).unwrap())
    }

    fn fate(found: &[CallFate], call: &str) -> Fate {
        found.iter().find(|one| one.call == call).unwrap().fate.clone()
    }

    /// A filter that answers `word` to `fsync` of descriptor 5 on x86_64.
    fn on_five(word: u32) -> Vec<u8> {
        let rows: [(u16, u8, u8, u32); 6] = [
            (0x20, 0, 0, 0),
            (0x15, 0, 3, 74),
            (0x20, 0, 0, 16),
            (0x15, 0, 1, 5),
            (0x06, 0, 0, word),
            (0x06, 0, 0, 0x7fff_0000),
        ];
        let bytes = rows.iter().flat_map(|&(code, then, otherwise, constant)| {
            [&code.to_le_bytes()[..], &[then, otherwise], &constant.to_le_bytes()].concat()
        });
        bytes.collect()
    }

    #[test]
    fn a_filter_on_one_descriptor_is_unclear() {
        for word in [0x0005_0000, 0x0005_0001, 0x0003_0000] {
            let found = of_one(&[on_five(word)], "x86_64").unwrap();
            assert_eq!(fate(&found, "fsync"), Fate::Unclear);
            assert_eq!(fate(&found, "fdatasync"), Fate::Done);
        }
    }

    #[test]
    fn what_systemd_suppresses_is_suppressed_on_every_kind_of_machine() {
        use testkit::suppress::{SYSTEMD, SYSTEMD_FROM_ZERO, bytes};
        let programs = |kinds: &[(&str, &str)]| -> Vec<Vec<u8>> {
            kinds.iter().map(|(_, text)| bytes(text)).collect()
        };
        let old = ["x86_64", "x86", "aarch64"].map(|machine| (SYSTEMD, machine));
        let new = ["x86_64", "x86"].map(|machine| (SYSTEMD_FROM_ZERO, machine));
        for (kinds, machine) in old.into_iter().chain(new) {
            let found = of_one(&programs(kinds), machine).unwrap();
            for call in ["fsync", "fdatasync", "sync_file_range", "sync", "syncfs", "msync"] {
                assert_eq!(fate(&found, call), Fate::Suppressed, "{call} on {machine}");
            }
            for call in ["openat with O_SYNC", "openat with O_DSYNC", "openat2"] {
                assert_eq!(fate(&found, call), Fate::Refused, "{call} on {machine}");
            }
            assert_eq!(fate(&found, "pwritev2 with RWF_SYNC"), Fate::Done);
        }
        // A filter of one kind of machine says nothing of another's numbers.
        let other = of_one(&[bytes(SYSTEMD[2].1)], "x86").unwrap();
        assert_eq!(fate(&other, "fsync"), Fate::Done);
    }

    #[test]
    fn threads_that_differ_are_counted() {
        let programs = [filter(74, 0x0005_0000)];
        let set = |threads, is_strict, programs| FilterSet { threads, is_strict, programs };
        let kind = ProgramKind::of("x86_64").unwrap();
        let mixed = fates(&[set(3, false, &[]), set(2, false, &programs)], kind).unwrap();
        let some = Fate::Sometimes("in 2 of the 5 threads that were read".to_owned());
        assert_eq!(fate(&mixed, "fsync"), some);
        assert_eq!(fate(&mixed, "sync"), Fate::Done);
        let strict = fates(&[set(1, true, &[])], kind).unwrap();
        assert!(strict.iter().all(|call| call.fate == Fate::Refused));
        let part = fates(&[set(1, true, &[]), set(1, false, &[])], kind).unwrap();
        assert!(part.iter().all(|call| call.fate == Fate::Done));
    }

    #[test]
    fn each_call_is_asked_about_with_the_numbers_of_its_machine() {
        let of = |machine: &str, number, word| {
            let found = of_one(&[filter(number, word)], machine).unwrap();
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
        assert_eq!(ProgramKind::of("vax"), None);
        let unknown = fates(&[], ProgramKind { machine: 75, is_64: false }).unwrap_err();
        assert!(unknown.contains("machine 75"), "{unknown}");
        assert!(of_one(&[vec![1, 2, 3]], "x86_64").unwrap_err().contains("3 bytes"));
        let free = of_one(&[], "x86_64").unwrap();
        assert!(free.iter().all(|call| call.fate == Fate::Done));
    }
}
