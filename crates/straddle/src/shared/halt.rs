//! Why a measurement ended before its time.

use host::engine::EngineError;
use host::scratch::ScratchError;
use host::{CommandError, LoopError, MountError, OpenError};
use measure::Fault;
use report::{Refusal, RefusalKind};

/// Why a measurement ended before its time.
#[derive(Clone, Debug)]
pub(crate) enum Halt {
    /// Something was wrong with what was measured.
    Void(String),
    /// The user or the system wants the program to end.
    Interrupted,
    /// It cannot be done here.
    Refused(Refusal),
}

impl Halt {
    /// It cannot be done here.
    pub(crate) fn refused(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(Refusal::new(message, hint))
    }

    /// It cannot be done here, and `hint` may help.
    pub(crate) fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Halt {
        Halt::Refused(Refusal::hinted(message, hint))
    }

    /// It was tried, and came to no verdict.
    pub(crate) fn undecided(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(Refusal::undecided(message, hint))
    }

    /// Returns a halt because what was measured failed, which is a finding.
    pub(crate) fn fault(message: impl Into<String>, hint: Option<String>) -> Halt {
        Halt::Refused(Refusal { kind: RefusalKind::Fault, ..Refusal::new(message, hint) })
    }

    /// The refusal that a document shows; `None` where the user wants no more.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        match self {
            Halt::Interrupted => None,
            Halt::Refused(refusal) => Some(refusal),
            Halt::Void(reason) => Some(Refusal::undecided(reason, None)),
        }
    }

    /// Everything that was asked for needs a depth, and the drive is in use.
    pub(crate) fn busy() -> Halt {
        let message = "cannot measure at a queue depth above 1: the drive is busy with other I/O";
        let hint = "run it when the drive is idle, or measure all the same: --share 100";
        Halt::undecided(message, Some(hint.to_owned()))
    }
}

/// That there is no scratch file, with the length that would fit.
pub(crate) fn no_file(error: &ScratchError) -> Refusal {
    let mebibytes = error.room_bytes().map(|bytes| bytes >> 20).filter(|number| *number > 0);
    let smaller = mebibytes.map(|number| format!("--scratch {number}M"));
    no_file_but(error, smaller.as_deref())
}

/// That there is no scratch file, with the option that makes one that fits. Where the layers below
/// lack room it is refused for safety: their file systems would go down.
pub(crate) fn no_file_but(error: &ScratchError, smaller: Option<&str>) -> Refusal {
    let kind = match error {
        ScratchError::Below { .. } => RefusalKind::Safety,
        _ => RefusalKind::Misuse,
    };
    Refusal { kind, ..Refusal::new(error.to_string(), error.hint(smaller)) }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Refused(refusal)
    }
}

/// It cannot be done here, for a reason that is all there is to say.
impl From<String> for Halt {
    fn from(reason: String) -> Halt {
        Halt::Refused(Refusal::new(reason, None))
    }
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        match fault {
            Fault::Void(reason) | Fault::Stopped(reason) => Halt::Void(reason),
        }
    }
}

impl From<CommandError> for Halt {
    fn from(error: CommandError) -> Halt {
        match error {
            CommandError::Interrupted { .. } => Halt::Interrupted,
            _ => Halt::Refused(Refusal::new(error.to_string(), error.hint().map(str::to_owned))),
        }
    }
}

impl From<ScratchError> for Halt {
    fn from(error: ScratchError) -> Halt {
        match error {
            ScratchError::Stopped { .. } => Halt::Interrupted,
            _ => Halt::Refused(no_file(&error)),
        }
    }
}

/// Errors that say what was tried and what may help.
macro_rules! refusals {
    ($($error:ty),*) => {$(
        impl From<$error> for Halt {
            fn from(error: $error) -> Halt {
                Halt::Refused(Refusal::new(error.to_string(), error.hint().map(str::to_owned)))
            }
        }
    )*};
}

refusals!(EngineError, LoopError, MountError, OpenError);
