//! `straddle generate`: what belongs to the program and is made from it, and a capture of this
//! machine.

mod man;
mod raidtest;
mod schema;
mod sysroot;

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Subcommand};
use clap_complete::Shell;

use crate::arguments::{Arguments, Colour};
use crate::exit::Outcome;
use crate::printer;

pub(crate) use raidtest::Raidtest;
pub(crate) use sysroot::Sysroot;

/// What to generate; each prints to standard output unless told otherwise.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    Man(Man),
    Completions(Completions),
    Schema(Schema),
    Sysroot(Sysroot),
    Raidtest(Raidtest),
}

/// Print a manual page, or write all of them into a directory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  straddle generate man check | man -l -
  straddle generate man --to /usr/share/man/man1")]
pub(crate) struct Man {
    /// The command whose page to print, such as `check`; none: the program's own
    #[arg(value_name = "COMMAND", conflicts_with = "to")]
    pub(crate) command: Vec<String>,

    /// Write every page into this directory, which is made where it is missing
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) to: Option<PathBuf>,
}

/// Print a completion script
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  straddle generate completions bash > /usr/share/bash-completion/completions/straddle
  straddle generate completions zsh > /usr/share/zsh/site-functions/_straddle
  straddle generate completions fish > /usr/share/fish/vendor_completions.d/straddle.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Print the JSON schema of a command's output
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  straddle generate schema > straddle.check.1.schema.json")]
pub(crate) struct Schema {
    /// What it describes: the JSON of `check`, `trace`, `bench`, `bench --dry-run`, `compare`,
    /// `fsync` or `fsync --dry-run`, the changes that `check --watch` tells, or the drives,
    /// simulations and published numbers of `drive`
    #[arg(default_value = "check", value_parser = schema::names())]
    pub(crate) name: String,
}

pub(crate) fn run(what: &What) -> anyhow::Result<Outcome> {
    let text = match what {
        What::Man(Man { to: Some(directory), .. }) => {
            man::write(directory)?;
            return Ok(Outcome::Clean);
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
        What::Schema(schema) => schema::text(&schema.name).into(),
    };
    let mut output = printer::output(Colour::Never);
    output.write_all(&text)?;
    output.flush()?;
    Ok(Outcome::Clean)
}
