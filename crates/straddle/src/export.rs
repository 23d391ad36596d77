//! `straddle export`: kept results in, metrics out.

use report::{Refusal, results_textfile};

use crate::arguments::Export;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, PrintedKind};
use crate::shared::{result_files, textfile};

/// Name of the file of metrics.
const METRICS: &str = "straddle.prom";

pub(crate) fn run(export: &Export) -> anyhow::Result<CommandOutcome> {
    let directory = export.textfile.directory.as_deref();
    if let Err(refusal) = textfile::require_place(directory) {
        return Ok(CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal)));
    }
    let (results, outcome) = result_files::named_or_kept("export", &export.files)?;
    let text = results_textfile(&results);
    if text.is_empty() {
        // What is there tells more than an empty file.
        if outcome == CommandOutcome::Done {
            let refusal = Refusal::hinted(
                "cannot export metrics: no result of check, fsync, bench or probe is kept or named",
                "keep one first: straddle check --keep",
            );
            return Ok(CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal)));
        }
        return Ok(outcome);
    }
    match directory {
        Some(directory) => textfile::write(directory, METRICS, &text)?,
        None => {
            printer::print_bytes(PrintedKind::Data, text.as_bytes())?;
        }
    }
    Ok(outcome)
}
