//! Terminals: the one that standard output is, and those among character devices.

/// The columns of the terminal behind standard output; `None` when it is none, or does not say.
///
/// Source: tty_ioctl(4), TIOCGWINSZ.
#[must_use]
pub fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Returns whether the character device with this number is a terminal or `/dev/null`: both take
/// any text, and keep none.
///
/// Source: Linux `Documentation/admin-guide/devices.txt` (major 1, minor 3; majors 4, 5, and 136 to
/// 143).
#[must_use]
pub fn is_terminal_or_null(device: u64) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    (major, minor) == (1, 3) || matches!(major, 4 | 5 | 136..=143)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_and_null_take_text_and_devices_that_take_commands_do_not() {
        let is_one = |(major, minor)| is_terminal_or_null(rustix::fs::makedev(major, minor));
        // /dev/null, /dev/tty1, /dev/tty, a pseudoterminal.
        assert!([(1, 3), (4, 1), (5, 0), (136, 2)].into_iter().all(is_one));
        // /dev/mem, /dev/zero, /dev/watchdog, /dev/fuse, /dev/sg0, /dev/nvme0.
        assert!(![(1, 1), (1, 5), (10, 130), (10, 229), (21, 0), (240, 0)].into_iter().any(is_one));
    }
}
