//! `straddle generate`: what belongs to the program and is made from it, and a capture of this
//! machine.

mod man;
mod raidtest;
mod schema;
mod sysroot;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, GenerateWhat as What, Man};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, PrintedKind};

pub(crate) fn run(what: &What) -> anyhow::Result<CommandOutcome> {
    let text = match what {
        What::Man(Man { to: Some(directory), .. }) => {
            man::write(directory)?;
            return Ok(CommandOutcome::Done);
        }
        What::Sysroot(sysroot) => return sysroot::write(sysroot),
        What::Raidtest(requests) => return raidtest::write(requests),
        What::Man(man) => man::page(&man.command)?,
        What::Completions(completions) => {
            let mut script = Vec::new();
            let (mut command, name) = (Arguments::command(), "straddle");
            clap_complete::generate(completions.shell, &mut command, name, &mut script);
            script
        }
        What::Schema(schema) => schema::text(schema.name).into(),
    };
    printer::print_bytes(PrintedKind::Data, &text)?;
    Ok(CommandOutcome::Done)
}
