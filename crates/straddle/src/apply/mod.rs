//! `straddle apply`: writes the partition table of a plan, and undoes it.

mod job;
mod kernel;
mod look;
mod table_write;
mod undo_file;

use report::{Refusal, RefusalKind};

use crate::arguments::Apply;
use crate::exit::CommandOutcome;
use crate::shared::printer;

/// Why a table was not written, or not all of it.
#[derive(Debug)]
enum ApplyEnd {
    /// Nothing was written.
    Refused(Refusal),
    /// Some of it was; the same command goes on.
    Stopped(Refusal),
}

impl From<Refusal> for ApplyEnd {
    fn from(refusal: Refusal) -> ApplyEnd {
        ApplyEnd::Refused(refusal)
    }
}

/// A refusal for safety.
fn unsafe_now(message: impl Into<String>, hint: Option<String>) -> Refusal {
    Refusal { kind: RefusalKind::Safety, ..Refusal::new(message, hint) }
}

pub(crate) fn run(apply: &Apply) -> anyhow::Result<CommandOutcome> {
    Ok(match job::done(apply) {
        Ok(text) => {
            printer::print(&text)?;
            CommandOutcome::Done
        }
        Err(ApplyEnd::Refused(refusal)) => {
            CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal))
        }
        Err(ApplyEnd::Stopped(refusal)) => CommandOutcome::Stopped(printer::refusal(&refusal)),
    })
}
