//! A result of `straddle fsync` on the page.

use maud::{Markup, html};

use super::chart::{Caption, Range, pace, ranges};
use super::facts;
use super::honesty::{self, honesty};
use super::latency::{Latency, latencies};
use super::phrase::{
    Tone, chip, head, more, notes, pairs, say, time, time_or_unknown, wide, words,
};
use super::verdict::{self, verdict};
use crate::bench::figures::{Ratio, UNKNOWN, interval_title, number as figure};
use crate::fsync::{Fsync, FsyncRow, RowComparison, Sustained};
use crate::words::count;

/// The most rows of a table.
const ROWS_MAX: usize = 120;
/// What is said of two rows.
const COMPARED_HEADS: [&str; 5] = ["Question", "Ratio", "Interval", "Rounds", "Conclusion"];

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, fsync: &Fsync) -> Markup {
    html! {
        (pairs(&facts::of_fsync(fsync).rows))
        @if let Some(refusal) = &fsync.refusal {
            p { (chip(Tone::Care, "ended early")) " " (say(&refusal.message)) }
            @if let Some(hint) = &refusal.hint { p.quiet { "What to do: " (say(hint)) } }
        }
        @if let Some(told) = &fsync.verdict { (verdict(told)) }
        @if let Some(told) = &fsync.honesty { (honesty(told)) }
        (rows(id, fsync))
        (comparisons(&fsync.comparisons))
        @if let Some(run) = &fsync.sustained { (sustained(id, run)) }
        (method(fsync))
        (notes(&fsync.notes))
    }
}

fn rows(id: &str, fsync: &Fsync) -> Markup {
    if fsync.rows.is_empty() {
        return Markup::default();
    }
    let drawn: Vec<&FsyncRow> = fsync.rows.iter().filter(|row| row.median_ns.is_some()).collect();
    let caption = Caption {
        id: format!("{id}-r"),
        title: "Latency of every row".to_owned(),
        description: "A dot for the median, a line up to p99; the numbers are those of the table."
            .to_owned(),
    };
    let range = |row: &FsyncRow| Range {
        median_ns: row.median_ns.unwrap_or(0),
        far_ns: row.p99_ns,
        odd: false,
    };
    // Rows without figures stand last in the table, so that the numbers are those of the chart.
    let (some, none): (Vec<&FsyncRow>, Vec<&FsyncRow>) =
        fsync.rows.iter().partition(|row| row.median_ns.is_some());
    let ranges_of: Vec<Range> = drawn.iter().map(|row| range(row)).collect();
    let heads = ["#", "Row", "Path", "Operations/s", "p50", "p90", "p99", "p99.9", "Greatest"];
    html! {
        h3 { "Durable writes" }
        (wide("Latencies of each row", &heads, &html! {
            @for (number, row) in some.iter().chain(&none).take(ROWS_MAX).enumerate() {
                (one(number + 1, row))
            }
        }))
        (more(fsync.rows.len().saturating_sub(ROWS_MAX), "rows"))
        (ranges(&caption, &ranges_of))
        (distributions(id, &drawn))
    }
}

/// The distributions of the rows that people ask for first: the log's, else the first ones.
fn distributions(id: &str, rows: &[&FsyncRow]) -> Markup {
    let wal: Vec<&FsyncRow> = rows.iter().copied().filter(|row| row.group == "wal").collect();
    let shown = if wal.is_empty() { rows } else { &wal };
    let shown: Vec<&FsyncRow> = shown.iter().take(8).copied().collect();
    let names: Vec<String> = shown.iter().map(|row| label(row)).collect();
    let named = names.iter().zip(shown);
    let all: Vec<Latency<'_>> = named.map(|(name, row)| latency_of(name, row)).collect();
    latencies(&format!("{id}-l"), &all)
}

fn latency_of<'a>(name: &'a str, row: &'a FsyncRow) -> Latency<'a> {
    Latency {
        name,
        count: row.operations,
        median_ns: row.median_ns.unwrap_or(0),
        p99_ns: row.p99_ns,
        histogram: &row.histogram,
    }
}

fn label(row: &FsyncRow) -> String {
    let of = if row.group.is_empty() { String::new() } else { format!(" ({})", say(&row.group)) };
    format!("{}{of}", say(&row.label))
}

fn one(number: usize, row: &FsyncRow) -> Markup {
    html! {
        tr {
            td { (number) }
            (head(&label(row)))
            td { (say(&row.path)) }
            @if let Some(why) = &row.unavailable {
                td colspan="6" { "not available: " (say(why)) }
            } @else if let Some(error) = row.errors.first() {
                td colspan="6" { (chip(Tone::Bad, "failed")) " " (say(error)) }
            } @else {
                td { (row.operations_per_second.map_or(UNKNOWN.to_owned(), figure)) }
                td { (time_or_unknown(row.median_ns)) }
                td { (time_or_unknown(row.p90_ns)) }
                td { (time_or_unknown(row.p99_ns)) }
                td { (time_or_unknown(row.p999_ns)) }
                td { (time_or_unknown(row.greatest_ns)) }
            }
        }
    }
}

fn comparisons(comparisons: &[RowComparison]) -> Markup {
    html! {
        @if !comparisons.is_empty() {
            h3 { "Rows against each other" }
            (wide("How many times as long a row takes", &COMPARED_HEADS,
                &html! { @for one in comparisons.iter().take(ROWS_MAX) { (compared(one)) } }))
        }
    }
}

fn compared(one: &RowComparison) -> Markup {
    let ratio = Ratio { ratio: one.ratio, low: one.low, high: one.high };
    html! {
        tr {
            (head(&one.question))
            td { (ratio.figure()) }
            td { (ratio.interval()) " " span.quiet { "(" (interval_title(one.alpha)) ")" } }
            td { (one.rounds) }
            td { (say(&one.conclusion)) }
        }
    }
}

fn sustained(id: &str, run: &Sustained) -> Markup {
    let caption = Caption {
        id: format!("{id}-s"),
        title: "Pace of a sustained run".to_owned(),
        description: format!(
            "{} written in {}. {}",
            words().size(run.written_bytes),
            time(run.elapsed_ns),
            say(&run.reason)
        ),
    };
    let pace_of = |rate: f64| format!("{} MB/s", figure(rate / 1e6));
    html! {
        h3 { "Where the write buffer ends" }
        p { (say(&run.title)) }
        @if let Some(knee) = &run.knee {
            p {
                "After " (words().size(knee.at_bytes)) " (between " (words().size(knee.low_bytes))
                " and " (words().size(knee.high_bytes)) ") the pace fell from "
                (pace_of(knee.before_bytes_per_second)) " to "
                (pace_of(knee.after_bytes_per_second)) "."
            }
        }
        (pace(&caption, run))
    }
}

fn method(fsync: &Fsync) -> Markup {
    let Some(rounds) = &fsync.rounds else { return Markup::default() };
    let rows = [
        ("Rounds", Some(rounds.rounds.to_string())),
        ("Left out before (warm-up)", Some(rounds.discarded_rounds.to_string())),
        ("Why", Some(say(&rounds.warm_up)).filter(|text| !text.is_empty())),
        ("A slice", Some(time(rounds.slice_ns))),
        ("Written", fsync.scratch.as_ref().map(|it| words().size(it.written_bytes))),
        ("Took", Some(time(rounds.elapsed_ns))),
    ];
    html! {
        details open {
            summary { "Method" }
            p {
                "In each round every row has one slice, in random order, so that what changes with "
                "time meets all of them. Two rows are called different only where the interval "
                "says so."
            }
            (pairs(&rows))
            @if rounds.was_cut_short { p { "It ended before the last round was whole." } }
        }
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn summary(fsync: &Fsync) -> (Tone, String) {
    let told =
        [fsync.verdict.as_ref().map(verdict::word), fsync.honesty.as_ref().map(honesty::word)];
    let told: Vec<(Tone, String)> = told.into_iter().flatten().collect();
    let measured = fsync.rows.iter().filter(|row| row.median_ns.is_some()).count();
    if told.is_empty() {
        let rows = count(u64::try_from(measured).unwrap_or(u64::MAX), "row");
        let tone = if measured == 0 { Tone::Care } else { Tone::Plain };
        return (tone, format!("{rows} measured"));
    }
    let tone = told.iter().map(|(tone, _)| *tone).max().unwrap_or(Tone::Care);
    let words: Vec<String> = told.into_iter().map(|(_, word)| word).collect();
    (tone, words.join("; "))
}
