//! Why a job file is refused.

use thiserror::Error;
use units::text::escape;

use super::place::Place;
use super::{JOBS_MAX, LINE_BYTES_MAX, TEXT_BYTES_MAX};

/// A job file that cannot be run, with the place that is the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot read the job file: {place}: {problem}")]
pub struct JobError {
    /// Place where.
    pub place: Place,
    /// What.
    pub problem: Problem,
}

impl JobError {
    pub(crate) fn new(place: Place, problem: Problem) -> JobError {
        JobError { place, problem }
    }

    /// Returns what to do about it, in one line.
    #[must_use]
    pub fn hint(&self) -> String {
        self.problem.hint()
    }
}

/// What is wrong with a job file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum Problem {
    /// The file is longer than any job file.
    #[error("it has {bytes} bytes, more than {TEXT_BYTES_MAX}")]
    TextTooLong { bytes: usize },
    /// A line is longer than fio reads.
    #[error("it has {bytes} bytes, more than {LINE_BYTES_MAX}")]
    LineTooLong { bytes: usize },
    /// A line holds NUL or another control character.
    #[error("it holds control characters")]
    Control,
    /// An option stands before any `[name]`.
    #[error("`{}` stands before the first section", escape(line.as_bytes()))]
    OutsideSection { line: String },
    /// A line begins like a section's heading and does not end like one.
    #[error("`{}` is not a section's heading", escape(line.as_bytes()))]
    Heading { line: String },
    /// `include FILE`.
    #[error("`include {}` is not followed", escape(file.as_bytes()))]
    Include { file: String },
    /// fio knows no such option.
    #[error("fio has no option called `{}`", escape(name.as_bytes()))]
    UnknownOption { name: String, near: Option<&'static str> },
    /// An option that needs a value stands alone.
    #[error("{option} needs a value")]
    NoValue { option: &'static str },
    /// The value is not what the option takes.
    #[error("`{option}={}` is not {expects}", escape(value.as_bytes()))]
    Unreadable { option: &'static str, value: String, expects: &'static str },
    /// fio accepts the value, and reads something else than it says.
    #[error("fio reads `{option}={}` otherwise than it is written", escape(value.as_bytes()))]
    Ambiguous { option: &'static str, value: String, expects: &'static str },
    /// A number outside what the option takes.
    #[error("`{option}={}` is outside of {least} to {most}", escape(value.as_bytes()))]
    OutOfRange { option: &'static str, value: String, least: u64, most: u64 },
    /// A value that the environment or the machine would complete.
    #[error("`{option}={}` needs the environment, which is not read", escape(value.as_bytes()))]
    Environment { option: &'static str, value: String },
    /// An engine that does not work on a disk's bytes, or that fio does not have.
    #[error("engine `{}` {why}", escape(name.as_bytes()))]
    Engine { name: String, why: &'static str },
    /// `rw=trim` and its kin.
    #[error("`rw={}` discards", escape(value.as_bytes()))]
    Discard { value: String },
    /// Fewer bytes in all than in one operation.
    #[error("size is {size_bytes} bytes, less than one operation of {operation_bytes} bytes")]
    SizeBelowOperation { size_bytes: u64, operation_bytes: u64 },
    /// More jobs than fio runs.
    #[error("{count} jobs are more than {JOBS_MAX}")]
    TooManyJobs { count: u64 },
    /// There is no section but `[global]`.
    #[error("it has no job")]
    NoJobs,
}

impl Problem {
    fn hint(&self) -> String {
        match self {
            Problem::TextTooLong { .. } => "is this a job file".to_owned(),
            Problem::LineTooLong { .. } => "shorten the line; fio refuses it too".to_owned(),
            Problem::Control => "save the file as plain text in UTF-8".to_owned(),
            Problem::OutsideSection { .. } => {
                "put [global] or [name] above it; without a byte order mark".to_owned()
            }
            Problem::Heading { .. } => {
                "write [name] on a line of its own, without ; or # in the name".to_owned()
            }
            Problem::Include { .. } => "put the text of that file in its place".to_owned(),
            Problem::UnknownOption { near: Some(near), .. } => format!("did you mean {near}"),
            Problem::UnknownOption { near: None, .. } => {
                "docs/jobs.md lists the options; fio --cmdhelp lists fio's".to_owned()
            }
            Problem::NoValue { option } => format!("write {option}=VALUE"),
            Problem::Unreadable { expects, .. } | Problem::Ambiguous { expects, .. } => {
                format!("write {expects}, without blanks")
            }
            Problem::OutOfRange { least, most, .. } => format!("choose {least} to {most}"),
            Problem::Environment { option, .. } => {
                format!("write the value itself, or give it with --set {option}=VALUE")
            }
            Problem::Engine { .. } => {
                "choose psync or io_uring, or override it: --set ioengine=psync".to_owned()
            }
            Problem::Discard { .. } => {
                "discards are never sent; choose another with --set rw=write".to_owned()
            }
            Problem::SizeBelowOperation { .. } => "raise size or lower bs".to_owned(),
            Problem::TooManyJobs { .. } => "lower numjobs: --set numjobs=1".to_owned(),
            Problem::NoJobs => "add a section [name] below [global]".to_owned(),
        }
    }
}
