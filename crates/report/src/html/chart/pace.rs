//! Pace of durable writes, over what had been written.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Text};
use plotters::series::LineSeries;
use plotters::style::{Color as _, IntoTextStyle as _};
use units::number::real;

use super::{Axis, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, Span, figure};
use crate::fsync::Sustained;
use crate::html::elements::words;

/// The most points that are drawn.
const POINTS_MAX: usize = 400;
const HEIGHT: u32 = 200;

/// The chart of `run`; nothing where it has fewer than two points.
pub(in crate::html) fn pace(caption: &Caption, run: &Sustained) -> Markup {
    let stride = run.points.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<(f64, f64)> = (run.points.iter().step_by(stride))
        .filter(|point| point.bytes_per_second.is_finite())
        .map(|point| (real(point.at_bytes), point.bytes_per_second.max(1.0)))
        .collect();
    let last = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let Some(up) = Span::of(points.iter().map(|point| point.1), 2.0).map(Span::roomy) else {
        return Markup::default();
    };
    if points.len() < 2 || last <= 0.0 {
        return Markup::default();
    }
    figure(caption, HEIGHT, |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(30)
            .x_label_area_size(38)
            .y_label_area_size(70)
            .build_cartesian_2d(
                Axis { ends: 0.0..last, ticks: vec![0.0, last / 2.0, last] },
                up.axis(),
            )?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_desc("written")
            .x_label_formatter(&|value| size(*value))
            .y_label_formatter(&|value| format!("{}/s", size(value.exp())))
            .draw()?;
        if let Some(knee) = &run.knee {
            let at = real(knee.at_bytes).min(last);
            let line = [(at, up.ends().start), (at, up.ends().end)];
            chart.draw_series([PathElement::new(line, MARK.stroke_width(2))])?;
            let (across, down) = chart.backend_coord(&line[1]);
            let style = ("sans-serif", LETTER).into_text_style(area).color(&MARK);
            let words = format!("pace falls at {}", size(at));
            area.draw(&Text::new(words, (across.min(240) + 5, down + 2), style))?;
        }
        let line = points.iter().map(|&(across, pace)| (across, up.at(pace)));
        chart.draw_series(LineSeries::new(line, DATA.stroke_width(2)))?;
        Ok(())
    })
}

/// Bytes as a size; what is no number of bytes as the nearest that is.
fn size(bytes: f64) -> String {
    let rounded = bytes.round().clamp(0.0, 1.8e19);
    words().size(format!("{rounded:.0}").parse().unwrap_or(u64::MAX))
}
