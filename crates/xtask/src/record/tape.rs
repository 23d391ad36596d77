//! Requests to a disk, written down.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use testkit::fuse::{FuseRequest, FuseWatch};
use units::DiskText;
use workload::trace::{IologWriter, TraceAction, TraceEntry, TraceFormat, TraceTarget};

/// A tape that runs.
#[derive(Clone, Debug)]
pub(super) struct Tape(Arc<Mutex<Recording>>);

#[derive(Debug)]
struct Recording {
    begun: Instant,
    entries: Vec<TraceEntry>,
}

impl Tape {
    /// An empty one.
    pub(super) fn new() -> Tape {
        Tape(Arc::new(Mutex::new(Recording { begun: Instant::now(), entries: Vec::new() })))
    }

    /// Returns what puts on it all that a file is asked for.
    pub(super) fn watch(&self) -> FuseWatch {
        let tape = self.clone();
        Box::new(move |asked| tape.put(&asked))
    }

    /// Puts one operation on it.
    pub(super) fn put(&self, asked: &FuseRequest<'_>) {
        let length = |bytes: usize| u64::try_from(bytes).expect("a request is short");
        let (action, offset_bytes, length_bytes) = match *asked {
            FuseRequest::Read { offset_bytes, length_bytes } => {
                (TraceAction::Read, offset_bytes, length_bytes)
            }
            FuseRequest::Write { offset_bytes, data } => {
                (TraceAction::Write { fua: false }, offset_bytes, length(data.len()))
            }
            // A loop device's flush is an fsync of its file.
            FuseRequest::Sync => (TraceAction::Fsync, 0, 0),
            FuseRequest::Discard { offset_bytes, length_bytes } => {
                (TraceAction::Discard, offset_bytes, length_bytes)
            }
        };
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at_ns = u64::try_from(running.begun.elapsed().as_nanos()).ok();
        let mut entry = TraceEntry {
            at_ns,
            action,
            target: TraceTarget::File(0),
            offset_bytes,
            length_bytes: 0,
        };
        // A discard may be longer than an entry can say.
        let mut left = length_bytes;
        loop {
            entry.length_bytes = u32::try_from(left).unwrap_or(PIECE_BYTES);
            running.entries.push(entry);
            left -= u64::from(entry.length_bytes);
            entry.offset_bytes += u64::from(entry.length_bytes);
            if left == 0 {
                return;
            }
        }
    }

    /// Takes what is on it; times count from now on.
    pub(super) fn take(&self) -> Vec<TraceEntry> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.begun = Instant::now();
        std::mem::take(&mut running.entries)
    }
}

/// The longest piece of a discard: whole sectors.
const PIECE_BYTES: u32 = 1 << 31;

/// Times are kept in whole milliseconds: those of a disk in memory mean little, and what is random
/// does not pack.
const TIMES_NS: u64 = 1_000_000;

/// `entries` as an iolog of version 3 of the file `disk`, packed with gzip: no names, no dates.
///
/// # Errors
/// When an iolog cannot say an entry, or memory cannot be written.
pub(super) fn packed(entries: &[TraceEntry]) -> anyhow::Result<Vec<u8>> {
    let names = [DiskText::from_bytes(b"disk")];
    let (mut writer, mut text) = IologWriter::begin(TraceFormat::Iolog3, &names)?;
    for entry in entries {
        let at_ns = entry.at_ns.map(|at_ns| at_ns - at_ns % TIMES_NS);
        writer.line(&TraceEntry { at_ns, ..*entry }, &mut text)?;
    }
    text += &writer.end();
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text.as_bytes()).context("cannot pack a trace")?;
    packer.finish().context("cannot pack a trace")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_packed_tape_is_an_iolog_that_says_what_was_asked_and_no_more() {
        let tape = Tape::new();
        tape.put(&FuseRequest::Read { offset_bytes: 512, length_bytes: 1024 });
        tape.put(&FuseRequest::Write { offset_bytes: 4096, data: &[7; 512] });
        tape.put(&FuseRequest::Sync);
        tape.put(&FuseRequest::Discard { offset_bytes: 0, length_bytes: 1 << 32 });
        let mut text = String::new();
        let packed = packed(&tape.take()).unwrap();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        let said: Vec<&str> =
            text.lines().skip(1).map(|line| line.split_once(' ').unwrap().1).collect();
        let wanted = [
            "disk add",
            "disk open",
            "disk read 512 1024",
            "disk write 4096 512",
            "disk sync 0 0",
            "disk trim 0 2147483648",
            "disk trim 2147483648 2147483648",
            "disk close",
        ];
        assert_eq!(said, wanted);
        assert_eq!(packed[4..8], [0; 4], "no date");
        assert!(tape.take().is_empty());
    }
}
