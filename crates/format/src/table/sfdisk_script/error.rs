//! Errors of sfdisk's scripts.

use super::{PARTITIONS_MAX, SCRIPT_BYTES_MAX};

/// Error in a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScriptError {
    /// Place where, from 1 on.
    pub line: usize,
    /// What.
    pub problem: ScriptProblem,
}

/// Error in a line of a script. Texts are harmless to print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    /// The script is longer than is read.
    #[error("it has more than {SCRIPT_BYTES_MAX} bytes")]
    Long,
    /// A byte that no text has.
    #[error("it is no UTF-8")]
    Text,
    /// A line that is neither a header nor a partition.
    #[error("`{0}` is no header line and names no start= of a partition")]
    Line(String),
    /// A label that is not read.
    #[error("label `{0}`; dos and gpt are read")]
    Label(String),
    /// A unit that is not sectors.
    #[error("unit `{0}`; sfdisk counts in sectors")]
    Unit(String),
    /// A sector that no disk has.
    #[error("sector-size `{0}`; it is a power of two from 512 to 65536")]
    Sector(String),
    /// Something that is no number, or too large a one.
    #[error("{field}={text} is no number of sectors, nor a size such as 10MiB")]
    Number {
        /// Of what.
        field: &'static str,
        /// The text that stands there.
        text: String,
    },
    /// A partition without a start or a size, which sfdisk would choose.
    #[error("the partition has no {0}=, which sfdisk would choose")]
    Chosen(&'static str),
    /// A partition that reaches past the last address, or has no bytes.
    #[error("the partition is empty, or ends past the last address")]
    Bounds,
    /// Too many partitions.
    #[error("more than {PARTITIONS_MAX} partitions")]
    Many,
    /// No partition at all.
    #[error("no partition is in it")]
    None,
}

impl ScriptProblem {
    /// Returns what helps, as a command or a word.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ScriptProblem::Chosen(_) | ScriptProblem::None => {
                "apply it to an image, and dump that: sfdisk IMAGE < FILE; sfdisk --dump IMAGE"
            }
            _ => "sfdisk --dump DEVICE prints what is read",
        }
    }
}
