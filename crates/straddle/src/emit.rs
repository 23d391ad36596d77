//! `straddle emit`: kept results in, configuration of other programs out.

use report::{Refusal, emitted};

use crate::arguments::Emit;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, PrintedKind};
use crate::shared::result_files;

pub(crate) fn run(emit: &Emit) -> anyhow::Result<CommandOutcome> {
    let (results, outcome) = result_files::named_or_kept("emit values of", &emit.files)?;
    let text = emitted(emit.consumer.consumer(), &results);
    if text.is_empty() && outcome == CommandOutcome::Done {
        let refusal = Refusal::hinted(
            "cannot emit values: no result of a device is kept or named",
            "keep one first: straddle check --keep; or: straddle probe DIR -o probe.json",
        );
        return Ok(CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal)));
    }
    printer::print_bytes(PrintedKind::Data, text.as_bytes())?;
    Ok(outcome)
}
