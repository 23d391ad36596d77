//! The groups of peers on the page.

use maud::{Markup, html};

use super::heat_map::heat_map;
use super::host_rows::{FLEETS_MAX, Fleet, ID, fleets};
use super::named_outliers::{NamedOutlier, advice, by_host, cause_answer, sentence, word};
use super::outlier_rule::{DEVIATIONS, FACTOR_MIN, GroupAnswer, HOSTS_MIN};
use super::shared_cause::Explanation;
use super::{MeasuredOn, PeerGroup, Peers, SharedCause, causes};
use crate::html::elements::{folded, more};
use crate::html::short_answer::{Rank, ShortAnswer};
use crate::quantity_words::count_of;

/// The most groups of which is said why nobody of them is named.
const SAID_MAX: usize = 8;
/// The most places that are named in a list, and the most hosts in a sentence.
const NAMED_MAX: usize = 40;
const IN_SENTENCE_MAX: usize = 12;

/// All that peers say: what is worth the head of the page, and the section.
pub(in crate::html) struct View {
    fleets: Vec<Fleet>,
    strangers: Vec<MeasuredOn>,
    named: Vec<NamedOutlier>,
    causes: Vec<SharedCause>,
    /// Numbers of hosts, too many to be exceptions, that are slower than the rest of their group,
    /// each with what is said of them; one of a fleet.
    slow: Vec<(usize, ShortAnswer)>,
}

impl View {
    pub(in crate::html) fn of(peers: &Peers) -> View {
        let groups = peers.groups();
        let causes = causes(&groups);
        let fleets = fleets(groups);
        let named = by_host(&fleets);
        let strangers = peers.strangers.iter().cloned().collect();
        let slow = fleets.iter().filter_map(|fleet| fleet.groups.iter().find_map(many_slow));
        let slow = slow.collect();
        View { fleets, strangers, named, causes, slow }
    }

    /// Returns what is said of what slow hosts share, then of each host that stands out in a way
    /// that matters; in a word too, its name, and where.
    pub(in crate::html) fn short_answers(
        &self,
    ) -> Vec<(ShortAnswer, &'static str, String, String)> {
        let told = |named: &NamedOutlier| {
            let NamedOutlier { outlier, at, others } = named;
            let (rank, next) = advice(outlier)?;
            let others = match others {
                0 => String::new(),
                _ => format!(" It stands out in {}.", count_of(*others, "more comparison")),
            };
            let what = sentence(outlier) + &others;
            let short_answer = ShortAnswer::new(rank, what).next(Some(next));
            Some((short_answer, word(outlier), outlier.host.clone(), at.clone()))
        };
        let cause =
            |it: &SharedCause| (cause_answer(it), "common cause", it.what.clone(), ID.to_owned());
        let many = |(count, answer): &(usize, ShortAnswer)| {
            (answer.clone(), "slow", count_of(*count, "host"), ID.to_owned())
        };
        let common = self.causes.iter().map(cause).chain(self.slow.iter().map(many));
        common.chain(self.named.iter().filter_map(told)).collect()
    }

    /// Returns the number of hosts that are slower than their peers, and too many to be exceptions.
    pub(in crate::html) fn slow(&self) -> usize {
        self.slow.iter().map(|(count, _)| count).sum()
    }

    /// Returns the number of kernels and types of machine of which all hosts are slow.
    pub(in crate::html) fn causes(&self) -> usize {
        self.causes.len()
    }

    /// Ranks of the hosts that stand out.
    pub(in crate::html) fn odd_ranks(&self) -> Vec<Rank> {
        let rank = |named: &NamedOutlier| advice(&named.outlier).map_or(Rank::Good, |it| it.0);
        self.named.iter().map(rank).collect()
    }

    /// Returns whether hosts were compared, and none of them differs.
    fn is_uniform(&self) -> bool {
        let mut groups = self.fleets.iter().flat_map(|fleet| &fleet.groups).peekable();
        let is_compared = groups.peek().is_some();
        let is_named = !self.named.is_empty() || !self.causes.is_empty();
        is_compared && !is_named && groups.all(|group| differing(group).is_none())
    }

    /// The section; `None` where nothing could be compared: there is one host, or none.
    pub(in crate::html) fn section(&self) -> Option<Markup> {
        if self.fleets.is_empty() && self.strangers.len() < 2 {
            return None;
        }
        Some(html! {
            section id=(ID) {
                h2 { "Hosts side by side" }
                @if self.is_uniform() {
                    p { "No host stands out among its peers." }
                }
                @for (number, fleet) in self.fleets.iter().take(FLEETS_MAX).enumerate() {
                    (one(number, fleet))
                }
                (more(self.fleets.len().saturating_sub(FLEETS_MAX), "drive models"))
                (strangers(&self.strangers))
                @if !self.fleets.is_empty() { (folded("When a host stands out", &rule())) }
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

fn rule() -> Markup {
    let rule = format!(
        "A group is hosts with the same drive model and firmware that ran the same work; virtual \
         disks are grouped by kind and capacity. Latencies are compared for the throughput of the \
         drive, as far as the group shows how they rise with it. If all hosts with one kernel or \
         machine type are slow, that is named, and these hosts are compared with each other. A \
         host stands out if its latency is far from the median of its group: more than \
         {DEVIATIONS} robust standard deviations (of logarithms, by the median absolute \
         deviation) and a factor of {FACTOR_MIN} or more. This needs {HOSTS_MIN} hosts. Where all \
         are slow, or many differ, no host stands out."
    );
    html! { p { (rule) } }
}

/// Hosts with one drive: what the rule says of all, and the map of each.
fn one(number: usize, fleet: &Fleet) -> Markup {
    let Some(PeerGroup { kind, .. }) = fleet.groups.first() else { return Markup::default() };
    let mut said: Vec<String> = fleet.groups.iter().filter_map(said).collect();
    said.dedup();
    html! {
        h3 { (kind.drive) }
        @for said in said.iter().take(SAID_MAX) { p { (said) } }
        (heat_map(number, fleet))
    }
}

/// Hosts of a group that are too many to be exceptions.
struct Differing<'a> {
    measure: &'static str,
    /// Places of those that are slower, and of those that are faster; doubted ones are named apart.
    slower: Vec<usize>,
    faster: Vec<usize>,
    /// Kernel or type of machine that explains a part of it.
    cause: Option<&'a Explanation>,
}

fn differing(group: &PeerGroup) -> Option<Differing<'_>> {
    group.measures().into_iter().find_map(|(measure, ruled, _)| {
        let GroupAnswer::Mixed(places) = &ruled.answer else { return None };
        let is_slower = |place: &usize| ruled.times[*place].is_some_and(|times| times > 1.0);
        let (slower, mut faster): (Vec<usize>, Vec<usize>) =
            places.iter().partition(|it| is_slower(it));
        faster.retain(|place| !group.is_doubtful(*place, ruled));
        Some(Differing { measure, slower, faster, cause: ruled.cause.as_ref() })
    })
}

/// Returns how many hosts are slower than their peers, where they are too many to be exceptions,
/// and what is said of them.
fn many_slow(group: &PeerGroup) -> Option<(usize, ShortAnswer)> {
    let slower = differing(group)?.slower.len();
    let answer = ShortAnswer::new(Rank::Failing, said(group)?);
    (slower > 0).then_some((slower, answer))
}

/// The hosts at `places`, by name.
fn names(group: &PeerGroup, places: &[usize]) -> String {
    let names = places.iter().filter_map(|place| group.hosts.get(*place));
    let names: Vec<&str> = names.map(|host| host.name.as_str()).take(IN_SENTENCE_MAX).collect();
    let more = places.len() - names.len();
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// Returns why nobody of a group can be named; `None` where the rule can tell.
fn said(group: &PeerGroup) -> Option<String> {
    let hosts = count_of(group.hosts.len(), "host");
    if let Some(Differing { measure, slower, faster, cause }) = differing(group) {
        let reason = match cause {
            Some(cause) => format!("the {} is not the only reason", cause.what),
            None => "no kernel or machine type explains it".to_owned(),
        };
        let some = |places: &[usize], word: &str| match places {
            [] => String::new(),
            _ => format!(
                "{} of {hosts} have a {word} {measure} than the rest: {}. ",
                places.len(),
                names(group, places)
            ),
        };
        return Some(format!(
            "{}: {}{}These are too many to be exceptions, and {reason}. Look for what they share: \
             image, slot, link speed, controller.",
            group.kind.head,
            some(&slower, "slower"),
            some(&faster, "faster"),
        ));
    }
    let few = matches!(group.median.answer, GroupAnswer::TooFew);
    few.then(|| format!("{hosts} are too few to name one that stands out; it takes {HOSTS_MIN}."))
}
