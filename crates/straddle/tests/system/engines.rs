//! `straddle fsync --for ENGINE` and `straddle explain ENGINE`, as typed.

use std::process::{Command, Output};

use testkit::Scratch;

fn straddle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle")).args(arguments).output().expect("the binary runs")
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
    let profile = include_str!("../../../workload/tests/seeds/profile/own.toml");
    let own = scratch.file("own.toml", profile.replace("\"1 ms\"", "\"10 parsecs\"").as_bytes());
    let own = own.to_str().expect("scratch paths are UTF-8");
    let wrong = said(&["--for", "a", "--profile", own]);
    assert!(wrong.contains("own.toml:17: expected a whole number with ns"), "{wrong}");
    assert!(said(&["--profile", own]).contains("--for"));
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
