//! Output that is printed when it is over, and the outcome that the process ends with.

use std::io;

use measure::CostVerdict;
use report::RefusalKind;
use report::bench::{self, Bench as Document};

use crate::arguments::{BenchFormat, SuiteSteps};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, Said};

/// Prints the result, and on standard error why there is none; whether anything was said.
pub(super) fn result(
    arguments: &SuiteSteps,
    document: &Document,
    signal: Option<i32>,
) -> io::Result<Option<Said>> {
    let refused = document.envelope.refusal.as_ref();
    let refused = refused.map(|one| printer::refusal(&one.message, one.hint.as_deref()));
    let said = signal.map(|_| printer::interrupted()).or(refused);
    let text = match arguments.printed.format() {
        BenchFormat::Json => bench::bench_json(document),
        BenchFormat::FioJson => fio(document),
        BenchFormat::Table if document.experiments.is_empty() => String::new(),
        BenchFormat::Table => table(arguments, document),
    };
    Ok(printer::print(&text)?.or(said))
}

/// The result as fio prints, with a word on standard error for what has no place in it.
fn fio(document: &Document) -> String {
    for title in bench::fio_json_left_out(document) {
        printer::note(&format!("left out, since fio's format has no place for it: {title}"));
    }
    bench::fio_json(document)
}

fn table(arguments: &SuiteSteps, document: &Document) -> String {
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

/// Returns what the process ends with, for the reason that was `said`. A penalty outranks a missing
/// verdict.
pub(super) fn outcome(
    document: &Document,
    signal: Option<i32>,
    said: Option<Said>,
) -> CommandOutcome {
    let said = Said::or(said, "nothing was measured");
    if let Some(signal) = signal {
        return CommandOutcome::Interrupted(signal, said);
    }
    let any = |verdict| document.experiments.iter().any(|one| one.verdict == verdict);
    match &document.envelope.refusal {
        Some(refusal) if refusal.kind != RefusalKind::NoVerdict => {
            CommandOutcome::of_refusal(refusal.kind, said)
        }
        _ if any(CostVerdict::Penalty) => CommandOutcome::Found(said),
        Some(_) => CommandOutcome::NoVerdict(said),
        None if document.experiments.is_empty() => CommandOutcome::NoVerdict(said),
        None if any(CostVerdict::Void) || any(CostVerdict::Inconclusive) => {
            CommandOutcome::NoVerdict(said)
        }
        None => CommandOutcome::Done,
    }
}
