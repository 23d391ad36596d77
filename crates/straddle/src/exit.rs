//! Exit codes, in one place.
//!
//! | code | means |
//! |---|---|
//! | 0 | done; nothing at or above `--fail-on` |
//! | 1 | done; something found |
//! | 2 | misuse, or the question could not be answered |
//!
//! Codes 3 (refused for safety), 4 (stopped part way) and 130 (interrupted) belong to commands that
//! write.

use std::io;
use std::process::ExitCode;

use crate::printer;

/// How a command ended, when it ran at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing at or above `--fail-on`.
    Clean,
    /// Something found.
    Found,
    /// At least one target could not be judged.
    Unanswered,
}

/// The process's exit code; an error is printed with what led to it.
pub(crate) fn code(done: anyhow::Result<Outcome>) -> ExitCode {
    match done {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Ok(Outcome::Unanswered) => ExitCode::from(2),
        // Whoever reads our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // What is written goes to standard output alone; whatever else fails is a refusal.
            let writing = error.chain().any(|cause| cause.is::<io::Error>());
            let tried = if writing { "cannot write to standard output: " } else { "" };
            printer::error(&format!("{tried}{error:#}"));
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    (error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()))
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
