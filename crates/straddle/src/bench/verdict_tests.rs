//! `straddle bench` from its words to its exit code, on drives of known cost under a simulated
//! clock.
#![deny(clippy::disallowed_methods)]

use serde_json::Value;

use crate::world::models::event::Event;
use crate::world::models::plain_drive::PlainPlan;
use crate::world::models::verdict_file::matches_file;
use crate::world::models::{DIRECTORY, Ended, Models};

/// A drive without a cache: a durable write is a write and nothing else, so that the ratio is the
/// penalty.
const PLAIN: PlainPlan = PlainPlan {
    base_ns: 100_000,
    flush_ns: 400_000,
    penalty: 1.0,
    granule_bytes: 4096,
    noise: 0.05,
    stall_every: 0,
    stall_ns: 0,
    drift: 0.0,
    has_cache: false,
    seed: 1,
};

/// A run with these words.
fn run(world: &Models, words: &[&str]) -> Ended {
    world.run(&[&["bench", DIRECTORY, "--json", "--seed", "1"], words].concat())
}

/// The first experiment of a run, with its exit code.
#[track_caller]
fn experiment(world: &Models, words: &[&str]) -> (u8, Value) {
    let ended = run(world, words);
    (ended.code, ended.document()["experiments"][0].clone())
}

/// Exit code and verdict of a run, and the judged ratio with its interval.
#[track_caller]
fn verdict(world: &Models, words: &[&str]) -> (u8, String, [f64; 3]) {
    let (code, experiment) = experiment(world, words);
    let word = experiment["verdict"].as_str().expect("a verdict").to_owned();
    let judged = &experiment["comparisons"][0];
    let number = |key: &str| judged[key].as_f64().unwrap_or(f64::NAN);
    (code, word, [number("ratio"), number("low"), number("high")])
}

#[test]
fn a_ratio_of_every_size_has_its_verdict_its_code_and_an_interval_around_it() {
    for (penalty, expected, code) in [
        (1.0, "no-penalty", 0),
        (1.02, "no-penalty", 0),
        (1.07, "small", 0),
        (1.2, "penalty", 1),
        (1.5, "penalty", 1),
        (2.0, "penalty", 1),
        (3.0, "penalty", 1),
        (10.0, "penalty", 1),
        (20.0, "penalty", 1),
    ] {
        // So long that the host's own time counts for nothing.
        let plan = PlainPlan { base_ns: 1_000_000, penalty, noise: 0.01, ..PLAIN };
        let (found_code, word, [ratio, low, high]) = verdict(&Models::plain(plan), &[]);
        assert_eq!((word.as_str(), found_code), (expected, code), "{penalty}: {ratio}");
        assert!(low * 0.99 <= penalty && penalty <= high * 1.01, "{penalty}: {low} to {high}");
        assert!((ratio / penalty - 1.0).abs() < 0.02, "{penalty}: {ratio}");
    }
}

#[test]
fn equal_arms_are_never_called_a_penalty_and_a_penalty_of_three_never_none() {
    let mut found = 0;
    for seed in 1..=20 {
        for noise in [0.02, 0.3] {
            let equal = PlainPlan { noise, seed, ..PLAIN };
            let typed = ["bench", DIRECTORY, "--json", "--seed", &seed.to_string()];
            let ended = Models::plain(equal).run(&typed);
            let word = &ended.document()["experiments"][0]["verdict"];
            assert!(word != "penalty" && ended.code != 1, "seed {seed}, noise {noise}: {word}");
            let ended = Models::plain(PlainPlan { penalty: 3.0, ..equal }).run(&typed);
            let word = &ended.document()["experiments"][0]["verdict"];
            assert!(matches!(word.as_str(), Some("penalty" | "void")), "seed {seed}: {word}");
            found += u32::from(word == "penalty" && ended.code == 1);
        }
    }
    // Of forty controls one or two differ by chance, which voids the run.
    assert!(found >= 37, "{found} of 40");
}

#[test]
fn stalls_and_drift_change_no_verdict() {
    for penalty in [1.0, 3.0] {
        let expected = if penalty > 1.0 { ("penalty", 1) } else { ("no-penalty", 0) };
        let plan = PlainPlan { penalty, ..PLAIN };
        for odd in [
            PlainPlan { stall_every: 50, stall_ns: 20_000_000, ..plan },
            PlainPlan { stall_every: 7, stall_ns: 1_000_000, ..plan },
            PlainPlan { drift: 200.0, ..plan },
            PlainPlan { drift: 20_000.0, ..plan },
        ] {
            let (code, word, _) = verdict(&Models::plain(odd), &[]);
            assert_eq!((word.as_str(), code), expected, "{odd:?}");
        }
    }
}

#[test]
fn a_flush_that_both_arms_pay_for_makes_the_ratio_smaller() {
    // 100 us of write and 400 us of flush: the write of 300 us makes 700 of 500.
    let plan = PlainPlan { penalty: 3.0, has_cache: true, ..PLAIN };
    let (code, word, [_, low, high]) = verdict(&Models::plain(plan), &[]);
    assert_eq!((word.as_str(), code), ("penalty", 1));
    assert!(low < 1.4 && 1.4 < high && high < 1.6, "{low} to {high}");
}

#[test]
fn drives_of_known_construction_have_the_ratio_that_follows_from_it() {
    // A turn for the write, and one for each of two granules that are read first.
    let (code, word, [ratio, ..]) = verdict(&Models::built_in("hdd-7200-512e"), &[]);
    assert_eq!((word.as_str(), code), ("penalty", 1));
    assert!((2.9..3.1).contains(&ratio), "{ratio}");
    // Power-loss protection: what is read first costs little beside the flush.
    let (code, word, [ratio, ..]) = verdict(&Models::built_in("dc-p3700"), &[]);
    assert_eq!((word.as_str(), code), ("no-penalty", 0));
    assert!((1.0..1.05).contains(&ratio), "{ratio}");
}

#[test]
fn reads_do_not_pay_for_writes_and_a_depth_is_measured_in_blocks() {
    let plan = PlainPlan { penalty: 3.0, ..PLAIN };
    let (code, word, _) = verdict(&Models::plain(plan), &["--read"]);
    assert_eq!((word.as_str(), code), ("no-penalty", 0));
    let words = ["--depth", "8", "--sync", "none"];
    let (code, found) = experiment(&Models::plain(plan), &words);
    assert_eq!((found["verdict"].as_str(), code), (Some("penalty"), 1));
    assert_eq!(found["unit"], "block", "{found:#}");
    let ratio = found["comparisons"][0]["ratio"].as_f64().expect("a ratio");
    assert!((2.9..3.1).contains(&ratio), "{ratio}");
}

#[test]
fn a_limit_that_ends_it_too_early_is_no_verdict_and_names_the_option_that_lifts_it() {
    let plan = PlainPlan { noise: 1.0, penalty: 1.08, ..PLAIN };
    for (words, option) in [
        (&["--pairs", "5"][..], "--pairs "),
        (&["--seconds", "1"], "--seconds "),
        (&["--bytes-max", "65M"], "--bytes-max "),
    ] {
        let ended = run(&Models::plain(plan), words);
        let document = ended.document();
        assert_eq!(document["experiments"][0]["verdict"], "inconclusive", "{words:?}");
        assert_eq!(ended.code, 5, "{words:?}");
        let notes = document["notes"].to_string();
        assert!(notes.contains(&format!("to settle what has no verdict: {option}")), "{notes}");
        let allowed = run(&Models::plain(plan), &[words, &["--allow-unknown"]].concat());
        assert_eq!(allowed.code, 0, "{words:?}");
    }
}

#[test]
fn what_the_words_forbid_is_refused_before_anything_is_written() {
    for words in [
        &["--bytes-max", "10M"][..],
        &["--shift", "100"],
        &["--size", "1000"],
        &["--write-device"],
        &["--", "true"],
    ] {
        let ended = run(&Models::plain(PLAIN), words);
        assert_eq!((ended.code, ended.operations), (2, 0), "{words:?}: {ended:?}");
        assert!(ended.errors.contains("error: cannot "), "{words:?}: {ended:?}");
    }
    // The granule is known once the scratch file has its place.
    let ended = run(&Models::plain(PLAIN), &["--shift", "4096"]);
    assert_eq!((ended.code, ended.operations), (2, PREPARING), "{ended:?}");
}

/// Number of operations that write the scratch file, a MiB each.
const PREPARING: u64 = 64;

#[test]
fn a_drive_that_fails_at_any_operation_is_no_verdict_and_named_in_the_kernels_words() {
    let plan = PlainPlan { penalty: 3.0, noise: 0.01, has_cache: true, ..PLAIN };
    let all = run(&Models::plain(plan), &[]).operations;
    assert!(all > PREPARING + 50, "{all}");
    for at in 1..=all {
        for (event, words) in [
            (Event::Gone, "Input/output error"),
            (Event::Error(5), "Input/output error"),
            (Event::Full, "No space left on device"),
        ] {
            let ended = run(&Models::plain(plan).with(at, event), &[]);
            let is_preparing = at <= PREPARING;
            assert_eq!(ended.code, if is_preparing { 2 } else { 5 }, "{event:?} at {at}");
            assert!(ended.out.contains(words), "{event:?} at {at}: {}", ended.out);
            let experiment = &ended.document()["experiments"][0];
            let expected = if is_preparing { Value::Null } else { "void".into() };
            assert_eq!(experiment["verdict"], expected, "{event:?} at {at}");
        }
    }
}

#[test]
fn a_signal_at_any_operation_ends_it_with_its_code_and_keeps_what_was_measured() {
    let plan = PlainPlan { penalty: 3.0, noise: 0.01, ..PLAIN };
    let all = run(&Models::plain(plan), &[]).operations;
    for at in 1..=all {
        for (signal, code) in [(2, 130), (15, 143)] {
            let ended = run(&Models::plain(plan).with(at, Event::Signal(signal)), &[]);
            assert_eq!(ended.code, code, "at {at}: {ended:?}");
            let document = ended.document();
            assert!(document["refusal"].is_null(), "at {at}: {document}");
            assert!(document["notes"].to_string().contains("interrupted: "), "at {at}: {document}");
            assert!(ended.errors.contains("nothing is left behind"), "at {at}: {ended:?}");
            // A run goes on to the end of its pair, and no further.
            assert!(ended.operations <= at + 12, "at {at}: {}", ended.operations);
        }
    }
}

#[test]
fn a_busy_drive_is_left_to_others_for_most_of_the_time_and_never_used_at_a_depth() {
    let plan = PlainPlan { penalty: 3.0, ..PLAIN };
    let (code, word, _) = verdict(&Models::plain(plan).beside_others(60), &[]);
    assert_eq!((word.as_str(), code), ("penalty", 1));
    let ended = run(&Models::plain(plan).beside_others(60), &[]);
    let notes = ended.document()["notes"].to_string();
    assert!(notes.contains("the drive is 60 % busy with other I/O"), "{notes}");
    let ended = run(&Models::plain(plan).beside_others(60), &["--depth", "8"]);
    assert_eq!(ended.code, 5, "{ended:?}");
    assert_eq!(ended.document()["refusal"]["kind"], "no-verdict");
    let ended = run(&Models::plain(plan).beside_others(60), &["--depth", "8", "--share", "100"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let ended = run(&Models::plain(plan).beside_others(5), &["--depth", "8"]);
    assert_eq!(ended.code, 1, "{ended:?}");
}

#[test]
fn the_whole_matrix_is_compared_with_the_error_shared_among_it() {
    let ended = run(&Models::plain(PLAIN), &["--full", "--pairs", "12"]);
    let document = ended.document();
    let experiments = document["experiments"].as_array().expect("a list");
    assert!(experiments.len() > 5, "{document:#}");
    let arms = |one: &Value| one["comparisons"].as_array().expect("a list").len() - 1;
    let questions: usize = experiments.iter().map(arms).sum();
    let alpha = experiments[0]["alpha"].as_f64().expect("a number");
    let questions = f64::from(u32::try_from(questions).expect("they are few"));
    assert!((alpha * questions - 0.05).abs() < 1e-9, "{alpha} for {questions}");
}

#[test]
fn every_shift_has_a_verdict_of_its_own_and_no_shift_is_a_second_aligned_arm() {
    let shifts = ["--shift", "0", "--shift", "512", "--shift", "2K"];
    let document = run(&Models::plain(PlainPlan { penalty: 3.0, ..PLAIN }), &shifts).document();
    let experiments = document["experiments"].as_array().expect("a list");
    let verdicts: Vec<(Option<u64>, Option<&str>)> = experiments
        .iter()
        .map(|one| (one["arms"][1]["shift_bytes"].as_u64(), one["verdict"].as_str()))
        .collect();
    let penalty = Some("penalty");
    let expected = [(Some(0), Some("no-penalty")), (Some(512), penalty), (Some(2048), penalty)];
    assert_eq!(verdicts, expected, "{document:#}");
    let typed = ["bench", DIRECTORY, "--seed", "1", "--shift", "0"];
    let ended = Models::plain(PLAIN).run(&typed);
    assert!(ended.out.contains("second aligned arm"), "{ended:?}");
    assert!(ended.out.contains("either way") && ended.code == 0, "{ended:?}");
}

#[test]
fn a_document_for_readers_of_fio_has_a_job_for_each_arm() {
    let typed = ["bench", DIRECTORY, "--seed", "1", "--format", "fio-json"];
    let ended = Models::plain(PLAIN).run(&typed);
    let document = ended.document();
    let jobs = document["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), 3, "{document:#}");
    for job in jobs {
        assert_eq!(job["write"]["total_ios"], jobs[0]["write"]["total_ios"], "{job:#}");
        assert!(job["write"]["total_ios"].as_u64() > Some(0), "{job:#}");
        assert!(job["write"]["clat_ns"]["mean"].as_f64() > Some(0.0), "{job:#}");
    }
}

#[test]
fn one_seed_gives_one_document() {
    let plan = PlainPlan { penalty: 1.5, noise: 0.2, ..PLAIN };
    for words in [&[][..], &["--depth", "8", "--sync", "none", "--pairs", "20"]] {
        let [first, again] = [(); 2].map(|()| run(&Models::plain(plan), words).out);
        assert_eq!(first, again);
        let typed = [&["bench", DIRECTORY, "--json", "--seed", "2"], words].concat();
        assert_ne!(first, Models::plain(plan).run(&typed).out);
    }
}

#[test]
fn a_plugin_has_the_state_of_its_verdict() {
    for (penalty, code, state) in [(1.0, 0, "OK"), (3.0, 1, "WARNING")] {
        let world = Models::plain(PlainPlan { penalty, ..PLAIN });
        let ended = world.run(&["bench", DIRECTORY, "--seed", "1", "--format", "nagios"]);
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(ended.out.starts_with(&format!("STRADDLE {state} - ")), "{ended:?}");
    }
    let world = Models::plain(PLAIN).with(PREPARING + 9, Event::Gone);
    let ended = world.run(&["bench", DIRECTORY, "--seed", "1", "--format", "nagios"]);
    assert_eq!(ended.code, 3, "{ended:?}");
}

#[test]
fn each_verdict_has_the_words_of_its_file() {
    let plain = |plan: PlainPlan| move || Models::plain(plan);
    let quiet = PlainPlan { noise: 0.01, ..PLAIN };
    matches_file("bench-no-penalty", plain(quiet), &["bench"]);
    matches_file("bench-small", plain(PlainPlan { penalty: 1.07, ..quiet }), &["bench"]);
    matches_file("bench-penalty", plain(PlainPlan { penalty: 3.0, ..quiet }), &["bench"]);
    let noisy = PlainPlan { noise: 1.0, penalty: 1.08, ..PLAIN };
    matches_file("bench-inconclusive", plain(noisy), &["bench", "--pairs", "20"]);
    let dying = move || Models::plain(quiet).with(PREPARING + 30, Event::Gone);
    matches_file("bench-void", dying, &["bench"]);
}
