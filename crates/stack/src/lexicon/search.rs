//! The page of a word, a code or a log line.

use super::near;
use super::page::Page;
use super::pattern::{name, normal};
use crate::rule::{RULES, Rule, rule};

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A rule, by its code.
    Rule(&'static Rule),
    /// A word or a log line.
    Page(&'static Page),
    /// What each partitioner did by default: [`crate::history`].
    History,
}

impl Entry {
    /// What to type to get it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Entry::Rule(rule) => rule.code,
            Entry::Page(page) => page.name,
            Entry::History => HISTORY,
        }
    }
}

/// The word for the table of defaults.
const HISTORY: &str = "history";

/// Parts of a line shorter than this many bytes find no page by standing in a pattern.
const PART_MIN: usize = 8;

/// The entry of what a person typed: a code, a word, a log line or a part of one. Otherwise the
/// entries that come nearest, best first; there may be none.
///
/// # Errors
/// With those nearest ones, when nothing is meant for sure.
pub fn find(text: &str) -> Result<Entry, Vec<Entry>> {
    let word = name(text);
    if let Some(entry) = by_word(&word).or_else(|| find_in_line(text)) {
        return Ok(entry);
    }
    let mut near = near::pages(&word);
    let part = normal(text);
    if part.len() >= PART_MIN {
        let holding =
            super::pages().iter().filter(|page| page.lines.iter().any(|line| line.holds(&part)));
        let holding: Vec<Entry> = holding.map(Entry::Page).collect();
        if let [only] = holding[..] {
            return Ok(only);
        }
        near.splice(0..0, holding.into_iter().take(near::NEAR_MAX));
    }
    Err(near)
}

fn by_word(word: &str) -> Option<Entry> {
    if word == HISTORY {
        return Some(Entry::History);
    }
    let is_it = |page: &&Page| page.words().any(|own| name(own) == word);
    (rule(word).map(Entry::Rule)).or_else(|| super::pages().iter().find(is_it).map(Entry::Page))
}

/// The entry of a line of a log, or of straddle's own output: the page whose fixed parts account
/// for most of it, else the rule whose code stands in it. `None` when it is none that is known.
#[must_use]
pub fn find_in_line(line: &str) -> Option<Entry> {
    let line = normal(line);
    let fits = super::pages().iter().flat_map(|page| {
        page.lines
            .iter()
            .filter_map(|pattern| Some((pattern.fit(&line)?, page)))
            .collect::<Vec<_>>()
    });
    // Of equals, the first.
    let best = fits.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, page)| Entry::Page(page)).or_else(|| code_in(&line))
}

fn code_in(line: &str) -> Option<Entry> {
    let mut words = line.split(|character: char| !character.is_ascii_alphanumeric());
    words
        .find_map(|word| RULES.iter().find(|rule| rule.code.eq_ignore_ascii_case(word)))
        .map(Entry::Rule)
}
