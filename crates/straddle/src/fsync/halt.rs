//! Why a run ended before its time.

use report::fsync::RunRefusal;

/// Why it ended before its time.
pub(crate) enum Halt {
    /// The user wants no more.
    Interrupted,
    /// It cannot be done here, or went wrong.
    Refused(RunRefusal),
}

impl Halt {
    /// It cannot be done here, and `hint` may help.
    pub(crate) fn refused(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(RunRefusal { message: message.into(), hint, safety: false })
    }
}
