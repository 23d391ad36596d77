//! Parts of the page for each kind of document: its name, what it came to, all of it.

use maud::Markup;

use super::gist::Gist;
use super::phrase::{Tone, say};
use super::source::{Content, Source};
use super::{bench, check, compare, fsync, probe, published, simulation, trace};
use crate::run::Run;

/// Returns what a file is a result of.
pub(super) fn heading(source: &Source) -> String {
    match &source.content {
        Content::Check(document) => match document.targets.as_slice() {
            [one] => format!("check of {}{}", say(&one.target), on(document.run.as_ref())),
            many => format!("check of {} targets{}", many.len(), on(document.run.as_ref())),
        },
        Content::Bench(bench) => {
            format!("bench of {}{}", say(&bench.target.path), on(Some(&bench.run)))
        }
        Content::Fsync(fsync) => {
            format!("fsync in {}{}", say(&fsync.target.path), on(Some(&fsync.run)))
        }
        Content::Probe(probe) => {
            format!("probe of {}{}", say(&probe.target.path), on(Some(&probe.run)))
        }
        Content::Compare(comparing) => {
            format!("two results of {} compared", say(&comparing.command))
        }
        Content::Trace(trace) => {
            format!("trace of {}{}", say(&trace.file), on(trace.run.as_ref()))
        }
        Content::Simulation(simulation) => simulation::title(simulation),
        Content::Published(_) => "published numbers beside the models'".to_owned(),
    }
}

/// The machine, where the run tells it.
fn on(run: Option<&Run>) -> String {
    let host = run.and_then(|run| run.host.as_deref()).filter(|host| !host.is_empty());
    host.map(|host| format!(" on {}", say(host))).unwrap_or_default()
}

/// The result in a few words, and how good it is.
pub(super) fn summary(source: &Source) -> (Tone, String) {
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

/// The result in a sentence, and what to do next.
pub(super) fn gist(source: &Source) -> Gist {
    match &source.content {
        Content::Check(document) => check::gist(document),
        Content::Bench(bench) => bench::gist(bench),
        Content::Fsync(fsync) => fsync::gist(fsync),
        Content::Probe(probe) => probe::gist(probe),
        Content::Compare(comparing) => compare::gist(comparing),
        Content::Trace(trace) => trace::gist(trace),
        Content::Simulation(simulation) => simulation::gist(simulation),
        Content::Published(published) => published::gist(published),
    }
}

/// All of a result; `id` makes names unique on the page.
pub(super) fn section(id: &str, source: &Source) -> Markup {
    match &source.content {
        Content::Check(document) => check::section(document),
        Content::Bench(bench) => bench::section(id, bench),
        Content::Fsync(fsync) => fsync::section(id, fsync),
        Content::Probe(probe) => probe::section(probe),
        Content::Compare(comparing) => compare::section(comparing),
        Content::Trace(trace) => trace::section(trace),
        Content::Simulation(simulation) => simulation::section(id, simulation),
        Content::Published(published) => published::section(id, published),
    }
}
