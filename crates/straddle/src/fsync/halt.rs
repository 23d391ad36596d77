//! Why a run ended before its time.

use report::RefusalKind;
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
        Halt::of(RefusalKind::Misuse, message, hint)
    }

    /// It was tried, and came to no verdict.
    pub(crate) fn undecided(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::of(RefusalKind::NoVerdict, message, hint)
    }

    /// A sync, or what is below it, failed.
    pub(crate) fn fault(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::of(RefusalKind::Fault, message, hint)
    }

    fn of(kind: RefusalKind, message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(RunRefusal { message: message.into(), hint, kind })
    }
}
