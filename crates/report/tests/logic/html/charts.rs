//! Charts of a page: lines that are told apart, and what a run did over time.

use std::collections::BTreeSet;

use measure::durable::RowGroup;
use measure::engine_verdict::Fitness;
use report::bench::Bench;
use report::fsync::{DataPath, EngineLimit, Fsync, FsyncRow, FsyncVerdict, RowMethod};
use report::html::{FileContent, Report, ResultFile, page};

use crate::made::bench::{disk, no_penalty};
use crate::made::fsync::row;

fn shown(content: FileContent) -> String {
    let source = ResultFile { name: "one.json".to_owned(), content };
    page(&Report { sources: vec![source], unread: Vec::new() })
}

/// The page of so many rows, with a verdict.
fn of_rows(count: usize) -> String {
    let one = |number| {
        let id = format!("wal.row-{number}");
        row(&id, RowGroup::Wal, "fdatasync", DataPath::Buffered)
    };
    let limit = |grade, limit_ns| EngineLimit { grade, limit_ns, ..EngineLimit::default() };
    let limits = vec![limit(Fitness::Warn, 10_000_000), limit(Fitness::Fail, 100_000_000)];
    let verdict = Some(FsyncVerdict { limits, ..FsyncVerdict::default() });
    let fsync = Fsync { rows: (0..count).map(one).collect(), verdict, ..Fsync::default() };
    shown(FileContent::Fsync(Box::new(fsync)))
}

/// All that stands between `from` and `to` in `text`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).filter_map(|rest| Some(rest.split_once(to)?.0)).collect()
}

/// The chart named `title` of a page.
fn chart<'a>(page: &'a str, title: &str) -> &'a str {
    let found = |figure: &&str| figure.contains(&format!("<strong>{title}."));
    between(page, "<figure>", "</figure>").into_iter().find(found).unwrap_or_default()
}

#[test]
fn each_of_eight_curves_has_its_color_in_light_and_dark_and_its_dashes() {
    let page = of_rows(8);
    let curves = chart(&page, "Latency of 8 rows");
    let lines = between(curves, "<polyline ", "/>");
    let strokes = lines.iter().flat_map(|line| between(line, "stroke=\"", "\""));
    let strokes: BTreeSet<&str> = strokes.collect();
    let dark = |stroke: &str| {
        between(&page, &format!("svg [stroke=\"{stroke}\"] {{ stroke: "), ";").first().copied()
    };
    let dashes = |stroke: &str| {
        let rule = format!("svg polyline[stroke=\"{stroke}\"] {{ stroke-dasharray: ");
        between(&page, &rule, ";").first().copied()
    };
    let dashed: BTreeSet<&str> = strokes.iter().filter_map(|stroke| dashes(stroke)).collect();
    assert_eq!(dashed.len(), 7, "one of eight is whole: {strokes:?}");
    let dark: BTreeSet<&str> = strokes.iter().filter_map(|stroke| dark(stroke)).collect();
    assert!(dark.len() >= 8, "{strokes:?} {dark:?}");
    for number in 0..8 {
        assert!(curves.contains(&format!("row-{number}\n")), "{curves}");
    }
}

#[test]
fn slow_writes_stand_at_their_time_beside_the_limit() {
    let few = of_rows(2);
    let timeline = chart(&few, "Slowest write over the run");
    assert!(timeline.contains("warn 10 ms") && timeline.contains("20 ms"), "{timeline}");
    for (color, name) in [("#9A6700", "warn 10 ms"), ("#B3261E", "fail 100 ms")] {
        let named = between(timeline, &format!("fill=\"{color}\""), "</text>");
        assert!(named.iter().any(|text| text.contains(name)), "{name}: {timeline}");
        assert!(timeline.contains(&format!("stroke=\"{color}\"")), "{name}");
    }
    let many = of_rows(9);
    let strips = chart(&many, "Slowest write over the run");
    assert_eq!(strips.matches("<polygon").count(), 9, "a strip for each: {strips}");
    assert!(strips.contains("A bar of full height is 20.0 times the median"), "{strips}");
}

#[test]
fn writes_that_are_not_durable_stand_apart_and_a_missing_percentile_is_explained() {
    let mut rows: Vec<FsyncRow> = ["one.fdatasync", "one.write", "wal.range"]
        .map(|id| row(id, RowGroup::Wal, "a row", DataPath::Buffered))
        .into();
    rows[1].method = RowMethod::None;
    rows[2].method = RowMethod::SyncFileRange;
    let explained = "-: too few writes for that percentile";
    let shown_of = |rows: &[FsyncRow]| {
        let fsync = Fsync { rows: rows.to_vec(), ..Fsync::default() };
        shown(FileContent::Fsync(Box::new(fsync)))
    };
    let page = shown_of(&rows);
    let (durable, rest) = page.split_once("Writes that are not durable").expect("a heading");
    let durable = durable.split_once("Durable writes").expect("a heading").1;
    for id in ["one.write", "wal.range"] {
        assert!(!durable.contains(id) && rest.contains(id), "{id}: {page}");
    }
    assert!(durable.contains("one.fdatasync") && !page.contains(explained), "{page}");
    rows[0].p999_ns = None;
    assert!(shown_of(&rows).contains(explained));
    assert!(!shown_of(&rows[1..]).contains("Durable writes"));
}

#[test]
fn a_bench_shows_its_pairs_in_order_where_the_result_holds_them() {
    let page = |bench: Bench| shown(FileContent::Bench(Box::new(bench)));
    let pairs = page(disk());
    let drawn = chart(&pairs, "Ratio pair by pair");
    assert!(drawn.contains("shifted 512 B\n") && drawn.contains("control\n"), "{drawn}");
    let mut old = disk();
    old.experiments = vec![no_penalty()];
    for comparison in &mut old.experiments[0].comparisons {
        comparison.pair_ratios.clear();
    }
    assert!(!page(old).contains("Ratio pair by pair"));
}
