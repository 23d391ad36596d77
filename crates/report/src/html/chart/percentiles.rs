//! Latencies of several rows over their percentiles, overlaid: the further to the right, the rarer
//! the write; the higher, the slower.

use maud::Markup;
use units::number::real;

use super::lines::{Frame, Line, chart};
use super::{Axis, Caption, LINES, Limit, Span, label, levels};

/// The most curves of one chart.
pub(in crate::html) const CURVES_MAX: usize = LINES.len();
/// Steps of the axis of percentiles: of those in one step the last is drawn.
const STEPS: f64 = 90.0;
/// Places on that axis, each a tenth as rare as the one before.
const TICKS: [(f64, &str); 6] = [
    (std::f64::consts::LOG10_2, "p50"),
    (1.0, "p90"),
    (2.0, "p99"),
    (3.0, "p99.9"),
    (4.0, "p99.99"),
    (5.0, "p99.999"),
];

/// The latencies of one row.
pub(in crate::html) struct Curve<'a> {
    pub(in crate::html) name: &'a str,
    /// The least latency of each bucket in nanoseconds, and how many are in it.
    pub(in crate::html) histogram: &'a [(u64, u64)],
}

impl Curve<'_> {
    /// Rarity of the slowest latency, in tenths of tenths: 2 where it is one of a hundred.
    pub(in crate::html) fn rarest(&self) -> f64 {
        self.histogram.iter().map(|&(_, count)| real(count)).sum::<f64>().max(1.0).log10()
    }
}

/// Axes that all charts of one result share.
#[derive(Clone, Copy)]
pub(in crate::html) struct Scales {
    pub(in crate::html) latency: Span,
    /// Rarity at the right end; see [`Curve::rarest`].
    pub(in crate::html) rarest: f64,
}

/// The chart of `curves`, the first [`CURVES_MAX`] of them; nothing where none has a latency.
pub(in crate::html) fn percentiles(
    caption: &Caption,
    curves: &[Curve<'_>],
    Scales { latency, rarest }: Scales,
    limits: &[Limit],
) -> Markup {
    let lines: Vec<Line<'_>> = curves
        .iter()
        .take(CURVES_MAX)
        .map(|curve| Line { name: curve.name, points: points(curve.histogram) })
        .filter(|line| !line.points.is_empty())
        .collect();
    let ticks = TICKS.iter().map(|tick| tick.0).filter(|at| *at <= rarest).collect();
    let frame = Frame {
        across: Axis { ends: 0.0..rarest, ticks },
        across_name: &percentile,
        up: latency,
        up_name: &label,
        levels: &levels(limits),
        mark: None,
    };
    chart(caption, frame, &lines)
}

fn percentile(at: f64) -> String {
    let named = TICKS.iter().find(|tick| (tick.0 - at).abs() < 1e-9);
    named.map_or(String::new(), |tick| tick.1.to_owned())
}

/// Rarity of each latency of `histogram` and the latency: 0 for all of them, 1 for a tenth, 2 for a
/// hundredth that are slower. The slowest is as rare as one of all.
fn points(histogram: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let all: f64 = histogram.iter().map(|&(_, count)| real(count)).sum();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut seen = 0.0;
    for &(latency_ns, count) in histogram.iter().filter(|(_, count)| *count > 0) {
        if points.is_empty() {
            points.push((0.0, real(latency_ns.max(1))));
        }
        seen += real(count);
        let rarity = -((1.0 - seen / all).max(1.0 / all)).log10();
        let point = (rarity.max(0.0), real(latency_ns.max(1)));
        let step = |at: f64| (at * STEPS / 3.0).floor();
        match points.last_mut() {
            Some(last) if last.0 > 0.0 && step(last.0) == step(point.0) => *last = point,
            _ => points.push(point),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_curve_ends_at_the_slowest_as_rare_as_one_of_all() {
        let points = super::points(&[(100, 90), (200, 9), (5000, 1)]);
        let rounded: Vec<String> =
            points.iter().map(|(at, ns)| format!("{at:.2} {ns:.0}")).collect();
        assert_eq!(rounded, ["0.00 100", "1.00 100", "2.00 200", "2.00 5000"]);
        assert_eq!(super::points(&[(5, 0)]), []);
        assert_eq!(super::points(&[(0, 1)]), [(0.0, 1.0), (0.0, 1.0)]);
    }
}
