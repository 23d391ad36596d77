//! The page around all parts: head, contents, what could not be read, and the bound of it all.

use std::cmp::Reverse;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::copies::FileCopy;
use super::elements::say;
use super::headline::Headline;
use super::peers::{Outlier, Peers, SharedCause, View};
use super::short_answer::{self, PlacedAnswer, Rank, ShortAnswer};
use super::source::{FileContent, ResultFile, Unread};
use super::table::{Row, cell, head, named, row, table, told};
use super::torture::TortureRuns;
use super::{copies, result_parts};
use crate::drawing::DRAWING_STYLE;
use crate::quantity_words::count_of;

/// The length that all results in full have together at most, in bytes, so that a page of many is
/// quick to send and to open. The worst are shown in full, the others named; the worst of all is
/// shown whatever its length.
pub const PAGE_BYTES_MAX: usize = 352 << 10;
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
    torture_runs: TortureRuns,
}

/// Kept parts of one result.
#[derive(Clone, Debug)]
struct KeptResult {
    name: String,
    heading: String,
    headline: Headline,
    short_answer: ShortAnswer,
    /// The quantile that an engine's verdict is of.
    measured_ns: Option<u64>,
    /// Name of its part on the page.
    id: String,
    /// The result in full; `None` where the page has no more room.
    part: Option<String>,
}

impl Draft {
    /// Draws `source`, and takes in what it says of its host.
    pub fn add(&mut self, source: &ResultFile) {
        let id = id(self.entries.len() + 1);
        let part = result_parts::section(&id, source).into_string();
        self.used += part.len();
        self.peers.add(source);
        if let FileContent::Torture(torture) = &source.content {
            self.torture_runs.add(torture);
        }
        self.entries.push(KeptResult {
            name: source.name.clone(),
            heading: result_parts::heading(source),
            headline: result_parts::headline(source),
            short_answer: result_parts::short_answer(source),
            measured_ns: result_parts::measured_ns(source),
            id,
            part: Some(part),
        });
        self.leave_out();
    }

    /// Leaves out the parts that need attention least, until the others fit.
    fn leave_out(&mut self) {
        while self.used > PAGE_BYTES_MAX {
            let shown =
                || self.entries.iter().enumerate().filter(|(_, entry)| entry.part.is_some());
            let least = shown().rev().min_by_key(|(_, entry)| entry.short_answer.rank);
            let Some((at, _)) = least.filter(|_| shown().count() > 1) else { return };
            self.used -= self.entries[at].part.take().map_or(0, |part| part.len());
        }
    }

    /// All results, those that need attention first, and of one rank the slower ones.
    fn ranked(&self) -> Vec<&KeptResult> {
        let mut all: Vec<&KeptResult> = self.entries.iter().collect();
        all.sort_by_key(|entry| Reverse((entry.short_answer.rank, entry.measured_ns)));
        all
    }

    /// The result, where the page is about nothing else.
    fn only(&self) -> Option<&KeptResult> {
        let [one] = self.entries.as_slice() else { return None };
        (self.unread.is_empty() && self.copies.is_empty()).then_some(one)
    }

    /// Takes in a file that cannot be shown.
    pub fn unread(&mut self, unread: Unread) {
        self.unread.push(unread);
    }

    /// Takes in a file that is the same as one before.
    pub fn copy(&mut self, copy: FileCopy) {
        self.copies.push(copy);
    }

    fn ranks(&self) -> Vec<Rank> {
        self.entries.iter().map(|entry| entry.short_answer.rank).collect()
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

    /// Properties that slow hosts share, where that explains why they are slow: a kernel, a type
    /// of machine.
    #[must_use]
    pub fn causes(&self) -> Vec<SharedCause> {
        self.peers.causes()
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
    let verdict = short_answer::of_all(&draft.ranks(), &view, draft.unread.len());
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
                @match draft.only() {
                    Some(one) => {
                        header {
                            h1 { (one.headline.large(":")) }
                            (short_answer::why(&one.short_answer, &one.headline))
                        }
                        main id="main" {
                            section.file id=(one.id) {
                                h2 { (one.heading) }
                                (PreEscaped(one.part.as_deref().unwrap_or_default()))
                                p.quiet { "From " (say(&one.name)) }
                            }
                        }
                    },
                    None => {
                        header { h1 { (verdict) } }
                        main id="main" {
                            (short(draft, &view))
                            @if let Some(peers) = view.section() { (peers) }
                            (draft.torture_runs.section())
                            (overview(draft))
                            (unread(&draft.unread))
                            @for entry in draft.ranked() { (part(entry)) }
                        }
                    },
                }
                footer {
                    p { "Made by straddle " (env!("CARGO_PKG_VERSION"))
                        " from the files named above, without a network." }
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
    let of_hosts = hosts.iter().map(|(short_answer, word, of, at)| PlacedAnswer {
        short_answer,
        word,
        of: of.as_str(),
        at: Some(at.clone()),
    });
    let of_files = draft.ranked().into_iter().map(|entry| PlacedAnswer {
        short_answer: &entry.short_answer,
        word: &entry.headline.word,
        of: &entry.heading,
        at: entry.part.as_ref().map(|_| entry.id.clone()),
    });
    short_answer::head(of_hosts.chain(of_files).collect())
}

fn id(number: usize) -> String {
    format!("file-{number}")
}

/// All files, each with what it came to, and the way to it.
fn overview(draft: &Draft) -> Markup {
    let entries = draft.ranked();
    let left_out = entries.len().saturating_sub(NAMED_MAX);
    let shown = entries.iter().filter(|entry| entry.part.is_some()).count();
    html! {
        section {
            h2 { "Results" }
            (table("Every file, those that need attention first", &["Result", "Answer", "File"],
                entries.iter().take(NAMED_MAX).map(|entry| file(entry))))
            @if left_out > 0 { p.quiet { "And " (left_out) " more files." } }
            @if shown < entries.len() {
                p {
                    "The page shows " (count_of(shown, "result")) " in full, those that need "
                    "attention first. To see another in full: straddle report FILE."
                }
            }
            (copies::section(&draft.copies))
        }
    }
}

fn file(KeptResult { name, heading, headline, id, part, .. }: &KeptResult) -> Row {
    let link = html! {
        @if part.is_some() { a href=(format!("#{id}")) { (heading) } }
        @else { (heading) }
    };
    row([named(link), cell(headline.small()), told(name)])
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

/// One of several results in full.
fn part(entry: &KeptResult) -> Markup {
    html! {
        @if let Some(part) = &entry.part {
            section.file id=(entry.id) {
                h2 { (entry.heading) }
                p.headline { (entry.headline.large(":")) }
                (short_answer::why(&entry.short_answer, &entry.headline))
                (PreEscaped(part))
            }
        }
    }
}
