//! A result of `straddle fsync` in every view.

use crate::made::fsync::{forecast, plain, tail, target, text, whole};
use crate::made::sample::envelope;
use measure::durable::Difference;
use measure::{Interval, Tail};
use report::fsync::{
    FSYNC_PLAN_SCHEMA, FSYNC_SCHEMA, Fsync, FsyncPlan, FsyncRow, FsyncVerdict, LayerFlushes,
    fsync_fio_json, fsync_json, fsync_parse, fsync_plan_json, fsync_plan_text, fsync_table,
};
use report::{Look, ResultFault, Run};
use serde_json::Value;
use testkit::schema;

const FSYNC: &str = include_str!("../../schema/straddle.fsync.2.schema.json");

const PLAN: &str = include_str!("../../schema/straddle.fsync.plan.1.schema.json");

fn faults(schema: &str, document: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let document: Value = serde_json::from_str(document).expect("valid JSON");
    schema::faults(&schema, &document)
}

#[test]
fn results_are_valid_and_wholly_described() {
    for fsync in [plain(), whole(), Fsync::default()] {
        assert_eq!(faults(FSYNC, &fsync_json(&fsync)), Vec::<String>::new());
    }
    let plan = FsyncPlan {
        envelope: envelope(FSYNC_PLAN_SCHEMA, Run::default()),
        target: target(),
        forecast: forecast(),
        ..FsyncPlan::default()
    };
    assert_eq!(faults(PLAN, &fsync_plan_json(&plan)), Vec::<String>::new());
    let said = fsync_plan_text(&plan, &Look::default());
    assert!(said.ends_with("dry run: nothing was written, nothing was measured\n"), "{said}");
}

#[test]
fn a_result_comes_back_from_its_file_and_others_are_told_apart() {
    assert_eq!(fsync_parse(&fsync_json(&whole())), Ok(whole()));
    assert!(matches!(fsync_parse("{}"), Err(ResultFault::NotOurs(_))));
    let other =
        fsync_json(&Fsync { envelope: envelope("straddle.bench/1", Run::default()), ..plain() });
    assert_eq!(
        fsync_parse(&other),
        Err(ResultFault::OtherSchema(text("straddle.bench/1"), Some(FSYNC_SCHEMA)))
    );
    let cut = fsync_json(&plain()).replace("\"rows\"", "\"lines\"");
    assert!(matches!(fsync_parse(&cut), Err(ResultFault::Broken(_))));
}

#[test]
fn the_table_has_the_labels_and_columns_of_pg_test_fsync() {
    let shown = fsync_table(&plain(), &Look { width: Some(120), ..Look::default() });
    let plain_text = anstream::adapter::strip_str(&shown).to_string();
    let line = |word: &str| {
        let found = plain_text.lines().find(|line| line.trim_start().starts_with(word));
        found.unwrap_or_else(|| panic!("no {word} in\n{plain_text}")).to_owned()
    };
    let head = line("one 8kB write");
    for word in ["ops/sec", "usecs/op", "median", "p90", "p99", "p99.9"] {
        assert!(head.contains(word), "{head}");
    }
    let fdatasync = line("fdatasync");
    for word in ["buffered", "6097.561", "164", "160 µs", "170 µs", "400 µs", "1.20 ms"] {
        assert!(fdatasync.contains(word), "{fdatasync}");
    }
    assert!(line("open_datasync").contains("direct"));
    let few = FsyncRow { p99_ns: None, ..plain().rows[0].clone() };
    let few = Fsync { rows: vec![few], ..plain() };
    let few = fsync_table(&few, &Look { width: Some(80), ..Look::default() });
    assert!(few.contains("too few"), "{few}");
    assert!(line("fsync_writethrough").contains("n/a"));
    assert!(line("append").contains("void"));
    assert!(plain_text.contains("a write of 8192 bytes wrote 4096"), "{plain_text}");
    let turns = "12 rounds; in each, every row ran once";
    assert!(!plain_text.contains(turns), "{plain_text}");
    let look = Look { width: Some(200), explain: true, ..Look::default() };
    assert!(fsync_table(&plain(), &look).contains(turns));
}

#[test]
fn layers_keep_their_heads_at_80_columns_however_long_a_kind_is() {
    let mut fsync = whole();
    let layer = LayerFlushes {
        name: text("loop3"),
        kind: text("loop, through the page cache"),
        write_cache: Some(text("write through")),
        flushes_per_sync: Some(1.0),
        ..LayerFlushes::default()
    };
    fsync.honesty.as_mut().expect("the sample has one").layers = vec![layer];
    let shown = fsync_table(&fsync, &Look { width: Some(80), ..Look::default() });
    let shown = anstream::adapter::strip_str(&shown).to_string();
    let head = shown.lines().position(|line| line.contains("flushes per sync")).expect("a head");
    let row = "  loop3   1.00               write through   loop, through the page cache";
    assert_eq!(shown.lines().nth(head + 1), Some(row), "{shown}");
}

#[test]
fn two_rows_without_an_interval_are_too_few_rounds_and_not_alike() {
    let mut fsync = whole();
    let shown = |interval, conclusion, fsync: &mut Fsync| {
        fsync.comparisons[0].interval = interval;
        fsync.comparisons[0].conclusion = conclusion;
        let shown = fsync_table(fsync, &Look { width: Some(100), ..Look::default() });
        anstream::adapter::strip_str(&shown).to_string()
    };
    let none = Difference::NoDifferenceDetected;
    let few = Interval { ratio: 3.65, low: 0.0, high: f64::INFINITY };
    assert!(shown(few, none, &mut fsync).contains("too few rounds to tell"));
    let alike = Interval { ratio: 1.0, low: 0.9, high: 1.1 };
    assert!(shown(alike, none, &mut fsync).contains("no difference detected"));
}

#[test]
fn a_ratio_that_the_medians_do_not_show_is_told_with_theirs() {
    let shown = |median_ns| {
        let mut fsync = whole();
        fsync.rows[3] = FsyncRow { median_ns: Some(median_ns), ..fsync.rows[1].clone() };
        fsync.rows[3].id = text("wal.append");
        let shown = fsync_table(&fsync, &Look { width: Some(100), ..Look::default() });
        let shown = anstream::adapter::strip_str(&shown).to_string();
        let line = shown.lines().find(|line| line.contains("append against overwrite"));
        line.map(str::to_owned).expect("the comparison is shown")
    };
    assert!(shown(304_000).ends_with("2.70 to 3.10   slower; medians 1.90"), "{}", shown(304_000));
    assert!(shown(464_000).ends_with("2.70 to 3.10   slower"), "{}", shown(464_000));
}

#[test]
fn a_percentile_is_named_only_of_writes_enough_to_have_one() {
    let shown = |samples| {
        let tail = Tail { samples, ..tail(99.0, [19_100_000, 1, 2]) };
        let mut fsync = whole();
        fsync.verdict =
            fsync.verdict.map(|verdict| FsyncVerdict { quantile: Some(tail), ..verdict });
        let text = fsync_table(&fsync, &Look { width: Some(200), ..Look::default() });
        anstream::adapter::strip_str(&text).to_string()
    };
    let few = shown(6);
    let words = "too few writes for a p99 of a durable write: 6, the slowest 19.1 ms";
    assert!(few.contains(words) && !few.contains("is 19.1 ms"), "{few}");
    assert!(shown(99).contains("too few writes for a p99"));
    assert!(shown(100).contains("p99 of a durable write is 19.1 ms"), "{}", shown(100));
}

#[test]
fn a_narrow_terminal_keeps_the_99th_percentile() {
    let shown = fsync_table(&plain(), &Look { width: Some(80), ..Look::default() });
    let shown = anstream::adapter::strip_str(&shown).to_string();
    let head = shown.lines().find(|line| line.contains("ops/sec")).expect("a head");
    assert!(head.contains("p99") && !head.contains("p99.9"), "{head}");
    assert!(shown.contains("400 µs"), "{shown}");
}

#[test]
fn where_no_columns_fit_each_figure_says_what_it_is() {
    for width in [40, 48] {
        let shown = fsync_table(&plain(), &Look { width: Some(width), ..Look::default() });
        let shown = anstream::adapter::strip_str(&shown).to_string();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let row = "fdatasync buffered 6097.561 ops/sec 164 usecs/op median 160 µs p99 400 µs";
        assert!(words.contains(row), "{shown}");
        for row in ["fsync_writethrough buffered n/a", "append, fdatasync buffered void"] {
            assert!(words.contains(row), "{shown}");
        }
        for line in shown.lines() {
            let line = line.trim();
            let is_torn = line.starts_with("ops/sec") || line.ends_with("p99");
            assert!(!is_torn, "a figure and its name stay together:\n{shown}");
        }
    }
}

#[test]
fn every_line_fits_and_no_text_leaves_its_line() {
    let mut hostile = whole();
    hostile.target.path = text("/da\x1b[31mta\nfoo");
    hostile.rows[0].label = text("a\x1b]0;x\x07b\nc").repeat(20);
    hostile.envelope.notes = vec![text("\u{202e}x\r\n").repeat(30)];
    for width in [40, 60, 80, 120, 200] {
        for explain in [false, true] {
            for ascii in [false, true] {
                let look = Look { width: Some(width), ascii, explain, ..Look::default() };
                let shown = fsync_table(&hostile, &look);
                let shown = anstream::adapter::strip_str(&shown).to_string();
                for line in shown.lines() {
                    assert!(unicode_width::UnicodeWidthStr::width(line) <= width, "{line}");
                    assert!(!line.chars().any(char::is_control), "{line:?}");
                }
            }
        }
    }
}

#[test]
fn parsers_of_fio_find_the_percentiles_of_the_sync() {
    let document: Value = serde_json::from_str(&fsync_fio_json(&plain())).expect("JSON");
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 2, "rows without figures are no jobs");
    let p99 = &jobs[0]["sync"]["lat_ns"]["percentile"]["99.000000"];
    assert!(p99.as_u64().is_some_and(|ns| ns.abs_diff(160_768) < 2_000), "{p99}");
    assert_eq!(jobs[1]["job options"]["fdatasync"], "1");
    assert_eq!(jobs[1]["straddle"]["id"], "pg.one.fdatasync");
}
