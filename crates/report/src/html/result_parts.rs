//! Parts of the page for each kind of document: its name, what it came to, all of it.

use maud::Markup;

use super::elements::say;
use super::headline::Headline;
use super::short_answer::ShortAnswer;
use super::source::{FileContent, ResultFile};
use super::{bench, check, compare, fsync, probe, published, simulation, torture, trace};
use crate::envelope::Envelope;

/// Returns what a file is a result of.
pub(super) fn heading(source: &ResultFile) -> String {
    match &source.content {
        FileContent::Check(document) => match document.targets.as_slice() {
            [one] => format!("check of {}{}", say(&one.target), on(&document.envelope)),
            many => format!("check of {} targets{}", many.len(), on(&document.envelope)),
        },
        FileContent::Bench(bench) => {
            format!("bench of {}{}", say(&bench.target.path), on(&bench.envelope))
        }
        FileContent::Fsync(fsync) => {
            format!("fsync in {}{}", say(&fsync.target.path), on(&fsync.envelope))
        }
        FileContent::Probe(probe) => {
            format!("probe of {}{}", say(&probe.target.path), on(&probe.envelope))
        }
        FileContent::Compare(comparing) => {
            format!("two results of {} compared", say(&comparing.measured_by))
        }
        FileContent::Trace(trace) => {
            format!("trace of {}{}", say(&trace.file), on(&trace.envelope))
        }
        FileContent::Simulation(simulation) => simulation::title(simulation),
        FileContent::Published(_) => "published numbers beside the models'".to_owned(),
        FileContent::Torture(torture) => torture::title(torture),
    }
}

/// The machine, where the run tells it.
fn on(envelope: &Envelope) -> String {
    let host = envelope.run.host.as_deref().filter(|host| !host.is_empty());
    host.map(|host| format!(" on {}", say(host))).unwrap_or_default()
}

/// The result in a few words, and how good it is.
pub(super) fn headline(source: &ResultFile) -> Headline {
    match &source.content {
        FileContent::Check(document) => check::headline(document),
        FileContent::Bench(bench) => bench::headline(bench),
        FileContent::Fsync(fsync) => fsync::headline(fsync),
        FileContent::Probe(probe) => probe::headline(probe),
        FileContent::Compare(comparing) => compare::headline(comparing),
        FileContent::Trace(trace) => trace::headline(trace),
        FileContent::Simulation(simulation) => simulation::headline(simulation),
        FileContent::Published(published) => published::headline(published),
        FileContent::Torture(torture) => torture::headline(torture),
    }
}

/// The result in a sentence, and what to do next.
pub(super) fn short_answer(source: &ResultFile) -> ShortAnswer {
    match &source.content {
        FileContent::Check(document) => check::short_answer(document),
        FileContent::Bench(bench) => bench::short_answer(bench),
        FileContent::Fsync(fsync) => fsync::short_answer(fsync),
        FileContent::Probe(probe) => probe::short_answer(probe),
        FileContent::Compare(comparing) => compare::short_answer(comparing),
        FileContent::Trace(trace) => trace::short_answer(trace),
        FileContent::Simulation(simulation) => simulation::short_answer(simulation),
        FileContent::Published(published) => published::short_answer(published),
        FileContent::Torture(torture) => torture::short_answer(torture),
    }
}

/// The quantile that the verdict of an engine is of, in nanoseconds.
pub(super) fn measured_ns(source: &ResultFile) -> Option<u64> {
    let FileContent::Fsync(fsync) = &source.content else { return None };
    Some(fsync.verdict.as_ref()?.quantile.as_ref()?.value_ns)
}

/// All of a result; `id` makes names unique on the page.
pub(super) fn section(id: &str, source: &ResultFile) -> Markup {
    match &source.content {
        FileContent::Check(document) => check::section(id, document),
        FileContent::Bench(bench) => bench::section(id, bench),
        FileContent::Fsync(fsync) => fsync::section(id, fsync),
        FileContent::Probe(probe) => probe::section(probe),
        FileContent::Compare(comparing) => compare::section(comparing),
        FileContent::Trace(trace) => trace::section(trace),
        FileContent::Simulation(simulation) => simulation::section(id, simulation),
        FileContent::Published(published) => published::section(id, published),
        FileContent::Torture(torture) => torture::section(torture),
    }
}
