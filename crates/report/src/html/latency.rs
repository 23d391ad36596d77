//! Latencies of the arms or rows of one result, overlaid in charts on one axis.

use maud::{Markup, html};
use units::number::real;

use super::chart::{CURVES_MAX, Caption, Curve, Limit, Scales, Span, percentiles};
use super::elements::more;

/// The most charts of one result.
const CHARTS_MAX: usize = 9;

/// Rows that are drawn together, and what they have in common.
pub(super) struct CurveGroup<'a> {
    pub(super) title: String,
    pub(super) curves: Vec<Curve<'a>>,
}

/// A chart for each of `groups`, all on one axis, with `limits`, and `beside` them what is of the
/// same rows; `id` makes their names unique on the page.
pub(super) fn latencies(
    id: &str,
    groups: &[CurveGroup<'_>],
    limits: &[Limit],
    beside: &Markup,
) -> Markup {
    let curves = groups.iter().flat_map(|group| &group.curves);
    let buckets = curves.flat_map(|curve| curve.histogram).filter(|(_, count)| *count > 0);
    let seen = buckets.map(|(least, _)| *least).chain(limits.iter().map(|limit| limit.1));
    let Some(span) = Span::of(seen.map(|ns| real(ns.max(1))), 1.3) else {
        return Markup::default();
    };
    let seen = groups.iter().flat_map(|group| &group.curves).map(Curve::rarest);
    let scales = Scales { latency: span, rarest: seen.fold(1.0, f64::max) };
    html! {
        div.charts {
            @for (number, group) in groups.iter().take(CHARTS_MAX).enumerate() {
                (drawn(&format!("{id}-{number}"), group, scales, limits, number == 0))
            }
            (beside)
        }
        (more(groups.len().saturating_sub(CHARTS_MAX), "groups of curves"))
    }
}

fn drawn(
    id: &str,
    group: &CurveGroup<'_>,
    scales: Scales,
    limits: &[Limit],
    first: bool,
) -> Markup {
    let axes = match first {
        true => "Percentiles: rarer to the right, slower higher.",
        false => "The same axes as in the first chart.",
    };
    let left_out = match group.curves.len().saturating_sub(CURVES_MAX) {
        0 => String::new(),
        more => format!(" {more} more are in the table alone."),
    };
    let caption = Caption {
        id: id.to_owned(),
        title: format!("Latency of {}", group.title),
        description: format!("{axes}{left_out}"),
    };
    percentiles(&caption, &group.curves, scales, limits)
}
