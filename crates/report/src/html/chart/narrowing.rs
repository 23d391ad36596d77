//! Chart of a ratio and its interval as they narrowed, pair by pair.

use maud::Markup;
use measure::PairStep;
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Polygon};
use plotters::series::LineSeries;
use plotters::style::Color as _;
use units::number::real;

use super::{BAND, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, Span, figure};
use crate::bench::figure_rounding::number;

/// The most steps that are drawn; of more, some are left out, the last never.
const STEPS_MAX: usize = 400;
const HEIGHT: u32 = 220;
/// Multiple of the width of the last interval what is drawn may be.
const ROOM: f64 = 4.0;

/// The chart of `steps`; nothing where there are fewer than two.
pub(in crate::html) fn narrowing(caption: &Caption, steps: &[PairStep]) -> Markup {
    let steps = thinned(steps);
    let spans = across(&steps).zip(upwards(&steps));
    let Some((across, upwards)) = spans.filter(|_| steps.len() > 1) else {
        return Markup::default();
    };
    figure(caption, HEIGHT, |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(14)
            .x_label_area_size(38)
            .y_label_area_size(46)
            .build_cartesian_2d(across.axis(), upwards.axis())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_desc("pairs")
            .x_label_formatter(&|value| format!("{:.0}", value.exp()))
            .y_label_formatter(&|value| number(value.exp()))
            .draw()?;
        let at = |step: &PairStep, value: f64| (across.at(real(step.pairs)), upwards.at(value));
        let upper = steps.iter().map(|step| at(step, step.median.high));
        let lower = steps.iter().rev().map(|step| at(step, step.median.low));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        chart.draw_series([Polygon::new(band, BAND.filled())])?;
        let ends = across.ends();
        let one = [(ends.start, upwards.at(1.0)), (ends.end, upwards.at(1.0))];
        chart.draw_series([PathElement::new(one, MARK.stroke_width(1))])?;
        let ratios = steps.iter().filter(|step| step.median.ratio.is_finite());
        let ratios = ratios.map(|step| at(step, step.median.ratio));
        chart.draw_series(LineSeries::new(ratios, DATA.stroke_width(2)))?;
        Ok(())
    })
}

fn thinned(steps: &[PairStep]) -> Vec<PairStep> {
    let stride = steps.len().div_ceil(STEPS_MAX).max(1);
    let last = steps.len().saturating_sub(1);
    let kept = |(place, _): &(usize, &PairStep)| place.is_multiple_of(stride) || *place == last;
    steps.iter().enumerate().filter(kept).map(|(_, step)| *step).collect()
}

fn across(steps: &[PairStep]) -> Option<Span> {
    Span::of(steps.iter().map(|step| real(step.pairs)), 1.5)
}

/// The ratios, 1, and as much of the intervals as is not out of all proportion to the last one.
fn upwards(steps: &[PairStep]) -> Option<Span> {
    let last = steps.last()?.median;
    let middle = if last.ratio.is_finite() && last.ratio > 0.0 { last.ratio } else { 1.0 };
    let width = match last.high.is_finite() && last.low > 0.0 {
        true => (last.high / last.low).clamp(1.05, 4.0),
        false => 2.0,
    };
    let room = width.powf(ROOM);
    let near = move |value: f64| value.clamp(middle / room, middle * room);
    let ends = steps.iter().flat_map(|step| [step.median.low, step.median.high]);
    let ends = ends.filter(|end| end.is_finite()).map(near);
    let ratios = steps.iter().map(|step| step.median.ratio);
    Span::of(ratios.chain(ends).chain([1.0, middle]), 1.2).map(Span::roomy)
}
