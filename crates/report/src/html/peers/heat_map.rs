//! Heat map of a fleet: a line for each host, a column for each work, and in each cell how many
//! times the median of the fleet it takes. The figure says what the color says.

use std::collections::BTreeMap;

use maud::{Markup, html};
use units::number::real;

use super::host_rows::{Fleet, HOSTS_MAX};
use super::named_outliers::{tone, word};
use super::outlier_rule::GroupAnswer;
use super::{Measure, Odd, Outlier, PeerGroup, PeerHost};
use crate::bench::figure_rounding::{UNKNOWN, number as digits};
use crate::html::elements::{chip, more, time};
use crate::quantity_words::count_of;

/// The most columns.
const COLUMNS_MAX: usize = 32;
/// Up to so many works, each has a column for its p99 too, and times beside the ratios.
const FEW: usize = 3;

/// One column: its head, its measure, and the hosts by their names, each with its place.
struct Column<'a> {
    head: String,
    measure: Measure<'a>,
    hosts: BTreeMap<&'a str, (usize, &'a PeerHost)>,
}

/// The map of `fleet`, the `number`-th on the page.
pub(super) fn heat_map(number: usize, fleet: &Fleet) -> Markup {
    let columns = columns(fleet);
    let few = fleet.groups.len() <= FEW;
    let mut odd: BTreeMap<String, Outlier> = BTreeMap::new();
    for (_, outlier) in fleet.groups.iter().flat_map(PeerGroup::outliers) {
        odd.entry(outlier.host.clone()).or_insert(outlier);
    }
    let figure = if few { "each latency, and its" } else { "for each latency the" };
    let order = match odd.is_empty() {
        true => "the slowest first",
        false => "those that stand out first, then the slowest",
    };
    let caption = format!(
        "{}, {order}: {figure} ratio to the median of these hosts.",
        count_of(fleet.hosts.len(), "host")
    );
    html! {
        div.heat.dense[!few] role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr {
                    th scope="col" { "Host" }
                    @for column in &columns { th scope="col" { span { (column.head) } } }
                    @if !odd.is_empty() { th scope="col" { "Verdict" } }
                } }
                tbody {
                    @for host in fleet.hosts.iter().take(HOSTS_MAX) {
                        tr id=(fleet.row_id(number, host)) {
                            th scope="row" { (host) (runs(&columns, host)) }
                            @for column in &columns { (cell(column, host, few, odd.get(host))) }
                            @if !odd.is_empty() {
                                td.word {
                                    @if let Some(odd) = odd.get(host) {
                                        (chip(tone(odd), word(odd)))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        (key(!odd.is_empty()))
        (more(fleet.hosts.len().saturating_sub(HOSTS_MAX), "hosts"))
        (more(fleet.groups.len().saturating_sub(COLUMNS_MAX), "works"))
    }
}

/// Shades and signs of the map in one line: those of [`warmth`].
fn key(has_signs: bool) -> Markup {
    html! {
        p.quiet.key {
            "Shades: slower from " span.s1 { "1.25×" } " " span.s2 { "2×" } " " span.s3 { "5×" }
            ", faster from " span.f1 { "0.8×" } " " span.f2 { "0.5×" } " " span.f3 { "0.2×" } "."
            @if has_signs { " ▲ slower, ▼ faster: stands out." }
        }
    }
}

fn columns(fleet: &Fleet) -> Vec<Column<'_>> {
    let measures = if fleet.groups.len() <= FEW { 2 } else { 1 };
    fleet.groups.iter().flat_map(|group| of_group(group, measures)).take(COLUMNS_MAX).collect()
}

fn of_group(group: &PeerGroup, measures: usize) -> impl Iterator<Item = Column<'_>> {
    let hosts = group.hosts.iter().enumerate();
    let hosts: BTreeMap<&str, (usize, &PeerHost)> =
        hosts.map(|(place, host)| (host.name.as_str(), (place, host))).collect();
    group.measures().into_iter().take(measures).map(move |measure| {
        let head = match measures {
            1 => group.kind.head.clone(),
            _ => format!("{}: {}", group.kind.head, measure.0),
        };
        Column { head, measure, hosts: hosts.clone() }
    })
}

fn runs(columns: &[Column<'_>], host: &str) -> Markup {
    let runs = columns.iter().filter_map(|column| Some(column.hosts.get(host)?.1.runs)).max();
    html! {
        @if let Some(runs) = runs.filter(|runs| *runs > 1) {
            " " span.quiet { "(the middle one of " (runs) " runs)" }
        }
    }
}

fn cell(column: &Column<'_>, host: &str, few: bool, odd: Option<&Outlier>) -> Markup {
    let (measure, ruled, latency) = column.measure;
    let known = column.hosts.get(host).and_then(|(place, host)| Some((place, latency(host)?)));
    let Some((place, latency_ns)) = known else { return html! { td { (UNKNOWN) } } };
    let times = real(latency_ns) / ruled.middle_ns.max(1.0);
    let stands_out = match &ruled.answer {
        GroupAnswer::Some(places) => places.contains(place),
        GroupAnswer::Mixed(_) => odd.is_some_and(|it| it.measure == measure),
        GroupAnswer::TooFew | GroupAnswer::Nobody => false,
    };
    let judged = ruled.times.get(*place).copied().flatten().unwrap_or(times);
    let sign = match (stands_out, Odd::of(judged)) {
        (false, _) => "",
        (true, Odd::Slower) => "▲ ",
        (true, Odd::Faster) => "▼ ",
    };
    html! {
        td class=[warmth(times)] {
            @if few { (time(latency_ns)) " · " }
            (sign) (digits(times)) @if few { "×" }
        }
    }
}

/// Class of a cell by how far from the median it is; none where it is near.
fn warmth(times: f64) -> Option<&'static str> {
    match times {
        5.0.. => Some("s3"),
        2.0.. => Some("s2"),
        1.25.. => Some("s1"),
        ..=0.2 => Some("f3"),
        ..=0.5 => Some("f2"),
        ..=0.8 => Some("f1"),
        _ => None,
    }
}
