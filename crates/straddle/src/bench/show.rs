//! Output that is printed when it is over, and the outcome that the process ends with.

use std::io;

use measure::CostVerdict;
use report::RefusalKind;
use report::bench::{self, Bench as Document};

use crate::arguments::{BenchFormat, SuiteSteps};
use crate::exit::CommandOutcome;
use crate::shared::printer::{Printer, Said};

/// Prints the result, and on standard error why there is none; whether anything was said.
pub(super) fn result(
    arguments: &SuiteSteps,
    document: &Document,
    signal: Option<i32>,
    printer: &Printer,
) -> io::Result<Option<Said>> {
    let refused = document.envelope.refusal.as_ref().map(|refusal| printer.refusal(refusal));
    let said = signal.map(|_| printer.interrupted()).or(refused);
    let text = match arguments.printed.format() {
        BenchFormat::Json => bench::bench_json(document),
        BenchFormat::FioJson => fio(document, printer),
        BenchFormat::Nagios => String::new(),
        BenchFormat::Table if document.experiments.is_empty() => String::new(),
        BenchFormat::Table => table(arguments, document, printer),
    };
    Ok(printer.print(&text)?.or(said))
}

/// The result as fio prints, with a word on standard error for what has no place in it.
fn fio(document: &Document, printer: &Printer) -> String {
    for title in bench::fio_json_left_out(document) {
        printer.note(&format!("left out, since fio's format has no place for it: {title}"));
    }
    bench::fio_json(document)
}

fn table(arguments: &SuiteSteps, document: &Document, printer: &Printer) -> String {
    let look = printer.look(arguments.explain);
    let mut text = bench::table(document, &look);
    if arguments.explain {
        for experiment in &document.experiments {
            text.push('\n');
            text.push_str(&bench::picture(experiment, &look));
        }
    }
    text
}

/// Returns what the process ends with, for the reason that was `said`. A penalty outranks a missing
/// verdict.
pub(super) fn outcome(document: &Document, signal: Option<i32>, said: Said) -> CommandOutcome {
    if let Some(signal) = signal {
        return CommandOutcome::Interrupted(signal, said);
    }
    let any = |verdict| document.experiments.iter().any(|one| one.verdict == verdict);
    let is_found = any(CostVerdict::Penalty);
    match &document.envelope.refusal {
        Some(refusal) if !is_found || refusal.kind != RefusalKind::NoVerdict => {
            CommandOutcome::of_refusal(refusal, said)
        }
        _ if is_found => CommandOutcome::Found(said),
        _ if document.experiments.is_empty() => CommandOutcome::NoVerdict(said),
        _ if any(CostVerdict::Void) || any(CostVerdict::Inconclusive) => {
            CommandOutcome::NoVerdict(said)
        }
        _ => CommandOutcome::Done,
    }
}
