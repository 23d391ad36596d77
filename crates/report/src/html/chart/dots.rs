//! Many factors on one logarithmic axis, a row each: a dot, and a line over what it is held
//! against.
//!
//! Rows are numbered as in the table beside the chart; no name is drawn.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement};
use plotters::style::Color as _;

use super::{Axis, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, Span, figure};
use crate::bench::figures::number;

/// The most rows that are drawn.
const DOTS_MAX: usize = 60;
/// Height of a row, and of all else, in the chart's units.
const ROW: u32 = 14;
const REST: u32 = 48;
/// From so many rows on, not every one has its number.
const NUMBERED: usize = 30;

/// One row.
#[derive(Clone, Copy, Debug)]
pub(in crate::html) struct Dot {
    /// The factor.
    pub(in crate::html) at: f64,
    /// The ends of the line.
    pub(in crate::html) line: [f64; 2],
    /// True if it stands out.
    pub(in crate::html) odd: bool,
}

/// The chart of `rows`, the first on top; nothing where none is a positive number.
pub(in crate::html) fn dots(caption: &Caption, rows: &[Dot]) -> Markup {
    let rows = &rows[..rows.len().min(DOTS_MAX)];
    let values = rows.iter().flat_map(|row| [row.at, row.line[0], row.line[1]]);
    // What everything is a factor of is on the axis.
    let Some(span) = Span::of(values.chain([1.0]), 1.2).filter(|_| !rows.is_empty()) else {
        return Markup::default();
    };
    let span = span.roomy();
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let stride = rows.len().div_ceil(NUMBERED).max(1);
    let numbers = (0..count).map(f64::from).step_by(stride).collect();
    figure(caption, count * ROW + REST, |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(20)
            .x_label_area_size(24)
            .y_label_area_size(30)
            .build_cartesian_2d(
                span.axis(),
                Axis { ends: f64::from(count) - 0.4..-0.6, ticks: numbers },
            )?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_label_formatter(&|value| number(value.exp()))
            .y_label_formatter(&|value| format!("{:.0}", value + 1.0))
            .draw()?;
        for (row, down) in rows.iter().zip((0..count).map(f64::from)) {
            let line = row.line.map(|end| (span.at(end), down));
            chart.draw_series([PathElement::new(line, INK.stroke_width(2))])?;
            let color = if row.odd { MARK } else { DATA };
            let dot = (span.at(row.at), down);
            chart.draw_series([Circle::new(dot, 4, color.filled())])?;
        }
        Ok(())
    })
}
