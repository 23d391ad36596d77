//! Why a profile is refused.

use thiserror::Error;
use units::text::escape;

use super::PROFILE_BYTES_MAX;

/// A profile that cannot be used, with the place that is the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot read the profile: {}:{line}: {problem}", escape(file.as_bytes()))]
pub struct ProfileError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What.
    pub problem: ProfileProblem,
}

/// What is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum ProfileProblem {
    /// The file is longer than any profile.
    #[error("it has {bytes} bytes, more than {PROFILE_BYTES_MAX}")]
    TooLong { bytes: usize },
    /// It is no TOML, a key is not known or missing, or a value has the wrong type.
    #[error("{}", escape(message.as_bytes()))]
    Form { message: String },
    /// The value is not what the key takes.
    #[error("`{key} = \"{}\"` is not {expects}", escape(value.as_bytes()))]
    Unreadable { key: &'static str, value: String, expects: String },
    /// A value that no engine has.
    #[error("{key} is {}, outside of {least} to {most}", escape(value.as_bytes()))]
    OutOfRange { key: &'static str, value: String, least: String, most: String },
    /// The lower limit is the higher one.
    #[error("warn is above {warn}, which is more than fail with {fail}")]
    WarnAboveFail { warn: String, fail: String },
    /// A limit of one's own has no reason.
    #[error("{table} is \"ours\" and says no reason")]
    NoReason { table: &'static str },
    /// A file into which not even the writes of one sync go.
    #[error(
        "file is {file_bytes} bytes, and one sync follows {writes} of {write_bytes} bytes, which \
         are {}",
        writes.saturating_mul(*write_bytes)
    )]
    FileTooShort { file_bytes: u64, writes: u64, write_bytes: u64 },
    /// A write past the page cache that is no number of sectors.
    #[error("writes of {write_bytes} bytes cannot go past the page cache")]
    NotSectors { write_bytes: u64 },
}

impl ProfileError {
    /// Returns what to do about it, in one line.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.problem {
            ProfileProblem::TooLong { .. } => "is this a profile".to_owned(),
            ProfileProblem::Form { .. } => "docs/engines.md shows the form".to_owned(),
            ProfileProblem::Unreadable { key, expects, .. } => {
                format!("write {expects} behind {key} =")
            }
            ProfileProblem::OutOfRange { least, most, .. } => format!("choose {least} to {most}"),
            ProfileProblem::WarnAboveFail { .. } => "lower warn, or raise fail".to_owned(),
            ProfileProblem::NoReason { .. } => "add a line reason = \"...\"".to_owned(),
            ProfileProblem::FileTooShort { writes, write_bytes, .. } => {
                let least = writes.saturating_mul(*write_bytes);
                format!("make file at least \"{least}\", or lower write or writes_per_sync")
            }
            ProfileProblem::NotSectors { .. } => {
                "choose a multiple of 512 B, or a sync without O_DIRECT".to_owned()
            }
        }
    }
}
