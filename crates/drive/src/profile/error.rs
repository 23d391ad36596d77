//! Why a profile of a drive is refused.

use thiserror::Error;
use units::text::escape;

use super::PROFILE_BYTES_MAX;
use crate::hard_disk::PlanFault;

/// A profile that cannot be used, with the place that is the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot read the drive's profile: {}:{line}: {problem}", escape(file.as_bytes()))]
pub struct DriveProfileError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What.
    pub problem: DriveProfileProblem,
}

/// What is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum DriveProfileProblem {
    /// The file is longer than any profile.
    #[error("it has {bytes} bytes, more than {PROFILE_BYTES_MAX}")]
    TooLong { bytes: usize },
    /// It is no TOML, a key is not known or missing, or a value has the wrong type.
    #[error("{}", escape(message.as_bytes()))]
    Form { message: String },
    /// A value that this kind of drive does not have.
    #[error("{} {kind} has no `{}`", article(kind), escape(key.as_bytes()))]
    NoSuchValue { kind: &'static str, key: String, keys: String },
    /// A value that this kind of drive must have.
    #[error("{} {kind} needs `{key}`", article(kind))]
    Missing { kind: &'static str, key: &'static str },
    /// A profile without a base that lacks what every profile has.
    #[error("it has no `{key}`, and no `base` to take it from")]
    NoKey { key: &'static str },
    /// An array or a controller that does not name the drive that it is made of.
    #[error("{} {kind} needs `member`, the drive that it is made of", article(kind))]
    NoMember { kind: &'static str },
    /// A drive of a kind that is not made of another names one.
    #[error("a {kind} is made of no other drive: an array and a controller have a `member`")]
    NotMade { kind: &'static str },
    /// The value is not what the key takes.
    #[error("`{} = \"{}\"` is not {expects}", escape(key.as_bytes()), escape(value.as_bytes()))]
    Unreadable { key: String, value: String, expects: String },
    /// A calibrated or fitted value does not say by what.
    #[error("`{}` is {label} and says not `by` which published number", escape(key.as_bytes()))]
    NoReason { key: String, label: String },
    /// No drive is so.
    #[error("{fault}")]
    Impossible { fault: PlanFault },
}

impl DriveProfileError {
    /// Returns what to do about it, in one line.
    #[must_use]
    pub fn hint(&self) -> String {
        let form = "`straddle drive show NAME --toml` prints one to copy".to_owned();
        match &self.problem {
            DriveProfileProblem::Form { message } if message.ends_with("expected a string") => {
                "put it in quotes, numbers too".to_owned()
            }
            DriveProfileProblem::NoMember { .. } => {
                "add member = \"hdd-7200-512e\" above [values], or another of straddle drive list"
                    .to_owned()
            }
            DriveProfileProblem::NoKey { key } => {
                format!(
                    "add {key} = \"...\", or base = \"hdd-7200-512e\" to change a built-in profile"
                )
            }
            DriveProfileProblem::NotMade { .. } => "leave member out".to_owned(),
            DriveProfileProblem::TooLong { .. } | DriveProfileProblem::Form { .. } => form,
            DriveProfileProblem::NoSuchValue { keys, .. } => format!("it has {keys}"),
            DriveProfileProblem::Missing { key, .. } => {
                format!(
                    "add {key} = {{ value = \"...\", label = \"predicted\", source = \"...\" }}"
                )
            }
            DriveProfileProblem::Unreadable { key, expects, .. } => {
                format!("write {expects} behind {}", escape(key.as_bytes()))
            }
            DriveProfileProblem::NoReason { .. } => "add by = \"...\"".to_owned(),
            DriveProfileProblem::Impossible { fault } => format!("choose {}", fault.wanted),
        }
    }
}

/// The article before a kind of drive.
fn article(kind: &str) -> &'static str {
    if kind.starts_with('a') { "an" } else { "a" }
}
