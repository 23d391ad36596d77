//! A result of `straddle fsync` on the page.

use maud::{Markup, html};

use super::chart::{self, CURVES_MAX, Caption, Curve, Dot, pace, slowest, strips};
use super::elements::{
    Tone, chip, folded, more, notes, pairs, refused, say, time, time_or_unknown, words,
};
use super::engine_verdict::{self, verdict};
use super::headline::Headline;
use super::honesty::{self, honesty};
use super::latency::{CurveGroup, latencies};
use super::run_facts;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{Row, figure, head, named, rest, row, table, told};
use crate::bench::figure_rounding::{UNKNOWN, interval_title, number, ratio_bounds, ratio_figure};
use crate::fsync::{Fsync, FsyncRow, Honesty, RowComparison, RowMethod, Sustained, title};
use crate::quantity_words::count_of;

/// The most rows of a table.
const ROWS_MAX: usize = 120;
/// The row of the method that PostgreSQL and etcd sync by on Linux.
const USUAL: &str = "pg.one.fdatasync";
/// Heads of the tables of rows, and of two rows.
const HEADS: [&str; 3] = ["Row", "Cache", "Operations/s"];
/// Latency as a column: its head, and what it is of one row.
type LatencyColumn = (&'static str, fn(&FsyncRow) -> Option<u64>);

/// Columns of latencies; those that no row has are left out.
const LATENCIES: [LatencyColumn; 5] = [
    ("p50", |row| row.median_ns),
    ("p90", |row| row.p90_ns),
    ("p99", |row| row.p99_ns),
    ("p99.9", |row| row.p999_ns),
    ("Greatest", |row| row.greatest_ns),
];
const COMPARED_HEADS: [&str; 5] = ["Question", "Ratio", "Interval", "Rounds", "Conclusion"];

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, fsync: &Fsync) -> Markup {
    html! {
        @if let Some(refusal) = &fsync.envelope.refusal {
            (refused("ended early", &refusal.message, refusal.hint.as_deref()))
        }
        div.columns {
            (rows(id, fsync))
            @if let Some(run) = &fsync.sustained { div { (sustained(id, run)) } }
            @if let Some(told) = &fsync.verdict { div { (verdict(told)) } }
            @if let Some(told) = &fsync.honesty { div { (honesty(told)) } }
            @if !fsync.comparisons.is_empty() {
                div { (comparisons(&fsync.comparisons, &fsync.rows)) }
            }
        }
        (notes(&fsync.envelope.notes))
        (method(fsync))
        (folded("Machine and command", &pairs(&run_facts::of_fsync(fsync).rows)))
    }
}

fn rows(id: &str, fsync: &Fsync) -> Markup {
    if fsync.rows.is_empty() {
        return Markup::default();
    }
    let shown = || fsync.rows.iter().filter(|row| row.median_ns.is_some() && is_synced(row));
    let limits = fsync.verdict.as_ref().map(engine_verdict::limit_lines).unwrap_or_default();
    let rows: Vec<&FsyncRow> = shown().collect();
    let is_many = rows.len() > CURVES_MAX;
    let caption = |id: &str, title: &str, description: &str| Caption {
        id: id.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
    };
    let of_rows = caption(
        &format!("{id}-r"),
        "Latency of every durable row",
        "A dot for the median, a line up to p99, or up to p90 while p99 is not known.",
    );
    let dot = |row: &&FsyncRow| {
        let median_ns = row.median_ns.unwrap_or_default();
        Dot::latency(row.short_id().to_owned(), median_ns, row.p99_ns.or(row.p90_ns))
    };
    let dots: Vec<Dot> = rows.iter().map(dot).collect();
    let over_time = caption(
        &format!("{id}-o"),
        "Slowest write over the run",
        match is_many {
            true => {
                "Each bar is the slowest write of that moment. Bars above each other: all rows \
                 were slow at once."
            }
            false => {
                "Time since the start to the right. Peaks side by side: slow writes came in a \
                  group."
            }
        },
    );
    // Few rows are seen better as curves alone.
    let few = if is_many { Markup::default() } else { slowest(&over_time, &rows, &limits) };
    // Rows without figures stand last.
    let none = fsync.rows.iter().filter(|row| row.median_ns.is_none() && is_synced(row));
    let durable: Vec<&FsyncRow> = shown().chain(none).collect();
    let other: Vec<&FsyncRow> = fsync.rows.iter().filter(|row| !is_synced(row)).collect();
    html! {
        @if other.len() < fsync.rows.len() { div {
            h3 { "Durable writes" }
            (latencies(&format!("{id}-l"), &curves(&rows), &limits, &few))
        } }
        @if is_many {
            div.charts {
                (chart::latencies(&of_rows, &dots))
                (strips(&over_time, &rows))
            }
        }
        @if other.len() < fsync.rows.len() { div { (figures_of(&durable)) } }
        @if !other.is_empty() { div {
            h3 { "Writes that are not durable" }
            (figures_of(&other))
        } }
    }
}

/// Returns whether a write of `row` is on the drive when it ends, as far as the kernel promises.
fn is_synced(row: &FsyncRow) -> bool {
    !matches!(row.method, RowMethod::None | RowMethod::SyncFileRange)
}

/// The table of `rows`.
fn figures_of(rows: &[&FsyncRow]) -> Markup {
    let lacks = |row: &&FsyncRow| row.median_ns.is_some() && row.p999_ns.is_none();
    let caption = match rows.iter().any(lacks) {
        true => "Latencies of each row; -: too few writes for that percentile",
        false => "Latencies of each row",
    };
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    let is_known = |time: &LatencyColumn| rows.iter().any(|row| time.1(row).is_some());
    let times: Vec<LatencyColumn> = LATENCIES.into_iter().filter(is_known).collect();
    let heads: Vec<&str> = HEADS.into_iter().chain(times.iter().map(|time| time.0)).collect();
    html! {
        (table(caption, &heads, rows.iter().take(ROWS_MAX).map(|row| one(row, &times))))
        (more(left_out, "rows"))
    }
}

/// Few rows in one chart; of many those of a group in each.
fn curves<'a>(rows: &[&'a FsyncRow]) -> Vec<CurveGroup<'a>> {
    if rows.len() <= CURVES_MAX {
        let title = match rows {
            [one] => say(&one.label),
            many => count_of(many.len(), "row"),
        };
        return vec![together(&title, rows)];
    }
    let groups = rows.chunk_by(|one, next| one.group == next.group);
    groups.map(|rows| together(title(rows[0].group), rows)).collect()
}

fn together<'a>(title: &str, rows: &[&'a FsyncRow]) -> CurveGroup<'a> {
    let curve = |row: &&'a FsyncRow| Curve { name: row.short_id(), histogram: &row.histogram };
    CurveGroup { title: title.to_owned(), curves: rows.iter().map(curve).collect() }
}

fn label(row: &FsyncRow) -> String {
    format!("{} ({})", say(&row.label), title(row.group))
}

fn one(of: &FsyncRow, times: &[LatencyColumn]) -> Row {
    let mut cells = vec![
        named(html! { (say(&of.label)) " " span.quiet { (say(&of.id)) } }),
        told(of.path.word()),
    ];
    if let Some(why) = &of.unavailable {
        cells.push(rest(html! { "not available: " (say(why)) }));
    } else if let Some(error) = of.errors.first() {
        cells.push(rest(html! { (chip(Tone::Bad, "failed")) " " (say(error)) }));
    } else {
        let rate = of.operations_per_second.map_or(UNKNOWN.to_owned(), number);
        cells.push(figure(rate));
        cells.extend(times.iter().map(|(_, time)| figure(time_or_unknown(time(of)))));
    }
    row(cells)
}

fn comparisons(comparisons: &[RowComparison], rows: &[FsyncRow]) -> Markup {
    let all = table(
        "Median of the rounds' ratios: time of the first row divided by that of the second",
        &COMPARED_HEADS,
        comparisons.iter().take(ROWS_MAX).map(|one| compared(one, rows)),
    );
    if comparisons.iter().all(RowComparison::has_too_few_rounds) {
        let title = "Rows against each other: too few rounds to tell (more with --seconds)";
        return folded(title, &all);
    }
    html! { h3 { "Rows against each other" } (all) }
}

fn compared(one: &RowComparison, rows: &[FsyncRow]) -> Row {
    let ratio = one.interval;
    let interval = html! {
        (ratio_bounds(ratio)) " " span.quiet { "(" (interval_title(one.alpha)) ")" }
    };
    row([
        head(&one.question),
        figure(ratio_figure(ratio)),
        figure(interval),
        figure(one.rounds),
        told(&one.result(rows)),
    ])
}

fn sustained(id: &str, run: &Sustained) -> Markup {
    let caption = Caption {
        id: format!("{id}-s"),
        title: "Pace of a sustained run".to_owned(),
        description: format!(
            "{} written in {}; {}",
            words().size(run.written_bytes),
            time(run.elapsed_ns),
            sentence(&say(&run.reason))
        ),
    };
    let latency = Caption {
        id: format!("{id}-w"),
        title: "Latency over the sustained run".to_owned(),
        description: "The slowest and the median write of each stretch.".to_owned(),
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
        div.charts { (pace(&caption, run)) (chart::sustained(&latency, run)) }
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
    folded(
        "Method",
        &html! {
            @if fsync.rows.len() > 1 {
                p {
                    "In each round every row runs once, in random order, so that a drive that "
                    "becomes slower affects all rows alike. Two rows are called different only if "
                    "the interval of their ratio excludes 1."
                }
            }
            (pairs(&rows))
            @if rounds.was_cut_short { p { "The last round is incomplete." } }
        },
    )
}

/// The result in a few words: the worse of the two verdicts first.
pub(super) fn headline(fsync: &Fsync) -> Headline {
    let judged = fsync.verdict.as_ref().map(engine_verdict::headline);
    let is_in_guest = fsync.honesty.as_ref().is_some_and(Honesty::is_in_guest);
    let durable = fsync.honesty.as_ref().map(|honesty| {
        let (tone, word) = honesty::word(honesty);
        Headline::new(tone, word, "")
    });
    match (judged, durable) {
        (Some(judged), Some(durable)) if durable.tone > judged.tone && !is_in_guest => {
            let figures = joined(": ", [judged.word, judged.figures]);
            Headline { figures, ..durable }
        }
        (Some(judged), durable) => {
            let durable_tone = durable.as_ref().map_or(Tone::Plain, |durable| durable.tone);
            let durable = durable.map(|durable| durable.word).unwrap_or_default();
            let figures = joined("; ", [judged.figures.clone(), durable]);
            Headline { tone: judged.tone.max(durable_tone), figures, ..judged }
        }
        (None, durable) => {
            let measured = fsync.rows.iter().filter(|row| row.median_ns.is_some()).count();
            let rows = format!("{} measured", count_of(measured, "row"));
            let usual = usual(fsync).map(figures);
            match (durable, usual) {
                (Some(durable), None) => Headline { figures: rows, ..durable },
                (Some(durable), Some(usual)) if is_in_guest => {
                    Headline::new(durable.tone, usual, format!("{}; {rows}", durable.word))
                }
                (Some(durable), Some(usual)) => {
                    Headline { figures: format!("{usual}; {rows}"), ..durable }
                }
                (None, Some(usual)) => Headline::new(Tone::Plain, usual, rows),
                (None, None) => Headline::new(Tone::Unknown, rows, ""),
            }
        }
    }
}

/// The row that a database waits for as it is set up by default; where it has no figures, the first
/// that has.
fn usual(fsync: &Fsync) -> Option<&FsyncRow> {
    let mut known = fsync.rows.iter().filter(|row| row.median_ns.is_some());
    let first = known.clone().next();
    known.find(|row| row.id == USUAL).or(first)
}

/// `fdatasync (one-8kb-write) p50 903 µs, p99 2.10 ms`.
fn figures(row: &FsyncRow) -> String {
    let p99 = row.p99_ns.map(|p99_ns| format!(", p99 {}", time(p99_ns)));
    format!("{} p50 {}{}", label(row), time_or_unknown(row.median_ns), p99.unwrap_or_default())
}

/// Those of `words` that say something.
fn joined(between: &str, words: [String; 2]) -> String {
    let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
    words.join(between)
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(fsync: &Fsync) -> ShortAnswer {
    let lost = fsync.honesty.as_ref().map(honesty::rank);
    let judged = fsync.verdict.as_ref().map(engine_verdict::rank);
    let rank = lost.into_iter().chain(judged).max();
    let told = fsync.verdict.as_ref().filter(|_| judged.is_some() && judged == rank);
    let grade = fsync.honesty.as_ref().filter(|_| lost == rank && lost > Some(Rank::Guest));
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
    let what = format!("{}.", headline(fsync).word);
    ShortAnswer::new(rank.unwrap_or(Rank::Plain), what)
}
