//! What is printed when it is over, and what the process ends with.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use report::Look;
use report::bench::{self, Bench as Document};

use super::target::shown;
use crate::arguments::{Bench, BenchFormat, Colour};
use crate::exit::Outcome;
use crate::printer;

/// How text is laid out here.
pub(super) fn look(explain: bool) -> Look {
    Look { width: Some(printer::width()), ascii: printer::is_ascii(), bytes: false, explain }
}

/// Prints the result, and on standard error why there is none.
pub(super) fn result(
    arguments: &Bench,
    format: BenchFormat,
    document: &Document,
    signal: Option<i32>,
) -> io::Result<()> {
    if let Some(refusal) = &document.refusal {
        let hint = refusal.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        printer::error(&format!("{}{}", refusal.message, hint.unwrap_or_default()));
    }
    if signal.is_some() {
        printer::note("interrupted; nothing is left behind");
    }
    let text = match format {
        BenchFormat::Json => bench::bench_json(document),
        BenchFormat::FioJson => fio(document),
        BenchFormat::Table if document.experiments.is_empty() => return Ok(()),
        BenchFormat::Table => table(arguments, document),
    };
    let mut output = printer::output(Colour::Auto);
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// The result as fio prints, with a word on standard error for what has no place in it.
fn fio(document: &Document) -> String {
    for title in bench::fio_json_left_out(document) {
        printer::note(&format!("{title} has no place in fio's format and is left out"));
    }
    bench::fio_json(document)
}

fn table(arguments: &Bench, document: &Document) -> String {
    let look = look(arguments.explain);
    let mut text = bench::table(document, &look);
    if arguments.explain {
        for experiment in &document.experiments {
            text.push('\n');
            text.push_str(&bench::picture(experiment, &look));
        }
    }
    text
}

/// Writes the whole result to a file.
pub(super) fn keep(path: &Path, document: &Document) -> anyhow::Result<()> {
    let write = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bench::bench_json(document).as_bytes())?;
        file.sync_all()
    };
    // The chain must not hold the I/O error itself, which would be taken for standard output's.
    write()
        .map_err(|error| error.to_string())
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("cannot write the result to {}", shown(path)))
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
