//! The arms' latencies as a picture: one logarithmic axis, a row for each arm.
//!
//! A cell's height is the share of the arm's latencies in it, all arms on one scale; whatever
//! occurred at all is drawn at least at the lowest height. Under each row stand the marks of the
//! median and of p99.

use super::figure_rounding::time;
use super::{Arm, Experiment};
use crate::colored_line::{Line, NAME, PLAIN, QUIET};
use crate::quantity_words::ViewWords;
use crate::text::{shorten_middle, width};
use crate::view_options::Look;

/// Columns of a name at most.
const NAME_MAX: usize = 20;
/// Columns of the axis at most: more show no more.
const AXIS_MAX: usize = 100;
/// Left of the rows, and between a name and its row.
const GAP: usize = 2;

/// Glyphs of the drawing.
struct Ink {
    /// Heights, the lowest first.
    heights: &'static [&'static str],
    median: &'static str,
    p99: &'static str,
    line: &'static str,
    tick: &'static str,
}

const UNICODE: Ink = Ink {
    heights: &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    median: "▲",
    p99: "△",
    line: "─",
    tick: "┬",
};

const ASCII: Ink = Ink {
    heights: &[".", ":", "-", "=", "+", "*", "#", "@"],
    median: "^",
    p99: "'",
    line: "-",
    tick: "+",
};

/// The distributions of all arms as text, with its last line feed; empty where no latency was seen.
#[must_use]
pub fn picture(experiment: &Experiment, look: &Look) -> String {
    let words = ViewWords { look };
    let ink = if look.ascii { &ASCII } else { &UNICODE };
    let seen: Vec<&Arm> = experiment.arms.iter().filter(|arm| total(arm) > 0.0).collect();
    let ellipsis = words.glyphs().ellipsis;
    let name = |arm: &Arm| shorten_middle(&words.text(&arm.name), NAME_MAX, ellipsis);
    let names: Vec<String> = seen.iter().map(|arm| name(arm)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let left = GAP + widest + GAP;
    let columns = look.columns().saturating_sub(left).clamp(8, AXIS_MAX);
    let Some(axis) = Axis::of(&seen, columns) else { return String::new() };
    let shares: Vec<Vec<f64>> = seen.iter().map(|arm| axis.shares(arm)).collect();
    let greatest = shares.iter().flatten().copied().fold(0.0, f64::max);
    let mut page = String::new();
    for ((arm, name), shares) in seen.iter().zip(&names).zip(&shares) {
        let mut line = Line::default();
        line.advance(GAP, 0);
        line.push(NAME, name);
        line.advance(left, 0);
        let cells: String = shares.iter().map(|share| height(*share, greatest, ink)).collect();
        put(&mut line, left, &cells);
        line.end(&mut page);
        marks(arm, &axis, ink, left, &mut page);
    }
    labels(&axis, ink, words, left, &mut page);
    let mut line = Line::default();
    line.advance(left, 0);
    line.push(QUIET, &format!("{} median  {} p99", ink.median, ink.p99));
    line.end(&mut page);
    page
}

/// Appends `cells` from column `left` on; blanks at their start move it on.
fn put(line: &mut Line, left: usize, cells: &str) {
    let visible = cells.trim_start();
    line.advance(left + cells.len() - visible.len(), 0);
    line.push(PLAIN, visible);
}

/// Returns how many latencies an arm's histogram holds.
fn total(arm: &Arm) -> f64 {
    arm.histogram.iter().map(|&(_, count)| count as f64).sum()
}

fn height(share: f64, greatest: f64, ink: &Ink) -> &'static str {
    if share <= 0.0 {
        return " ";
    }
    let steps = ink.heights.len() as f64;
    let reached = |number: &usize| share * steps <= greatest * (*number as f64);
    let number = (1..ink.heights.len()).find(reached).unwrap_or(ink.heights.len());
    ink.heights[number - 1]
}

/// Latencies as columns: each is as many times the one before.
struct Axis {
    /// Place where each column starts, in nanoseconds; the first is the least latency.
    starts: Vec<f64>,
    least_ns: u64,
    greatest_ns: u64,
}

impl Axis {
    /// The axis that holds all buckets of `arms`; `None` where there are none.
    fn of(arms: &[&Arm], columns: usize) -> Option<Axis> {
        let buckets = arms.iter().flat_map(|arm| &arm.histogram);
        let buckets = buckets.filter(|(_, count)| *count > 0).map(|(least, _)| (*least).max(1));
        let (least, greatest) = buckets.fold(None, |ends: Option<(u64, u64)>, bucket| {
            let (least, greatest) = ends.unwrap_or((bucket, bucket));
            Some((least.min(bucket), greatest.max(bucket)))
        })?;
        // At least a tenth wide, so that one bucket is not blown up into a landscape.
        let (low, mut high) = ((least as f64).ln(), (greatest as f64).ln());
        high = high.max(low + 0.1);
        let step = (high - low) / (columns.saturating_sub(1).max(1) as f64);
        let starts = (0..columns).map(|column| (low + step * (column as f64) - step / 2.0).exp());
        Some(Axis { starts: starts.collect(), least_ns: least, greatest_ns: greatest })
    }

    /// The column of a latency; the first or the last one for those beyond the ends.
    fn column(&self, latency_ns: u64) -> usize {
        let latency = latency_ns.max(1) as f64;
        self.starts.partition_point(|start| *start <= latency).saturating_sub(1)
    }

    /// The share of the arm's latencies in each column.
    fn shares(&self, arm: &Arm) -> Vec<f64> {
        let mut shares = vec![0.0; self.starts.len()];
        let all = total(arm);
        for &(least, count) in &arm.histogram {
            shares[self.column(least)] += count as f64 / all;
        }
        shares
    }
}

/// The marks of the median and p99; the median's where both fall together.
fn marks(arm: &Arm, axis: &Axis, ink: &Ink, left: usize, page: &mut String) {
    let mut cells = vec![" "; axis.starts.len()];
    if let Some(p99) = arm.p99_ns {
        cells[axis.column(p99)] = ink.p99;
    }
    cells[axis.column(arm.median_ns)] = ink.median;
    let mut line = Line::default();
    put(&mut line, left, &cells.concat());
    line.end(page);
}

/// The axis with its ticks, and under it what they say.
fn labels(axis: &Axis, ink: &Ink, words: ViewWords<'_>, left: usize, page: &mut String) {
    let columns = axis.starts.len();
    let mut taken = vec![false; columns];
    let mut ticks: Vec<(usize, usize, String)> = Vec::new();
    for (value, text) in candidates(axis, words) {
        let column = axis.column(value);
        let length = width(&text);
        let start = column.saturating_sub(length.div_euclid(2)).min(columns.saturating_sub(length));
        let (from, to) = (start.saturating_sub(2), (start + length + 2).min(columns));
        if length <= columns && !taken[from..to].contains(&true) {
            taken[start..start + length].fill(true);
            ticks.push((column, start, text));
        }
    }
    ticks.sort_by_key(|(_, start, _)| *start);
    let is_tick = |column: usize| ticks.iter().any(|(tick, _, _)| *tick == column);
    let cells = (0..columns).map(|column| if is_tick(column) { ink.tick } else { ink.line });
    let mut line = Line::default();
    line.advance(left, 0);
    line.push(QUIET, &cells.collect::<String>());
    line.end(page);
    let mut line = Line::default();
    for (_, start, text) in &ticks {
        line.advance(left + start, 0);
        line.push(QUIET, text);
    }
    line.end(page);
}

/// Returns what ticks may say, the most wanted first: 1, 5 and 2 times a power of ten; where the
/// axis holds fewer than two of those, its ends.
fn candidates(axis: &Axis, words: ViewWords<'_>) -> Vec<(u64, String)> {
    let holds = |value: &u64| (axis.least_ns..=axis.greatest_ns).contains(value);
    let powers = (0..20).filter_map(|power| 10_u64.checked_pow(power));
    let powers: Vec<u64> = powers.collect();
    let times = |factor: u64| powers.iter().filter_map(move |power| power.checked_mul(factor));
    let values: Vec<u64> = [1, 5, 2].into_iter().flat_map(times).filter(holds).collect();
    if values.len() < 2 {
        let ends = [axis.least_ns, axis.greatest_ns];
        return ends.map(|value| (value, time(value, words))).to_vec();
    }
    values.into_iter().map(|value| (value, round(value, words))).collect()
}

/// A time of one digit and zeros: `20 ms`.
fn round(nanoseconds: u64, words: ViewWords<'_>) -> String {
    let micro = format!("{}s", words.glyphs().micro);
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, micro.as_str())];
    let unit = units.into_iter().find(|(unit, _)| nanoseconds >= *unit);
    let (unit, name) = unit.unwrap_or((1, "ns"));
    format!("{} {name}", nanoseconds.div_euclid(unit))
}
