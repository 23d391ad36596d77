//! Destinations of words: standard output for data, standard error for everything else.

use std::io::{self, Write as _};

use std::path::Path;

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};
use report::{Look, Refusal};

use crate::arguments::Color;

/// Kind of content that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintedKind {
    /// Text for people, in colors where they are wanted.
    Text,
    /// Bytes that are printed as they are.
    Data,
}

/// Standard output, which drops colors that nobody would see. Once its reader is gone it takes
/// everything and prints nothing: the command goes on, so that its exit code is the one of what was
/// found, not of who read it.
pub(crate) struct Output {
    stream: io::BufWriter<io::Stdout>,
    /// Takes colors out, where they are not wanted.
    colorless: Option<StripBytes>,
    is_empty: bool,
    is_unread: bool,
}

impl Output {
    /// Hands everything on; `None` where nothing was written.
    ///
    /// # Errors
    /// When standard output does not take it.
    pub(crate) fn end(mut self) -> io::Result<Option<Said>> {
        self.flush()?;
        Ok((!self.is_empty).then_some(Said(())))
    }

    /// Returns whether its reader is gone.
    pub(crate) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// `done`, or `instead` where nobody reads any more.
    fn unless_unread<T>(&mut self, done: io::Result<T>, instead: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_unread = true;
                Ok(instead)
            }
            done => done,
        }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_empty &= bytes.is_empty();
        if self.is_unread {
            return Ok(bytes.len());
        }
        let Output { stream, colorless, .. } = self;
        let done = match colorless {
            Some(colorless) => {
                colorless.strip_next(bytes).try_for_each(|piece| stream.write_all(piece))
            }
            None => stream.write_all(bytes),
        };
        self.unless_unread(done.map(|()| bytes.len()), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_unread {
            return Ok(());
        }
        let done = self.stream.flush();
        self.unless_unread(done, ())
    }
}

/// Standard output for `content`.
pub(crate) fn output(content: PrintedKind) -> Output {
    let is_colorful =
        content == PrintedKind::Data || AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    let stream = io::BufWriter::with_capacity(1 << 16, io::stdout());
    let colorless = (!is_colorful).then(StripBytes::new);
    Output { stream, colorless, is_empty: true, is_unread: false }
}

/// Proof that a user was told something. Only printing makes one, so that no command can end
/// with a code that nobody explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said(());

impl Said {
    #[cfg(test)]
    pub(crate) const FOR_TESTS: Said = Said(());

    /// That it was `said`; where nothing was, `why` is said now.
    pub(crate) fn or(said: Option<Said>, why: &str) -> Said {
        said.unwrap_or_else(|| error(why))
    }
}

/// Prints `text` on standard output, whole; `None` where it is empty.
///
/// # Errors
/// When standard output does not take it.
pub(crate) fn print(text: &str) -> io::Result<Option<Said>> {
    print_bytes(PrintedKind::Text, text.as_bytes())
}

/// Prints `bytes` on standard output, whole; `None` for no bytes.
///
/// # Errors
/// When standard output does not take them.
pub(crate) fn print_bytes(content: PrintedKind, bytes: &[u8]) -> io::Result<Option<Said>> {
    let mut output = output(content);
    output.write_all(bytes)?;
    output.end()
}

/// From here on colors are used as `color` says.
pub(crate) fn use_color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => ColorChoice::Always.write_global(),
        Color::Never => ColorChoice::Never.write_global(),
    }
}

/// Returns how text is laid out here, where sizes are rounded.
pub(crate) fn look(explain: bool) -> Look {
    Look { width: width(), ascii: is_ascii(), bytes: false, explain }
}

/// A path, harmless to print.
pub(crate) fn shown(path: &Path) -> String {
    units::text::escape(path.as_os_str().as_encoded_bytes())
}

/// The width to print for: the terminal's, or what `COLUMNS` says; `None` in a pipe.
fn width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    told.or_else(host::terminal_width).filter(|&width| width >= 40)
}

/// Returns whether to print ASCII only: the terminal is a dumb one, or the locale names another
/// encoding than UTF-8, as `C` and `POSIX` do.
pub(crate) fn is_ascii() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    // Where no locale is set, UTF-8 is the better guess nowadays.
    let other = locale.is_some_and(|locale| {
        let lower = locale.to_ascii_lowercase();
        !(lower.contains("utf-8") || lower.contains("utf8"))
    });
    dumb || other
}

/// An error; what to do next may stand on a line of its own that starts with `hint:`.
pub(crate) fn error(message: &str) -> Said {
    // Nothing is left to be told when standard error is gone.
    let _ = writeln!(anstream::stderr(), "error: {}", told(message, is_ascii()));
    Said(())
}

/// `message` without the numbers of the kernel's errors, whose words say the same, and in ASCII
/// where that is all that is shown.
fn told(message: &str, ascii: bool) -> String {
    let mut parts = message.split(" (os error ");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        told += behind_number(&told, part).unwrap_or(&format!(" (os error {part}"));
    }
    let escaped = |mark: char| match mark {
        '\u{2026}' => "...".to_owned(),
        mark if mark.is_ascii() => mark.to_string(),
        mark => mark.escape_unicode().to_string(),
    };
    if ascii { told.chars().map(escaped).collect() } else { told }
}

/// The text after an error's number with which `part` begins; `None` where `before` does not end in
/// that error's own words, as in a name that looks like one.
fn behind_number<'a>(before: &str, part: &'a str) -> Option<&'a str> {
    let (number, behind) = part.split_once(')')?;
    let words = io::Error::from_raw_os_error(number.parse().ok()?).to_string();
    let words = words.split(" (os error ").next()?;
    before.ends_with(words).then_some(behind)
}

/// Why the command line was not understood, in lines that fit the terminal.
pub(crate) fn misuse(error: &clap::Error) -> Said {
    let limit = width().unwrap_or(usize::MAX);
    let lines = error.to_string();
    let lines: Vec<String> = lines.lines().map(|line| report::hang(line, limit)).collect();
    // Nothing is left to be told when the terminal is gone.
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
    Said(())
}

/// Something that the user should know and that is no data.
pub(crate) fn note(message: &str) -> Said {
    let _ = writeln!(anstream::stderr(), "note: {}", told(message, is_ascii()));
    Said(())
}

/// Why something was refused, and what to do next.
pub(crate) fn refusal(refusal: &Refusal) -> Said {
    let hint = refusal.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
    error(&format!("{}{}", refusal.message, hint.unwrap_or_default()))
}

/// Sentence of a run that was interrupted.
pub(crate) const INTERRUPTED: &str = "interrupted; nothing is left behind";

/// That a signal ended it.
pub(crate) fn interrupted() -> Said {
    note(INTERRUPTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_in_words_and_in_ascii_where_asked() {
        let message = "cannot look at é: No such file or directory (os error 2); a … b";
        assert_eq!(told(message, false), "cannot look at é: No such file or directory; a … b");
        let named = "cannot open a (os error 2).raw: not a file (os error";
        assert_eq!(told(named, false), named);
        assert_eq!(
            told(message, true),
            "cannot look at \\u{e9}: No such file or directory; a ... b"
        );
    }
}
