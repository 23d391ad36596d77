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
        // One word of a line may be about anything.
        let is_telling = text.trim().contains(char::is_whitespace);
        holding.next().filter(|_| is_telling && holding.next().is_none())
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
    (rule(&word).map(LexiconEntry::Rule))
        .or_else(|| page_of(&word).map(LexiconEntry::Page))
        .or_else(|| setting(text).and_then(page_of).map(LexiconEntry::Page))
}

fn page_of(word: impl AsRef<str>) -> Option<&'static LexiconPage> {
    pages().iter().find(|page| page.words().any(|own| name(own) == word.as_ref()))
}

/// The setting of `setting=value`, as a name: its page speaks of all its values. A word that is no
/// name of a setting is one only with a number that does not switch it off.
fn setting(text: &str) -> Option<String> {
    let (setting, value) = text.split_once(['=', ':'])?;
    let (setting, value) = (setting.trim(), value.trim().trim_matches(['"', '\'', ';']));
    let is_number = value.parse::<u64>().is_ok_and(|number| number > 0);
    let is_one = !value.is_empty() && !value.contains(char::is_whitespace);
    (is_one && (setting.contains('_') || is_number)).then(|| name(setting))
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
