//! Whatever `straddle explain` has a page of.

use stack::rule::Rule;

use super::page::LexiconPage;

/// Something that can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexiconEntry {
    /// A rule, by its code.
    Rule(&'static Rule),
    /// A word or a log line.
    Page(&'static LexiconPage),
    /// The defaults of partitioners: [`stack::history`].
    History,
}

impl LexiconEntry {
    /// Returns the word to type to get it.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            LexiconEntry::Rule(rule) => rule.code,
            LexiconEntry::Page(page) => page.name,
            LexiconEntry::History => HISTORY,
        }
    }
}

/// The word for the table of defaults.
pub(super) const HISTORY: &str = "history";
