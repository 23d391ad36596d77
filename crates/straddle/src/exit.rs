//! Exit codes, in one place.
//!
//! | code | means |
//! |---|---|
//! | 0 | done; nothing at or above `--fail-on` |
//! | 1 | done; something found |
//! | 2 | misuse, or the question could not be answered |
//! | 3 | refused for safety; nothing was written |
//! | 128 + n | ended by signal n: 130 by Ctrl-C |
//!
//! Code 4 (stopped part way) belongs to commands that move data. The formats for monitors follow
//! those monitors' own codes: [`CODES`].

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use report::{Answer, State};

use crate::arguments::{Arguments, Command, Format};
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
    /// Refused for safety; nothing was written.
    Refused,
    /// Asked to end by this signal.
    Interrupted(i32),
    /// A code of a monitor's own.
    Monitor(u8),
}

/// One row of the table of exit codes.
struct Row {
    state: State,
    unanswered: bool,
    own: Outcome,
    nagios: u8,
    npd: u8,
}

const fn row(state: State, unanswered: bool, own: Outcome, nagios: u8, npd: u8) -> Row {
    Row { state, unanswered, own, nagios, npd }
}

/// What was found at or above `--fail-on`, whether something could not be judged, and the code of
/// straddle's own, of a Nagios plugin and of a node-problem-detector's plugin. A monitor shows what
/// is known to be bad; the own code says first that an answer is missing.
const CODES: [Row; 6] = [
    row(State::Ok, false, Outcome::Clean, 0, 0),
    row(State::Unknown, true, Outcome::Unanswered, 3, 2),
    row(State::Warning, false, Outcome::Found, 1, 1),
    row(State::Warning, true, Outcome::Unanswered, 1, 1),
    row(State::Critical, false, Outcome::Found, 2, 1),
    row(State::Critical, true, Outcome::Unanswered, 2, 1),
];

/// How a check that is shown in `format` ends.
pub(crate) fn outcome(format: Format, answer: Answer) -> Outcome {
    let state = answer.state();
    let fits = |row: &&Row| row.state == state && row.unanswered == answer.unanswered;
    let row = CODES.iter().find(fits);
    match format {
        Format::Nagios => Outcome::Monitor(row.map_or(3, |row| row.nagios)),
        Format::Npd => Outcome::Monitor(row.map_or(2, |row| row.npd)),
        _ => row.map_or(Outcome::Unanswered, |row| row.own),
    }
}

/// The process's exit code for `arguments`; an error is printed with what led to it.
pub(crate) fn code(arguments: &Arguments, done: anyhow::Result<Outcome>) -> ExitCode {
    match done {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Ok(Outcome::Unanswered) => ExitCode::from(2),
        Ok(Outcome::Refused) => ExitCode::from(3),
        Ok(Outcome::Interrupted(signal)) => {
            ExitCode::from(u8::try_from(signal).map_or(130, |signal| signal.saturating_add(128)))
        }
        Ok(Outcome::Monitor(code)) => ExitCode::from(code),
        // Whoever reads our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // What is written goes to standard output alone; whatever else fails is a refusal.
            let writing = error.chain().any(|cause| cause.is::<io::Error>());
            let tried = if writing { "cannot write to standard output: " } else { "" };
            let message = format!("{tried}{error:#}");
            printer::error(&message);
            let format = match &arguments.command {
                Command::Check(check) => check.chosen(),
                _ => Format::Table,
            };
            failure(format, &message)
        }
    }
}

/// The code of what failed; a monitor is told on standard output, where it listens.
fn failure(format: Format, message: &str) -> ExitCode {
    let line = message.replace('\n', "; ");
    let (text, code) = match format {
        Format::Nagios => (report::nagios_failure(&line), 3),
        Format::Npd => (report::npd_message(&line, report::NPD_BYTES), 2),
        _ => return ExitCode::from(2),
    };
    // Nobody is left to be told when standard output is gone.
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

/// What `typed` ends with when it could not be understood. A plugin's misuse is UNKNOWN (Monitoring
/// Plugins Guidelines, "Plugin Return Codes"), not CRITICAL, which 2 would be.
pub(crate) fn misuse(typed: &[OsString], error: &clap::Error) -> ExitCode {
    // Nothing is left to be told when the terminal is gone.
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    failure(format_of(typed), first)
}

/// The format that was asked for, as far as it can be told.
fn format_of(typed: &[OsString]) -> Format {
    let words: Vec<&str> = typed.iter().filter_map(|word| word.to_str()).collect();
    let wants = |name: &str| {
        let joined = format!("--format={name}");
        words.iter().any(|&word| word == joined)
            || words.windows(2).any(|two| two == ["--format", name])
    };
    match () {
        () if wants("nagios") => Format::Nagios,
        () if wants("npd") => Format::Npd,
        () => Format::Table,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    (error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()))
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Severity;

    #[test]
    fn every_answer_has_one_row_and_its_codes() {
        let codes = |found, unanswered| {
            let answer = Answer { found, unanswered };
            [Format::Json, Format::Nagios, Format::Npd].map(|format| outcome(format, answer))
        };
        let monitor = Outcome::Monitor;
        for (found, unanswered, own, nagios, npd) in [
            (None, false, Outcome::Clean, 0, 0),
            (None, true, Outcome::Unanswered, 3, 2),
            (Some(Severity::Info), false, Outcome::Found, 1, 1),
            (Some(Severity::Warning), true, Outcome::Unanswered, 1, 1),
            (Some(Severity::Error), false, Outcome::Found, 2, 1),
            (Some(Severity::Error), true, Outcome::Unanswered, 2, 1),
        ] {
            let expected = [own, monitor(nagios), monitor(npd)];
            assert_eq!(codes(found, unanswered), expected, "{found:?} {unanswered}");
        }
        for row in &CODES {
            let same =
                |other: &&Row| (other.state, other.unanswered) == (row.state, row.unanswered);
            assert_eq!(CODES.iter().filter(same).count(), 1, "{:?}", row.state);
        }
    }
}
