//! Processes of the tests' own, which must go on as they were.

use std::path::Path;
use std::process::{Command, Stdio};

use testkit::running_program::until;

use super::*;
use crate::test_child::{self, Child};

const NAME: &str = "process::tests::a_process_shows_its_filters_and_goes_on_afterwards";

/// The letter of a process's state: `S` sleeps, `t` and `T` are stopped.
fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, behind) = stat.rsplit_once(") ").unwrap();
    behind.chars().next().unwrap()
}

#[test]
fn a_process_shows_its_filters_and_goes_on_afterwards() {
    if test_child::argument().is_some() {
        let filtered = testkit::suppress::syncs();
        test_child::ready(if filtered { "filtered" } else { "not filtered" });
    }
    let child = Child::start(NAME, "suppress".as_ref());
    if child.told() != "filtered" {
        testkit::skip("needs seccomp filters");
        return;
    }
    let found = look_at_process(child.number()).unwrap();
    until("it goes on", || !matches!(state(child.number()), 't' | 'T'));
    let status = read(&format!("/proc/{}/status", child.number())).unwrap();
    assert_eq!(procfs::field(&status, b"TracerPid:"), Some(0));
    match found.filters {
        Known::Yes(filters) => {
            let Filters { sets, threads, missed, .. } = filters.value;
            assert_eq!(missed, None);
            // The test's own thread has them, and that of its harness has none.
            assert_eq!((sets.len(), sets.iter().map(|set| set.threads).sum()), (2, threads));
            let lengths: Vec<usize> = sets.iter().map(|set| set.programs.len()).collect();
            assert_eq!(lengths, [2, 0]);
            let programs = &sets[0].programs;
            assert!(programs.iter().all(|one| !one.is_empty() && one.len() % 8 == 0));
        }
        // Without root, and in containers.
        Known::No(reason) => {
            assert!(reason.contains("seccomp filter"), "{reason}");
            testkit::skip(&reason);
        }
    }
}

#[test]
fn a_process_that_was_stopped_by_its_user_stays_so_and_one_that_runs_runs() {
    let mut sleeper = Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap();
    let pid = sleeper.id();
    let number = std::ffi::c_int::try_from(pid).unwrap();
    let number = Pid::from_raw(number).unwrap();
    // What is traced here has no filters, so nothing but its stopping is tried.
    let tried = filters::of(pid);
    until("it runs again", || !matches!(state(pid), 't' | 'T'));
    rustix::process::kill_process(number, rustix::process::Signal::STOP).unwrap();
    until("it is stopped", || state(pid) == 'T');
    let again = filters::of(pid);
    // Let go of, it runs for an instant on its way back to where it stood (ptrace(2), group-stop).
    until("it is stopped again", || state(pid) == 'T');
    rustix::process::kill_process(number, rustix::process::Signal::CONT).unwrap();
    until("it goes on", || state(pid) == 'S');
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(tried.is_ok(), again.is_ok(), "{tried:?} {again:?}");
}

#[test]
fn preloads_and_files_are_listed_and_a_missing_process_is_named() {
    let library = "/nonexistent/libeatmydata.so";
    let mut sleeper = Command::new("sleep")
        .arg("1000")
        .env("LD_PRELOAD", library)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It has its name before its environment and its program are in its memory, and all of them
    // when it sleeps: a process that waits for files is in state D.
    let is_named = || process_name(sleeper.id()).is_ok_and(|name| name == "sleep");
    until("it sleeps", || is_named() && state(sleeper.id()) == 'S');
    let found = look_at_process(sleeper.id());
    assert_eq!(process_name(sleeper.id()).as_deref(), Ok("sleep"));
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    let found = found.unwrap();
    let preloads = found.preloads.value().unwrap();
    assert_eq!(
        (&*preloads[0].name, preloads[0].named_by, preloads.len()),
        (library, "LD_PRELOAD", 1)
    );
    let mapped = found.mapped.value().unwrap();
    let program = mapped.iter().find(|one| one.is_program).unwrap();
    assert!(program.path.ends_with("/sleep") || program.path.contains("coreutils"), "{program:?}");
    assert!(mapped.iter().all(|one| one.preloads.is_empty() && one.file.is_ok()), "{mapped:?}");
    let filters = found.filters.value().unwrap();
    let none = ThreadFilters { threads: 1, is_strict: false, programs: vec![] };
    assert_eq!((&filters.sets, filters.threads, &filters.missed), (&vec![none], 1, &None));
    assert_eq!(found.tracer, None);
    assert!(!Path::new("/proc/4194305").exists());
    let error = look_at_process(4_194_305).unwrap_err();
    assert_eq!(error, ProcessError::None { pid: 4_194_305 });
    assert!(error.hint().is_some());
    assert_eq!(process_name(4_194_305), Err(error));
}

#[test]
fn a_thread_of_the_kernel_is_refused_by_its_name() {
    // Number 2 is the kernel's in the machine's own PID namespace.
    let is_there = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
    if !is_there {
        testkit::skip("needs the machine's own PID namespace");
        return;
    }
    let error = look_at_process(2).unwrap_err();
    assert_eq!(error, ProcessError::Kernel { pid: 2, name: "kthreadd".to_owned() });
    assert_eq!(process_name(2).as_ref(), Err(&error));
    assert!(error.to_string().contains("it is a kernel thread"), "{error}");
}

#[test]
fn a_process_that_has_ended_is_not_called_clean() {
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    child.kill().unwrap();
    until("it is a zombie", || state(child.id()) == 'Z');
    let error = look_at_process(child.id()).unwrap_err();
    let named = process_name(child.id());
    child.wait().unwrap();
    assert_eq!(named.as_ref(), Err(&error));
    assert!(matches!(error, ProcessError::Ended { .. }), "{error}");
}

#[test]
fn threads_with_other_filters_are_each_asked() {
    const NAME: &str = "process::tests::threads_with_other_filters_are_each_asked";
    if test_child::argument().is_some() {
        // Three threads: with two filters, with one, and with one that is another.
        let begun = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for kind in 0..3 {
                let begun = &begun;
                scope.spawn(move || {
                    let done = match kind {
                        0 => testkit::suppress::syncs(),
                        1 => testkit::suppress::syncs_of(0, 5),
                        _ => testkit::suppress::syncs_of(0, 6),
                    };
                    begun.wait();
                    if done {
                        std::thread::park();
                    }
                });
            }
            begun.wait();
            test_child::ready("it has threads");
        });
    }
    let child = Child::start(NAME, "threads".as_ref());
    let found = look_at_process(child.number()).unwrap();
    match found.filters {
        Known::Yes(filters) => {
            let Filters { sets, threads, alike, missed } = filters.value;
            let mut lengths: Vec<usize> = sets.iter().map(|set| set.programs.len()).collect();
            lengths.sort_unstable();
            if lengths == [0] {
                testkit::skip("needs seccomp filters");
                return;
            }
            assert_eq!((lengths, alike, missed), (vec![0, 1, 1, 2], 0, None));
            assert_eq!(sets.iter().map(|set| set.threads).sum::<usize>(), threads);
        }
        Known::No(reason) => testkit::skip(&reason),
    }
}
