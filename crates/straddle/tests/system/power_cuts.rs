//! `straddle drive simulate --power-cuts` as a user runs it: honest built-in drives break no
//! promise, and each lie is reported.

use std::process::{Command, Output};

use drive::profile::built_in;
use serde_json::Value;

fn simulate(words: &[&str]) -> Output {
    let command = ["drive", "simulate", "--json", "--operations", "60", "--power-cuts", "20"];
    Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(command)
        .args(words)
        .output()
        .expect("the binary runs")
}

/// Returns what cuts left of both arms.
#[track_caller]
fn left(words: &[&str]) -> Vec<Value> {
    let output = simulate(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let arms = document["arms"].as_array().expect("there are arms");
    arms.iter().map(|arm| arm["cuts"].clone()).collect()
}

/// `key` of both arms.
#[track_caller]
fn cuts(words: &[&str], key: &str) -> Vec<u64> {
    left(words).iter().map(|cuts| number(cuts, key)).collect()
}

#[track_caller]
fn number(cuts: &Value, key: &str) -> u64 {
    assert_eq!(cuts["cuts"], 20, "{cuts}");
    cuts[key].as_u64().unwrap_or_else(|| panic!("{key} of {cuts}"))
}

#[test]
fn no_drive_of_the_house_breaks_a_promise_synced_or_not() {
    for profile in built_in() {
        for sync in [&[][..], &["--no-sync"]] {
            let words = [&["--random", "--profile", &profile.name][..], sync].concat();
            for cuts in left(&words) {
                for broken in ["broken_cuts", "broken_writes", "missing_sectors"] {
                    assert_eq!(number(&cuts, broken), 0, "{words:?}: {cuts}");
                }
                assert!(number(&cuts, "acknowledged_writes") > 0, "{words:?}: {cuts}");
            }
        }
    }
}

#[test]
fn a_drive_with_capacitors_loses_nothing_and_one_without_loses_what_nobody_flushed() {
    let lost = |name: &str| -> u64 {
        let words = ["--no-sync", "--random", "--profile", name];
        cuts(&words, "lost_writes").iter().sum()
    };
    for (name, loses) in [("dc-p3700", false), ("raid5-bbu", false), ("m4-256", true)] {
        assert_eq!(lost(name) > 0, loses, "{name}");
    }
}

#[test]
fn whatever_lies_is_told_and_one_seed_tells_the_same() {
    let lies = [("m4-256", "flush"), ("hdd-7200-512e", "flush"), ("dc-p3700", "protection")];
    for (name, lie) in lies {
        let words = ["--random", "--profile", name, "--lie", lie];
        let broken = cuts(&words, "broken_writes");
        assert!(broken.iter().all(|count| *count > 0), "{name} lies about {lie}: {broken:?}");
        assert_eq!(simulate(&words).stdout, simulate(&words).stdout);
    }
}

#[test]
fn a_member_that_is_lost_with_the_power_is_the_write_hole_and_one_that_is_not_there_is_refused() {
    let words = ["--random", "--depth", "8", "--profile", "raid5-5x64k"];
    let sum = |words: &[&str], key: &str| cuts(words, key).iter().sum::<u64>();
    assert!(sum(&words, "parity_sectors") > 0 && sum(&words, "missing_sectors") == 0);
    let lost = [&words[..], &["--lost-member", "1"]].concat();
    assert!(sum(&lost, "missing_sectors") > 0, "what nobody wrote is gone");
    let output =
        simulate(&["--profile", "m4-256", "--profile", "raid5-5x64k", "--lost-member", "1"]);
    let notes = serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["notes"].to_string();
    assert!(notes.contains("m4-256 has no members: --lost-member changes nothing"), "{notes}");
    assert!(!notes.contains("raid5-5x64k has no members"), "{notes}");
    let output = simulate(&["--profile", "raid5-5x64k", "--lost-member", "5"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no member 5: the array has 5"), "{said}");
    assert!(said.contains("hint: members are counted from 0: --lost-member 0"), "{said}");
}
