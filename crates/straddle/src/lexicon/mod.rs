//! The meaning of words and log lines: the pages that `straddle explain` prints.
//!
//! The text stands in `pages/*.txt`, a file for each group; [`page`] reads it, [`mod@search`] finds
//! the page of a word, of a code or of a whole log line, and `rank` those that fit other words
//! best. Rules have their own table ([`stack::rule`]), and so have the defaults of partitioners
//! ([`stack::history`]).

mod entry;
mod group;
mod page;
mod pattern;
mod rank;
mod search;

pub(crate) use entry::LexiconEntry;
pub(crate) use group::{GROUPS, PageGroup};
pub(crate) use page::{LexiconPage, pages};
pub(crate) use search::{find, find_in_line, named, search};

#[cfg(test)]
mod tests;
