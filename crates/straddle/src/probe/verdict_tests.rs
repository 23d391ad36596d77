//! `straddle probe` from its words to its exit code, on drives of known granule under a simulated
//! clock.
#![deny(clippy::disallowed_methods)]

use crate::world::models::event::Event;
use crate::world::models::plain_drive::PlainPlan;
use crate::world::models::verdict_file::matches_file;
use crate::world::models::{DIRECTORY, Ended, Models};

fn run(world: &Models, words: &[&str]) -> Ended {
    let all = [&["probe", DIRECTORY, "--json", "--no-save", "--seed", "1"], words].concat();
    world.run(&all)
}

fn granule(granule_bytes: u64) -> PlainPlan {
    PlainPlan { granule_bytes, penalty: 3.0, ..PlainPlan::default() }
}

#[test]
fn a_granule_that_costs_is_found_with_its_length_and_a_drive_without_one_is_no_verdict() {
    for bytes in [4096, 8192, 16384] {
        let ended = run(&Models::plain(granule(bytes)), &[]);
        let answers = &ended.document()["answers"];
        assert_eq!(ended.code, 0, "{bytes}: {answers:#}");
        assert_eq!(answers["alignment"]["value"]["bytes"], bytes, "{answers:#}");
        assert_eq!(answers["size"]["value"]["bytes"], bytes, "{answers:#}");
    }
    let ended = run(&Models::plain(PlainPlan::default()), &[]);
    let answers = &ended.document()["answers"];
    assert_eq!(ended.code, 5, "{answers:#}");
    assert!(answers["alignment"]["value"].is_null(), "{answers:#}");
    assert_eq!(run(&Models::plain(PlainPlan::default()), &["--allow-unknown"]).code, 0);
}

#[test]
fn a_disk_that_turns_has_a_granule_and_turns() {
    let ended = run(&Models::built_in("hdd-7200-512e"), &[]);
    let answers = &ended.document()["answers"];
    assert_eq!(ended.code, 0, "{answers:#}");
    assert_eq!(answers["alignment"]["value"]["bytes"], 4096, "{answers:#}");
}

#[test]
fn a_drive_that_fails_at_any_operation_is_named_and_no_granule_comes_of_it() {
    let all = run(&Models::plain(granule(4096)), &[]).operations;
    for at in (55..=75).chain((1..12).map(|part| all * part / 12)) {
        let ended = run(&Models::plain(granule(4096)).with(at, Event::Gone), &[]);
        assert_eq!(ended.code, if at <= 64 { 2 } else { 5 }, "at {at}: {ended:?}");
        assert!(ended.errors.contains("Input/output error"), "at {at}: {ended:?}");
        assert!(ended.document()["answers"]["alignment"]["value"].is_null(), "at {at}");
    }
}

#[test]
fn a_signal_at_any_operation_ends_it_with_its_code() {
    let all = run(&Models::plain(granule(4096)), &[]).operations;
    for at in (55..=75).chain((1..12).map(|part| all * part / 12)) {
        let ended = run(&Models::plain(granule(4096)).with(at, Event::Signal(2)), &[]);
        assert_eq!(ended.code, 130, "at {at}: {ended:?}");
        assert!(ended.document()["refusal"].is_null(), "at {at}: {ended:?}");
    }
}

#[test]
fn each_answer_has_the_words_of_its_file() {
    let words = ["probe", "--no-save"];
    matches_file("probe-granule", || Models::plain(granule(16384)), &words);
    matches_file("probe-nothing", || Models::plain(PlainPlan::default()), &words);
}
