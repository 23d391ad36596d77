//! A recording: every command that a drive was sent, the bytes of each write, and the lines that
//! a workload printed meanwhile.
//!
//! A model that is sent the same commands at the same times keeps the same logs, so that the power
//! can be cut afterwards as often as one likes.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use drive::{CommandKind, DriveCommand, DriveCompletion, Model};

use crate::Store;

/// Bytes that a command counts for besides its data.
const COMMAND_BYTES: u64 = 96;
/// First line of a kept recording.
const HEAD: &str = "straddle recording 1";

/// A command as the drive was sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// The command; its name is its place in the recording.
    pub command: DriveCommand,
    /// When it was sent, in nanoseconds of the drive's time.
    pub at_ns: u64,
    /// The bytes of a write; empty for all else.
    pub data: Box<[u8]>,
}

/// A line that a workload printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLine {
    /// When it was read, before any later command was taken: the drive had answered everything
    /// that the line acknowledges.
    pub at_ns: u64,
    /// The line, without its line feed.
    pub text: String,
}

/// Commands, their data and lines, in the order of time; bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    commands: Vec<RecordedCommand>,
    lines: Vec<RecordedLine>,
    end_ns: u64,
    left_bytes: u64,
    is_full: bool,
}

impl Recording {
    /// An empty one that takes at most `bytes_max` bytes of memory.
    #[must_use]
    pub fn new(bytes_max: u64) -> Recording {
        Recording { left_bytes: bytes_max, ..Recording::default() }
    }

    /// The commands, by the time at which they were sent.
    #[must_use]
    pub fn commands(&self) -> &[RecordedCommand] {
        &self.commands
    }

    /// The lines, by time.
    #[must_use]
    pub fn lines(&self) -> &[RecordedLine] {
        &self.lines
    }

    /// When it ended, in nanoseconds of the drive's time.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Returns whether something is missing, since there was no room for it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes in a command that the drive is sent at `at_ns`; `store` has its bytes already.
    pub(crate) fn note(&mut self, command: &DriveCommand, at_ns: u64, store: &Store) {
        let is_write = matches!(command.action, CommandKind::Write { .. });
        let length = if is_write { command.length_bytes } else { 0 };
        if !self.takes(length) {
            return;
        }
        let mut data = vec![0; usize::try_from(length).unwrap_or(0)];
        if is_write && store.read(command.offset_bytes, &mut data).is_err() {
            self.is_full = true;
            return;
        }
        let command = DriveCommand { id: self.commands.len() as u64, ..*command };
        self.commands.push(RecordedCommand { command, at_ns, data: data.into() });
    }

    /// Takes in a line that was printed until `at_ns`.
    pub(crate) fn hear(&mut self, at_ns: u64, text: String) {
        if self.takes(text.len() as u64) {
            self.lines.push(RecordedLine { at_ns, text });
        }
    }

    /// Ends it at `at_ns`.
    pub(crate) fn end(&mut self, at_ns: u64) {
        self.end_ns = at_ns;
    }

    /// Returns whether there is room for something with so many bytes.
    fn takes(&mut self, length: u64) -> bool {
        let bytes = length.saturating_add(COMMAND_BYTES);
        self.is_full |= bytes > self.left_bytes;
        self.left_bytes -= if self.is_full { 0 } else { bytes };
        !self.is_full
    }

    /// Sends `model`, which did nothing yet, all commands at their times.
    pub fn replay(&self, model: &mut dyn Model) {
        let mut done: Vec<DriveCompletion> = Vec::new();
        for RecordedCommand { command, at_ns, .. } in &self.commands {
            model.submit(*command, *at_ns, &mut done);
            done.clear();
        }
        model.advance(self.end_ns, &mut done);
    }

    /// Writes it down: lines of text go to `log`, the bytes of all writes to `data`.
    ///
    /// # Errors
    /// When either does not take it.
    pub fn save(&self, log: &mut dyn Write, data: &mut dyn Write) -> io::Result<()> {
        writeln!(log, "{HEAD}")?;
        for RecordedCommand { command, at_ns, data: bytes } in &self.commands {
            let letter = match command.action {
                CommandKind::Read => "read",
                CommandKind::Write { fua: false } => "write",
                CommandKind::Write { fua: true } => "write-fua",
                CommandKind::Flush => "flush",
                CommandKind::Discard => "discard",
            };
            let DriveCommand { offset_bytes, length_bytes, .. } = command;
            writeln!(log, "{at_ns} {letter} {offset_bytes} {length_bytes}")?;
            data.write_all(bytes)?;
        }
        for line in &self.lines {
            writeln!(log, "{} line {}", line.at_ns, line.text)?;
        }
        writeln!(log, "{} end", self.end_ns)
    }

    /// Reads what [`Recording::save`] wrote, of which it takes at most `bytes_max` bytes of memory.
    ///
    /// # Errors
    /// When either cannot be read, is damaged, cut short or longer.
    pub fn load(
        log: &mut dyn BufRead,
        data: &mut dyn Read,
        bytes_max: u64,
    ) -> io::Result<Recording> {
        let damaged = |number: usize| {
            io::Error::new(ErrorKind::InvalidData, format!("line {number} is damaged"))
        };
        let mut read = Recording::new(bytes_max);
        let (mut last_ns, mut heard_ns) = (0, 0);
        let mut lines = log.lines().enumerate();
        if lines.next().map(|(_, line)| line).transpose()?.as_deref() != Some(HEAD) {
            return Err(damaged(1));
        }
        for (number, line) in lines {
            let line = line?;
            let mut words = line.splitn(3, ' ');
            let at_ns = words.next().and_then(|word| word.parse::<u64>().ok());
            let (at_ns, word) = at_ns.zip(words.next()).ok_or_else(|| damaged(number + 1))?;
            let rest = words.next().unwrap_or_default();
            if at_ns > NS_MAX {
                return Err(damaged(number + 1));
            }
            match word {
                "end" => {
                    read.end(at_ns.max(last_ns).max(heard_ns));
                    return match read.is_full {
                        true => Err(io::Error::other("longer than the memory that is allowed")),
                        false => Ok(read),
                    };
                }
                "line" => {
                    heard_ns = heard_ns.max(at_ns);
                    read.hear(at_ns, rest.to_owned());
                }
                _ => {
                    let recorded = RecordedCommand::read(word, rest, at_ns);
                    let recorded = recorded.filter(|_| at_ns >= last_ns);
                    last_ns = at_ns;
                    read.take(recorded.ok_or_else(|| damaged(number + 1))?, data)?;
                }
            }
        }
        Err(io::Error::new(ErrorKind::UnexpectedEof, "its end is missing"))
    }

    /// Takes in a command, whose bytes come from `data`.
    fn take(&mut self, mut recorded: RecordedCommand, data: &mut dyn Read) -> io::Result<()> {
        let is_write = matches!(recorded.command.action, CommandKind::Write { .. });
        let length = if is_write { recorded.command.length_bytes } else { 0 };
        if self.takes(length) {
            let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
            data.read_exact(&mut bytes)?;
            recorded.data = bytes.into();
            recorded.command.id = self.commands.len() as u64;
            self.commands.push(recorded);
        }
        Ok(())
    }
}

impl RecordedCommand {
    /// The command that `word` names, with its range in `rest`; its bytes are missing.
    fn read(word: &str, rest: &str, at_ns: u64) -> Option<RecordedCommand> {
        let action = match word {
            "read" => CommandKind::Read,
            "write" => CommandKind::Write { fua: false },
            "write-fua" => CommandKind::Write { fua: true },
            "flush" => CommandKind::Flush,
            "discard" => CommandKind::Discard,
            _ => return None,
        };
        let (offset, length) = rest.split_once(' ')?;
        let (offset_bytes, length_bytes) = (offset.parse().ok()?, length.parse().ok()?);
        let command = DriveCommand { id: 0, action, offset_bytes, length_bytes };
        Some(RecordedCommand { command, at_ns, data: Box::default() })
    }
}

/// The latest time of a recording that is read: a year, so that no sum of times overflows.
const NS_MAX: u64 = 366 * 86_400 * 1_000_000_000;

/// The longest line that counts as one, in bytes; the rest is cut off.
const LINE_BYTES_MAX: usize = 1 << 16;

/// Lines that a program prints, read without waiting.
pub(crate) struct PrintedLines {
    input: Box<dyn Read + Send>,
    begun: Vec<u8>,
}

impl PrintedLines {
    /// Those that come out of `input`, which fails rather than waits.
    pub(crate) fn new(input: Box<dyn Read + Send>) -> PrintedLines {
        PrintedLines { input, begun: Vec::new() }
    }

    /// Puts those that are whole by now into `recording`, as read at `at_ns`.
    pub(crate) fn take(&mut self, recording: &mut Recording, at_ns: u64) {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = self.input.read(&mut bytes) {
            for byte in &bytes[..count] {
                match byte {
                    b'\n' => {
                        let line = std::mem::take(&mut self.begun);
                        recording.hear(at_ns, String::from_utf8_lossy(&line).into_owned());
                    }
                    _ if self.begun.len() < LINE_BYTES_MAX => self.begun.push(*byte),
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let store = Store::memory(1 << 20, 1 << 20);
        store.write(4096, &[7; 4096]).expect("there is room");
        let mut recording = Recording::new(1 << 20);
        let write = CommandKind::Write { fua: true };
        for (at_ns, action, length_bytes) in [(5, write, 4096), (9, CommandKind::Flush, 0)] {
            let command = DriveCommand { id: 77, action, offset_bytes: 4096, length_bytes };
            recording.note(&command, at_ns, &store);
        }
        recording.hear(11, "row 1 is there".to_owned());
        recording.end(12);
        recording
    }

    #[test]
    fn a_recording_is_read_back_as_it_was_kept() {
        let kept = recording();
        let (mut log, mut data) = (Vec::new(), Vec::new());
        kept.save(&mut log, &mut data).expect("memory takes it");
        let read = Recording::load(&mut &log[..], &mut &data[..], 1 << 20).expect("it is whole");
        assert_eq!(read, kept);
        assert_eq!(read.commands()[0].data[..], [7; 4096]);
    }

    #[test]
    fn what_is_cut_short_edited_or_too_long_is_refused() {
        let (mut log, mut data) = (Vec::new(), Vec::new());
        recording().save(&mut log, &mut data).expect("memory takes it");
        let load = |log: &[u8], data: &[u8], most: u64| {
            Recording::load(&mut &log[..], &mut &data[..], most).map(|_| ())
        };
        for length in 0..log.len() - 1 {
            load(&log[..length], &data, 1 << 20).expect_err("its end is missing");
        }
        load(&log, &data[1..], 1 << 20).expect_err("bytes are missing");
        load(&log, &data, 100).expect_err("there is no room");
        let text = String::from_utf8(log).expect("it is text");
        for (word, other) in
            [("write-fua", "wipe"), ("9 flush", "4 flush"), ("4096", "18446744073709551615")]
        {
            load(text.replace(word, other).as_bytes(), &data, 1 << 20).expect_err(word);
        }
    }

    #[test]
    fn lines_are_taken_when_they_are_whole() {
        let mut recording = Recording::new(1 << 20);
        for (number, text) in (0..).zip(["one\ntw", "o\n\nthree"]) {
            let mut lines = PrintedLines::new(Box::new(text.as_bytes()));
            lines.begun = if number == 1 { b"tw".to_vec() } else { Vec::new() };
            lines.take(&mut recording, number);
        }
        let lines = recording.lines().iter().map(|line| (line.at_ns, line.text.as_str()));
        assert_eq!(lines.collect::<Vec<_>>(), [(0, "one"), (1, "two"), (1, "")]);
    }

    #[test]
    fn a_recording_without_room_says_so() {
        let store = Store::memory(1 << 20, 1 << 20);
        let mut recording = Recording::new(5000);
        let action = CommandKind::Write { fua: false };
        let command = DriveCommand { id: 0, action, offset_bytes: 0, length_bytes: 4096 };
        recording.note(&command, 0, &store);
        assert!(!recording.is_full());
        recording.note(&command, 1, &store);
        assert!(recording.is_full() && recording.commands().len() == 1);
    }
}
