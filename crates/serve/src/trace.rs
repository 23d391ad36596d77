//! Commands that a drive was sent, as the text of blkparse, which `drive simulate --trace` reads.

use std::fmt;
use std::io::{self, BufWriter, Write};

use drive::{CommandKind, DriveCommand};

/// Unit of blkparse's addresses, in bytes.
const SECTOR_BYTES: u64 = 512;

/// A trace that is written. It ends by itself where it cannot be written any more.
pub struct TraceLog {
    out: Option<BufWriter<Box<dyn Write + Send>>>,
    lines: u64,
    fault: Option<io::Error>,
}

impl fmt::Debug for TraceLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TraceLog").field("lines", &self.lines).finish_non_exhaustive()
    }
}

impl TraceLog {
    /// An empty trace that goes to `out`.
    #[must_use]
    pub fn new(out: Box<dyn Write + Send>) -> TraceLog {
        TraceLog { out: Some(BufWriter::with_capacity(1 << 16, out)), lines: 0, fault: None }
    }

    /// Writes down a command that the drive takes at `at_ns` of its time.
    pub(crate) fn note(&mut self, command: &DriveCommand, at_ns: u64) {
        let Some(out) = &mut self.out else { return };
        let (seconds, ns) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        let letters = match command.action {
            CommandKind::Read => "R",
            CommandKind::Write { fua: false } => "W",
            CommandKind::Write { fua: true } => "WF",
            CommandKind::Flush => "FN",
            CommandKind::Discard => "D",
        };
        self.lines += 1;
        let head = format_args!("  8,0    0 {:8} {seconds:5}.{ns:09}     1  D", self.lines);
        let done = match command.action {
            CommandKind::Flush => writeln!(out, "{head} {letters:>3} [straddle]"),
            _ => {
                let sector = command.offset_bytes / SECTOR_BYTES;
                let count = command.length_bytes / SECTOR_BYTES;
                writeln!(out, "{head} {letters:>3} {sector} + {count} [straddle]")
            }
        };
        if let Err(error) = done {
            (self.out, self.fault) = (None, Some(error));
        }
    }

    /// Number of commands in it.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// When not all of it could be written.
    pub fn end(mut self) -> io::Result<u64> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if let Some(out) = &mut self.out {
            out.flush()?;
        }
        Ok(self.lines)
    }
}
