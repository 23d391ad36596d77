//! Real commands.

use std::path::Path;

use rustix::process::test_kill_process;
use testkit::running_program::until;
use testkit::{Scratch, need_tools};

use super::*;
use crate::test_child::{self, Child};

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn shell(script: &str, budget: Duration, interrupt: &Interrupt) -> Result<Ran, CommandError> {
    run(CommandPlan { words: &words(&["bash", "-c", script]), budget, interrupt })
}

const LONG: Duration = Duration::from_secs(600);

/// Returns whether a process has ended; a zombie that nobody reaps has.
fn is_gone(number: i32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    test_kill_process(Pid::from_raw(number).unwrap()).is_err() || state.contains(") Z ")
}

/// The number that a command left in a file.
fn number_in(path: &Path) -> i32 {
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

#[test]
fn a_command_gives_its_time_its_output_and_what_it_used() {
    need_tools!("bash", "dd");
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    let script = format!(
        "cat; echo out; echo err >&2; \
         dd if=/dev/zero of={} bs=64K count=16 conv=fsync status=none; \
         for ((i = 0; i < 20000; i++)); do :; done",
        file.display()
    );
    let ran = shell(&script, LONG, &Interrupt::none()).unwrap();
    assert_eq!(Vec::from(ran.output.bytes), b"out\n");
    assert_eq!(Vec::from(ran.errors.bytes), b"err\n");
    assert!(ran.user + ran.system > Duration::ZERO);
    assert!(ran.wall > Duration::ZERO);
    assert_eq!(std::fs::metadata(file).unwrap().len(), 1 << 20);
}

#[test]
fn more_output_than_is_kept_does_not_block_a_command() {
    need_tools!("bash");
    let script = "for ((i = 0; i < 30000; i++)); do echo $i; echo $i >&2; done";
    let ran = shell(script, LONG, &Interrupt::none()).unwrap();
    assert_eq!(ran.output.bytes.len(), 65_536);
    assert!(ran.output.dropped_bytes > 0);
    assert_eq!(ran.output.last_lines(1), ["29999"]);
    assert_eq!(ran.errors.last_lines(1), ["29999"]);
}

#[test]
fn a_failure_tells_the_status_and_the_last_lines() {
    need_tools!("bash");
    let error = shell("echo a >&2; echo b >&2; exit 7", LONG, &Interrupt::none()).unwrap_err();
    assert_eq!(error.to_string(), "bash failed with exit status 7: a / b");
    let error = shell("kill -TERM $$", LONG, &Interrupt::none()).unwrap_err();
    assert_eq!(error.to_string(), "bash failed with signal 15");
    let none = words(&["/nonexistent/program"]);
    let interrupt = Interrupt::none();
    let plan = CommandPlan { words: &none, budget: LONG, interrupt: &interrupt };
    let error = run(plan).unwrap_err();
    assert!(matches!(error, CommandError::NotStarted { .. }), "{error}");
    assert!(error.hint().is_some());
    assert_eq!(run(CommandPlan { words: &[], ..plan }), Err(CommandError::Empty));
}

#[test]
fn a_budget_ends_the_whole_group() {
    need_tools!("bash");
    let scratch = Scratch::new();
    let path = scratch.path().join("number");
    // The shell's child does not get the signal by itself, and would wait for ever.
    let script = format!("sleep infinity & echo $! > {}; wait", path.display());
    let written = || std::fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n'));
    // On a busy machine the shell may not have come so far.
    for seconds in [0.3, 3.0, 30.0] {
        let budget = Duration::from_secs_f64(seconds);
        let error = shell(&script, budget, &Interrupt::none()).unwrap_err();
        assert!(matches!(error, CommandError::TimedOut { .. }), "{error}");
        if written() {
            break;
        }
    }
    until("it ended too", || is_gone(number_in(&path)));
}

#[test]
fn an_interrupt_ends_the_whole_group() {
    need_tools!("bash");
    let scratch = Scratch::new();
    let path = scratch.path().join("number");
    let interrupt = Interrupt::none();
    let raised = interrupt.clone();
    let seen = path.clone();
    let raiser = std::thread::spawn(move || {
        let written = || std::fs::read_to_string(&seen).is_ok_and(|text| text.ends_with('\n'));
        until("the command is at work", written);
        raised.raise(2);
    });
    let script = format!("sleep infinity & echo $! > {}; wait", path.display());
    let error = shell(&script, LONG, &interrupt).unwrap_err();
    raiser.join().unwrap();
    assert_eq!(error.to_string(), "bash was ended by signal 2");
    until("it ended too", || is_gone(number_in(&path)));
}

#[test]
fn what_a_command_leaves_running_is_ended() {
    need_tools!("bash");
    let scratch = Scratch::new();
    let path = scratch.path().join("number");
    // It keeps standard output open too, which is not waited for.
    let script = format!("sleep infinity & echo $! > {}", path.display());
    shell(&script, LONG, &Interrupt::none()).unwrap();
    until("it ended too", || is_gone(number_in(&path)));
}

/// Also the child's side of it: see [`test_child`](crate::test_child).
#[test]
fn a_command_and_what_it_started_die_with_the_process_that_started_it() {
    need_tools!("bash");
    if let Some(path) = test_child::argument() {
        // One of its own children outlives it.
        let script = format!("sleep infinity & echo $$ $! > {}; wait", path.display());
        std::thread::spawn(move || shell(&script, LONG, &Interrupt::none()));
        let written = || std::fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n'));
        until("the command is at work", written);
        test_child::ready("");
    }
    let scratch = Scratch::new();
    let path = scratch.path().join("numbers");
    let name = "command::tests::a_command_and_what_it_started_die_with_the_process_that_started_it";
    let child = Child::start(name, path.as_os_str());
    let text = std::fs::read_to_string(&path).unwrap();
    let numbers: Vec<i32> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert!(numbers.len() == 2 && !numbers.iter().any(|&number| is_gone(number)), "{text}");
    child.kill();
    until("both are gone", || numbers.iter().all(|&number| is_gone(number)));
}
