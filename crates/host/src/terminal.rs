//! The terminal that standard output is.

/// The columns of the terminal behind standard output; `None` when it is none, or does not say.
///
/// Source: tty_ioctl(4), TIOCGWINSZ.
#[must_use]
pub fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}
