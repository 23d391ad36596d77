//! The hosts that stand out: in which words, how much it matters, and what to do about it.

use std::collections::BTreeMap;

use super::host_rows::Fleet;
use super::{Odd, Outlier, PeerGroup, SharedCause};
use crate::bench::figure_rounding::number as digits;
use crate::html::elements::{Tone, time};
use crate::html::short_answer::{Rank, ShortAnswer};
use crate::quantity_words::count_of;
use units::prefix::Size;

/// A host that stands out, and where its row is.
pub(super) struct NamedOutlier {
    pub(super) outlier: Outlier,
    pub(super) at: String,
    /// In how many more comparisons it stands out.
    pub(super) others: usize,
}

/// Returns how much an outlier matters, and what to do about it.
pub(super) fn advice(outlier: &Outlier) -> Option<(Rank, &'static str)> {
    match outlier.odd {
        Odd::Slower if outlier.busier.is_some() => {
            Some((Rank::Care, "measure it again while its drive is idle"))
        }
        Odd::Slower => Some((
            Rank::Failing,
            "look for what it does not share with its peers: slot, link speed, write cache, the \
             drive's health",
        )),
        Odd::Faster if outlier.is_implausible => Some((
            Rank::Care,
            "compare its write cache, mount options and host with those of a peer; only a \
                 power cut proves that its syncs are real",
        )),
        Odd::Faster => None,
    }
}

/// Each host by its furthest outlier, the furthest first.
pub(super) fn by_host(fleets: &[Fleet]) -> Vec<NamedOutlier> {
    let away = |outlier: &Outlier| outlier.times.ln().abs();
    let of_fleet = |(number, fleet): (usize, &Fleet)| {
        let outliers = fleet.groups.iter().flat_map(PeerGroup::outliers);
        let at = |(_, outlier): (usize, Outlier)| (fleet.row_id(number, &outlier.host), outlier);
        outliers.map(at).collect::<Vec<_>>()
    };
    let mut sorted: Vec<(String, Outlier)> = fleets.iter().enumerate().flat_map(of_fleet).collect();
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

pub(super) fn tone(outlier: &Outlier) -> Tone {
    match outlier.odd {
        Odd::Slower if outlier.busier.is_some() => Tone::Care,
        Odd::Slower => Tone::Bad,
        Odd::Faster if outlier.is_implausible => Tone::Care,
        Odd::Faster => Tone::Plain,
    }
}

pub(super) fn word(outlier: &Outlier) -> &'static str {
    match outlier.odd {
        Odd::Slower if outlier.busier.is_some() => "busy",
        Odd::Slower => "slow",
        Odd::Faster if outlier.is_implausible => "implausibly fast",
        Odd::Faster => "fast",
    }
}

/// Sentence on the other work of a drive that is far busier than its peers; empty otherwise.
fn busier(outlier: &Outlier) -> String {
    let Some((own, most)) = outlier.busier else { return String::new() };
    format!(
        " Nobody can tell whether that fits its load: its drive did {}/s of other work just \
         before, its peers' {}/s at most.",
        Size(own),
        Size(most)
    )
}

/// Sentence on what slow hosts share, and what to do about it.
pub(super) fn cause_answer(cause: &SharedCause) -> ShortAnswer {
    let what = format!(
        "All {} with it are slow: their {} is {} times that of the {} without it ({}; {}).",
        count_of(cause.hosts, "host"),
        cause.measure,
        digits(cause.times),
        count_of(cause.others, "host"),
        cause.drive,
        cause.work
    );
    let next = "change that on one of them and measure again, before you replace a drive";
    ShortAnswer::new(Rank::Failing, what).next(Some(next))
}

pub(super) fn sentence(outlier: &Outlier) -> String {
    let (times, than) = match outlier.odd {
        Odd::Slower => (outlier.times, "times as long as"),
        Odd::Faster => (1.0 / outlier.times, "times less than"),
    };
    let doubt = match (outlier.odd, outlier.is_implausible) {
        (Odd::Slower, _) => &busier(outlier),
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
