//! Why a file is none that a page can be made of.

use std::fmt;

/// The longest result file that is read, in bytes.
pub const SOURCE_BYTES_MAX: usize = 64 << 20;

/// Why a text is no result that a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceFault {
    /// It is longer than [`SOURCE_BYTES_MAX`]: its length in bytes.
    TooLong(usize),
    /// No JSON object that names its schema; what it is instead.
    NotOurs(String),
    /// Another document: the name of its schema.
    OtherSchema(String),
    /// A result of another version of the format: the name of its schema.
    OtherVersion(String),
    /// Its schema is known, its content is not what that says; what the parser said.
    Broken(String),
    /// Its schema is known, its content is not what that says, and another release of straddle
    /// wrote it: which one, and what the parser said.
    OtherRelease(String, String),
}

impl fmt::Display for SourceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceFault::TooLong(bytes) => {
                write!(f, "it has {bytes} bytes, more than the {SOURCE_BYTES_MAX} that are read")
            }
            SourceFault::NotOurs(reason) => write!(f, "not a straddle result file: {reason}"),
            SourceFault::OtherSchema(schema) => {
                write!(f, "its schema is `{schema}`, which is no result of straddle")
            }
            SourceFault::OtherVersion(schema) => {
                write!(f, "its schema is `{schema}`, a version that this straddle does not know")
            }
            SourceFault::Broken(reason) => write!(f, "it is damaged: {reason}"),
            SourceFault::OtherRelease(version, reason) => {
                write!(f, "straddle {version} wrote it, which this one cannot read: {reason}")
            }
        }
    }
}

impl std::error::Error for SourceFault {}

impl SourceFault {
    /// Returns what was expected, and what to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            SourceFault::OtherVersion(_) | SourceFault::OtherRelease(..) => {
                "read it with the version of straddle that wrote it, or measure again with this one"
                    .to_owned()
            }
            SourceFault::Broken(_) => "it was cut short or edited; make it again".to_owned(),
            SourceFault::TooLong(_) => {
                "make a result of fewer targets or experiments, and several of them".to_owned()
            }
            SourceFault::NotOurs(_) | SourceFault::OtherSchema(_) => {
                "name a file that --json or -o of straddle wrote".to_owned()
            }
        }
    }
}
