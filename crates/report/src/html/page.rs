//! The page around all parts: head, contents, what could not be read, and the bound of it all.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::phrase::{Tone, chip, head, say, wide};
use super::source::{Content, Source, Unread};
use super::{bench, check, compare, fsync, peers, probe, published, simulation, trace};
use crate::text::one_line;
use crate::words::count;

/// The length that the parts of a page have together at most, in bytes. What does not fit is named.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// The most files that are named in lists.
const NAMED_MAX: usize = 2000;
/// What a page of ours begins with, by which it is known again.
pub const PAGE_MARK: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
     <meta name=\"generator\" content=\"straddle ";
const STYLE: &str = include_str!("style.css");
/// Nothing is fetched, and no script runs, even if one got in.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// What a page is made of.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The results, in the order in which they are shown.
    pub sources: Vec<Source>,
    /// The files that are none.
    pub unread: Vec<Unread>,
}

/// The page: one HTML document with its style, without a script, that fetches nothing. The same
/// report gives the same bytes.
#[must_use]
pub fn page(report: &Report) -> String {
    let mut room = PAGE_BYTES_MAX;
    let mut parts = Vec::new();
    for (number, source) in report.sources.iter().enumerate() {
        let part = part(number + 1, source).into_string();
        match room.checked_sub(part.len()) {
            Some(left) => {
                room = left;
                parts.push(Some(part));
            }
            None => parts.push(None),
        }
    }
    let peers = peers::section(&report.sources);
    let page = whole(report, &parts, peers.as_ref()).into_string();
    harmless(page)
}

/// `page` without what could reorder a line or end a text: only line feeds remain of all controls.
fn harmless(page: String) -> String {
    let plain = |letter: char| letter == '\n' || matches!(letter, ' '..='~');
    if page.chars().all(plain) {
        return page;
    }
    page.split('\n').map(one_line).collect::<Vec<String>>().join("\n")
}

fn whole(report: &Report, parts: &[Option<String>], peers: Option<&Markup>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(concat!("straddle ", env!("CARGO_PKG_VERSION")));
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title(report)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                header {
                    h1 { (title(report)) }
                    p { "What straddle found, from " (files(report.sources.len())) "." }
                }
                main id="main" {
                    (overview(report, parts))
                    (unread(&report.unread))
                    @if let Some(peers) = peers { (peers) }
                    @for part in parts.iter().flatten() { (PreEscaped(part)) }
                }
                footer {
                    p { "Made by straddle " (env!("CARGO_PKG_VERSION"))
                        " from the files named above; nothing was fetched, nothing was measured." }
                }
            }
        }
    }
}

fn files(number: usize) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX), "result file")
}

fn title(report: &Report) -> String {
    match report.sources.as_slice() {
        [one] => format!("straddle: {}", heading(one)),
        many => format!("straddle: {}", files(many.len())),
    }
}

/// What a file is a result of.
fn heading(source: &Source) -> String {
    match &source.content {
        Content::Check(document) => match document.targets.as_slice() {
            [one] => format!("check of {}", say(&one.target)),
            many => format!("check of {} targets", many.len()),
        },
        Content::Bench(bench) => {
            format!("bench of {}{}", say(&bench.target.path), on(bench.host.as_deref()))
        }
        Content::Fsync(fsync) => {
            format!("fsync in {}{}", say(&fsync.target.path), on(Some(&fsync.host)))
        }
        Content::Probe(probe) => format!("probe of {}", say(&probe.target.path)),
        Content::Compare(_) => "two bench results compared".to_owned(),
        Content::Trace(trace) => format!("trace of {}", say(&trace.file)),
        Content::Simulation(simulation) => simulation::title(simulation),
        Content::Published(_) => "published numbers beside the models'".to_owned(),
    }
}

fn on(host: Option<&str>) -> String {
    let host = host.filter(|host| !host.is_empty());
    host.map(|host| format!(" on {}", say(host))).unwrap_or_default()
}

/// The result in a few words, and how good it is.
fn summary(source: &Source) -> (Tone, String) {
    match &source.content {
        Content::Check(document) => check::summary(document),
        Content::Bench(bench) => bench::summary(bench),
        Content::Fsync(fsync) => fsync::summary(fsync),
        Content::Probe(probe) => probe::summary(probe),
        Content::Compare(comparing) => compare::summary(comparing),
        Content::Trace(trace) => trace::summary(trace),
        Content::Simulation(simulation) => simulation::summary(simulation),
        Content::Published(published) => published::summary(published),
    }
}

fn id(number: usize) -> String {
    format!("file-{number}")
}

/// All files, each with what it came to, and the way to it.
fn overview(report: &Report, parts: &[Option<String>]) -> Markup {
    let left_out = report.sources.len().saturating_sub(NAMED_MAX);
    let named = report.sources.iter().zip(parts).take(NAMED_MAX);
    html! {
        section {
            h2 { "Results" }
            (wide("Every file and what it came to", &["Result", "Answer", "File"], &html! {
                @for (number, (source, part)) in named.enumerate() {
                    (file(number + 1, source, part.is_some()))
                }
            }))
            @if left_out > 0 { p.quiet { "And " (left_out) " more files." } }
            @if parts.iter().any(Option::is_none) {
                p { "The page would be longer than " (PAGE_BYTES_MAX >> 20)
                    " MiB: results without a link are not shown further. Give fewer files." }
            }
        }
    }
}

fn file(number: usize, source: &Source, shown: bool) -> Markup {
    let (tone, words) = summary(source);
    let heading = heading(source);
    html! {
        tr {
            th scope="row" {
                @if shown { a href=(format!("#{}", id(number))) { (heading) } } @else { (heading) }
            }
            td { (chip(tone, &words)) }
            td { (say(&source.name)) }
        }
    }
}

fn unread(unread: &[Unread]) -> Markup {
    html! {
        @if !unread.is_empty() {
            section {
                h2 { "Files that are not shown" }
                (wide("Why, and what to do", &["File", "Why", "What to do"], &html! {
                    @for one in unread.iter().take(NAMED_MAX) {
                        tr {
                            (head(&one.name))
                            td { (say(&one.reason)) }
                            td { (say(&one.hint)) }
                        }
                    }
                }))
            }
        }
    }
}

/// One file in full.
fn part(number: usize, source: &Source) -> Markup {
    let id = id(number);
    html! {
        section.file id=(id) {
            h2 { (heading(source)) }
            p.quiet { "From " (say(&source.name)) }
            @match &source.content {
                Content::Check(document) => (check::section(document)),
                Content::Bench(bench) => (bench::section(&id, bench)),
                Content::Fsync(fsync) => (fsync::section(&id, fsync)),
                Content::Probe(probe) => (probe::section(probe)),
                Content::Compare(comparing) => (compare::section(comparing)),
                Content::Trace(trace) => (trace::section(trace)),
                Content::Simulation(simulation) => (simulation::section(&id, simulation)),
                Content::Published(published) => (published::section(&id, published)),
            }
        }
    }
}
