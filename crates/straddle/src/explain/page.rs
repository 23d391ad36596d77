//! A page as it is printed.

use stack::history::defaults;
use stack::rule::Rule;
use workload::{Duration, Profile, engine};

use crate::arguments::FSYNC_SECONDS;
use crate::lexicon::{LexiconEntry, LexiconPage};

/// Lines are broken here.
const WIDTH: usize = 80;

pub(super) fn page(entry: LexiconEntry) -> String {
    match entry {
        LexiconEntry::Rule(rule) => of_rule(rule),
        LexiconEntry::Page(page) => of_page(page),
        LexiconEntry::History => history(),
    }
}

/// The name and title of a page, in one line.
pub(super) fn title(entry: LexiconEntry) -> String {
    match entry {
        LexiconEntry::Rule(rule) => format!("{}  {}", rule.code, rule.title),
        LexiconEntry::Page(page) => format!("{}: {}", page.name, page.title),
        LexiconEntry::History => "history: what each partitioner did by default".to_owned(),
    }
}

/// The name and title of the page of an engine, in one line.
pub(super) fn title_of_engine(profile: &Profile) -> String {
    let is_named = profile.title.to_lowercase().starts_with(&profile.name);
    let name = if is_named { String::new() } else { format!("{}: ", profile.name) };
    format!("{name}{}", profile.title)
}

fn of_rule(rule: &'static Rule) -> String {
    let mut out = format!("{}\n", title(LexiconEntry::Rule(rule)));
    section(&mut out, "Why it matters", &[rule.why]);
    section(&mut out, "How to fix it", &[rule.fix]);
    out
}

fn of_page(page: &LexiconPage) -> String {
    let mut out = String::new();
    wrap(&mut out, &format!("{}: {}", page.name, page.title), "", "  ");
    let also = page.also.join(", ");
    let lines: Vec<&str> = page.lines.iter().map(|line| line.text).collect();
    let see = page.see.join(", ");
    section(&mut out, "Also called", &[&also]);
    section(&mut out, "Lines", &lines);
    section(&mut out, "What it means", &[page.means]);
    section(&mut out, "What causes it", &[page.cause]);
    section(&mut out, "What to check next", &page.check);
    section(&mut out, "See also", &[&see]);
    section(&mut out, "Where it is from", &page.from);
    out
}

/// Returns what an engine writes, its limits with their sources, and what to do.
pub(crate) fn of_engine(profile: &Profile) -> String {
    let mut out = String::new();
    wrap(&mut out, &title_of_engine(profile), "", "  ");
    let (pattern, wanted) = (profile.pattern.sentence(), profile.pattern.wanted());
    let wanted = format!("{wanted}; the whole run takes at most {FSYNC_SECONDS} s (--seconds)");
    section(&mut out, "What is measured", &[&pattern, &wanted]);
    out += "\nLimits\n";
    for (grade, limit) in [("WARN", &profile.warn), ("FAIL", &profile.fail)] {
        let over = format!("above a {} of {}", profile.quantile.name(), Duration(limit.above_ns));
        wrap(&mut out, &format!("{grade} {over}: {}", limit.sentence), "  - ", "    ");
        wrap(&mut out, &limit.from(), "    source: ", "    ");
    }
    section(&mut out, "What to do next", &[&profile.next]);
    let notes: Vec<&str> = profile.notes.iter().map(String::as_str).collect();
    section(&mut out, "Notes", &notes);
    let typed = format!("straddle fsync DIRECTORY --for {}", profile.name);
    section(&mut out, "See also", &[&typed]);
    out
}

/// A profile to copy and edit: the form of one as comments, then that of a built-in engine.
pub(super) fn engine_profile() -> String {
    let mut out = String::new();
    let rows = engine::page::FORM.lines().filter_map(|line| line.strip_prefix("| `"));
    for row in rows {
        let row = row.trim_end_matches([' ', '|']).replacen(" | ", ": ", 1).replace('`', "");
        wrap(&mut out, &row, "# ", "#   ");
    }
    out.push('\n');
    out + engine::page::example()
}

fn history() -> String {
    let mut out = format!("{}\n", title(LexiconEntry::History));
    for default in defaults() {
        out.push('\n');
        let head = format!("{}, {} ({})", default.tool, default.versions, default.years);
        wrap(&mut out, &head, "", "  ");
        wrap(&mut out, default.rule, "  ", "  ");
        wrap(&mut out, default.source, "  from ", "       ");
    }
    out
}

/// `text` in lines of at most [`WIDTH`] characters.
pub(super) fn wrapped(text: &str) -> String {
    let mut out = String::new();
    wrap(&mut out, text, "", "  ");
    out
}

/// A heading and its paragraphs; nothing where all of them are empty.
fn section(out: &mut String, heading: &str, paragraphs: &[&str]) {
    if paragraphs.iter().all(|paragraph| paragraph.is_empty()) {
        return;
    }
    out.push('\n');
    out.push_str(heading);
    out.push('\n');
    for paragraph in paragraphs {
        let first = if paragraphs.len() > 1 { "- " } else { "" };
        let rest = " ".repeat(2 + first.len());
        wrap(out, paragraph, &format!("  {first}"), &rest);
    }
}

/// Breaks `text` into lines of [`WIDTH`]; only a word that is longer than that goes beyond.
pub(super) fn wrap(out: &mut String, text: &str, first: &str, rest: &str) {
    let lines = report::wrap_words(text, WIDTH - rest.len().max(first.len()));
    *out += &format!("{first}{}\n", lines.join(&format!("\n{rest}")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::pages;
    use stack::rule::RULES;

    #[test]
    fn every_page_fits_a_terminal() {
        let rules = RULES.iter().map(LexiconEntry::Rule);
        let entries =
            rules.chain(pages().iter().map(LexiconEntry::Page)).chain([LexiconEntry::History]);
        for entry in entries {
            for line in page(entry).lines() {
                let is_address = line.contains("https://");
                assert!(line.chars().count() <= WIDTH || is_address, "{}: {line}", entry.name());
            }
        }
    }

    #[test]
    fn an_engines_page_names_its_limits_with_their_sources() {
        let engines = workload::Engines::built_in();
        let page = of_engine(engines.find("etcd").unwrap());
        assert!(page.contains("WARN above a p99 of 10 ms"), "{page}");
        assert!(
            page.contains("source: https://etcd.io/docs/v3.5/faq/")
                && page.contains("source: set by the engine profile:")
        );
        for line in engines.iter().map(of_engine).collect::<String>().lines() {
            let is_address = line.contains("https://");
            assert!(line.chars().count() <= WIDTH || is_address, "{line}");
        }
    }

    #[test]
    fn the_engine_profile_to_copy_is_a_profile_and_names_every_key() {
        let text = engine_profile();
        assert_eq!(Profile::parse("own.toml", &text).unwrap().name, "etcd");
        for key in ["# name: ", "# samples, time: ", "# sentence: "] {
            assert!(text.contains(key), "{text}");
        }
    }

    #[test]
    fn lines_are_broken_between_words_only() {
        let mut out = String::new();
        let long = "x".repeat(WIDTH + 5);
        wrap(&mut out, &format!("one {long} two"), "- ", "  ");
        assert_eq!(out, format!("- one\n  {long}\n  two\n"));
    }
}
