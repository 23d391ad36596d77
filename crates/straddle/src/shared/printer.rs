//! Destinations of words: standard output for data, standard error for everything else.

use std::io::{self, Write};
#[cfg(test)]
use std::rc::Rc;

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
    stream: io::BufWriter<Box<dyn Write>>,
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

impl Write for Output {
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
    Printer::Standard.output(content)
}

/// Printer of one run.
#[derive(Clone, Debug)]
pub(crate) enum Printer {
    /// On standard output and standard error.
    Standard,
    /// Into memory, as into a pipe.
    #[cfg(test)]
    Kept(Rc<kept::KeptText>),
}

impl Printer {
    fn output(&self, content: PrintedKind) -> Output {
        let (stream, is_colorful): (Box<dyn Write>, bool) = match self {
            Printer::Standard => {
                (Box::new(io::stdout()), AutoStream::choice(&io::stdout()) != ColorChoice::Never)
            }
            #[cfg(test)]
            Printer::Kept(kept) => (Box::new(kept.out()), false),
        };
        let is_plain = content == PrintedKind::Text && !is_colorful;
        let stream = io::BufWriter::with_capacity(1 << 16, stream);
        let colorless = is_plain.then(StripBytes::new);
        Output { stream, colorless, is_empty: true, is_unread: false }
    }

    /// Prints `text` on standard output, whole; `None` where it is empty.
    ///
    /// # Errors
    /// When standard output does not take it.
    pub(crate) fn print(&self, text: &str) -> io::Result<Option<Said>> {
        self.print_bytes(PrintedKind::Text, text.as_bytes())
    }

    /// Prints `bytes` on standard output, whole; `None` for no bytes.
    ///
    /// # Errors
    /// When standard output does not take them.
    pub(crate) fn print_bytes(
        &self,
        content: PrintedKind,
        bytes: &[u8],
    ) -> io::Result<Option<Said>> {
        let mut output = self.output(content);
        output.write_all(bytes)?;
        output.end()
    }

    /// Prints a line on standard error.
    fn tell(&self, kind: &str, message: &str) -> Said {
        // Nothing is left to be told when standard error is gone.
        let _ = match self {
            Printer::Standard => {
                writeln!(anstream::stderr(), "{kind}: {}", told(message, is_ascii()))
            }
            #[cfg(test)]
            Printer::Kept(kept) => writeln!(kept.errors(), "{kind}: {}", told(message, false)),
        };
        Said(())
    }

    /// Prints an error; what to do next may stand on a line of its own that starts with `hint:`.
    pub(crate) fn error(&self, message: &str) -> Said {
        self.tell("error", message)
    }

    /// That it was `said`; where nothing was, `why` is said now.
    pub(crate) fn said_or(&self, said: Option<Said>, why: &str) -> Said {
        said.unwrap_or_else(|| self.error(why))
    }

    /// Prints something that the user should know and that is no data.
    pub(crate) fn note(&self, message: &str) -> Said {
        self.tell("note", message)
    }

    /// Prints why something was refused, and what to do next.
    pub(crate) fn refusal(&self, refusal: &Refusal) -> Said {
        let hint = refusal.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        self.error(&format!("{}{}", refusal.message, hint.unwrap_or_default()))
    }

    /// Prints that a signal ended it.
    pub(crate) fn interrupted(&self) -> Said {
        self.note(INTERRUPTED)
    }

    /// Returns how text is laid out, where sizes are rounded.
    pub(crate) fn look(&self, explain: bool) -> Look {
        match self {
            Printer::Standard => look(explain),
            #[cfg(test)]
            Printer::Kept(_) => Look { width: None, ascii: false, bytes: false, explain },
        }
    }
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
        Printer::Standard.said_or(said, why)
    }
}

/// Prints `text` on standard output, whole; `None` where it is empty.
///
/// # Errors
/// When standard output does not take it.
pub(crate) fn print(text: &str) -> io::Result<Option<Said>> {
    Printer::Standard.print(text)
}

/// Prints `bytes` on standard output, whole; `None` for no bytes.
///
/// # Errors
/// When standard output does not take them.
pub(crate) fn print_bytes(content: PrintedKind, bytes: &[u8]) -> io::Result<Option<Said>> {
    Printer::Standard.print_bytes(content, bytes)
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
    Printer::Standard.error(message)
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
    Printer::Standard.note(message)
}

/// Why something was refused, and what to do next.
pub(crate) fn refusal(refusal: &Refusal) -> Said {
    Printer::Standard.refusal(refusal)
}

/// Sentence of a run that was interrupted.
pub(crate) const INTERRUPTED: &str = "interrupted; nothing is left behind";

/// That a signal ended it.
pub(crate) fn interrupted() -> Said {
    Printer::Standard.interrupted()
}

/// Text that is printed into memory.
#[cfg(test)]
pub(crate) mod kept {
    use std::cell::RefCell;
    use std::io::{self, Write};
    use std::rc::Rc;

    /// Text of both streams.
    #[derive(Debug, Default)]
    pub(crate) struct KeptText {
        out: Stream,
        errors: Stream,
    }

    #[derive(Clone, Debug, Default)]
    struct Stream(Rc<RefCell<Vec<u8>>>);

    impl Stream {
        fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).expect("it prints UTF-8")
        }
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl KeptText {
        /// Returns where standard output is kept.
        pub(super) fn out(&self) -> impl Write + 'static {
            self.out.clone()
        }

        /// Returns where standard error is kept.
        pub(super) fn errors(&self) -> impl Write + 'static {
            self.errors.clone()
        }

        /// Returns what was printed on standard output, and on standard error.
        pub(crate) fn texts(&self) -> (String, String) {
            (self.out.text(), self.errors.text())
        }
    }
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
