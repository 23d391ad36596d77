//! Readers of what programs print, and the line of a scene.

use std::collections::BTreeSet;

use serde_json::json;

use super::playbook::recap;
use super::scrape::firing;
use super::throttle::{most_at_once, span};
use super::{Outcome, line};

#[test]
fn each_scene_has_one_line_however_it_ended() {
    let told = |outcome| line("a scene", &outcome);
    assert_eq!(told(Outcome::Good(String::new())), "ok       a scene");
    assert_eq!(told(Outcome::Good("2 of 8".to_owned())), "ok       a scene: 2 of 8");
    assert_eq!(told(Outcome::Failed("no a\n  in b\n".to_owned())), "FAILED   a scene: no a in b");
    assert_eq!(told(Outcome::Skipped("no ip".to_owned())), "skipped  a scene: no ip");
}

#[test]
fn the_last_lines_of_ansible_are_counts_of_each_host() {
    let said = "TASK [a : b] ***\nok: [x] : ok=9\n\nPLAY RECAP *****\n\
        x                          : ok=2    changed=1    unreachable=0    failed=0\n\
        lost                       : ok=0    changed=0    unreachable=1    failed=0\n\n";
    let hosts = recap(said);
    assert_eq!(hosts.len(), 2);
    assert_eq!((hosts["x"]["ok"], hosts["x"]["unreachable"]), (2, 0));
    assert_eq!((hosts["lost"]["ok"], hosts["lost"]["unreachable"]), (0, 1));
    assert!(recap("ERROR! no playbook").is_empty());
}

#[test]
fn spans_that_share_a_moment_are_counted_and_neighbors_are_not() {
    let document = json!({"started": "1970-01-01T00:00:01.5Z", "elapsed_ns": 500_000_000});
    assert_eq!(span(&document).unwrap(), (1_500_000_000, 2_000_000_000));
    assert!(span(&json!({"started": "", "elapsed_ns": 1})).is_err());
    assert_eq!(most_at_once(&[]), 0);
    assert_eq!(most_at_once(&[(0, 10), (10, 20), (20, 30)]), 1);
    assert_eq!(most_at_once(&[(0, 10), (5, 20), (10, 30)]), 2);
    assert_eq!(most_at_once(&[(0, 10), (5, 20), (9, 30), (40, 50)]), 3);
}

#[test]
fn alerts_that_fire_are_told_from_those_that_wait() {
    let labels = |name: &str| json!({"alertname": name, "instance": "a"});
    let alerts = [
        json!({"labels": labels("Bad"), "state": "firing"}),
        json!({"labels": labels("Soon"), "state": "pending"}),
    ];
    let answer = json!({"data": {"alerts": alerts}});
    assert_eq!(firing(&answer), BTreeSet::from([("Bad".to_owned(), "a".to_owned())]));
    assert!(firing(&json!({"status": "error"})).is_empty());
}
