//! Where words go: data to standard output, everything else to standard error.

use std::io::{self, Write as _};

use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use report::Look;

use crate::arguments::Colour;

/// Standard output, which drops colours that nobody would see.
pub(crate) fn output(colour: Colour) -> io::BufWriter<AutoStream<io::Stdout>> {
    let choice = match colour {
        Colour::Always => ColorChoice::Always,
        Colour::Never => ColorChoice::Never,
        Colour::Auto => AutoStream::choice(&io::stdout()),
    };
    io::BufWriter::with_capacity(1 << 16, AutoStream::new(io::stdout(), choice))
}

/// Prints `text` on standard output, whole.
///
/// # Errors
/// When standard output does not take it.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut output = output(Colour::Auto);
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// How text is laid out here, where sizes are rounded.
pub(crate) fn look(explain: bool) -> Look {
    Look { width: Some(width()), ascii: is_ascii(), bytes: false, explain }
}

/// A path, harmless to print.
pub(crate) fn shown(path: &Path) -> String {
    units::text::escape(path.as_os_str().as_encoded_bytes())
}

/// The width to print for: the terminal's, or what `COLUMNS` says, or 100.
pub(crate) fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    told.or_else(host::terminal_width).filter(|&width| width >= 40).unwrap_or(100)
}

/// Whether to print ASCII only: the terminal is a dumb one, or the locale names another encoding
/// than UTF-8, as `C` and `POSIX` do.
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
pub(crate) fn error(message: &str) {
    // Nothing is left to be told when standard error is gone.
    let _ = writeln!(anstream::stderr(), "error: {message}");
}

/// Something that the user should know and that is no data.
pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr(), "note: {message}");
}

/// Why something was refused, and what to do next.
pub(crate) fn refusal(message: &str, hint: Option<&str>) {
    let hint = hint.map(|hint| format!("\nhint: {hint}"));
    error(&format!("{message}{}", hint.unwrap_or_default()));
}

/// That a signal ended it.
pub(crate) fn interrupted() {
    note("interrupted; nothing is left behind");
}
