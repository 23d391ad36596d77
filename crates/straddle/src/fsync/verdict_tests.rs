//! `straddle fsync` from its words to its exit code, on drives of known latency under a simulated
//! clock.
#![deny(clippy::disallowed_methods)]

use serde_json::Value;

use crate::world::models::event::Event;
use crate::world::models::plain_drive::PlainPlan;
use crate::world::models::verdict_file::matches_file;
use crate::world::models::{DIRECTORY, Ended, Models};

/// A drive with a cache, a flush of which takes so long.
fn flushing(flush_ns: u64) -> PlainPlan {
    PlainPlan { flush_ns, ..PlainPlan::default() }
}

fn run(world: &Models, words: &[&str]) -> Ended {
    world.run(&[&["fsync", DIRECTORY, "--json", "--seed", "1"], words].concat())
}

const MS: u64 = 1_000_000;
const ETCD: [&str; 2] = ["--for", "etcd"];

#[test]
fn each_latency_has_its_verdict_its_code_and_its_quantile() {
    // A write to a file that grows takes a journal's write too: 200 us beside the flush.
    for (flush_ns, engine, expected, code) in [
        (20_000, "etcd", "pass", 0),
        (4 * MS, "etcd", "pass", 0),
        (12 * MS, "etcd", "warn", 0),
        (30 * MS, "etcd", "warn", 0),
        (200 * MS, "etcd", "fail", 1),
        (2_000 * MS, "etcd", "not-enough-evidence", 5),
        (4 * MS, "postgresql", "pass", 0),
        (12 * MS, "postgresql", "warn", 0),
        (200 * MS, "postgresql", "fail", 1),
        (4 * MS, "mysql", "pass", 0),
        (12 * MS, "mysql", "warn", 0),
        (200 * MS, "mysql", "fail", 1),
    ] {
        let ended = run(&Models::plain(flushing(flush_ns)), &["--for", engine]);
        let verdict = &ended.document()["verdict"];
        assert_eq!(verdict["verdict"], expected, "{engine} {flush_ns}: {verdict:#}");
        assert_eq!(ended.code, code, "{engine} {flush_ns}");
        if code != 5 {
            let p99_ns = verdict["quantile"]["value_ns"].as_u64().expect("a p99");
            let greatest = flush_ns + flush_ns / 5 + 300_000;
            assert!((flush_ns..greatest).contains(&p99_ns), "{engine} {flush_ns}: {p99_ns}");
        }
    }
}

#[test]
fn what_fails_and_what_warns_follows_the_option_and_a_missing_verdict_may_be_allowed() {
    let warns = || Models::plain(flushing(12 * MS));
    for (option, code) in [("failure", 0), ("warning", 1), ("never", 0)] {
        let ended = run(&warns(), &[&ETCD[..], &["--fail-on", option]].concat());
        assert_eq!(ended.code, code, "{option}: {ended:?}");
    }
    let fails = || Models::plain(flushing(200 * MS));
    for (option, code) in [("failure", 1), ("warning", 1), ("never", 0)] {
        let ended = run(&fails(), &[&ETCD[..], &["--fail-on", option]].concat());
        assert_eq!(ended.code, code, "{option}: {ended:?}");
    }
    let slow = || Models::plain(flushing(2_000 * MS));
    assert_eq!(run(&slow(), &ETCD).code, 5);
    assert_eq!(run(&slow(), &[&ETCD[..], &["--allow-unknown"]].concat()).code, 0);
}

#[test]
fn a_drive_whose_rare_writes_are_slow_does_not_pass() {
    // Every 40th operation takes 60 ms more: one durable write in 13, of three operations each.
    let plan = PlainPlan { stall_every: 40, stall_ns: 60 * MS, ..flushing(MS) };
    let verdict = run(&Models::plain(plan), &ETCD).document()["verdict"].clone();
    assert_eq!(verdict["verdict"], "warn", "{verdict:#}");
}

#[test]
fn a_drive_with_a_cache_flushes_once_a_sync_and_one_without_needs_none() {
    let honesty = |plan: PlainPlan| {
        let document = run(&Models::plain(plan), &["--rows", "none"]).document();
        document["honesty"].clone()
    };
    let with = honesty(flushing(4 * MS));
    assert_eq!(with["grade"], "consistent", "{with:#}");
    let layers = with["layers"].as_array().expect("layers");
    let sda = layers.iter().find(|layer| layer["name"] == "sda").expect("the drive is there");
    assert_eq!(sda["flushes_per_sync"].as_f64(), Some(1.0), "{sda:#}");
    let without = honesty(PlainPlan { has_cache: false, ..flushing(4 * MS) });
    assert_ne!(without["grade"], "consistent", "{without:#}");
}

#[test]
fn a_run_without_an_engine_has_rows_and_no_verdict_and_ends_well() {
    let ended = run(&Models::plain(flushing(4 * MS)), &[]);
    let document = ended.document();
    assert_eq!(ended.code, 0, "{document:#}");
    assert!(document["verdict"].is_null());
    let rows = document["rows"].as_array().expect("rows");
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).expect("a row");
    let mean_ns = row("pg.one.fdatasync")["mean_ns"].as_f64().expect("a mean");
    assert!((4.0e6..4.4e6).contains(&mean_ns), "{mean_ns}");
}

#[test]
fn a_run_that_is_too_short_for_a_second_round_is_no_verdict_and_says_for_how_long() {
    let ended = run(&Models::plain(flushing(2_000 * MS)), &[]);
    let refusal = ended.document()["refusal"].clone();
    assert_eq!((ended.code, &refusal["kind"]), (5, &"no-verdict".into()), "{refusal}");
    let hint = refusal["hint"].as_str().expect("a hint");
    let seconds = hint.split_once("--seconds ").and_then(|(_, rest)| rest.split(';').next());
    let seconds: u64 = seconds.and_then(|word| word.parse().ok()).expect(hint);
    let longer = ["--seconds".to_owned(), seconds.to_string()];
    let ended = run(&Models::plain(flushing(2_000 * MS)), &longer.each_ref().map(String::as_str));
    assert_eq!(ended.code, 0, "--seconds {seconds} is enough: {}", ended.errors);
}

#[test]
fn the_seconds_hold_on_a_drive_that_takes_a_third_of_one_for_a_flush() {
    for words in [&[][..], &["--for", "etcd", "--bytes-max", "32M"], &["--rows", "none"]] {
        let words = [&["--seconds", "5"], words].concat();
        let document = run(&Models::plain(flushing(333 * MS)), &words).document();
        let elapsed_ns = document["elapsed_ns"].as_u64().expect("a number");
        // A call that is under way at the end is waited for: a write, the journal's, a flush.
        let most_ns = 5_000 * MS + 500 * MS;
        assert!((MS..most_ns).contains(&elapsed_ns), "{words:?}: {elapsed_ns}");
    }
}

/// Numbers of operations at which something happens: the first ones, and some over a whole run.
fn places(all: u64) -> impl Iterator<Item = u64> {
    (1..=12).chain((1..12).map(move |part| all * part / 12)).chain([all - 1])
}

#[test]
fn a_sync_that_fails_at_any_operation_ends_the_run_at_once_and_is_never_tried_again() {
    let words = [&ETCD[..], &["--seconds", "2"]].concat();
    let plan = flushing(4 * MS);
    let all = run(&Models::plain(plan), &words).operations;
    for at in places(all) {
        let ended = run(&Models::plain(plan).with(at, Event::Gone), &words);
        let document = ended.document();
        let is_fault = document["refusal"]["kind"] == "fault";
        let told = document.to_string();
        assert!(told.contains("Input/output error"), "at {at}: {document:#}");
        assert!(ended.code != 0 && document["verdict"]["verdict"] != "pass", "at {at}: {ended:?}");
        if is_fault {
            assert_eq!(ended.code, 1, "at {at}: {ended:?}");
            assert!(ended.operations <= at, "at {at}: {} operations", ended.operations);
        }
    }
}

#[test]
fn a_file_system_that_is_full_at_any_operation_is_no_verdict_and_says_what_to_free() {
    let words = [&ETCD[..], &["--seconds", "2"]].concat();
    let plan = flushing(4 * MS);
    let all = run(&Models::plain(plan), &words).operations;
    for at in places(all) {
        let ended = run(&Models::plain(plan).with(at, Event::Full), &words);
        let document = ended.document();
        assert!(matches!(ended.code, 2 | 5), "at {at}: {ended:?}");
        assert!(document.to_string().contains("No space left on device"), "at {at}: {document}");
        assert_ne!(document["verdict"]["verdict"], "pass", "at {at}");
    }
}

#[test]
fn a_signal_at_any_operation_ends_it_with_its_code() {
    let words = [&ETCD[..], &["--seconds", "2"]].concat();
    let plan = flushing(4 * MS);
    let all = run(&Models::plain(plan), &words).operations;
    for at in places(all) {
        for (signal, code) in [(2, 130), (1, 129)] {
            let ended = run(&Models::plain(plan).with(at, Event::Signal(signal)), &words);
            assert_eq!(ended.code, code, "at {at}: {ended:?}");
            let document = ended.document();
            assert!(document["refusal"].is_null(), "at {at}: {document}");
            assert_ne!(document["verdict"]["verdict"], "pass", "at {at}");
            // What is under way is ended: a write, the journal's, a flush.
            assert!(ended.operations <= at + 6, "at {at}: {}", ended.operations);
        }
    }
}

#[test]
fn one_seed_gives_one_document() {
    let words = [&ETCD[..], &["--seconds", "2"]].concat();
    let [first, again] = [(); 2].map(|()| run(&Models::plain(flushing(4 * MS)), &words).out);
    assert_eq!(first, again);
}

#[test]
fn a_plugin_has_the_state_of_its_verdict() {
    for (flush_ns, code, state) in [
        (MS, 0, "OK"),
        (12 * MS, 1, "WARNING"),
        (200 * MS, 2, "CRITICAL"),
        (2_000 * MS, 3, "UNKNOWN"),
    ] {
        let words = ["fsync", DIRECTORY, "--seed", "1", "--for", "etcd", "--format", "nagios"];
        let ended = Models::plain(flushing(flush_ns)).run(&words);
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(ended.out.starts_with(&format!("STRADDLE {state} - ")), "{ended:?}");
    }
}

#[test]
fn each_verdict_has_the_words_of_its_file() {
    let plain = |flush_ns| move || Models::plain(flushing(flush_ns));
    let words = ["fsync", "--for", "etcd"];
    matches_file("fsync-pass", plain(MS), &words);
    matches_file("fsync-warn", plain(12 * MS), &words);
    matches_file("fsync-fail", plain(200 * MS), &words);
    matches_file("fsync-not-enough-evidence", plain(2_000 * MS), &words);
}

#[test]
fn what_the_words_forbid_is_refused_before_anything_is_written() {
    for words in [
        &["--for", "no-such-engine"][..],
        &["--bytes-max", "1K"],
        &["--sustained", "--rows", "none"],
    ] {
        let ended = run(&Models::plain(flushing(MS)), words);
        assert_eq!((ended.code, ended.operations), (2, 0), "{words:?}: {ended:?}");
        assert!(ended.errors.contains("error: cannot "), "{words:?}: {ended:?}");
    }
}

#[test]
fn a_plan_writes_nothing() {
    for words in [&["--dry-run"][..], &["--dry-run", "--for", "etcd"]] {
        let ended = run(&Models::plain(flushing(MS)), words);
        let document: Value = ended.document();
        assert_eq!((ended.code, ended.operations), (0, 0), "{document:#}");
    }
}
