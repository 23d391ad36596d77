//! Power cuts under a program, for people and for programs.

use crate::made::torture::{counts, torture};
use report::Look;
use report::drive::{Torture, torture_json, torture_text};
use report::html::{FileContent, Report, ResultFile, page};
use serde_json::Value;
use testkit::schema;

pub(crate) const SCHEMA: &str = include_str!("../../schema/straddle.torture.1.schema.json");

#[test]
fn power_cuts_are_valid_and_wholly_described() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    for torture in [torture(), Torture::default()] {
        let document = serde_json::from_str(&torture_json(&torture)).expect("valid JSON");
        assert_eq!(schema::faults(&schema, &document), Vec::<String>::new());
    }
}

#[test]
fn the_verdict_says_whose_fault_it_is() {
    for (counts, said) in [
        (counts(0, 0, 0), "100 cuts of disk: nothing acknowledged was lost"),
        (
            counts(5, 0, 0),
            "acknowledged data was lost in 5 of 100 cuts; disk kept its promises, so the fault is in the \
             software above it",
        ),
        (counts(0, 7, 2), "disk broke its promise in 9 of 100 cuts; the program noticed 7"),
        (
            counts(1, 7, 2),
            "disk broke its promise in 9 of 100 cuts, and the program noticed 7; in 1 more, the \
             software above it lost acknowledged data",
        ),
    ] {
        assert_eq!(counts.verdict("disk"), said);
    }
}

#[test]
fn the_screen_begins_with_the_verdict_and_fits_80_columns() {
    let look = Look { width: Some(80), ..Look::default() };
    let screen = torture_text(&torture(), &look);
    let screen = anstream::adapter::strip_str(&screen).to_string();
    assert!(screen.starts_with("FAIL m4-256 broke its promise in 9 of 50 cuts"), "{screen}");
    for said in [
        "lies      --lie flush",
        "100 acknowledged lines, 311 writes, 207 flushes, 2.5 s",
        "1 of 2; 100 cuts in all",
        "4 at 1.203000 s, unpromised writes kept: random, after 45 acknowledged lines",
        "drive kept its promises; check: row 7 is lost",
        "drive lost 8 promised sectors; check: row 9 is lost",
        "drive lost 1 promised sector; the check passed",
        "1 more in --json",
        "straddle drive cut run1 --cut 4 --seed 1 -o disk.img",
        "in 3 cuts, sectors that nobody was writing became unreadable",
    ] {
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&said), "{said}\n{screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    let clean = Torture { counts: counts(0, 0, 0), lies: Vec::new(), ..torture() };
    assert!(torture_text(&clean, &look).contains("nothing acknowledged was lost"));
}

#[test]
fn shards_of_one_run_are_added_up_and_one_that_comes_twice_counts_once() {
    let file = |name: &str, torture: Torture| ResultFile {
        name: name.to_owned(),
        content: FileContent::Torture(Box::new(torture)),
    };
    let [first, second] = [1, 2].map(|shard| Torture { shard, ..torture() });
    let other = Torture { seed: 2, ..first.clone() };
    let page = |sources: Vec<ResultFile>| page(&Report { sources, unread: Vec::new() });
    let both = [file("1", first.clone()), file("2", second), file("1 again", first.clone())];
    let text = page(both.to_vec());
    assert!(text.contains("all shards together"), "{text}");
    assert!(text.contains("2 of 2") && text.contains("100 of 100"), "{text}");
    assert!(text.contains("broke its promise in 18 of 100 cuts"), "{text}");
    let apart = page(vec![file("1", first.clone()), file("other", other)]);
    assert!(apart.contains("1 of 2") && !apart.contains("2 of 2"), "other seeds are other runs");
    let whole = |name| file(name, Torture { shards: 1, ..torture() });
    assert!(!page(vec![whole("1"), whole("2")]).contains("all shards together"));
}
