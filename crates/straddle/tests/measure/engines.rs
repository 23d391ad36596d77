//! `straddle fsync --for ENGINE` and `straddle explain ENGINE`, as typed.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use testkit::Scratch;

fn straddle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle")).args(arguments).output().expect("the binary runs")
}

/// A profile whose limits are these, in a file of its own.
fn profile(directory: &Path, warn: &str, fail: &str) -> String {
    let text = include_str!("../../../workload/tests/seeds/profile/own.toml")
        .replace("above=\"1 ms\"", &format!("above=\"{warn}\""))
        .replace("above=\"2 ms\"", &format!("above=\"{fail}\""))
        // A median has its ends from few writes, however alike they are.
        .replace("quantile=\"p99\"", "quantile=\"p50\"")
        .replace("time=\"1 s\"", "time=\"2 s\"")
        .replace("samples=100", "samples=1000");
    let path = directory.join("own.toml");
    std::fs::write(&path, text).expect("the scratch directory takes a file");
    path.into_os_string().into_string().expect("scratch paths are UTF-8")
}

/// The exit code and the document of a run on a scratch directory, with these limits.
fn judged(warn: &str, fail: &str) -> (Option<i32>, Value) {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("scratch paths are UTF-8").to_owned();
    let own = profile(scratch.path(), warn, fail);
    let output =
        straddle(&["fsync", &directory, "--for", "a", "--profile", &own, "--json", "--seed", "1"]);
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let document: Value = serde_json::from_str(&text).expect("it prints JSON");
    (output.status.code(), document)
}

#[test]
fn limits_that_nothing_exceeds_pass_and_those_that_all_exceed_fail() {
    let (code, document) = judged("60 s", "60 s");
    let (verdict, honesty) = (&document["verdict"], &document["honesty"]);
    // Others may flush the drive as often, so that its counter cannot tell; memory may be below.
    let (expected, answer) = match honesty["grade"].as_str() {
        Some("consistent") => ("pass", 0),
        Some("not-durable") => ("fail", 1),
        _ => ("warn", 0),
    };
    let seen = (code, verdict["verdict"].as_str());
    assert_eq!(seen, (Some(answer), Some(expected)), "{document:#}");
    let is_nothing = verdict["next"].as_str().is_some_and(|next| next.starts_with("nothing"));
    assert!(expected == "pass" || !is_nothing, "{verdict:#}");
    let quantile = &verdict["quantile"];
    assert!(quantile["samples"].as_u64() >= Some(6), "{verdict:#}");
    assert!(quantile["high_ns"].as_u64() >= quantile["value_ns"].as_u64());
    assert_eq!(verdict["limits"][0]["source"], "set by the engine profile: f");
    let ceilings = verdict["ceilings"].as_array().map(Vec::len);
    assert_eq!(ceilings, Some(if expected == "fail" { 0 } else { 2 }));
    let (code, document) = judged("1 us", "1 us");
    let verdict = &document["verdict"];
    assert_eq!((code, &verdict["verdict"]), (Some(1), &Value::from("fail")), "{verdict:#}");
}

#[test]
fn an_engine_that_nobody_knows_and_a_wrong_profile_are_misuse_with_a_hint() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("scratch paths are UTF-8").to_owned();
    let said = |arguments: &[&str]| {
        let output = straddle(&[&["fsync", &directory], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let bytes = [output.stdout, output.stderr].concat();
        String::from_utf8(bytes).expect("it prints UTF-8")
    };
    let unknown = said(&["--for", "etcetera"]);
    assert!(unknown.contains("cannot judge for `etcetera`: no such engine profile"), "{unknown}");
    assert!(unknown.contains("known engines are etcd, openshift"), "{unknown}");
    let own = profile(scratch.path(), "10 parsecs", "2 ms");
    let wrong = said(&["--for", "a", "--profile", &own]);
    assert!(wrong.contains("own.toml:17: expected a whole number with ns"), "{wrong}");
    assert!(said(&["--profile", &own]).contains("--for"));
}

#[test]
fn explain_prints_an_engines_limits_with_their_sources() {
    let output = straddle(&["explain", "etcd"]);
    let page = String::from_utf8(output.stdout).expect("it prints UTF-8");
    assert!(page.starts_with("etcd: write-ahead log\n"), "{page}");
    assert!(page.contains("source: https://etcd.io/docs/v3.5/faq/"), "{page}");
    let list = String::from_utf8(straddle(&["explain", "engines"]).stdout).expect("UTF-8");
    assert_eq!(list.lines().count(), 16, "{list}");
    // The last line names a profile to copy, which is one.
    let scratch = Scratch::new();
    let copied = straddle(&["explain", "engine", "profile"]).stdout;
    let own = scratch.file("own.toml", &copied);
    let [own, directory] =
        [&own, scratch.path()].map(|path| path.to_str().expect("scratch paths are UTF-8"));
    let said = straddle(&["fsync", directory, "--dry-run", "--for", "etcd", "--profile", own]);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
}
