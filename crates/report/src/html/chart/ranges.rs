//! Many latencies on one axis, a row each: a dot, and a line up to a worse percentile.
//!
//! Rows are numbered as in the table beside the chart; no name is drawn.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement};
use plotters::style::Color as _;

use super::bars::{label, real};
use super::{Axis, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, Span, figure};

/// The most rows that are drawn.
const ROWS_MAX: usize = 60;
/// Height of a row, and of all else, in the chart's units.
const ROW: u32 = 14;
const REST: u32 = 48;
/// From so many rows on, not every one has its number.
const NUMBERED: usize = 30;

/// One row.
#[derive(Clone, Copy, Debug)]
pub(in crate::html) struct Range {
    /// The latency of the dot, in nanoseconds.
    pub(in crate::html) median_ns: u64,
    /// The end of the line; the dot's own where it is not known.
    pub(in crate::html) far_ns: Option<u64>,
    /// True if it stands out.
    pub(in crate::html) odd: bool,
}

/// The chart of `rows`, the first on top; nothing where there are none.
pub(in crate::html) fn ranges(caption: &Caption, rows: &[Range]) -> Markup {
    let rows = &rows[..rows.len().min(ROWS_MAX)];
    let values = rows.iter().flat_map(|row| [Some(row.median_ns), row.far_ns]);
    let Some(span) = Span::of(values.flatten().map(|value| real(value.max(1))), 2.0) else {
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
            .x_label_formatter(&|value| label(*value))
            .y_label_formatter(&|value| format!("{:.0}", value + 1.0))
            .draw()?;
        for (row, down) in rows.iter().zip((0..count).map(f64::from)) {
            let color = if row.odd { MARK } else { DATA };
            let dot = (span.at(real(row.median_ns)), down);
            let far = (span.at(real(row.far_ns.unwrap_or(row.median_ns))), down);
            chart.draw_series([PathElement::new([dot, far], color.stroke_width(2))])?;
            chart.draw_series([Circle::new(dot, 4, color.filled())])?;
        }
        Ok(())
    })
}
