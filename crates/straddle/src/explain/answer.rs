//! The answer to words: a list, the page that is called so, or the one that fits best.

use anyhow::bail;
use workload::Engines;

use super::{list, page};
use crate::lexicon;

/// The words for the form of an engine profile.
const ENGINE_PROFILE: &str = "engine profile";

/// The list of a group, else the page of what is called so, else the pages of all words where each
/// is called so, else the page of a log line, else the page that fits best.
pub(super) fn answer(words: &str) -> anyhow::Result<String> {
    if let Some(page) = list::group(words).or_else(|| named(words)) {
        return Ok(page);
    }
    let each: Option<Vec<String>> = words.split_whitespace().map(named).collect();
    let line = || lexicon::find(words).map(page::page);
    match each.map(|pages| pages.join("\n")).or_else(line) {
        Some(pages) => Ok(pages),
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

/// The page that fits `words` best, with the names of the next ones.
fn closest(words: &str) -> anyhow::Result<String> {
    let found = lexicon::search(words);
    let engines = Engines::built_in();
    let mut asked = words.split(|letter: char| !letter.is_alphanumeric());
    let engine = asked.find_map(|word| engines.find(word).ok());
    let first = match (&found[..], engine) {
        ([], None) => bail!(
            "cannot explain `{}`: no page is near these words\n\
             hint: to list all pages: straddle explain",
            shortened(words)
        ),
        (_, Some(engine)) => page::of_engine(engine),
        ([first, ..], None) => page::page(*first),
    };
    let rest = found.iter().skip(usize::from(engine.is_none()));
    let names: Vec<&str> = rest.map(|entry| entry.name()).collect();
    let also =
        if names.is_empty() { String::new() } else { format!("; also: {}", names.join(", ")) };
    let words = shortened(words);
    Ok(format!("{}\n{first}", page::wrapped(&format!("closest match for `{words}`{also}"))))
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
