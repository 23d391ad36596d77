//! The terminal that standard output is.

/// The columns of the terminal behind standard output; `None` when it is none, or does not say.
///
/// Source: tty_ioctl(4), TIOCGWINSZ.
#[must_use]
pub fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Keys that are pressed on the terminal that standard input is, one by one and not shown; dropped,
/// the terminal is as it was.
///
/// Source: termios(3), ICANON and ECHO. Ctrl-C stays a signal.
#[derive(Debug)]
pub struct Keys {
    before: rustix::termios::Termios,
}

impl Keys {
    /// Listens to keys; `None` where standard input is no terminal, or this process is in the
    /// background of one.
    #[must_use]
    pub fn listen() -> Option<Keys> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
        let input = rustix::stdio::stdin();
        let before = tcgetattr(input).ok()?;
        let is_ours = tcgetpgrp(input).ok()? == rustix::process::getpgrp();
        let mut bare = before.clone();
        bare.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        is_ours.then(|| tcsetattr(input, OptionalActions::Now, &bare).ok()).flatten()?;
        Some(Keys { before })
    }

    /// The keys that were pressed since the last look; never waits.
    #[must_use]
    pub fn pressed(&self) -> Vec<u8> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let input = rustix::stdio::stdin();
        let mut files = [PollFd::new(&input, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_there = poll(&mut files, Some(&at_once)).is_ok_and(|count| count > 0);
        let mut keys = vec![0; 64];
        let count = if is_there { rustix::io::read(input, &mut keys).unwrap_or(0) } else { 0 };
        keys.truncate(count);
        keys
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let now = rustix::termios::OptionalActions::Now;
        // The terminal may be gone.
        let _ = rustix::termios::tcsetattr(rustix::stdio::stdin(), now, &self.before);
    }
}
