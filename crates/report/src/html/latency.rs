//! Distributions of latencies, one chart each, all of one comparison on the same axis.

use maud::{Markup, html};
use units::number::real;

use super::chart::{Bars, Caption, Span, bars};
use super::elements::{more, say, time};

/// The most distributions that are drawn beside each other.
const SHOWN_MAX: usize = 8;

/// The latencies of one arm or row.
pub(super) struct Latency<'a> {
    pub(super) name: &'a str,
    pub(super) count: u64,
    pub(super) median_ns: u64,
    pub(super) p99_ns: Option<u64>,
    pub(super) histogram: &'a [(u64, u64)],
}

/// All of `latencies` on one axis; `id` makes their names unique on the page.
pub(super) fn latencies(id: &str, latencies: &[Latency<'_>]) -> Markup {
    let buckets = latencies.iter().flat_map(|one| one.histogram);
    let seen = buckets.filter(|(_, count)| *count > 0).map(|(least, _)| real((*least).max(1)));
    let Some(span) = Span::of(seen, 1.3) else { return Markup::default() };
    html! {
        div.charts {
            @for (number, one) in latencies.iter().take(SHOWN_MAX).enumerate() {
                (drawn(&format!("{id}-{number}"), one, span))
            }
        }
        (more(latencies.len().saturating_sub(SHOWN_MAX), "distributions"))
    }
}

fn drawn(id: &str, one: &Latency<'_>, span: Span) -> Markup {
    let caption = Caption {
        id: id.to_owned(),
        title: format!("Latencies: {}", say(one.name)),
        description: format!(
            "{} latencies on a logarithmic axis; a line at the median, {}{}.",
            one.count,
            time(one.median_ns),
            one.p99_ns.map_or(String::new(), |p99_ns| format!(", and at p99, {}", time(p99_ns)))
        ),
    };
    let marks = [Some(one.median_ns), one.p99_ns].into_iter().flatten().collect();
    bars(&caption, &Bars { histogram: one.histogram, span, marks })
}
