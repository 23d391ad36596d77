//! The answer to words: a list, the page that is called so, or the one that fits best.

use workload::Engines;

use super::{list, page};
use crate::lexicon;

/// The words for the form of an engine profile.
const ENGINE_PROFILE: &str = "engine profile";

/// The most titles to choose from where no page answers.
const TITLES_MAX: usize = 3;

/// An answer to words.
pub(super) enum Answer {
    /// Pages, or a list of them.
    Pages(String),
    /// No page, and the titles of near ones.
    NoPage(String),
}

/// The list of a group, else the page of what is called so, else the pages of all words where each
/// is called so, else the page of a log line, else the page that answers a question, else titles.
pub(super) fn answer(words: &str) -> Answer {
    if let Some(page) = list::group(words).or_else(|| named(words)) {
        return Answer::Pages(page);
    }
    let each: Option<Vec<String>> = words.split_whitespace().map(named).collect();
    let line = || lexicon::find(words).map(page::page);
    match each.map(|pages| pages.join("\n")).or_else(line) {
        Some(pages) => Answer::Pages(pages),
        None => closest(words),
    }
}

/// The page of an engine, a code or a word, or a profile to copy.
fn named(words: &str) -> Option<String> {
    if words.eq_ignore_ascii_case(ENGINE_PROFILE) {
        return Some(page::engine_profile());
    }
    let engine = Engines::built_in().find(words).ok().map(page::of_engine);
    engine.or_else(|| lexicon::named(words).map(page::page))
}

/// The page that answers `words`, else the titles of pages near to them.
fn closest(words: &str) -> Answer {
    let near = lexicon::search(words);
    let engines = Engines::built_in();
    let mut each = words.split(|letter: char| !letter.is_alphanumeric());
    let engine = each.find_map(|word| engines.find(word).ok());
    let asked = shortened(words);
    if let (Some(entry), None) = (near.answer, engine) {
        let names: Vec<&str> = near.titles.iter().map(|entry| entry.name()).collect();
        let also =
            if names.is_empty() { String::new() } else { format!("; also: {}", names.join(", ")) };
        let head = page::wrapped(&format!("closest match for `{asked}`{also}"));
        return Answer::Pages(format!("{head}\n{}", page::page(entry)));
    }
    let engine = engine.map(page::title_of_engine);
    let entries = near.answer.iter().chain(&near.titles).map(|entry| page::title(*entry));
    let titles: Vec<String> = engine.into_iter().chain(entries).take(TITLES_MAX).collect();
    let mut out = page::wrapped(&format!("no page explains `{asked}`"));
    if !titles.is_empty() {
        out += "\nPages on similar words:\n";
        titles.iter().for_each(|title| page::wrap(&mut out, title, "  ", "      "));
        out.push('\n');
    }
    out += "To read a page: straddle explain NAME; to list all: straddle explain\n";
    Answer::NoPage(out)
}

/// Returns what was typed, harmless to print and short enough for a message.
fn shortened(words: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut shown: String = words.chars().take(SHOWN_MAX).collect();
    if shown.len() < words.len() {
        shown.push_str("...");
    }
    units::text::escape(shown.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::pages;

    /// Lines that people type, and the name of the page that answers each; `-` for none. Many
    /// differ from a page's name by a word, a prefix or a value that turns it into its opposite.
    const OPPOSITES: &str = include_str!("../lexicon/opposites.txt");

    /// The name of the page that answers `words`.
    fn name_of(words: &str) -> Option<&'static str> {
        let Answer::Pages(text) = answer(words) else { return None };
        let text = match text.starts_with("closest match") {
            true => text.split_once("\n\n").map_or("", |(_, page)| page),
            false => &text,
        };
        let is_it = |name: &&str| text.starts_with(&format!("{name}: "));
        pages().iter().map(|page| page.name).filter(is_it).max_by_key(|name| name.len())
    }

    #[test]
    fn no_words_are_answered_by_the_page_of_their_opposite() {
        let rows = OPPOSITES.lines().filter_map(|line| line.rsplit_once(" | "));
        let wrong: Vec<(&str, &str, &str)> = rows
            .clone()
            .map(|(words, name)| (words, name, name_of(words).unwrap_or("-")))
            .filter(|(_, name, found)| name != found)
            .collect();
        assert_eq!(wrong, []);
        assert!(rows.count() > 100);
    }
}
