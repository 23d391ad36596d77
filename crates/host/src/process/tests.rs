//! Processes of the tests' own, which must go on as they were.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::child::{self, Child};

use super::*;

const NAME: &str = "process::tests::a_process_shows_its_filters_and_goes_on_afterwards";

/// The letter of a process's state: `S` sleeps, `t` and `T` are stopped.
fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, behind) = stat.rsplit_once(") ").unwrap();
    behind.chars().next().unwrap()
}

#[test]
fn a_process_shows_its_filters_and_goes_on_afterwards() {
    if child::argument().is_some() {
        let filtered = testkit::suppress::syncs();
        child::ready(if filtered { "filtered" } else { "not filtered" });
    }
    let child = Child::start(NAME, "suppress".as_ref());
    if child.told() != "filtered" {
        testkit::skip("needs seccomp filters");
        return;
    }
    let found = look_at_process(child.number()).unwrap();
    child::until("it goes on", || !matches!(state(child.number()), 't' | 'T'));
    let status = read(&format!("/proc/{}/status", child.number())).unwrap();
    assert_eq!(field(&status, b"TracerPid:"), Some(0));
    match found.filters {
        Known::Yes(filters) => {
            assert_eq!(filters.value.len(), 2);
            assert!(filters.value.iter().all(|one| !one.is_empty() && one.len() % 8 == 0));
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
    let number = rustix::process::Pid::from_raw(number).unwrap();
    // What is traced here has no filters, so nothing but its stopping is tried.
    let tried = filters::of(pid);
    let runs = state(pid);
    rustix::process::kill_process(number, rustix::process::Signal::STOP).unwrap();
    child::until("it is stopped", || state(pid) == 'T');
    let again = filters::of(pid);
    // Let go of, it runs for an instant on its way back to where it stood (ptrace(2), group-stop).
    child::until("it is stopped again", || state(pid) == 'T');
    rustix::process::kill_process(number, rustix::process::Signal::CONT).unwrap();
    child::until("it goes on", || state(pid) == 'S');
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(!matches!(runs, 't' | 'T'), "{runs} {tried:?}");
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
    let sleeps = || look_at_process(sleeper.id()).is_ok_and(|look| look.name == "sleep");
    child::until("it runs", sleeps);
    let found = look_at_process(sleeper.id());
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    let found = found.unwrap();
    assert_eq!(found.preloads.value().unwrap(), &[library]);
    assert!(found.files.value().unwrap().iter().any(|file| file.contains("sleep")));
    assert_eq!(found.filters.value().unwrap(), &Vec::<Vec<u8>>::new());
    assert!(!Path::new("/proc/4194305").exists());
    let error = look_at_process(4_194_305).unwrap_err();
    assert!(error.to_string().starts_with("cannot look at process 4194305: "), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn lists_of_libraries_have_colons_or_blanks_between_them() {
    assert_eq!(libraries(b"/a.so:b.so c.so\n"), ["/a.so", "b.so", "c.so"]);
    assert_eq!(libraries(b"/a\x1b.so"), ["/a\\u{1b}.so"]);
    assert_eq!(libraries(b" :\n"), Vec::<String>::new());
}
