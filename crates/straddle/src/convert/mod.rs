//! `straddle convert`: the same disk for sectors of another size.

mod conversion;
mod in_place;
mod judged;
mod new_image;

use host::Interrupt;
use report::{Refusal, RefusalKind};
use units::prefix::Size;
use units::text::shell_word;

use crate::arguments::Convert;
use crate::exit::CommandOutcome;
use crate::shared::destination::{Destination, PLAN};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, shown};

use conversion::Conversion;
use new_image::CopyEnd;

pub(crate) fn run(convert: &Convert) -> anyhow::Result<CommandOutcome> {
    let inspected = InspectedMachine::live();
    let destination = Destination::of(PLAN, convert.plan.as_ref())?;
    let refused =
        |refusal: &Refusal| Ok(CommandOutcome::of_refusal(refusal, printer::refusal(refusal)));
    if let Err(refusal) = new_image::is_free(convert) {
        return refused(&refusal);
    }
    let found = match Conversion::of(convert, &inspected) {
        Ok(Some(found)) => found,
        Ok(None) => {
            let sector = convert.sector.size().bytes();
            let name = shown(&convert.target);
            printer::print(&format!("{name}: already for {sector}-byte sectors, nothing to do\n"))?;
            return Ok(CommandOutcome::Done);
        }
        Err(refusal) => return refused(&refusal),
    };
    if convert.dry_run {
        printer::print(&found.text("would be converted"))?;
        let line = format!("  nothing was written\n  next     {}\n", next(convert));
        printer::print(&line)?;
        return Ok(CommandOutcome::Done);
    }
    if convert.plan.is_some() {
        let document = match in_place::plan(convert, &found, &inspected) {
            Ok(document) => document,
            Err(refusal) => return refused(&refusal),
        };
        let Some(destination) = destination else {
            printer::print(&document.json())?;
            return Ok(CommandOutcome::Done);
        };
        destination.write(&document.json())?;
        printer::print(&found.text("planned, nothing was written yet"))?;
        let plan = convert.plan.as_ref().map(|plan| shell_word(&shown(plan))).unwrap_or_default();
        printer::print(&format!("  next     straddle apply {plan} --dry-run\n"))?;
        return Ok(CommandOutcome::Done);
    }
    let Some(output) = &convert.output else { return Ok(CommandOutcome::Done) };
    let interrupt = Interrupt::install()?;
    match new_image::write(&found, output, &interrupt) {
        Ok(bytes) => {
            let after = found.text(&format!("converted into {}", shown(output)));
            printer::print(&format!("{after}  written  {}, the rest is sparse\n", Size(bytes)))?;
            Ok(CommandOutcome::Done)
        }
        Err(CopyEnd::Interrupted(signal)) => {
            let what = format!("{} was not made", shown(output));
            Ok(CommandOutcome::Interrupted(signal, printer::note(&what)))
        }
        Err(CopyEnd::Failed(reason)) => {
            refused(&Refusal::new(format!("cannot write {}: {reason}", shown(output)), None))
        }
    }
}

/// Returns what to type after a dry run.
fn next(convert: &Convert) -> String {
    let sector = convert.sector.size().bytes();
    let target = shell_word(&shown(&convert.target));
    let way = match (&convert.output, &convert.plan) {
        (Some(output), _) => format!("-o {}", shell_word(&shown(output))),
        (_, Some(plan)) => format!("--plan {}", shell_word(&shown(plan))),
        _ => "-o new.raw".to_owned(),
    };
    format!("straddle convert {target} --sector {sector} {way}")
}

/// A refusal for safety: nothing was written.
fn refuse(convert: &Convert, reason: &str, hint: Option<String>) -> Refusal {
    let message = format!("cannot convert {}: {reason}", shown(&convert.target));
    Refusal { kind: RefusalKind::Safety, ..Refusal::new(message, hint) }
}
