//! Distribution of latencies: the share of them in each part of a logarithmic axis.

use maud::Markup;
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color as _;
use units::number::{real, whole};

use super::{Axis, Caption, DATA, Drawn, GRID, INK, LETTER, MARK, Span, figure};
use crate::bench::figure_rounding::chosen_time;
use crate::html::elements::words;

/// Parts of the axis.
const BARS: u32 = 60;
const HEIGHT: u32 = 150;

/// One distribution to be drawn.
pub(in crate::html) struct Bars<'a> {
    /// The least latency of each bucket in nanoseconds, and how many are in it.
    pub(in crate::html) histogram: &'a [(u64, u64)],
    /// The axis that all distributions of one comparison share.
    pub(in crate::html) span: Span,
    /// The latencies that are marked: the median, p99.
    pub(in crate::html) marks: Vec<u64>,
}

/// The chart of one distribution; nothing where it is empty.
pub(in crate::html) fn bars(caption: &Caption, bars: &Bars<'_>) -> Markup {
    let span = bars.span.roomy();
    let edges = span.edges(BARS);
    let shares = shares(bars.histogram, &edges);
    let greatest = shares.iter().copied().fold(0.0, f64::max);
    if greatest <= 0.0 {
        return Markup::default();
    }
    figure(caption, HEIGHT, |area| -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(20)
            .x_label_area_size(24)
            .y_label_area_size(46)
            .build_cartesian_2d(
                span.axis(),
                Axis { ends: 0.0..greatest * 1.1, ticks: vec![0.0, greatest] },
            )?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", LETTER, &INK))
            .x_label_formatter(&|value| label(*value))
            .y_label_formatter(&|value| format!("{:.0} %", value * 100.0))
            .draw()?;
        let bar = |(ends, share): (&[f64], &f64)| {
            Rectangle::new([(span.at(ends[0]), 0.0), (span.at(ends[1]), *share)], DATA.filled())
        };
        let filled = edges.windows(2).zip(&shares).filter(|(_, share)| **share > 0.0);
        chart.draw_series(filled.map(bar))?;
        let mark = |&latency: &u64| {
            let across = span.at(real(latency));
            PathElement::new([(across, 0.0), (across, greatest * 1.1)], MARK.stroke_width(2))
        };
        chart.draw_series(bars.marks.iter().map(mark))?;
        Ok(())
    })
}

/// A latency on a logarithmic axis as a person writes it: `5 ms`, not `5.00 ms`.
pub(super) fn label(logarithm: f64) -> String {
    chosen_time(whole(logarithm.exp().round()), words())
}

/// The share of all latencies between each two edges; those beyond count at the ends.
fn shares(histogram: &[(u64, u64)], edges: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; edges.len().saturating_sub(1)];
    let all: f64 = histogram.iter().map(|&(_, count)| real(count)).sum();
    let Some(last) = shares.len().checked_sub(1).filter(|_| all > 0.0) else { return shares };
    for &(latency, count) in histogram {
        let place = edges.partition_point(|edge| *edge <= real(latency.max(1)));
        shares[place.saturating_sub(1).min(last)] += real(count) / all;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_is_in_one_part() {
        let edges = [1.0, 10.0, 100.0];
        assert_eq!(shares(&[(0, 1), (10, 2), (99, 3), (5000, 4)], &edges), [0.1, 0.9]);
        assert_eq!(shares(&[], &edges), [0.0, 0.0]);
        assert_eq!(shares(&[(5, 0)], &edges), [0.0, 0.0]);
        assert_eq!(shares(&[(5, 1)], &[]), Vec::<f64>::new());
    }

    #[test]
    fn labels_have_no_digits_that_say_nothing() {
        assert_eq!(label(5e6_f64.ln()), "5 ms");
        assert_eq!(label(1.5e6_f64.ln()), "1.5 ms");
        assert_eq!(label(1e8_f64.ln()), "100 ms");
    }
}
