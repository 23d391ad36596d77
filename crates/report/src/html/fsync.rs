//! A result of `straddle fsync` on the page.

use maud::{Markup, html};
use measure::durable::RowGroup;

use super::chart::{self, Caption, Dot, pace};
use super::elements::{Tone, chip, more, notes, pairs, refused, say, time, time_or_unknown, words};
use super::engine_verdict::{self, verdict};
use super::honesty::{self, honesty};
use super::latency::{Latency, latencies};
use super::run_facts;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{Row, figure, head, rest, row, table, told};
use crate::bench::figure_rounding::{UNKNOWN, interval_title, number, ratio_bounds, ratio_figure};
use crate::fsync::{Fsync, FsyncRow, RowComparison, Sustained};
use crate::quantity_words::count_of;

/// The most rows of a table.
const ROWS_MAX: usize = 120;
/// Heads of the table of two rows.
const COMPARED_HEADS: [&str; 5] = ["Question", "Ratio", "Interval", "Rounds", "Conclusion"];

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, fsync: &Fsync) -> Markup {
    html! {
        (pairs(&run_facts::of_fsync(fsync).rows))
        @if let Some(refusal) = &fsync.envelope.refusal {
            (refused("ended early", &refusal.message, refusal.hint.as_deref()))
        }
        @if let Some(told) = &fsync.verdict { (verdict(told)) }
        @if let Some(told) = &fsync.honesty { (honesty(told)) }
        (rows(id, fsync))
        (comparisons(&fsync.comparisons))
        @if let Some(run) = &fsync.sustained { (sustained(id, run)) }
        (method(fsync))
        (notes(&fsync.envelope.notes))
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
    let dot = |row: &FsyncRow| Dot::latency(row.median_ns.unwrap_or(0), row.p99_ns, false);
    // Rows without figures stand last in the table, so that the numbers are those of the chart.
    let (some, none): (Vec<&FsyncRow>, Vec<&FsyncRow>) =
        fsync.rows.iter().partition(|row| row.median_ns.is_some());
    let dots: Vec<Dot> = drawn.iter().map(|row| dot(row)).collect();
    let heads = ["#", "Row", "Path", "Operations/s", "p50", "p90", "p99", "p99.9", "Greatest"];
    html! {
        h3 { "Durable writes" }
        (table("Latencies of each row", &heads,
            some.iter().chain(&none).take(ROWS_MAX).zip(1..).map(|(row, at)| one(at, row))))
        (more(fsync.rows.len().saturating_sub(ROWS_MAX), "rows"))
        (chart::latencies(&caption, &dots))
        (distributions(id, &drawn))
    }
}

/// The distributions of the rows that people ask for first: the log's, else the first ones.
fn distributions(id: &str, rows: &[&FsyncRow]) -> Markup {
    let wal: Vec<&FsyncRow> =
        rows.iter().copied().filter(|row| row.group == RowGroup::Wal).collect();
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
    format!("{} ({})", say(&row.label), row.group.word())
}

fn one(at: usize, of: &FsyncRow) -> Row {
    let mut cells = vec![figure(at), head(&label(of)), told(of.path.word())];
    if let Some(why) = &of.unavailable {
        cells.push(rest(html! { "not available: " (say(why)) }));
    } else if let Some(error) = of.errors.first() {
        cells.push(rest(html! { (chip(Tone::Bad, "failed")) " " (say(error)) }));
    } else {
        let rate = of.operations_per_second.map_or(UNKNOWN.to_owned(), number);
        let times = [of.median_ns, of.p90_ns, of.p99_ns, of.p999_ns, of.greatest_ns];
        cells.push(figure(rate));
        cells.extend(times.map(|time| figure(time_or_unknown(time))));
    }
    row(cells)
}

fn comparisons(comparisons: &[RowComparison]) -> Markup {
    html! {
        @if !comparisons.is_empty() {
            h3 { "Rows against each other" }
            (table("Time of the first row divided by that of the second", &COMPARED_HEADS,
                comparisons.iter().take(ROWS_MAX).map(compared)))
        }
    }
}

fn compared(one: &RowComparison) -> Row {
    let ratio = one.interval;
    let interval = html! {
        (ratio_bounds(ratio)) " " span.quiet { "(" (interval_title(one.alpha)) ")" }
    };
    row([
        head(&one.question),
        figure(ratio_figure(ratio)),
        figure(interval),
        figure(one.rounds),
        told(&one.result()),
    ])
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
    let pace_of = |rate: f64| format!("{} MB/s", number(rate / 1e6));
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
        ("Warm-up", Some(say(&rounds.warm_up)).filter(|text| !text.is_empty())),
        ("Time of a row in a round", Some(time(rounds.slice_ns))),
        ("Written", fsync.scratch.as_ref().map(|it| words().size(it.written_bytes))),
        ("Took", Some(time(rounds.elapsed_ns))),
    ];
    html! {
        details open {
            summary { "Method" }
            p {
                "In each round every row runs once, in random order, so that a drive that becomes "
                "slower affects all rows alike. Two rows are called different only if the "
                "interval of their ratio excludes 1."
            }
            (pairs(&rows))
            @if rounds.was_cut_short { p { "The last round is incomplete." } }
        }
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn summary(fsync: &Fsync) -> (Tone, String) {
    let told = [
        fsync.verdict.as_ref().map(engine_verdict::word),
        fsync.honesty.as_ref().map(honesty::word),
    ];
    let told: Vec<(Tone, String)> = told.into_iter().flatten().collect();
    let measured = fsync.rows.iter().filter(|row| row.median_ns.is_some()).count();
    if told.is_empty() {
        let rows = count_of(measured, "row");
        let tone = if measured == 0 { Tone::Care } else { Tone::Plain };
        return (tone, format!("{rows} measured"));
    }
    let tone = told.iter().map(|(tone, _)| *tone).max().unwrap_or(Tone::Care);
    let words: Vec<String> = told.into_iter().map(|(_, word)| word).collect();
    (tone, words.join("; "))
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(fsync: &Fsync) -> ShortAnswer {
    let lost = fsync.honesty.as_ref().map(honesty::rank);
    let judged = fsync.verdict.as_ref().map(engine_verdict::rank);
    let rank = lost.into_iter().chain(judged).max();
    let told = fsync.verdict.as_ref().filter(|_| judged.is_some() && judged == rank);
    let grade = fsync.honesty.as_ref().filter(|_| lost == rank && lost > Some(Rank::Good));
    if let (Some(rank), Some(honesty)) = (rank, grade) {
        let next = fsync.verdict.as_ref().filter(|_| told.is_some()).map(|it| it.next.as_str());
        let next = next.or(honesty.would_change.first().map(String::as_str));
        let (_, word) = honesty::word(honesty);
        let why = sentence(&say(&honesty.sentence));
        return ShortAnswer::new(rank, format!("A completed fsync is {word}: {why}")).next(next);
    }
    if let (Some(rank), Some(verdict)) = (rank, fsync.verdict.as_ref()) {
        let (_, word) = engine_verdict::word(verdict);
        let what = format!("{word} for {}: {}", say(&verdict.engine), say(&verdict.sentence));
        return ShortAnswer::new(rank, sentence(&what)).next(Some(&verdict.next));
    }
    if let Some(refusal) = &fsync.envelope.refusal {
        return ShortAnswer::refused("it ended early", refusal);
    }
    let what = format!("{}.", summary(fsync).1);
    ShortAnswer::new(rank.unwrap_or(Rank::Plain), what)
}
