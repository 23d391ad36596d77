//! Courses of a run: the pace of sustained writes, the slowest write of each stretch, the ratio of
//! its pairs.

use maud::Markup;
use units::number::{real, whole, wide};

use super::axis::even;
use super::lines::{Frame, Level, Line, chart};
use super::{Axis, Caption, INK, Limit, Span, label, levels};
use crate::bench::Comparison;
use crate::bench::figure_rounding::{chosen_time, number};
use crate::fsync::{FsyncRow, SlowestWrites, Sustained, SustainedPoint};
use crate::html::elements::words;

/// The most points of a line.
const POINTS_MAX: usize = 400;
/// The fewest pairs that are drawn, and the most points of their line.
const PAIRS_MIN: usize = 8;
const PAIR_POINTS_MAX: usize = 20;

/// A chart over the course of a run, but for its lines.
struct Course<'a> {
    ticks: Vec<f64>,
    across_name: &'a dyn Fn(f64) -> String,
    up_name: &'a dyn Fn(f64) -> String,
    /// Values that the axis up holds, drawn or not.
    held: Vec<f64>,
    levels: Vec<Level>,
    mark: Option<(f64, String)>,
}

impl Course<'_> {
    /// The chart; nothing where no line has two points.
    fn drawn(self, caption: &Caption, last: f64, lines: &[Line<'_>]) -> Markup {
        let points = || lines.iter().flat_map(|line| &line.points);
        let values = points().map(|point| point.1).chain(self.levels.iter().map(|level| level.1));
        let values = values.chain(self.held.iter().copied());
        let is_line = lines.iter().any(|line| line.points.len() > 1) && last > 0.0;
        let Some(up) = Span::of(values, 1.3).filter(|_| is_line) else { return Markup::default() };
        let Course { ticks, across_name, up_name, levels, mark, .. } = self;
        let across = Axis { ends: 0.0..last, ticks };
        chart(caption, Frame { across, across_name, up, up_name, levels: &levels, mark }, lines)
    }

    /// Latencies over the time, in nanoseconds.
    fn of_latencies(limits: &[Limit], last_ns: f64) -> Course<'static> {
        Course {
            ticks: even(0.0, last_ns),
            across_name: &clock,
            up_name: &label,
            held: Vec::new(),
            levels: levels(limits),
            mark: None,
        }
    }
}

/// The pace of `run` over the bytes written; nothing where it has fewer than two points.
pub(in crate::html) fn pace(caption: &Caption, run: &Sustained) -> Markup {
    let point = |point: &SustainedPoint| (real(point.at_bytes), point.bytes_per_second.max(1.0));
    let points: Vec<(f64, f64)> = stretches(run).map(point).collect();
    let last = end(&points);
    let mark = run.knee.as_ref().map(|knee| real(knee.at_bytes).min(last));
    let course = Course {
        ticks: vec![0.0, last / 2.0, last],
        across_name: &size,
        up_name: &|pace| format!("{}/s", size(pace)),
        held: Vec::new(),
        levels: Vec::new(),
        mark: mark.map(|at| (at, format!("pace falls at {}", size(at)))),
    };
    course.drawn(caption, last, &[Line { name: "", points }])
}

/// The slowest and the median write of each stretch of `run` over the time.
pub(in crate::html) fn sustained(caption: &Caption, run: &Sustained) -> Markup {
    let line = |name, latency: fn(&SustainedPoint) -> u64| {
        let point = |point: &SustainedPoint| (real(point.at_ns), real(latency(point).max(1)));
        Line { name, points: stretches(run).map(point).collect() }
    };
    let mut lines = vec![line("slowest", |it| it.greatest_ns), line("median", |it| it.median_ns)];
    // Of one write each, both are the same.
    lines.dedup_by(|one, other| one.points == other.points);
    let last = end(&lines[0].points);
    Course::of_latencies(&[], last).drawn(caption, last, &lines)
}

/// The slowest write of each stretch of the run over the time, a line for each row.
pub(in crate::html) fn slowest(caption: &Caption, rows: &[&FsyncRow], limits: &[Limit]) -> Markup {
    let line = |row: &&'_ FsyncRow| row.slowest.as_ref().map(points);
    let seen = rows.iter().filter_map(|row| Some((row.short_id(), line(row)?)));
    let lines: Vec<Line<'_>> = seen.map(|(name, points)| Line { name, points }).collect();
    let last = lines.iter().map(|line| end(&line.points)).fold(0.0, f64::max);
    // The axis is that of the percentiles beside it.
    let held = rows.iter().flat_map(|row| [row.least_ns, row.greatest_ns]);
    let held = held.flatten().map(|ns| real(ns.max(1))).collect();
    Course { held, ..Course::of_latencies(limits, last) }.drawn(caption, last, &lines)
}

/// The ratios of pairs in their order, a line for each of `comparisons`; nothing where the result
/// does not hold enough of them.
pub(in crate::html) fn pair_by_pair(
    caption: &Caption,
    comparisons: &[Comparison],
    pairs: u64,
) -> Markup {
    let last = real(pairs);
    let line = |one: &'_ Comparison| medians(&one.pair_ratios, last);
    let usable = comparisons.iter().filter(|one| one.pair_ratios.len() >= PAIRS_MIN);
    // The baseline is the level of 1, and each arm has the color of its curve.
    let mut lines = vec![Line { name: "", points: Vec::new() }];
    lines.extend(usable.map(|one| Line { name: &one.arm, points: line(one) }));
    let course = Course {
        ticks: even(0.0, last),
        across_name: &|pair| format!("{pair:.0}"),
        up_name: &number,
        held: Vec::new(),
        levels: vec![(String::new(), 1.0, INK)],
        mark: None,
    };
    course.drawn(caption, last, &lines)
}

/// The median of each few of `ratios`, which are evenly from `last` pairs, at its last pair.
fn medians(ratios: &[f64], last: f64) -> Vec<(f64, f64)> {
    let few = ratios.len().div_ceil(PAIR_POINTS_MAX).max(1);
    let median = |(number, few_ratios): (usize, &[f64])| {
        let mut sorted = few_ratios.to_vec();
        sorted.sort_by(f64::total_cmp);
        let seen = real(wide(number * few + few_ratios.len()));
        (last * seen / real(wide(ratios.len())), sorted[(sorted.len() - 1) / 2])
    };
    ratios.chunks(few).enumerate().map(median).collect()
}

/// The middle of each stretch in which a write ended, in nanoseconds, and the slowest of them.
fn points(seen: &SlowestWrites) -> Vec<(f64, f64)> {
    let middle = |number: usize| (real(wide(number)) + 0.5) * real(seen.stretch_ns);
    let known = seen.latency_ns.iter().enumerate();
    known.filter_map(|(number, slowest)| Some((middle(number), real((*slowest)?)))).collect()
}

/// The stretches that are drawn, evenly from all of `run`.
fn stretches(run: &Sustained) -> impl Iterator<Item = &SustainedPoint> {
    let stride = run.points.len().div_ceil(POINTS_MAX).max(1);
    run.points.iter().step_by(stride).filter(|point| point.bytes_per_second.is_finite())
}

fn end(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|point| point.0).fold(0.0, f64::max)
}

/// A time since the run began: `0`, `2.5 s`.
pub(super) fn clock(at_ns: f64) -> String {
    if at_ns < 1.0 { "0".to_owned() } else { chosen_time(whole(at_ns.round()), words()) }
}

/// Bytes as a size; what is no number of bytes as the nearest that is.
fn size(bytes: f64) -> String {
    let rounded = bytes.round().clamp(0.0, 1.8e19);
    words().size(format!("{rounded:.0}").parse().unwrap_or(u64::MAX))
}
