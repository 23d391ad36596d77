//! The table on a terminal, drawn again and again in one place until q or Ctrl-C.

use std::io::{IsTerminal as _, Write as _};

use host::Keys;
use report::watch::Watch as Document;

use crate::arguments::{Watch, WatchFormat};
use crate::shared::printer;

/// The other screen of the terminal on, its cursor hidden; and back (xterm's control sequences).
const OPEN: &str = "\x1b[?1049h\x1b[?25l";
const CLOSE: &str = "\x1b[?25h\x1b[?1049l";
/// To the upper left; clear from there on.
const HOME: &str = "\x1b[H\x1b[J";

/// The terminal, where one is looked at.
pub(super) struct Screen {
    keys: Option<Keys>,
    is_shown: bool,
    is_ended: bool,
}

impl Screen {
    /// Opens the screen where standard output is a terminal and a table is wanted.
    pub(super) fn open(watch: &Watch) -> Screen {
        let is_wanted = watch.format() == WatchFormat::Table;
        let is_shown = is_wanted && std::io::stdout().is_terminal();
        if is_shown {
            put(OPEN);
        }
        let keys = is_shown.then(Keys::listen).flatten();
        Screen { keys, is_shown, is_ended: false }
    }

    /// Returns whether somebody looks.
    pub(super) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Returns whether q was pressed.
    pub(super) fn is_ended(&mut self) -> bool {
        let pressed = self.keys.as_ref().map_or(Vec::new(), Keys::pressed);
        self.is_ended |= pressed.iter().any(|key| matches!(key, b'q' | b'Q'));
        self.is_ended
    }

    /// Draws what `document` makes.
    pub(super) fn draw(&self, document: impl FnOnce() -> Document) {
        if self.is_shown {
            let text = report::watch::table(&document(), &printer::look(false));
            put(&format!("{HOME}{text}\nq or Ctrl-C ends it with a summary"));
        }
    }

    /// Gives the terminal back.
    pub(super) fn close(&mut self) {
        self.keys = None;
        if std::mem::take(&mut self.is_shown) {
            put(CLOSE);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.close();
    }
}

/// Writes to the terminal; nobody is left to see it when that is gone.
fn put(text: &str) {
    let mut output = anstream::stdout();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}
