//! Many values on one logarithmic axis, a row each: a dot, and a line.
//!
//! Each row has its name: intervals of ratios so make a forest plot.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoTextStyle as _, TRANSPARENT};
use units::number::real;

use super::{Axis, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, Span, figure, label, short};
use crate::bench::figure_rounding::number;
use crate::text;

/// The most rows that are drawn.
pub(super) const ROWS_MAX: usize = 60;
/// Height of a row, and of all else, in the chart's units.
const ROW: u16 = 14;
pub(super) const REST: u32 = 48;
/// Room for the names, and the letters of one.
pub(super) const NAMES: u16 = 186;
pub(super) const NAME_MAX: usize = 27;
/// Letters of a name that has the line above its row for itself.
const LONG_MAX: usize = 54;

/// One row.
#[derive(Clone, Debug)]
pub(in crate::html) struct Dot {
    /// The name; it may be anything.
    pub(in crate::html) name: String,
    /// The value.
    pub(in crate::html) at: f64,
    /// The ends of the line.
    pub(in crate::html) line: [f64; 2],
    /// True if it stands out.
    pub(in crate::html) odd: bool,
}

impl Dot {
    /// A latency, with a line up to a worse percentile where that is known.
    pub(in crate::html) fn latency(name: String, median_ns: u64, far_ns: Option<u64>) -> Dot {
        let at = real(median_ns);
        Dot { name, at, line: [at, far_ns.map_or(at, real)], odd: false }
    }
}

/// The chart of factors, each with a line over what it is held against, the first on top; nothing
/// where none is a positive number.
pub(in crate::html) fn factors(caption: &Caption, rows: &[Dot]) -> Markup {
    let rows = &rows[..rows.len().min(ROWS_MAX)];
    // What everything is a factor of is on the axis.
    let Some(span) = Span::of(values(rows).chain([1.0]), 1.2).filter(|_| !rows.is_empty()) else {
        return Markup::default();
    };
    drawn(caption, span.roomy(), rows, true)
}

/// The chart of latencies, the first on top; nothing where there are none.
pub(in crate::html) fn latencies(caption: &Caption, rows: &[Dot]) -> Markup {
    let rows = &rows[..rows.len().min(ROWS_MAX)];
    let Some(span) = Span::of(values(rows).map(|value| value.max(1.0)), 2.0) else {
        return Markup::default();
    };
    drawn(caption, span.roomy(), rows, false)
}

fn values(rows: &[Dot]) -> impl Iterator<Item = f64> {
    rows.iter().flat_map(|row| [row.at, row.line[0], row.line[1]])
}

fn drawn(caption: &Caption, span: Span, rows: &[Dot], are_factors: bool) -> Markup {
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let is_long = rows.iter().any(|row| text::width(&row.name) > NAME_MAX);
    let letters = if is_long { LONG_MAX } else { NAME_MAX };
    // Names of latencies are wide.
    let ticks = if are_factors || is_long { 5 } else { 3 };
    let (row_height, beside) = if is_long { (ROW * 2, 6) } else { (ROW, NAMES) };
    figure(caption, count * u32::from(row_height) + REST, |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(20)
            .x_label_area_size(24)
            .y_label_area_size(u32::from(beside))
            .build_cartesian_2d(
                span.axis_of(ticks),
                Axis { ends: f64::from(count) - 0.4..-0.6, ticks: Vec::new() },
            )?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_label_formatter(&|value| match are_factors {
                true => number(value.exp()),
                false => label(value.exp()),
            })
            .draw()?;
        if are_factors {
            let one = [(span.at(1.0), -0.6), (span.at(1.0), f64::from(count) - 0.4)];
            chart.draw_series([PathElement::new(one, INK.stroke_width(1))])?;
        }
        for (row, down) in rows.iter().zip((0..count).map(f64::from)) {
            let color = if row.odd { MARK } else { DATA };
            let line = row.line.map(|end| (span.at(end), down));
            let line_color = if are_factors { INK } else { color };
            chart.draw_series([PathElement::new(line, line_color.stroke_width(2))])?;
            let dot = (span.at(row.at), down);
            chart.draw_series([Circle::new(dot, 4, color.filled())])?;
            let level = chart.backend_coord(&dot).1;
            let (at, side) = match is_long {
                true => ((14, level - i32::from(ROW) + 1), HPos::Left),
                false => ((i32::from(NAMES), level), HPos::Right),
            };
            let style = ("sans-serif", LETTER).into_text_style(area).color(&INK);
            let style = style.pos(Pos::new(side, VPos::Center));
            area.draw(&Text::new(short(&row.name, letters), at, style))?;
        }
        Ok(())
    })
}
