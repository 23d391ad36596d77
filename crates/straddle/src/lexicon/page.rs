//! A page, and the plain text that it is read from.
//!
//! ```text
//! = name
//! also: another name | a third
//! line: a fragment of a log line ... a later fragment of it
//! title: one line
//! means: what it means; further lines
//!   are indented
//! cause: what brings it about
//! check: what to look at next (repeated)
//! from: the program's own documentation or code (repeated)
//! see: other pages | by name
//! ```

use std::sync::LazyLock;

use super::group::{GROUPS, PageGroup};
use super::pattern::LogPattern;

/// The meaning of a word or a log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LexiconPage {
    /// The group that it belongs to.
    pub(crate) group: &'static PageGroup,
    /// The word, or the part of the log line by which it is known.
    pub(crate) name: &'static str,
    /// Other words for it.
    pub(crate) also: Vec<&'static str>,
    /// The log lines that it explains.
    pub(crate) lines: Vec<LogPattern>,
    /// It in one line.
    pub(crate) title: &'static str,
    /// The meaning. May hold line breaks, which are blanks.
    pub(crate) means: &'static str,
    /// The cause; empty where there is none. May hold line breaks.
    pub(crate) cause: &'static str,
    /// Things to look at next, a step each. May hold line breaks.
    pub(crate) check: Vec<&'static str>,
    /// Place where it is from: addresses of the program's own documentation or code, and versions.
    pub(crate) from: Vec<&'static str>,
    /// The names of pages that belong to it, or codes of rules.
    pub(crate) see: Vec<&'static str>,
}

impl LexiconPage {
    fn new(group: &'static PageGroup, name: &'static str) -> LexiconPage {
        LexiconPage {
            group,
            name,
            also: Vec::new(),
            lines: Vec::new(),
            title: "",
            means: "",
            cause: "",
            check: Vec::new(),
            from: Vec::new(),
            see: Vec::new(),
        }
    }

    /// All words by which it is found.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> + '_ {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// Takes one field; whether there is a field of that name.
    fn put(&mut self, key: &str, value: &'static str) -> bool {
        match key {
            "also" => self.also.extend(names(value)),
            "line" => self.lines.push(LogPattern::new(value)),
            "title" => self.title = value,
            "means" => self.means = value,
            "cause" => self.cause = value,
            "check" => self.check.push(value),
            "from" => self.from.push(value),
            "see" => self.see.extend(names(value)),
            _ => return false,
        }
        true
    }
}

fn names(value: &'static str) -> impl Iterator<Item = &'static str> {
    value.split('|').map(str::trim)
}

static PAGES: LazyLock<Vec<LexiconPage>> = LazyLock::new(|| GROUPS.iter().flat_map(read).collect());

/// Every page, group by group.
#[must_use]
pub(crate) fn pages() -> &'static [LexiconPage] {
    &PAGES
}

/// The pages of a group. A line that is no field is left out; a test holds that there is none.
pub(super) fn read(group: &'static PageGroup) -> Vec<LexiconPage> {
    let mut pages: Vec<LexiconPage> = Vec::new();
    for field in fields(group.text) {
        match (field.split_once(' '), field.split_once(':')) {
            (Some(("=", name)), _) => pages.push(LexiconPage::new(group, name.trim())),
            (_, Some((key, value))) => {
                let known = pages.last_mut().is_some_and(|page| page.put(key, value.trim()));
                debug_assert!(known, "{}: no field: {field}", group.word);
            }
            _ => debug_assert!(false, "{}: no field: {field}", group.word),
        }
    }
    pages
}

/// The text cut before each line that is neither indented nor empty.
fn fields(text: &'static str) -> impl Iterator<Item = &'static str> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let starts =
        starts.filter(move |&at| text[at..].starts_with(|first: char| !first.is_whitespace()));
    let mut starts = starts.peekable();
    std::iter::from_fn(move || {
        let start = starts.next()?;
        let end = starts.peek().copied().unwrap_or(text.len());
        Some(text[start..end].trim_end())
    })
}
