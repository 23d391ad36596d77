//! For tests only: `docs/explain.md` is made from the pages, and what they tell people to type
//! exists.

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use stack::history::defaults;

use crate::arguments::Arguments;
use crate::lexicon::{GROUPS, LexiconPage, pages};

/// The command to type after a change.
const UPDATE: &str = "STRADDLE_UPDATE_DOCS=1 cargo test -p straddle explain::docs";

/// The page of all words and log lines, so that a search for one of them finds it.
fn words() -> String {
    let mut text = "# Words and log lines\n\n\
        Made from the pages of `straddle explain`: give it a word, or paste a whole log line.\n\
        The codes of findings are in [rules.md](rules.md).\n"
        .to_owned();
    for group in GROUPS {
        text += &format!("\n## {}\n", plain(group.title));
        for page in pages().iter().filter(|page| page.group == group) {
            text += &entry(page);
        }
    }
    text += "\n## History: what each partitioner did by default\n\n";
    for made in defaults() {
        let head = format!("{}, {} ({})", made.tool, made.versions, made.years);
        text += &format!("- **{}**: {} {}\n", plain(&head), plain(made.rule), source(made.source));
    }
    text
}

fn entry(page: &LexiconPage) -> String {
    let mut text = format!("\n### {}\n\n**{}**\n", plain(page.name), plain(page.title));
    let mut paragraph = |label: &str, body: String| {
        if !body.is_empty() {
            text += &format!("\n{label}{body}\n");
        }
    };
    let code = |line: &str| format!("`{line}`");
    let lines: Vec<String> = page.lines.iter().map(|line| code(line.text)).collect();
    paragraph("Also called: ", plain(&page.also.join(", ")));
    paragraph("Lines: ", lines.join(", "));
    paragraph("", plain(page.means));
    paragraph("Causes: ", plain(page.cause));
    let list =
        |items: Vec<String>| -> String { items.iter().map(|item| format!("\n- {item}")).collect() };
    paragraph("Check next:\n", list(page.check.iter().map(|step| plain(step)).collect()));
    paragraph("See also: ", plain(&page.see.join(", ")));
    paragraph("From: ", page.from.iter().map(|from| source(from)).collect::<Vec<_>>().join(", "));
    text
}

/// An address as a link, and what stands after it.
fn source(text: &str) -> String {
    let (address, more) = text.split_once(' ').unwrap_or((text, ""));
    format!("<{address}> {}", plain(more)).trim_end().to_owned()
}

/// Text with single blanks, in which Markdown sees no markup.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut escaped = String::new();
    for character in words.join(" ").chars() {
        if matches!(character, '*' | '_' | '<' | '>' | '#' | '|' | '`' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The long options in `text`: `--fail-on`.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_alphabetic() || character == '-';
    text.split(|character| !is_part(character))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_page_of_words_is_what_explain_knows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explain.md");
    let fresh = words();
    if std::env::var_os("STRADDLE_UPDATE_DOCS").is_some() {
        std::fs::write(path, &fresh).expect("docs/explain.md can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == fresh, "docs/explain.md is not up to date: run {UPDATE}");
}

#[test]
fn every_command_and_option_that_a_page_names_exists() {
    for page in pages() {
        for step in page.check.iter().chain([&page.means, &page.cause]) {
            for (_, rest) in
                step.match_indices("straddle ").map(|(at, typed)| step.split_at(at + typed.len()))
            {
                let word: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
                if word == "does" {
                    continue;
                }
                let mut straddle = Arguments::command();
                let command = straddle.find_subcommand_mut(&word);
                let command = command.unwrap_or_else(|| panic!("{}: straddle {word}", page.name));
                let known = options(&command.render_long_help().to_string());
                // Up to the end of the step or of the command: what follows is another tool's.
                let own = rest.split(['|', ';']).next().unwrap_or_default();
                assert!(options(own).is_subset(&known), "{}: {own}", page.name);
            }
        }
    }
}
