//! What is printed when it is over, and what the process ends with.

use std::io;

use report::bench::{self, Bench as Document};

use crate::arguments::{Bench, BenchFormat};
use crate::exit::Outcome;
use crate::printer;

/// Prints the result, and on standard error why there is none.
pub(super) fn result(
    arguments: &Bench,
    document: &Document,
    signal: Option<i32>,
) -> io::Result<()> {
    if let Some(refusal) = &document.refusal {
        printer::refusal(&refusal.message, refusal.hint.as_deref());
    }
    if signal.is_some() {
        printer::interrupted();
    }
    let text = match arguments.printed.format() {
        BenchFormat::Json => bench::bench_json(document),
        BenchFormat::FioJson => fio(document),
        BenchFormat::Table if document.experiments.is_empty() => return Ok(()),
        BenchFormat::Table => table(arguments, document),
    };
    printer::print(&text)
}

/// The result as fio prints, with a word on standard error for what has no place in it.
fn fio(document: &Document) -> String {
    for title in bench::fio_json_left_out(document) {
        printer::note(&format!("{title} has no place in fio's format and is left out"));
    }
    bench::fio_json(document)
}

fn table(arguments: &Bench, document: &Document) -> String {
    let look = printer::look(arguments.explain);
    let mut text = bench::table(document, &look);
    if arguments.explain {
        for experiment in &document.experiments {
            text.push('\n');
            text.push_str(&bench::picture(experiment, &look));
        }
    }
    text
}

/// What the process ends with. Of several verdicts the gravest, in the order of the design.
pub(super) fn outcome(document: &Document, signal: Option<i32>) -> Outcome {
    if let Some(signal) = signal {
        return Outcome::Interrupted(signal);
    }
    if let Some(refusal) = &document.refusal {
        return if refusal.safety { Outcome::Refused } else { Outcome::Unanswered };
    }
    let any = |names: &[&str]| {
        document.experiments.iter().any(|one| names.contains(&one.verdict.as_str()))
    };
    if document.experiments.is_empty() || any(&["void", "inconclusive"]) {
        Outcome::Unanswered
    } else if any(&["penalty"]) {
        Outcome::Found
    } else {
        Outcome::Clean
    }
}
