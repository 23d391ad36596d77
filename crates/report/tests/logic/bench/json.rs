//! Result files: what is written is read, and what is none is said to be none.

use measure::Role;
use report::bench::{Bench, bench_json, bench_parse, table};
use report::{RESULT_BYTES_MAX, ResultFault};
use units::random::Random;

use super::ugly::unknown;
use crate::made::bench::{arm, disk, penalty, whole};
use crate::made::sample::same;

#[test]
fn a_result_that_was_written_reads_back_as_it_was() {
    for bench in [disk(), whole()] {
        let text = bench_json(&bench);
        assert_eq!(bench_parse(&text).expect("it reads back"), bench);
        same(&bench_json(&bench_parse(&text).expect("it reads back")), &text);
    }
}

#[test]
fn every_number_reads_back_to_the_last_digit() {
    let mut random = Random::new(7);
    for _ in 0..200 {
        let mut bench = disk();
        let one = &mut bench.experiments[0].comparisons[0].interval;
        one.ratio = f64::from_bits(random.next_u64() & !(1 << 62));
        one.low = f64::from_bits(random.next_u64() & !(1 << 62));
        bench.seed = random.next_u64();
        assert_eq!(bench_parse(&bench_json(&bench)).expect("it reads back"), bench);
    }
}

#[test]
fn numbers_that_are_not_known_read_back_as_not_known() {
    let text = bench_json(&unknown());
    let bench = bench_parse(&text).expect("it reads back");
    assert!(bench.experiments[0].comparisons[0].interval.ratio.is_nan());
    same(&bench_json(&bench), &text);
}

#[test]
fn a_histogram_stands_on_one_line() {
    let mut bench = disk();
    bench.experiments = vec![penalty()];
    bench.experiments[0].arms =
        vec![arm("a", Role::Baseline, 0, 5, 9), arm("b", Role::Shifted, 1, 5, 9)];
    bench.experiments[0].arms[1].histogram = Vec::new();
    let text = bench_json(&bench);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("histogram")).collect();
    let blank = " ".repeat(10);
    let expected =
        [format!("{blank}\"histogram\": [[5,139],[9,2]],"), format!("{blank}\"histogram\": [],")];
    assert_eq!(lines, expected);
}

#[track_caller]
fn check(text: &str, expected: &ResultFault, message: &str, hint: &str) {
    let fault = bench_parse(text).expect_err("a fault");
    assert_eq!(fault, *expected);
    assert_eq!((&*fault.to_string(), fault.hint()), (message, hint));
}

const NAME_A_FILE: &str = "name a file that --json or -o of straddle wrote";

#[test]
fn what_is_no_result_is_said_to_be_none() {
    let what = "expected one JSON object, found invalid JSON (expected value at line 1 column 1)";
    check(
        "# fio",
        &ResultFault::NotOurs(what.to_owned()),
        &format!("not a straddle result file: {what}"),
        NAME_A_FILE,
    );
    let what = "expected a `schema` field, found none";
    check(
        "{}",
        &ResultFault::NotOurs(what.to_owned()),
        &format!("not a straddle result file: {what}"),
        NAME_A_FILE,
    );
    check(
        r#"{"schema": "straddle.check/1"}"#,
        &ResultFault::OtherSchema("straddle.check/1".to_owned(), Some("straddle.bench/1")),
        "expected a result of `straddle bench`, found a result of `straddle check`",
        NAME_A_FILE,
    );
    check(
        r#"{"schema": "straddle.bench/2"}"#,
        &ResultFault::OtherVersion("straddle.bench/2".to_owned()),
        "this version of straddle does not know the schema `straddle.bench/2`",
        "read it with the version of straddle that wrote it, or measure again with this one",
    );
}

#[test]
fn every_missing_field_is_named() {
    let text = bench_json(&disk());
    let whole: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // Those that may be unknown may be missing too.
    let optional =
        ["command", "started", "kernel", "host", "machine", "notes", "scratch", "refusal"];
    for key in whole.as_object().expect("an object").keys().filter(|key| *key != "schema") {
        let mut part = whole.clone();
        part.as_object_mut().expect("an object").remove(key);
        let read = bench_parse(&part.to_string());
        if optional.contains(&key.as_str()) {
            assert!(read.is_ok(), "{key}");
            continue;
        }
        let fault = read.expect_err("a fault").to_string();
        assert!(fault.contains(&format!("missing field `{key}`")), "{fault}");
    }
    let no_ratio = text.replacen("\"ratio\": 3.0,", "", 1);
    let fault = bench_parse(&no_ratio).expect_err("a fault");
    assert!(fault.to_string().contains("damaged: missing field `ratio`"), "{fault}");
    assert_eq!(fault.hint(), "the file was cut short or edited; make it again");
}

#[test]
fn hostile_files_are_refused_in_a_line() {
    let deep = format!(r#"{{"schema": "straddle.bench/1", "notes": {}"#, "[".repeat(1 << 20));
    let evil = "{\"schema\": \"a\\u001b[31m\\n\\u202e\"}".to_owned();
    let long = format!("{{\"schema\": \"{}\"}}", "x".repeat(1 << 20));
    for text in [deep, evil, long] {
        let fault = bench_parse(&text).expect_err("a fault").to_string();
        assert!(fault.len() < 300 && !fault.contains(['\x1b', '\n', '\u{202e}']), "{fault:?}");
    }
    let huge = " ".repeat(RESULT_BYTES_MAX + 1);
    assert_eq!(
        bench_parse(&huge),
        Err(ResultFault::TooLong(RESULT_BYTES_MAX + 1, RESULT_BYTES_MAX))
    );
}

#[test]
fn more_than_a_run_can_have_is_refused() {
    let mut bench = disk();
    bench.experiments[0].arms = vec![arm("a", Role::Baseline, 0, 1, 1); 257];
    let fault = bench_parse(&bench_json(&bench));
    assert_eq!(fault, Err(ResultFault::TooMany("arms in an experiment", 256)));
    let experiments = vec![report::bench::Experiment { arms: Vec::new(), ..penalty() }; 4097];
    let fault = bench_parse(&bench_json(&Bench { experiments, ..disk() }));
    assert_eq!(fault, Err(ResultFault::TooMany("experiments", 4096)));
}

/// A file cut or changed anywhere is read or refused, never more; what is read can be shown.
#[test]
fn damaged_files_are_read_or_refused() {
    let text = bench_json(&whole());
    let mut random = Random::new(11);
    let below = |random: &mut Random, end: usize| {
        usize::try_from(random.below(u64::try_from(end).expect("small"))).expect("small")
    };
    let mut read = 0;
    for _ in 0..500 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=below(&mut random, 3) {
            let at = below(&mut random, bytes.len());
            bytes[at] = b"0123456789-eE.\"[]{},: ntx"[below(&mut random, 25)];
        }
        if let Ok(bench) = bench_parse(&String::from_utf8_lossy(&bytes)) {
            read += 1;
            let _ = table(&bench, &report::Look::default());
            let _ = crate::made::compare::benches(&whole(), &bench);
            let _ = report::bench::fio_json(&bench);
        }
    }
    assert!(read > 0, "no damage was read, so nothing was tried");
}
