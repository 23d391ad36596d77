//! `straddle convert`: the same disk for sectors of another size.

mod conversion;
mod in_place;
mod judged;
mod new_image;

use host::{ImageRefusal, Interrupt};
use jiff::Timestamp;
use report::conversion::{CONVERT_SCHEMA, ConvertedDisk};
use report::{Envelope, Refusal, RefusalKind};
use units::prefix::Size;
use units::text::shell_word;

use crate::arguments::Convert;
use crate::exit::CommandOutcome;
use crate::shared::destination::{Destination, PLAN};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, shown};
use crate::shared::run;

use conversion::Conversion;
use new_image::CopyEnd;

/// Why nothing was converted.
enum ConvertEnd {
    Refused(Refusal),
    /// A signal came.
    Interrupted(i32),
    Failed(anyhow::Error),
}

impl From<Refusal> for ConvertEnd {
    fn from(refusal: Refusal) -> ConvertEnd {
        ConvertEnd::Refused(refusal)
    }
}

impl From<anyhow::Error> for ConvertEnd {
    fn from(error: anyhow::Error) -> ConvertEnd {
        ConvertEnd::Failed(error)
    }
}

pub(crate) fn run(convert: &Convert) -> anyhow::Result<CommandOutcome> {
    let inspected = InspectedMachine::live();
    let mut document = ConvertedDisk {
        envelope: Envelope::new(CONVERT_SCHEMA, run::run(Timestamp::now(), &inspected)),
        target: shown(&convert.target),
        sector_bytes: convert.sector.size().bytes(),
        ..ConvertedDisk::default()
    };
    let json = convert.document.json;
    let outcome = match done(convert, &inspected, &mut document) {
        Ok(text) => {
            printer::print(&if json { document.json() } else { text })?;
            return Ok(CommandOutcome::Done);
        }
        Err(ConvertEnd::Refused(refusal)) => {
            let outcome = CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal));
            document.envelope.refusal = Some(refusal);
            outcome
        }
        Err(ConvertEnd::Interrupted(signal)) => {
            let output = convert.output.as_ref().map(|output| shown(output)).unwrap_or_default();
            let said = printer::note(&format!("{output} was not made"));
            return Ok(CommandOutcome::Interrupted(signal, said));
        }
        Err(ConvertEnd::Failed(error)) => return Err(error),
    };
    if json {
        printer::print(&document.json())?;
    }
    Ok(outcome)
}

/// Does what is asked for, fills the document of it, and returns it in lines.
fn done(
    convert: &Convert,
    inspected: &InspectedMachine,
    document: &mut ConvertedDisk,
) -> Result<String, ConvertEnd> {
    let destination = Destination::of(PLAN, convert.plan.as_ref())?;
    new_image::require_free(convert)?;
    let Some(found) = Conversion::of(convert, inspected)? else {
        document.state = Some("unchanged".into());
        let sector = convert.sector.size().bytes();
        let name = shown(&convert.target);
        return Ok(format!("{name}: already for {sector}-byte sectors, nothing to do\n"));
    };
    if convert.output.is_some() {
        new_image::require_unwritten(convert, &found)?;
    }
    found.fill(document);
    document.state = Some("planned".into());
    if convert.dry_run {
        let text = found.text("would be converted");
        let in_use = new_image::writer(convert, &found).map(|used| in_use(&used));
        let in_use = in_use.unwrap_or_default();
        return Ok(format!("{text}  nothing was written\n{in_use}  next     {}\n", next(convert)));
    }
    let Some(output) = &convert.output else {
        let plan = in_place::plan(convert, &found, inspected)?;
        let Some(destination) = destination else { return Ok(plan.json()) };
        destination.write(&plan.json())?;
        let text = found.text("planned, nothing was written yet");
        let name = convert.plan.as_ref().map(|plan| shell_word(&shown(plan))).unwrap_or_default();
        return Ok(format!("{text}  next     straddle apply {name} --dry-run\n"));
    };
    let interrupt = Interrupt::install().map_err(anyhow::Error::from)?;
    let bytes = new_image::write(convert, &found, output, &interrupt).map_err(|end| match end {
        CopyEnd::Interrupted(signal) => ConvertEnd::Interrupted(signal),
        CopyEnd::Failed(reason) => {
            let message = format!("cannot write {}: {reason}", shown(output));
            ConvertEnd::Refused(Refusal::new(message, None))
        }
    })?;
    document.state = Some("converted".into());
    document.output = Some(shown(output));
    document.written_bytes = bytes;
    let after = found.text(&format!("converted into {}", shown(output)));
    Ok(format!("{after}  written  {}, the rest is sparse\n", Size(bytes)))
}

/// Lines about a source that the conversion itself would refuse.
fn in_use(used: &ImageRefusal) -> String {
    let hint = used.hint.as_ref().map(|hint| format!("  first    {hint}\n")).unwrap_or_default();
    format!("  note     {}\n{hint}", used.reason)
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
