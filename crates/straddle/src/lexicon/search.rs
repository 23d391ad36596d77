//! The page of a word, a code or a log line.

use super::entry::{HISTORY, LexiconEntry};
use super::page::{LexiconPage, pages};
use super::pattern::{name, normal};
use super::rank;
use stack::rule::{RULES, rule};

/// Parts of a line shorter than this many bytes find no page by standing in a pattern.
const PART_MIN: usize = 8;

/// The entry of a code, a word, a log line or a part of one; `None` where nothing is called so.
#[must_use]
pub(crate) fn find(text: &str) -> Option<LexiconEntry> {
    named(text).or_else(|| find_in_line(text)).or_else(|| {
        let mut holding = holding(text);
        holding.next().filter(|_| holding.next().is_none())
    })
}

/// The entries that are near to text that [`find`] does not know.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NearEntries {
    /// The entry that answers it; `None` where several may, or none does.
    pub(crate) answer: Option<LexiconEntry>,
    /// The others, best first, at most five.
    pub(crate) titles: Vec<LexiconEntry>,
}

/// The entries that are near to `text`, which [`find`] does not know.
#[must_use]
pub(crate) fn search(text: &str) -> NearEntries {
    let mut titles: Vec<LexiconEntry> = holding(text).collect();
    for entry in rank::ranked(text) {
        if !titles.contains(&entry) {
            titles.push(entry);
        }
    }
    titles.truncate(rank::RANKED_MAX);
    let mut answers = titles.iter().copied().filter(|entry| rank::is_answer(*entry, text));
    let answer = answers.next().filter(|_| answers.next().is_none());
    titles.retain(|entry| Some(*entry) != answer);
    NearEntries { answer, titles }
}

/// The pages that have a line of which `text` is a part.
fn holding(text: &str) -> impl Iterator<Item = LexiconEntry> {
    let part = normal(text);
    let holds = move |page: &&'static LexiconPage| {
        part.len() >= PART_MIN && page.lines.iter().any(|line| line.holds(&part))
    };
    pages().iter().filter(holds).map(LexiconEntry::Page)
}

/// The entry that is called `text`: a code, or a word or one of its other names.
#[must_use]
pub(crate) fn named(text: &str) -> Option<LexiconEntry> {
    let word = name(text);
    if word == HISTORY {
        return Some(LexiconEntry::History);
    }
    let is_it = |page: &&LexiconPage| page.words().any(|own| name(own) == word);
    (rule(&word).map(LexiconEntry::Rule))
        .or_else(|| pages().iter().find(is_it).map(LexiconEntry::Page))
}

/// The entry of a line of a log, or of straddle's own output: the page whose fixed parts account
/// for most of it, else the rule whose code stands in it. `None` when it is none that is known.
#[must_use]
pub(crate) fn find_in_line(line: &str) -> Option<LexiconEntry> {
    let line = normal(line);
    let fits = pages().iter().flat_map(|page| {
        page.lines
            .iter()
            .filter_map(|pattern| Some((pattern.fit(&line)?, page)))
            .collect::<Vec<_>>()
    });
    // Of equals, the first.
    let best = fits.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, page)| LexiconEntry::Page(page)).or_else(|| code_in(&line))
}

fn code_in(line: &str) -> Option<LexiconEntry> {
    let mut words = line.split(|character: char| !character.is_ascii_alphanumeric());
    words
        .find_map(|word| RULES.iter().find(|rule| rule.code.eq_ignore_ascii_case(word)))
        .map(LexiconEntry::Rule)
}
