//! First part of the page: in one sentence what is wrong, and what to do next; then what else is.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::elements::{Tone, chip, say};
use super::headline::Headline;
use super::peers::View;
use crate::quantity_words::count_of;
use crate::refusal::Refusal;
pub(super) use crate::text::sentence;

/// The most that is said at the head of a page besides the first, and the most results of which
/// one thing is said.
const NAMED_MAX: usize = 12;
const LINKS_MAX: usize = 6;

/// Rank of a result by the attention that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It was judged and is good.
    Good,
    /// There is nothing in it to judge of a machine here.
    Plain,
    /// It is good from inside the VM.
    Guest,
    /// It cannot be told.
    Unknown,
    /// It may be wrong, or costs.
    Care,
    /// It fails, or has an error.
    Failing,
    /// Data that was said to be safe may be lost.
    Loss,
}

/// Answer of one result.
#[derive(Clone, Debug)]
pub(super) struct ShortAnswer {
    pub(super) rank: Rank,
    /// One or two sentences, harmless.
    pub(super) what: String,
    /// Next step, harmless.
    pub(super) next: Option<String>,
}

impl ShortAnswer {
    pub(super) fn new(rank: Rank, what: impl Into<String>) -> ShortAnswer {
        ShortAnswer { rank, what: what.into(), next: None }
    }

    /// With what to do next, as a file says it; nothing where that is empty.
    pub(super) fn next(self, next: Option<&str>) -> ShortAnswer {
        let next = next.filter(|text| !text.trim().is_empty()).map(|text| sentence(&say(text)));
        ShortAnswer { next, ..self }
    }

    /// Returns what was not done, and why.
    pub(super) fn refused(what: &str, Refusal { message, hint, .. }: &Refusal) -> ShortAnswer {
        let what = format!("{what}: {}", sentence(&say(message)));
        ShortAnswer::new(Rank::Unknown, what).next(hint.as_deref())
    }
}

/// A short answer, what it is of, and where that stands on the page.
pub(super) struct PlacedAnswer<'a> {
    pub(super) short_answer: &'a ShortAnswer,
    /// Its verdict in the words that the rest of the page has for it.
    pub(super) word: &'a str,
    pub(super) of: &'a str,
    pub(super) at: Option<String>,
}

/// The sentence of one result, and what to do next.
pub(super) fn why(short_answer: &ShortAnswer, above: &Headline) -> Markup {
    let ShortAnswer { what, next, .. } = short_answer;
    let what = after(&above.word, what);
    html! {
        @if what.trim_end_matches('.') != above.word {
        p.why { (what) @if let Some(next) = next { " " strong { "Next: " } (next) } }
        }
    }
}

/// `what` without `word` at its start, which stands before it.
fn after<'a>(word: &str, what: &'a str) -> &'a str {
    what.strip_prefix(word).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(what)
}

/// Subject of a part of the verdict on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Result,
    Host,
    /// Hosts that are too many to be exceptions.
    Many,
    /// Hosts that share a kernel or a type of machine.
    Hosts,
}

/// The verdict on results of `ranks` and on the hosts they are of, as the first line of a page: the
/// worst first. Of `unread` files nothing is known.
pub(super) fn of_all(ranks: &[Rank], peers: &View, unread: usize) -> Markup {
    let (hosts, causes) = (peers.odd_ranks(), peers.causes());
    let mut told: BTreeMap<(Rank, Subject), usize> = BTreeMap::new();
    ranks.iter().for_each(|rank| *told.entry((*rank, Subject::Result)).or_default() += 1);
    if let Some(worst) = hosts.iter().max() {
        told.insert((*worst, Subject::Host), hosts.len());
    }
    if peers.slow() > 0 {
        told.insert((Rank::Failing, Subject::Many), peers.slow());
    }
    if causes > 0 {
        told.insert((Rank::Failing, Subject::Hosts), causes);
    }
    let word = |(&(rank, subject), &count): (&(Rank, Subject), &usize)| match subject {
        Subject::Result => format!("{count} {}", counted(rank)),
        Subject::Host => format!("{} standing out", count_of(count, "host")),
        Subject::Many => format!("{} slower than the others", count_of(count, "host")),
        Subject::Hosts => format!("{} to slow hosts", count_of(count, "common cause")),
    };
    let mut words = told.iter().rev().map(word);
    let (Some(first), Some(((worst, _), _))) = (words.next(), told.last_key_value()) else {
        return html! { "No result" };
    };
    let of = format!("of {}", count_of(ranks.len(), "result"));
    let unread = (unread > 0).then(|| format!("{unread} unreadable"));
    let others: Vec<String> = words.chain([of]).chain(unread).collect();
    Headline::new(tone(*worst), first, others.join(", ")).large(",")
}

/// List of what is wrong of `all` and then of what has no verdict, the worst first, and what is the
/// same of many once.
pub(super) fn head(mut all: Vec<PlacedAnswer<'_>>) -> Markup {
    all.sort_by_key(|told| std::cmp::Reverse(told.short_answer.rank));
    all.retain(|told| told.short_answer.rank >= Rank::Unknown);
    let named = same(&all);
    let Some((first, others)) = named.split_first() else { return Markup::default() };
    let more = others.iter().skip(NAMED_MAX).map(Vec::len).sum::<usize>();
    html! {
        section.short id="short" {
            h2 { "In short" }
            p.first { (one(first)) }
            @if !others.is_empty() {
                ul.notes { @for told in others.iter().take(NAMED_MAX) { li { (one(told)) } } }
            }
            @if more > 0 {
                p.quiet { "And " (count_of(more, "result")) " more; see the table." }
            }
        }
    }
}

/// Those of which the same is said together, in the order of the first of each. Of those without a
/// verdict the next step counts: what they lack differs by figures.
fn same<'a, 'b>(all: &'b [PlacedAnswer<'a>]) -> Vec<Vec<&'b PlacedAnswer<'a>>> {
    let mut places: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&PlacedAnswer<'_>>> = Vec::new();
    for told in all {
        let ShortAnswer { rank, what, next } = told.short_answer;
        let is_open = *rank == Rank::Unknown && next.is_some();
        let key = (if is_open { told.word } else { what }, next.as_deref());
        match places.get(&key) {
            Some(&place) => groups[place].push(told),
            None => {
                places.insert(key, groups.len());
                groups.push(vec![told]);
            }
        }
    }
    groups
}

fn one(group: &[&PlacedAnswer<'_>]) -> Markup {
    let Some(first) = group.first() else { return Markup::default() };
    let left_out = group.len().saturating_sub(LINKS_MAX);
    let what = &first.short_answer.what;
    let is_same = group.iter().all(|told| told.short_answer.what == *what);
    html! {
        (chip(tone(first.short_answer.rank), first.word)) " "
        @for (number, PlacedAnswer { of, at, .. }) in group.iter().take(LINKS_MAX).enumerate() {
            @if number > 0 { ", " }
            @match at {
                Some(at) => a href=(format!("#{at}")) { (of) },
                None => (of),
            }
        }
        @if left_out > 0 { " and " (left_out) " more" }
        ":" @if is_same { " " strong { (after(first.word, what)) } }
        @if let Some(next) = &first.short_answer.next { " Next: " (next) }
    }
}

fn tone(rank: Rank) -> Tone {
    match rank {
        Rank::Good => Tone::Good,
        Rank::Plain => Tone::Plain,
        Rank::Guest | Rank::Unknown => Tone::Unknown,
        Rank::Care => Tone::Care,
        Rank::Failing | Rank::Loss => Tone::Bad,
    }
}

/// The word after a number of results.
fn counted(rank: Rank) -> &'static str {
    match rank {
        Rank::Good => "good",
        Rank::Plain => "without a question",
        Rank::Guest => "good from inside the VM",
        Rank::Unknown => "without a verdict",
        Rank::Care => "with a warning",
        Rank::Failing => "failing",
        Rank::Loss => "where data may be lost",
    }
}
