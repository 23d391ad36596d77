//! Slowest writes of a run, a strip for each of many rows, all on one clock. Each stretch has a
//! bar: the higher, the more times the median of its row. What slowed all rows is a column.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoTextStyle as _, TRANSPARENT};
use units::number::{real, wide};

use super::axis::even;
use super::dots::{NAME_MAX, NAMES, REST, ROWS_MAX};
use super::over_time::clock;
use super::{Axis, Caption, DATA, Drawn, GRID, INK, LETTER, figure, short};
use crate::bench::figure_rounding::number;
use crate::fsync::{FsyncRow, SlowestWrites};

/// Distance of two strips.
const ROW: u32 = 18;
/// Parts of a strip's distance to the next: the highest bar, and one as long as the median.
const HIGHEST: f64 = 0.95;
const LEAST: f64 = 0.08;
/// The fewest times the median that the highest bar stands for.
const TIMES_MIN: f64 = 20.0;

/// A row's slowest writes.
struct Strip<'a> {
    name: &'a str,
    writes: &'a SlowestWrites,
    median_ns: f64,
}

impl<'a> Strip<'a> {
    /// Those of `row`; `None` where it does not tell of them.
    fn of(row: &'a FsyncRow) -> Option<Strip<'a>> {
        let (writes, median_ns) = (row.slowest.as_ref()?, row.median_ns?);
        Some(Strip { name: row.short_id(), writes, median_ns: real(median_ns.max(1)) })
    }

    /// When its last stretch ends, in nanoseconds.
    fn end(&self) -> f64 {
        real(wide(self.writes.latency_ns.len())) * real(self.writes.stretch_ns)
    }

    /// Times the median of the slowest write of each stretch; `None` where no write ended.
    fn times(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.writes.latency_ns.iter().map(|ns| ns.map(|ns| (real(ns) / self.median_ns).max(1.0)))
    }

    /// Its outline, standing on `down`, where the highest bar is `most` times the median.
    fn outline(&self, most: f64, down: f64) -> Vec<(f64, f64)> {
        let height = |times: f64| LEAST + (HIGHEST - LEAST) * times.ln() / most.ln();
        let mut outline = vec![(0.0, down)];
        for (number, times) in self.times().enumerate() {
            for side in [number, number + 1] {
                let at = real(wide(side)) * real(self.writes.stretch_ns);
                outline.push((at, down - times.map_or(0.0, height)));
            }
        }
        outline.push((self.end(), down));
        outline
    }
}

/// The chart of `rows`; empty where none of them has its slowest writes.
pub(in crate::html) fn strips(caption: &Caption, rows: &[&FsyncRow]) -> Markup {
    let strips: Vec<Strip<'_>> =
        rows.iter().take(ROWS_MAX).filter_map(|row| Strip::of(row)).collect();
    let last = strips.iter().map(Strip::end).fold(0.0, f64::max);
    if last <= 0.0 {
        return Markup::default();
    }
    let most = strips.iter().flat_map(Strip::times).flatten().fold(TIMES_MIN, f64::max);
    let count = u32::try_from(strips.len()).unwrap_or(u32::MAX);
    let caption = Caption {
        id: caption.id.clone(),
        title: caption.title.clone(),
        description: format!(
            "{} A bar of full height is {} times the median of its row; the scale is logarithmic.",
            caption.description,
            number(most)
        ),
    };
    figure(&caption, count * ROW + REST, |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(30)
            .x_label_area_size(24)
            .y_label_area_size(u32::from(NAMES))
            .build_cartesian_2d(
                Axis { ends: 0.0..last, ticks: even(0.0, last) },
                Axis { ends: f64::from(count)..0.0, ticks: Vec::new() },
            )?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_label_formatter(&|value| clock(*value))
            .draw()?;
        for (strip, down) in strips.iter().zip((1..=count).map(f64::from)) {
            let outline = strip.outline(most, down);
            chart.draw_series([Polygon::new(outline, DATA.filled())])?;
            let level = chart.backend_coord(&(0.0, down - 0.4)).1;
            let style = ("sans-serif", LETTER).into_text_style(area).color(&INK);
            let style = style.pos(Pos::new(HPos::Right, VPos::Center));
            let name = short(strip.name, NAME_MAX);
            area.draw(&Text::new(name, (i32::from(NAMES), level), style))?;
        }
        Ok(())
    })
}
