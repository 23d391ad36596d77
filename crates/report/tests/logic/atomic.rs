//! The screen and the JSON of `straddle atomic`.

use durability::untorn::{
    GuardSetting, GuardState, PageEngine, PageFate, PageLayer, PageRole, UntornAnswer,
    UntornVerdict,
};
use report::atomic::{ATOMIC_SCHEMA, AtomicWrites, table};
use report::{Envelope, Look, Run};
use serde_json::Value;
use testkit::schema;

fn line(role: PageRole, name: &str, fate: PageFate, reason: &str) -> PageLayer {
    let source = Some("https://example.org/manual".to_owned());
    PageLayer { role, name: name.to_owned(), fate, reason: reason.to_owned(), source }
}

fn sample(answer: UntornAnswer) -> AtomicWrites {
    let is_yes = answer == UntornAnswer::Yes;
    let (fate, state) = match answer {
        UntornAnswer::Yes => (PageFate::Whole, GuardState::Allowed),
        UntornAnswer::Unknown => (PageFate::Unknown, GuardState::Keep),
        UntornAnswer::No => (PageFate::Torn, GuardState::Keep),
    };
    let reason = "starts 4 KiB past a multiple of 16 KiB on nvme0n1";
    let layers = vec![
        line(
            PageRole::Engine,
            "MySQL",
            PageFate::Whole,
            "writes each page of 16 KiB with one call",
        ),
        line(PageRole::Files, "ibdata1", PageFate::Whole, "every page is in one extent"),
        line(PageRole::Volume, "nvme0n1p1", fate, reason),
    ];
    let setting = GuardSetting {
        setting: "innodb_doublewrite".to_owned(),
        state,
        source: "https://example.org/a/very/long/path/to/the/page/of/the/manual.html".to_owned(),
    };
    let because = if is_yes { String::new() } else { format!("nvme0n1p1: {reason}") };
    let verdict = UntornVerdict {
        answer,
        engine: PageEngine::Mysql,
        page_bytes: 16384,
        because,
        layers,
        live: None,
        settings: vec![setting],
    };
    AtomicWrites {
        envelope: Envelope::new(ATOMIC_SCHEMA, Run::default()),
        target: "/var/lib/mysql".to_owned(),
        data_files: 3,
        verdict: Some(verdict),
    }
}

#[test]
fn the_verdict_comes_first_and_every_layer_has_a_line() {
    let look = Look { width: Some(80), ..Look::default() };
    let text = anstream::adapter::strip_str(&table(&sample(UntornAnswer::No), &look)).to_string();
    let wanted = "\
NO: keep torn-page protection on for MySQL in /var/lib/mysql
  because  nvme0n1p1: starts 4 KiB past a multiple of 16 KiB on nvme0n1

  layer      a page     reason
  MySQL      whole      writes each page of 16 KiB with one call
  ibdata1    whole now  every page is in one extent
  nvme0n1p1  may tear   starts 4 KiB past a multiple of 16 KiB on nvme0n1

        setting             source
  keep  innodb_doublewrite  https://example.org/a/very/long/path/to/the/page/of/
                            the/manual.html
";
    assert_eq!(text, wanted);
    let text = table(&sample(UntornAnswer::Yes), &look);
    let text = anstream::adapter::strip_str(&text).to_string();
    let first = "YES 16 KiB: MySQL may run in /var/lib/mysql without torn-page protection\n";
    assert!(text.starts_with(first) && !text.contains("because"), "{text}");
}

#[test]
fn every_line_fits_the_terminal() {
    for answer in [UntornAnswer::Yes, UntornAnswer::Unknown, UntornAnswer::No] {
        for width in [40, 60, 80, 120] {
            for explain in [false, true] {
                let look = Look { width: Some(width), explain, ..Look::default() };
                let text = table(&sample(answer), &look);
                let text = anstream::adapter::strip_str(&text).to_string();
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            }
        }
    }
}

#[test]
fn the_document_is_valid_and_wholly_described() {
    let committed = include_str!("../../schema/straddle.atomic.1.schema.json");
    let committed: Value = serde_json::from_str(committed).expect("the schema is JSON");
    for answer in [UntornAnswer::Yes, UntornAnswer::Unknown, UntornAnswer::No] {
        let document: Value = serde_json::from_str(&sample(answer).json()).expect("valid JSON");
        let faults = schema::faults(&committed, &document);
        assert!(faults.is_empty(), "{faults:#?}");
    }
    let refused = AtomicWrites { verdict: None, ..sample(UntornAnswer::No) };
    assert_eq!(table(&refused, &Look::default()), "");
}
