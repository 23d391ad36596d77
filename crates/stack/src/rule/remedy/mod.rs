//! Ways to put a finding right.
//!
//! A remedy is a command that keeps every byte, what to give to the tool that makes a layer when it
//! is made again, or a sentence. A command that erases has no form, so none can be printed above
//! anything that was recognized.

use std::fmt;

mod command;
mod device;
mod start;

pub(super) use command::{Command, Growth};
pub(super) use device::{node, typed, within};
pub(super) use start::{
    as_raw, cluster_size, convert, image_file, mkfs_fat, moved, plan, planned_as_raw, rewrite_gpt,
};
pub use start::{copy_name, plan_of};

/// A way to put a finding right; it prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Command { when: &'static str, command: Command },
    Recreate { with: String, note: &'static str, is_optional: bool },
    Tell(String),
}

impl Remedy {
    /// Returns whether it is a plan of the whole disk.
    #[must_use]
    pub fn is_plan(&self) -> bool {
        matches!(self.0, Form::Command { command: Command::Plan { .. }, .. })
    }

    /// Returns whether it says that a layer is to be made again, which erases what is on it.
    #[must_use]
    pub fn erases(&self) -> bool {
        matches!(self.0, Form::Recreate { .. })
    }

    /// A command to type.
    pub(super) fn command(command: Command) -> Remedy {
        Remedy::when("", command)
    }

    /// A command to type, and when or for what.
    pub(super) fn when(when: &'static str, command: Command) -> Remedy {
        Remedy(Form::Command { when, command })
    }

    /// Back up, make the layer again with this tool and these options, restore.
    pub(super) fn recreate(with: impl Into<String>) -> Remedy {
        Remedy::recreate_noted(with, "")
    }

    /// Returns the same as [`Remedy::recreate`], with what else counts.
    pub(super) fn recreate_noted(with: impl Into<String>, note: &'static str) -> Remedy {
        Remedy(Form::Recreate { with: with.into(), note, is_optional: false })
    }

    /// Returns the form for where nothing is wrong: what recreates a layer is not needed.
    pub(super) fn optional(self) -> Remedy {
        match self.0 {
            Form::Recreate { with, note, .. } => {
                Remedy(Form::Recreate { with, note, is_optional: true })
            }
            form => Remedy(form),
        }
    }

    /// A command for what costs nothing, and often cannot be mended.
    pub(super) fn unneeded(self) -> Remedy {
        match self.0 {
            Form::Command { command, .. } => {
                Remedy::when("no action needed; to see whether it can be mended", command)
            }
            form => Remedy(form),
        }
    }

    /// A sentence.
    #[must_use]
    pub fn tell(text: impl Into<String>) -> Remedy {
        Remedy(Form::Tell(text.into()))
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Command { when: "", command } => command.fmt(f),
            Form::Command { when, command } => write!(f, "{when}: {command}"),
            Form::Recreate { with, note, is_optional } => {
                let note = if note.is_empty() { String::new() } else { format!("; {note}") };
                let when = if *is_optional { "no action needed; if you want to: " } else { "" };
                write!(f, "{when}back up, recreate it with {with} (ERASES it), restore{note}")
            }
            Form::Tell(text) => f.write_str(text),
        }
    }
}
