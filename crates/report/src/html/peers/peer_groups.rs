//! The groups of peers on the page.

use maud::{Markup, html};
use units::number::real;

use super::host_rows::{GROUPS_MAX, HOSTS_MAX, ID, row_id};
use super::named_outliers::{NamedOutlier, advice, by_host, named, sentence};
use super::outlier_rule::{DEVIATIONS, FACTOR_MIN, GroupAnswer, HOSTS_MIN};
use super::{MeasuredOn, PeerGroup, PeerHost, Peers};
use crate::bench::figure_rounding::number as digits;
use crate::html::chart::{Caption, Dot, latencies};
use crate::html::elements::{Tone, chip, more, time, time_or_unknown};
use crate::html::short_answer::ShortAnswer;
use crate::html::table::{Row, cell, figure, named as head, row, table};
use crate::quantity_words::count_of;

/// The most places that are named in a list.
const NAMED_MAX: usize = 40;

/// All that peers say: what is worth the head of the page, and the section.
pub(in crate::html) struct View {
    groups: Vec<PeerGroup>,
    strangers: Vec<MeasuredOn>,
    named: Vec<NamedOutlier>,
}

impl View {
    pub(in crate::html) fn of(peers: &Peers) -> View {
        let mut groups = peers.groups();
        // Those with something to tell first, then the larger ones.
        groups.sort_by_key(|group| {
            (std::cmp::Reverse(group.outliers().len()), std::cmp::Reverse(group.hosts.len()))
        });
        let named = by_host(&groups);
        let strangers = peers.strangers.iter().cloned().collect();
        View { groups, strangers, named }
    }

    /// Returns what is said of each host that stands out in a way that matters, its name, and
    /// where.
    pub(in crate::html) fn short_answers(&self) -> Vec<(ShortAnswer, String, String)> {
        let told = |named: &NamedOutlier| {
            let NamedOutlier { outlier, at, .. } = named;
            let (rank, next) = advice(outlier)?;
            let short_answer = ShortAnswer::new(rank, sentence(outlier)).next(Some(next));
            Some((short_answer, outlier.host.clone(), at.clone()))
        };
        self.named.iter().filter_map(told).collect()
    }

    /// The section; `None` where nothing could be compared: there is one host, or none.
    pub(in crate::html) fn section(&self) -> Option<Markup> {
        if self.groups.is_empty() && self.strangers.len() < 2 {
            return None;
        }
        Some(html! {
            section id=(ID) {
                h2 { "Hosts side by side" }
                @if !self.groups.is_empty() { (named(&self.named)) }
                (strangers(&self.strangers))
                @if !self.groups.is_empty() { p.quiet { (rule()) } }
                @for (number, group) in self.groups.iter().take(GROUPS_MAX).enumerate() {
                    (one(number, group))
                }
                (more(self.groups.len().saturating_sub(GROUPS_MAX), "groups"))
            }
        })
    }
}

/// Those of whom nobody knows what their drives are.
fn strangers(places: &[MeasuredOn]) -> Markup {
    let left_out = places.len().saturating_sub(NAMED_MAX);
    html! {
        @if !places.is_empty() {
            h3 { "Not compared: drive unknown" }
            p { "Only drives of the same model and firmware are compared, and virtual disks of the "
                "same kind and capacity. Some controllers report none of these. The numbers of "
                "these hosts are with each file below." }
            ul.notes {
                @for MeasuredOn { host, path } in places.iter().take(NAMED_MAX) {
                    li { (host) ", " (path) }
                }
            }
            (more(left_out, "places"))
        }
    }
}

fn rule() -> String {
    format!(
        "A group is hosts with the same drive model and firmware that ran the same work; virtual \
         disks are grouped by kind and capacity. A host stands out if its latency is far from the \
         median of its group: more than {DEVIATIONS} robust standard deviations (of logarithms, by \
         the median absolute deviation) and a factor of {FACTOR_MIN} or more. This needs \
         {HOSTS_MIN} hosts. Where all are slow, or many differ, no host stands out."
    )
}

fn one(number: usize, group: &PeerGroup) -> Markup {
    let odd = odd(group);
    let shown = &group.hosts[..group.hosts.len().min(HOSTS_MAX)];
    let caption = Caption {
        id: format!("{ID}-{number}"),
        title: format!("Latency of {}", count_of(group.hosts.len(), "host")),
        description:
            "A dot for each host's median, a line up to its p99; the numbers are those of \
                      the table."
                .to_owned(),
    };
    let dot =
        |host: &PeerHost| Dot::latency(host.median_ns, host.p99_ns, odd.contains(&&*host.name));
    let rows: Vec<Dot> = shown.iter().map(dot).collect();
    html! {
        h3 { (group.kind.drive) ": " (group.kind.work) }
        p { (said(group)) }
        details open[!odd.is_empty() || number == 0] {
            summary { (count_of(group.hosts.len(), "host")) }
            (table(
                &format!("{}, the slowest first", count_of(group.hosts.len(), "host")),
                &["#", "Host", "Median", "p99", "Times the group's median", "Rule"],
                shown.iter().enumerate().map(|(place, host)| {
                    of_host(place, host, group, odd.contains(&&*host.name))
                        .called(row_id(number, place))
                }),
            ))
            (more(group.hosts.len().saturating_sub(HOSTS_MAX), "hosts"))
            (latencies(&caption, &rows))
        }
    }
}

fn odd(group: &PeerGroup) -> Vec<&str> {
    let places = [&group.median, &group.p99].into_iter().filter_map(|told| match &told.answer {
        GroupAnswer::Some(places) => Some(places),
        _ => None,
    });
    places.flatten().filter_map(|&place| group.hosts.get(place)).map(|host| &*host.name).collect()
}

fn of_host(place: usize, host: &PeerHost, group: &PeerGroup, odd: bool) -> Row {
    let times = real(host.median_ns) / group.median.middle_ns.max(1.0);
    let name = html! {
        (host.name)
        @if host.runs > 1 { " " span.quiet { "(the middle one of " (host.runs) " runs)" } }
    };
    row([
        figure(place + 1),
        head(name),
        figure(time(host.median_ns)),
        figure(time_or_unknown(host.p99_ns)),
        figure(digits(times)),
        cell(html! { @if odd { (chip(Tone::Bad, "stands out")) } }),
    ])
}

/// Returns what the rule says of the group, in a sentence.
fn said(group: &PeerGroup) -> String {
    let answers = [("median", &group.median.answer), ("p99", &group.p99.answer)];
    if let Some((measure, GroupAnswer::Mixed(differ))) =
        answers.iter().find(|(_, answer)| matches!(answer, GroupAnswer::Mixed(_)))
    {
        return format!(
            "{differ} of {} differ from the others in their {measure}: too many to be exceptions. \
             Look for what they share: kernel, image, slot, link speed, controller.",
            count_of(group.hosts.len(), "host")
        );
    }
    let names = odd(group);
    let mut unique: Vec<&str> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    match (&group.median.answer, unique.len()) {
        (GroupAnswer::TooFew, _) => format!(
            "{} are too few to name one that stands out; it takes {HOSTS_MIN}.",
            count_of(group.hosts.len(), "host")
        ),
        (_, 0) => "No host stands out.".to_owned(),
        (_, _) => format!("Stands out: {}.", unique.join(", ")),
    }
}
