//! Ways to put a finding right.
//!
//! A remedy is a command that keeps every byte, what to give to the tool that makes a layer when it
//! is made again, or a sentence. A command that erases has no form, so none can be printed above
//! anything that was recognized.

use std::fmt;

mod command;
mod image_copy;
mod mkfs_options;
mod start;
mod superblock_tool;
mod typed_path;

pub(super) use command::{Command, Growth};
pub use command::{CopySource, copy_command, replay_command};
pub use image_copy::copy_name;
pub(super) use image_copy::{
    as_raw, cluster_size, convert, decrypt, guest_planned_as_raw, image_file, planned_as_raw,
    superblock_restored, volumes_listed, without_footer,
};
pub(super) use mkfs_options::mkfs_fat;
pub use start::plan_of;
pub(super) use start::{moved, plan, protective_mbr, rewrite_gpt};
use superblock_tool::SuperblockTool;
pub(super) use typed_path::{node, typed, within};

/// A way to put a finding right: steps, of which each prints as one line. Several remedies of one
/// finding are alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy(Vec<Form>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Command { when: &'static str, command: Command },
    Recreate { with: String, note: &'static str, is_optional: bool },
    Tell(String),
}

impl Remedy {
    /// Returns whether it has a plan of the whole disk.
    #[must_use]
    pub fn is_plan(&self) -> bool {
        let is_plan =
            |form: &Form| matches!(form, Form::Command { command: Command::Plan { .. }, .. });
        self.0.iter().any(is_plan)
    }

    /// Returns whether it says that a layer is to be made again, which erases what is on it.
    #[must_use]
    pub fn erases(&self) -> bool {
        self.0.iter().any(|form| matches!(form, Form::Recreate { .. }))
    }

    /// A command to type.
    pub(super) fn command(command: Command) -> Remedy {
        Remedy::when("", command)
    }

    /// A command to type, and when or for what.
    pub(super) fn when(when: &'static str, command: Command) -> Remedy {
        Remedy(vec![Form::Command { when, command }])
    }

    /// Back up, make the layer again with this tool and these options, restore.
    pub(super) fn recreate(with: impl Into<String>) -> Remedy {
        Remedy::recreate_noted(with, "")
    }

    /// Returns the same as [`Remedy::recreate`], with what else counts.
    pub(super) fn recreate_noted(with: impl Into<String>, note: &'static str) -> Remedy {
        Remedy(vec![Form::Recreate { with: with.into(), note, is_optional: false }])
    }

    /// This, and after it what `next` says.
    pub(super) fn then(mut self, next: Remedy) -> Remedy {
        self.0.extend(next.0);
        self
    }

    /// Returns the form for where nothing is wrong: what recreates a layer is not needed.
    pub(super) fn optional(mut self) -> Remedy {
        for form in &mut self.0 {
            if let Form::Recreate { is_optional, .. } = form {
                *is_optional = true;
            }
        }
        self
    }

    /// A command for what costs nothing, and often cannot be mended.
    pub(super) fn unneeded(mut self) -> Remedy {
        if let Some(Form::Command { when, .. }) = self.0.first_mut() {
            *when = "no action needed; to see whether it can be mended";
        }
        self
    }

    /// A sentence.
    #[must_use]
    pub fn tell(text: impl Into<String>) -> Remedy {
        Remedy(vec![Form::Tell(text.into())])
    }
}

/// The lines of `remedies`: the steps of each; `or` begins each but the first.
pub(super) fn lines(remedies: &[Remedy]) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, Remedy(forms)) in remedies.iter().enumerate() {
        let or = match forms.first() {
            _ if number == 0 => "",
            Some(Form::Command { when, .. }) if !when.is_empty() => "or, ",
            _ => "or: ",
        };
        let begins = std::iter::once(or).chain(std::iter::repeat(""));
        lines.extend(forms.iter().zip(begins).map(|(form, or)| format!("{or}{form}")));
    }
    lines
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Command { when: "", command } => command.fmt(f),
            Form::Command { when, command } => write!(f, "{when}: {command}"),
            Form::Recreate { with, note, is_optional } => {
                let note = if note.is_empty() { String::new() } else { format!("; {note}") };
                let when = if *is_optional { "optional: " } else { "" };
                write!(f, "{when}back up, recreate it with {with} (ERASES it), restore{note}")
            }
            Form::Tell(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_and_other_ways_begin_with_or() {
        let command = || Command::ShowImage("a.vhd".to_owned());
        let steps = Remedy::command(command()).then(Remedy::when("then look", command()));
        let remedies = [steps, Remedy::when("if it must stay", command()), Remedy::tell("wait")];
        let expected = [
            "qemu-img info -U a.vhd",
            "then look: qemu-img info -U a.vhd",
            "or, if it must stay: qemu-img info -U a.vhd",
            "or: wait",
        ];
        assert_eq!(lines(&remedies), expected);
    }
}
