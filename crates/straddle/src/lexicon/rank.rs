//! The entries that fit words best, where no entry is called so.
//!
//! Each word of the query is looked for in an entry's names, title and text. A word counts more the
//! fewer entries hold it (inverse document frequency: K. Sparck Jones, "A statistical
//! interpretation of term specificity", 1972), and a name counts more than a text.
//!
//! Words that are alike may mean the opposite (`sync=disabled`, `sync=always`). So an entry that
//! fits best is a title to choose from; it is the answer only where the words hold one of its names
//! and nothing that it does not speak of; a word that turns it into its opposite must be part of
//! the name ([`is_answer`]).

use std::sync::LazyLock;

use super::entry::{HISTORY, LexiconEntry};
use super::page::pages;
use super::pattern::normal;
use stack::rule::RULES;
use workload::near_words::distance;

/// The most entries that are returned.
pub(super) const RANKED_MAX: usize = 5;
/// Only so many words of a query are looked for; a longer one is a log, not a question.
const WORDS_MAX: usize = 32;
/// Longer words are no misspelt names.
const WORD_MAX: usize = 40;

/// A word in one of an entry's names, spelt right; a name that is nearly spelt so; in its title; in
/// its text.
const NAMED: f64 = 8.0;
const NEARLY: f64 = 5.0;
const TITLED: f64 = 3.0;
const TEXT: f64 = 1.0;

/// The least score of an entry that is near, for each unit of weight of the words asked for: most
/// of what was asked is in it, or one of its names is and little else was asked. Tried on questions
/// and log lines in the tests of [`super`].
const NEAR: f64 = 1.75;

/// Words that turn what is asked about into its opposite, or into its fault.
const OPPOSING: &[&str] = &[
    "absent",
    "anti",
    "async",
    "asynchronous",
    "avoid",
    "bypass",
    "cannot",
    "disable",
    "disabled",
    "disabling",
    "drop",
    "dropped",
    "drops",
    "error",
    "fail",
    "failed",
    "fails",
    "false",
    "ignore",
    "ignored",
    "ignores",
    "instead",
    "invalid",
    "lack",
    "lacking",
    "lacks",
    "lost",
    "missing",
    "neither",
    "never",
    "no",
    "non",
    "none",
    "nor",
    "not",
    "off",
    "opposite",
    "refused",
    "skip",
    "skipped",
    "skips",
    "unsafe",
    "unsupported",
    "volatile",
    "without",
    "wrong",
    "zero",
];

/// Words that every question holds.
const COMMON: &[&str] = &[
    "a", "about", "after", "an", "and", "are", "be", "can", "do", "does", "for", "good", "happens",
    "have", "how", "i", "if", "in", "is", "it", "me", "mean", "means", "my", "need", "of", "on",
    "or", "set", "should", "tell", "that", "the", "this", "to", "use", "what", "when", "which",
    "why", "will", "with", "you",
];

/// The words of an entry.
struct EntryWords {
    entry: LexiconEntry,
    /// The words of each of its names.
    whole_names: Vec<Vec<String>>,
    names: Vec<String>,
    title: Vec<String>,
    text: Vec<String>,
}

static ALL: LazyLock<Vec<EntryWords>> = LazyLock::new(|| {
    let pages = pages().iter().map(|page| EntryWords {
        entry: LexiconEntry::Page(page),
        whole_names: page.words().map(|name| words(name).collect()).collect(),
        names: page.words().flat_map(words).collect(),
        title: words(page.title).collect(),
        text: (page.check.iter().chain([&page.means, &page.cause]))
            .flat_map(|text| words(text))
            .collect(),
    });
    let rules = RULES.iter().map(|rule| EntryWords {
        entry: LexiconEntry::Rule(rule),
        whole_names: vec![words(rule.code).collect()],
        names: words(rule.code).collect(),
        title: words(rule.title).collect(),
        text: [rule.why, rule.fix].into_iter().flat_map(words).collect(),
    });
    let history = EntryWords {
        entry: LexiconEntry::History,
        whole_names: vec![words(HISTORY).collect()],
        names: words(HISTORY).collect(),
        title: words("what each partitioner did by default").collect(),
        text: Vec::new(),
    };
    pages.chain(rules).chain([history]).collect()
});

/// The entries that are near to the words of `text`, best first, at most [`RANKED_MAX`]; none where
/// no entry is.
pub(super) fn ranked(text: &str) -> Vec<LexiconEntry> {
    let asked = asked_words(text);
    let weights: Vec<f64> = asked.iter().map(|word| weight(word)).collect();
    let score = |one: &EntryWords| -> f64 {
        (asked.iter().zip(&weights)).map(|(word, weight)| weight * one.fit(word)).sum()
    };
    let mut scored: Vec<(f64, LexiconEntry)> =
        ALL.iter().map(|one| (score(one), one.entry)).filter(|(score, _)| *score > 0.0).collect();
    let asked_for: f64 = weights.iter().sum();
    if !scored.iter().any(|(score, _)| *score >= NEAR * asked_for) {
        return Vec::new();
    }
    // Of equals, the first: the order of the list.
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored.into_iter().take(RANKED_MAX).map(|(_, entry)| entry).collect()
}

/// Returns whether `entry` answers `text`: the text holds one of its names whole, or is one word
/// that is a slip of it, and all else that is asked stands in the entry too.
pub(super) fn is_answer(entry: LexiconEntry, text: &str) -> bool {
    let asked = asked_words(text);
    let is_it = |one: &&EntryWords| one.entry == entry;
    ALL.iter().find(is_it).is_some_and(|one| one.answers(&asked))
}

/// The words of a question that say what it is about.
fn asked_words(text: &str) -> Vec<String> {
    let is_telling = |word: &String| !COMMON.contains(&word.as_str()) && word.len() > 1;
    words(text).filter(is_telling).take(WORDS_MAX).collect()
}

impl EntryWords {
    /// Returns which of the words that are asked belong to one of its names that is there whole.
    fn named_words(&self, asked: &[String]) -> Vec<bool> {
        let mut named = vec![false; asked.len()];
        for name in self.whole_names.iter().filter(|name| !name.is_empty()) {
            for (at, part) in asked.windows(name.len()).enumerate() {
                if name.iter().zip(part).all(|(own, word)| is_same(own, word)) {
                    named[at..at + name.len()].fill(true);
                }
            }
        }
        named
    }

    /// Returns whether all that is asked is one word that is a slip of a name. Codes that differ in
    /// a digit are other codes.
    fn is_slip(&self, asked: &[String]) -> bool {
        self.whole_names.iter().any(|name| match (&name[..], asked) {
            ([own], [word]) => {
                !word.bytes().any(|byte| byte.is_ascii_digit()) && is_nearly(own, word)
            }
            _ => false,
        })
    }

    fn answers(&self, asked: &[String]) -> bool {
        let named = self.named_words(asked);
        let speaks_of = |(word, is_named): (&String, &bool)| {
            *is_named || (self.fit(word) > 0.0 && !OPPOSING.contains(&word.as_str()))
        };
        (named.contains(&true) || self.is_slip(asked)) && asked.iter().zip(&named).all(speaks_of)
    }

    fn fit(&self, word: &str) -> f64 {
        let is_in = |words: &[String]| words.iter().any(|own| is_same(own, word));
        match () {
            () if is_in(&self.names) => NAMED,
            () if self.names.iter().any(|own| is_nearly(own, word)) => NEARLY,
            () if is_in(&self.title) => TITLED,
            () if is_in(&self.text) => TEXT,
            () => 0.0,
        }
    }
}

/// ln(N / n): how much a word tells that n of N entries hold.
fn weight(word: &str) -> f64 {
    let holding = ALL.iter().filter(|one| one.fit(word) > 0.0).count();
    let as_float = |count: usize| u32::try_from(count).map_or(f64::MAX, f64::from);
    (as_float(ALL.len()) / as_float(holding.max(1))).ln()
}

/// Letters and digits in a row, in lower case. A value of 0 is `off`, and `n't` is `not`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut letters = normal(text).replace("n't", " not").replace("= 0", "=0");
    for end in [" ", ",", ";", ")", "\""] {
        letters = letters.replace(&format!("=0{end}"), &format!(" off{end}"));
    }
    if let Some(setting) = letters.strip_suffix("=0") {
        letters = format!("{setting} off");
    }
    let all: Vec<String> = (letters.split(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    all.into_iter()
}

/// Returns whether two words are one, in the singular or plural.
fn is_same(own: &str, word: &str) -> bool {
    let is_plural = |one: &str, many: &str| {
        one.len() > 2 && many.strip_prefix(one).is_some_and(|end| matches!(end, "s" | "es"))
    };
    own == word || is_plural(own, word) || is_plural(word, own)
}

/// Returns whether `word` is a name with a slip in it, not in its first letter: `no`, `un` and `a`
/// begin the opposite.
fn is_nearly(own: &str, word: &str) -> bool {
    let (shorter, longer) = (own.len().min(word.len()), own.len().max(word.len()));
    let is_near = shorter > 3 && longer <= WORD_MAX && longer - shorter <= 2;
    is_near
        && own.chars().next() == word.chars().next()
        && distance(own, word) <= longer.div_euclid(4)
}
