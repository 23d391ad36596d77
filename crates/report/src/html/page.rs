//! The page around all parts: head, contents, what could not be read, and the bound of it all.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::copies::FileCopy;
use super::elements::{Tone, chip, say};
use super::peers::{Outlier, Peers, View};
use super::short_answer::{self, PlacedAnswer, ShortAnswer};
use super::source::{ResultFile, Unread};
use super::table::{Row, cell, head, named, row, table, told};
use super::{copies, result_parts};
use crate::drawing::DRAWING_STYLE;
use crate::quantity_words::count_of;

/// The length that the parts of a page have together at most, in bytes. What does not fit is named.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// The most files that are named in lists.
const NAMED_MAX: usize = 2000;
/// Start of every page of ours, by which it is known again.
pub const PAGE_MARK: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
     <meta name=\"generator\" content=\"straddle ";
const STYLE: &str = include_str!("style.css");
/// Nothing is fetched, and no script runs, even if one got in.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Sources of a page.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The results, in the order in which they are shown.
    pub sources: Vec<ResultFile>,
    /// The files that are none.
    pub unread: Vec<Unread>,
}

/// The page of `report`, as [`Draft`] makes it.
#[must_use]
pub fn page(report: &Report) -> String {
    let mut draft = Draft::default();
    report.sources.iter().for_each(|source| draft.add(source));
    report.unread.iter().for_each(|unread| draft.unread(unread.clone()));
    draft.page()
}

/// A page in the making. Each result is drawn as it comes and not kept, so that a page of many
/// files takes the memory of the largest.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The bytes that all parts have so far.
    used: usize,
    entries: Vec<KeptResult>,
    unread: Vec<Unread>,
    peers: Peers,
    copies: Vec<FileCopy>,
}

/// Kept parts of one result.
#[derive(Clone, Debug)]
struct KeptResult {
    name: String,
    heading: String,
    answer: (Tone, String),
    short_answer: ShortAnswer,
    /// The result in full; `None` where the page has no more room.
    part: Option<String>,
}

impl Draft {
    /// Draws `source`, and takes in what it says of its host.
    pub fn add(&mut self, source: &ResultFile) {
        let number = self.entries.len() + 1;
        let part = part(number, source).into_string();
        let fits = self.used.saturating_add(part.len()) <= PAGE_BYTES_MAX;
        self.used += if fits { part.len() } else { 0 };
        self.peers.add(source);
        self.entries.push(KeptResult {
            name: source.name.clone(),
            heading: result_parts::heading(source),
            answer: result_parts::summary(source),
            short_answer: result_parts::short_answer(source),
            part: fits.then_some(part),
        });
    }

    /// Takes in a file that cannot be shown.
    pub fn unread(&mut self, unread: Unread) {
        self.unread.push(unread);
    }

    /// Takes in a file that is the same as one before.
    pub fn copy(&mut self, copy: FileCopy) {
        self.copies.push(copy);
    }

    /// Returns whether there is no result to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The files that cannot be shown.
    #[must_use]
    pub fn missing(&self) -> &[Unread] {
        &self.unread
    }

    /// The hosts that stand out among their peers; see [`super::outliers`].
    #[must_use]
    pub fn outliers(&self) -> Vec<Outlier> {
        self.peers.outliers()
    }

    /// The page: one HTML document with its style, without a script, that fetches nothing. The same
    /// results give the same bytes.
    #[must_use]
    pub fn page(&self) -> String {
        harmless(whole(self).into_string())
    }
}

/// `page` without what could reorder a line or end a text: only line feeds remain of all controls.
fn harmless(page: String) -> String {
    let plain = |letter: char| letter == '\n' || matches!(letter, ' '..='~');
    if page.chars().all(plain) {
        return page;
    }
    page.split('\n').map(units::text::escape_again).collect::<Vec<String>>().join("\n")
}

fn whole(draft: &Draft) -> Markup {
    let view = View::of(&draft.peers);
    let title = title(draft);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(concat!("straddle ", env!("CARGO_PKG_VERSION")));
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(DRAWING_STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                header { h1 { (title) } }
                main id="main" {
                    (short(draft, &view))
                    (overview(draft))
                    (unread(&draft.unread))
                    @if let Some(peers) = view.section() { (peers) }
                    @for part in draft.entries.iter().filter_map(|entry| entry.part.as_ref()) {
                        (PreEscaped(part))
                    }
                }
                footer {
                    p { "Made by straddle " (env!("CARGO_PKG_VERSION"))
                        " from the files named above; nothing was fetched, nothing was measured." }
                }
            }
        }
    }
}

fn title(draft: &Draft) -> String {
    match draft.entries.as_slice() {
        [one] => format!("straddle: {}", one.heading),
        many => format!("straddle: {}", count_of(many.len(), "result file")),
    }
}

/// Returns what is wrong, and what to do.
fn short(draft: &Draft, view: &View) -> Markup {
    let hosts = view.short_answers();
    let of_hosts = hosts.iter().map(|(short_answer, of, at)| PlacedAnswer {
        short_answer,
        of: of.as_str(),
        at: Some(at.clone()),
    });
    let of_files = draft.entries.iter().enumerate().map(|(number, entry)| PlacedAnswer {
        short_answer: &entry.short_answer,
        of: &entry.heading,
        at: entry.part.as_ref().map(|_| id(number + 1)),
    });
    short_answer::head(of_hosts.chain(of_files).collect(), draft.unread.len())
}

fn id(number: usize) -> String {
    format!("file-{number}")
}

/// All files, each with what it came to, and the way to it.
fn overview(draft: &Draft) -> Markup {
    let entries = &draft.entries;
    let left_out = entries.len().saturating_sub(NAMED_MAX);
    html! {
        section {
            h2 { "Results" }
            (table("Every file and what it came to", &["Result", "Answer", "File"],
                entries.iter().take(NAMED_MAX).zip(1..).map(|(entry, at)| file(at, entry))))
            @if left_out > 0 { p.quiet { "And " (left_out) " more files." } }
            @if entries.iter().any(|entry| entry.part.is_none()) {
                p { "The page would be longer than " (PAGE_BYTES_MAX >> 20)
                    " MiB: results without a link are not shown further. Give fewer files." }
            }
            (copies::section(&draft.copies))
        }
    }
}

fn file(number: usize, entry: &KeptResult) -> Row {
    let KeptResult { name, heading, answer: (tone, words), part, .. } = entry;
    let link = html! {
        @if part.is_some() { a href=(format!("#{}", id(number))) { (heading) } }
        @else { (heading) }
    };
    row([named(link), cell(chip(*tone, words)), told(name)])
}

fn unread(unread: &[Unread]) -> Markup {
    let of_file = |one: &Unread| row([head(&one.name), told(&one.reason), told(&one.hint)]);
    html! {
        @if !unread.is_empty() {
            section {
                h2 { "Files that are not shown" }
                (table("Why, and what to do", &["File", "Why", "What to do"],
                    unread.iter().take(NAMED_MAX).map(of_file)))
            }
        }
    }
}

/// One file in full.
fn part(number: usize, source: &ResultFile) -> Markup {
    let id = id(number);
    html! {
        section.file id=(id) {
            h2 { (result_parts::heading(source)) }
            p.quiet { "From " (say(&source.name)) }
            (result_parts::section(&id, source))
        }
    }
}
