//! Whatever `straddle explain` has a page of.

use stack::rule::Rule;

use super::page::Page;

/// Something that can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A rule, by its code.
    Rule(&'static Rule),
    /// A word or a log line.
    Page(&'static Page),
    /// The defaults of partitioners: [`stack::history`].
    History,
}

impl Entry {
    /// Returns the word to type to get it.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Entry::Rule(rule) => rule.code,
            Entry::Page(page) => page.name,
            Entry::History => HISTORY,
        }
    }
}

/// The word for the table of defaults.
pub(super) const HISTORY: &str = "history";
