//! Ends a process, in one place. The meaning of each code stands in [`table`].
//!
//! A command that ends otherwise than by its work being done has said why: each such outcome
//! holds a [`Said`], which only printing makes. A reader that closes the pipe early ends the
//! printing and nothing else: all is judged, and the code is the one of what was found
//! (`straddle check images | head`). The formats for monitors follow those monitors' own
//! codes.

pub(crate) mod table;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::error::ErrorKind;
use report::{MonitorAnswer, MonitorState, PluginAnswer, Refusal, RefusalKind};
use units::text::shell_word;

use crate::arguments::{Arguments, Format};
use crate::shared::bug::{self, Bug};
use crate::shared::destination::KeptFile;
use crate::shared::printer::{self, PrintedKind, Printer, Said};

/// The note in a document of a run that a signal ended.
pub(crate) const CUT_OFF: &str =
    "interrupted: figures that are missing were not measured, or not for long enough";

/// The most words of a command line that an error repeats.
const WORDS_SHOWN: usize = 12;

/// Outcome of a command that ran at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    /// Nothing at or above `--fail-on`.
    Done,
    /// Nothing found, and at least one verdict is missing.
    NoVerdict(Said),
    /// Something found.
    Found(Said),
    /// Something that was named could not be opened, read or measured.
    Misuse(Said),
    /// Refused for safety; nothing was written.
    Refused(Said),
    /// Stopped part way; the same command goes on.
    Stopped(Said),
    /// Asked to end by this signal.
    Interrupted(i32, Said),
    /// A code of a monitor's own.
    Monitor(u8, Said),
}

impl CommandOutcome {
    /// The end of a command that was refused, or gave up.
    pub(crate) fn of_refusal(refusal: &Refusal, said: Said) -> CommandOutcome {
        match refusal.kind {
            RefusalKind::Misuse => CommandOutcome::Misuse(said),
            RefusalKind::Safety => CommandOutcome::Refused(said),
            RefusalKind::NoVerdict => CommandOutcome::NoVerdict(said),
            RefusalKind::Fault => CommandOutcome::Found(said),
        }
    }

    /// The code of the process; `--allow-unknown` takes a missing verdict for none that is bad.
    fn code(self, allows_unknown: bool) -> u8 {
        match self {
            CommandOutcome::Done => 0,
            CommandOutcome::Found(_) => 1,
            CommandOutcome::Misuse(_) => 2,
            CommandOutcome::Refused(_) => 3,
            CommandOutcome::Stopped(_) => 4,
            CommandOutcome::NoVerdict(_) if allows_unknown => 0,
            CommandOutcome::NoVerdict(_) => 5,
            CommandOutcome::Interrupted(signal, _) => {
                u8::try_from(signal).map_or(130, |signal| signal.saturating_add(128))
            }
            CommandOutcome::Monitor(code, _) => code,
        }
    }
}

/// Returns how a command ends that showed its result and could not write it: by the signal that
/// came while it wrote, where one did.
///
/// # Errors
/// Why it was not written, where no signal came.
pub(crate) fn unwritten(
    error: anyhow::Error,
    signal: Option<i32>,
    printer: &Printer,
) -> anyhow::Result<CommandOutcome> {
    match signal {
        None => Err(error),
        Some(signal) => {
            let said = printer.error(&format!("{error:#}"));
            Ok(CommandOutcome::Interrupted(signal, said))
        }
    }
}

/// Prints what a plugin says, and returns how the command ends.
///
/// # Errors
/// When standard output does not take it.
pub(crate) fn of_plugin(plugin: &PluginAnswer, printer: &Printer) -> io::Result<CommandOutcome> {
    let said = printer.print_bytes(PrintedKind::Data, plugin.text().as_bytes())?;
    let said = printer.said_or(said, "nothing was measured");
    Ok(of_check(Format::Nagios, plugin.answer, said))
}

/// Returns how a check ends that was shown in `format`. A monitor shows first what is known to be
/// bad.
pub(crate) fn of_check(format: Format, answer: MonitorAnswer, said: Said) -> CommandOutcome {
    match (format, answer.state()) {
        (Format::Nagios, state) => CommandOutcome::Monitor(state.plugin_code(), said),
        (Format::Npd, MonitorState::Ok) => CommandOutcome::Monitor(0, said),
        (Format::Npd, MonitorState::Warning | MonitorState::Critical) => {
            CommandOutcome::Monitor(1, said)
        }
        (Format::Npd, MonitorState::Unknown) => CommandOutcome::Monitor(2, said),
        _ if answer.unopened => CommandOutcome::Misuse(said),
        _ if answer.found.is_some() => CommandOutcome::Found(said),
        _ if answer.unknown => CommandOutcome::NoVerdict(said),
        _ => CommandOutcome::Done,
    }
}

/// The process's exit code for `arguments`; an error is printed with what led to it.
pub(crate) fn code(
    arguments: &Arguments,
    done: anyhow::Result<CommandOutcome>,
    printer: &Printer,
) -> u8 {
    match done {
        Ok(outcome) => match outcome.code(arguments.command.allows_unknown()) {
            // A thread ended early, and the command did not notice.
            0 if bug::is_printed() => 2,
            code => code,
        },
        Err(error) => {
            // What is written goes to standard output alone; whatever else fails is a refusal.
            let writing = error.chain().any(|cause| cause.is::<io::Error>());
            let tried = if writing { "cannot write to standard output: " } else { "" };
            let message = format!("{tried}{error:#}");
            let said = printer.error(&message);
            match failure(arguments.command.monitor_format(), &message, (printer, said)) {
                2 if error.chain().any(|cause| cause.is::<KeptFile>()) => {
                    CommandOutcome::Refused(said).code(false)
                }
                code => code,
            }
        }
    }
}

/// The code of what failed; a monitor gets the message on standard output, where it listens.
fn failure(format: Format, message: &str, (printer, said): (&Printer, Said)) -> u8 {
    let line = message.replace('\n', "; ");
    let unknown = MonitorAnswer { unknown: true, unopened: true, ..MonitorAnswer::default() };
    let text = match format {
        Format::Nagios => report::nagios_failure(&line),
        Format::Npd => report::npd_message(&line, report::NPD_BYTES),
        _ => String::new(),
    };
    // Nobody is left to read it when standard output is gone.
    let _ = printer.print_bytes(PrintedKind::Data, text.as_bytes());
    of_check(format, unknown, said).code(false)
}

/// Returns what `typed` ends with when it could not be understood. A plugin's misuse is UNKNOWN
/// (Monitoring Plugins Guidelines, "Plugin Return Codes"), not CRITICAL, which 2 would be.
pub(crate) fn misuse(typed: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        // Nothing is left to report when the terminal is gone.
        let _ = error.print();
        return 0;
    }
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    let mut said = printer::misuse(error);
    let file = typed.get(1).filter(|word| Path::new(word).exists());
    if let Some(file) = file.filter(|_| error.kind() == ErrorKind::InvalidSubcommand) {
        let file = shell_word(&printer::shown(Path::new(file)));
        said = printer::note(&format!("to check a disk or an image: straddle check {file}"));
    }
    failure(format_of(typed), first, (&Printer::Standard, said))
}

/// Returns the code of what was `typed` and ended with a bug, and prints that.
pub(crate) fn bug(typed: &[OsString], bug: &Bug) -> u8 {
    let shown = |word: &OsString| match printer::shown(Path::new(word)) {
        option if option.starts_with('-') => option,
        word => shell_word(&word),
    };
    let cut = (typed.len() > WORDS_SHOWN + 1).then(|| "...".to_owned());
    let words = typed.iter().skip(1).take(WORDS_SHOWN).map(shown).chain(cut);
    let words: Vec<String> = words.collect();
    let message = format!("cannot finish straddle {}: {bug}", words.join(" "));
    let said = printer::error(&format!("{message}\nhint: {}", bug::HINT));
    failure(format_of(typed), &message, (&Printer::Standard, said))
}

/// The format that was asked for, as far as it can be recognized.
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

#[cfg(test)]
mod tests {
    use super::*;
    use stack::Severity;

    const SAID: Said = Said::FOR_TESTS;

    #[test]
    fn every_answer_has_its_codes() {
        let codes = |found, unopened, unknown| {
            let answer = MonitorAnswer { found, unopened, unknown };
            [Format::Json, Format::Nagios, Format::Npd]
                .map(|format| of_check(format, answer, SAID).code(false))
        };
        for (found, unopened, unknown, expected) in [
            (None, false, false, [0, 0, 0]),
            (None, false, true, [5, 3, 2]),
            (None, true, true, [2, 3, 2]),
            (Some(Severity::Info), false, false, [1, 1, 1]),
            (Some(Severity::Warning), false, true, [1, 1, 1]),
            (Some(Severity::Warning), true, false, [2, 1, 1]),
            (Some(Severity::Error), false, false, [1, 2, 1]),
            (Some(Severity::Error), true, true, [2, 2, 1]),
        ] {
            let seen = codes(found, unopened, unknown);
            assert_eq!(seen, expected, "{found:?} {unopened} {unknown}");
        }
    }

    #[test]
    fn every_outcome_has_a_code_of_the_table_and_a_missing_verdict_may_be_allowed() {
        let outcomes = [
            CommandOutcome::Done,
            CommandOutcome::NoVerdict(SAID),
            CommandOutcome::Found(SAID),
            CommandOutcome::Misuse(SAID),
            CommandOutcome::Refused(SAID),
            CommandOutcome::Interrupted(2, SAID),
        ];
        for outcome in outcomes {
            let code = outcome.code(false);
            assert!(table::CODES.iter().any(|one| one.number == code), "{outcome:?}");
            let allowed = if code == 5 { 0 } else { code };
            assert_eq!(outcome.code(true), allowed, "{outcome:?}");
        }
    }

    #[test]
    fn every_command_has_its_codes_in_the_table() {
        use clap::CommandFactory as _;
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let is_its = |words: &str| words.split(' ').next() == Some(name);
            assert!(table::ENDINGS.iter().any(|ending| is_its(ending.command)), "{name}");
        }
        for ending in table::ENDINGS {
            assert!(table::CODES.iter().any(|code| code.number == ending.number));
        }
    }

    #[test]
    fn the_help_of_every_command_ends_with_codes() {
        fn look(command: &clap::Command) {
            let name = command.get_name();
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Exit codes:"), "{name}");
            command.get_subcommands().for_each(look);
        }
        use clap::CommandFactory as _;
        Arguments::command().get_subcommands().for_each(look);
    }
}
