//! Latencies of several rows over their percentiles, overlaid: the further to the right, the rarer
//! the write; the higher, the slower. A limit is a level line.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Text};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoTextStyle as _, RGBColor};
use units::number::real;

use super::{
    Axis, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, OTHER, Span, THIRD, WIDTH, figure, label,
    short,
};

/// The most curves of one chart.
pub(in crate::html) const CURVES_MAX: usize = 8;
const HEIGHT: u32 = 250;
/// Room for the names at the ends of the curves, and the least distance of two names.
const NAMES: i32 = 140;
const LINE: i32 = 14;
/// Room under the curves and above them.
const FOOT: i32 = 24;
const MARGIN: i32 = 10;
/// Letters of a name.
const NAME_MAX: usize = 16;
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

/// A latency that is drawn as a level line, in nanoseconds, with its name.
pub(in crate::html) type Limit = (String, u64);

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
    let lines: Vec<(&str, Vec<(f64, f64)>)> = curves
        .iter()
        .take(CURVES_MAX)
        .map(|curve| (curve.name, points(curve.histogram)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    if lines.is_empty() {
        return Markup::default();
    }
    let span = latency.roomy();
    figure(caption, HEIGHT, |area| -> Drawn {
        let ticks = TICKS.iter().map(|tick| tick.0).filter(|at| *at <= rarest).collect();
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .margin_right(NAMES)
            .x_label_area_size(FOOT)
            .y_label_area_size(50)
            .build_cartesian_2d(Axis { ends: 0.0..rarest, ticks }, span.axis())?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_label_formatter(&|value| percentile(*value))
            .y_label_formatter(&|value| label(*value))
            .draw()?;
        for (_, limit_ns) in limits {
            let level = span.at(real(*limit_ns));
            let line = [(0.0, level), (rarest, level)];
            chart.draw_series([PathElement::new(line, MARK.stroke_width(2))])?;
        }
        let mut names: Vec<(i32, String, RGBColor)> = Vec::new();
        for ((name, points), color) in lines.iter().zip(COLORS.iter().cycle()) {
            let drawn: Vec<(f64, f64)> = points.iter().map(|&(at, ns)| (at, span.at(ns))).collect();
            let end = drawn.last().map_or(0, |end| chart.backend_coord(end).1);
            names.push((end, short(name, NAME_MAX), *color));
            chart.draw_series(LineSeries::new(drawn, color.stroke_width(2)))?;
        }
        for (name, limit_ns) in limits {
            let down = chart.backend_coord(&(0.0, span.at(real(*limit_ns)))).1;
            names.push((down, short(name, NAME_MAX), MARK));
        }
        spread(&mut names);
        let right = i32::try_from(WIDTH).unwrap_or(i32::MAX) - NAMES + 5;
        for (down, name, color) in names {
            let style = ("sans-serif", LETTER).into_text_style(area).color(&color);
            let style = style.pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(name, (right, down), style))?;
        }
        Ok(())
    })
}

/// Colors of the curves, in turn: those of two neighbors differ, and their names tell them apart.
const COLORS: [RGBColor; 4] = [DATA, INK, OTHER, THIRD];

/// Moves `names` apart, so that none touches another and all are inside the chart.
fn spread(names: &mut [(i32, String, RGBColor)]) {
    names.sort_by_key(|name| name.0);
    let top = MARGIN;
    let bottom = i32::try_from(HEIGHT).unwrap_or(i32::MAX) - MARGIN - LINE / 2;
    let mut least = top;
    for name in names.iter_mut() {
        name.0 = name.0.max(least);
        least = name.0 + LINE;
    }
    let mut greatest = bottom;
    for name in names.iter_mut().rev() {
        name.0 = name.0.min(greatest);
        greatest = name.0 - LINE;
    }
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
    use super::*;

    #[test]
    fn a_curve_ends_at_the_slowest_as_rare_as_one_of_all() {
        let points = points(&[(100, 90), (200, 9), (5000, 1)]);
        let rounded: Vec<String> =
            points.iter().map(|(at, ns)| format!("{at:.2} {ns:.0}")).collect();
        assert_eq!(rounded, ["0.00 100", "1.00 100", "2.00 200", "2.00 5000"]);
        assert_eq!(super::points(&[(5, 0)]), []);
        assert_eq!(super::points(&[(0, 1)]), [(0.0, 1.0), (0.0, 1.0)]);
    }

    #[test]
    fn names_at_one_place_are_moved_apart_inside_the_chart() {
        for at in [0, 120, 400] {
            let mut names = vec![(at, String::new(), DATA); CURVES_MAX + 2];
            spread(&mut names);
            assert!(names.windows(2).all(|two| two[1].0 - two[0].0 >= LINE), "{names:?}");
            assert!(names[0].0 >= 0 && names[9].0 < i32::try_from(HEIGHT).unwrap());
        }
    }
}
