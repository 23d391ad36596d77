//! The hosts that stand out: in which words, how much it matters, and what to do about it.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::host_rows::row_id;
use super::{Odd, Outlier, PeerGroup};
use crate::bench::figure_rounding::number as digits;
use crate::html::elements::{Tone, chip, more, time};
use crate::html::short_answer::Rank;
use crate::quantity_words::count_of;

/// The most hosts that are named in a list.
const NAMED_MAX: usize = 40;

/// A host that stands out, and where its row is.
pub(super) struct NamedOutlier {
    pub(super) outlier: Outlier,
    pub(super) at: String,
    /// In how many more comparisons it stands out.
    others: usize,
}

/// Returns how much an outlier matters, and what to do about it.
pub(super) fn advice(outlier: &Outlier) -> Option<(Rank, &'static str)> {
    match outlier.odd {
        Odd::Slower => Some((
            Rank::Wrong,
            "look for what it does not share with its peers: kernel, slot, link speed, write \
             cache, the drive's health, what else uses the drive",
        )),
        Odd::Faster if outlier.is_implausible => {
            Some((Rank::Care, "straddle fsync on it says whether a completed sync is real there"))
        }
        Odd::Faster => None,
    }
}

/// Returns who stands out, each in a sentence: by what is the furthest away.
pub(super) fn named(hosts: &[NamedOutlier]) -> Markup {
    html! {
        @if hosts.is_empty() {
            p { "No host stands out among its peers." }
        } @else {
            ul.notes {
                @for NamedOutlier { outlier, at, others } in hosts.iter().take(NAMED_MAX) {
                    li {
                        (chip(tone(outlier), word(outlier))) " "
                        a href=(format!("#{at}")) { strong { (outlier.host) } } ": "
                        (sentence(outlier))
                        @if *others > 0 {
                            " It stands out in " (count_of(*others, "more comparison")) "."
                        }
                    }
                }
            }
            (more(hosts.len().saturating_sub(NAMED_MAX), "hosts that stand out"))
        }
    }
}

/// Each host by its furthest outlier, the furthest first.
pub(super) fn by_host(groups: &[PeerGroup]) -> Vec<NamedOutlier> {
    let away = |outlier: &Outlier| outlier.times.ln().abs();
    let of_group = |(number, group): (usize, &PeerGroup)| {
        let at = move |(place, outlier)| (row_id(number, place), outlier);
        group.outliers().into_iter().map(at).collect::<Vec<_>>()
    };
    let mut sorted: Vec<(String, Outlier)> = groups.iter().enumerate().flat_map(of_group).collect();
    sorted.sort_by(|(_, one), (_, other)| away(other).total_cmp(&away(one)));
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut hosts: Vec<NamedOutlier> = Vec::new();
    for (at, outlier) in sorted {
        match places.get(&outlier.host) {
            Some(&place) => hosts[place].others += 1,
            None => {
                places.insert(outlier.host.clone(), hosts.len());
                hosts.push(NamedOutlier { outlier, at, others: 0 });
            }
        }
    }
    hosts
}

fn tone(outlier: &Outlier) -> Tone {
    match outlier.odd {
        Odd::Slower => Tone::Bad,
        Odd::Faster if outlier.is_implausible => Tone::Care,
        Odd::Faster => Tone::Plain,
    }
}

fn word(outlier: &Outlier) -> &'static str {
    match outlier.odd {
        Odd::Slower => "slow",
        Odd::Faster if outlier.is_implausible => "implausibly fast",
        Odd::Faster => "fast",
    }
}

pub(super) fn sentence(outlier: &Outlier) -> String {
    let (times, than) = match outlier.odd {
        Odd::Slower => (outlier.times, "times as long as"),
        Odd::Faster => (1.0 / outlier.times, "times less than"),
    };
    let doubt = match (outlier.odd, outlier.is_implausible) {
        (Odd::Slower, _) => "",
        (Odd::Faster, true) => {
            " It may be the better drive; or its writes are not as durable as those of the others."
        }
        (Odd::Faster, false) => " It may be the better drive, or have less to do.",
    };
    format!(
        "Its {} is {}, {} {than} the group's: {} with the same drive ({}).{doubt}",
        outlier.measure,
        time(outlier.latency_ns),
        digits(times),
        count_of(outlier.hosts, "host"),
        outlier.work
    )
}
