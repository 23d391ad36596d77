//! blkparse's text, in its default format: a line for each event, then a summary.
//!
//! An event is `DEVICE CPU SEQUENCE SECONDS.NANOSECONDS PID ACTION RWBS REST`
//! (`"%D %2c %8s %5T.%9t %5p %2a %3d "`). What the rest is depends on the action: `SECTOR + COUNT
//! [PROCESS]` where sectors move, the process alone where none do, `BYTES (COMMAND) [PROCESS]` for
//! passthrough; a completion has `[ERROR]` in the process's place. blktrace `blkparse_fmt.c`:
//! `process_default`, `fill_rwbs`.

use super::entry::DeviceNumber;
use super::notes::{Notes, Skipped};
use super::refusal::{second_trace, shown};
use super::request::{Data, Entries, SECTOR_BYTES, Stage, StageRequest};
use super::words::{self, LineWords, expected, expected_u32, missing, unreadable};
use crate::InputError;

const NONE: Entries = [None, None];

/// Returns whether `line` begins as an event does: with a device.
pub(super) fn is_event(line: &[u8]) -> bool {
    LineWords::of(line).first().and_then(device).is_some()
}

/// Returns whether `line` says which file blkparse reads.
pub(super) fn is_input_line(line: &[u8]) -> bool {
    line.starts_with(b"Input file ")
}

/// Parser of the text.
#[derive(Debug)]
pub(super) struct Blkparse {
    stage: Stage,
    /// True if the summary began.
    summary: bool,
}

impl Blkparse {
    pub(super) fn new(stage: Stage) -> Blkparse {
        Blkparse { stage, summary: false }
    }

    /// Returns what `line` says was done.
    pub(super) fn entries(
        &mut self,
        line: &[u8],
        notes: &mut Notes,
    ) -> Result<Entries, InputError> {
        let mut words = LineWords::of(line);
        let Some(device) = words.first().and_then(device) else {
            return self.aside(line, notes).map(|()| NONE);
        };
        if self.summary {
            return Err(second_trace());
        }
        let mut next = |what: &'static str| words.first().ok_or_else(|| missing(line, what));
        expected(next("CPU")?, "the CPU")?;
        expected(next("sequence number")?, "the sequence number")?;
        let at_ns = time(next("time")?)?;
        expected(next("process id")?, "the process id")?;
        let action = next("action")?;
        if !self.is_asked_for(action, notes) {
            return Ok(NONE);
        }
        let rwbs = Rwbs::of(next("RWBS")?)?;
        let request = match Rest::of(words, self.stage, line)? {
            Rest::Passthrough => {
                notes.skip(Skipped::Passthrough);
                return Ok(NONE);
            }
            Rest::NoData => {
                StageRequest { sector: 0, length_bytes: 0, ..rwbs.request(at_ns, device) }
            }
            Rest::Data { sector, length_bytes } => {
                StageRequest { sector, length_bytes, ..rwbs.request(at_ns, device) }
            }
        };
        if request.length_bytes == 0 && !request.preflush {
            notes.skip(Skipped::NoData);
        }
        request.entries()
    }

    /// Returns whether events of `action` are requests of the stage asked for; counts them.
    fn is_asked_for(&self, action: &[u8], notes: &mut Notes) -> bool {
        let stage = match action {
            b"Q" => Stage::Queued,
            b"D" => Stage::Issued,
            b"C" => Stage::Completed,
            b"m" => {
                notes.skip(Skipped::Notice);
                return false;
            }
            _ => {
                notes.skip(Skipped::OtherEvent);
                return false;
            }
        };
        notes.pass(stage, self.stage)
    }

    /// A line that is no event: of the summary, about an input file, or blank.
    fn aside(&mut self, line: &[u8], notes: &mut Notes) -> Result<(), InputError> {
        let words = line.trim_ascii();
        if words.is_empty() {
            return Ok(());
        }
        // The summary begins with `CPU0 (sda):`, or with `fio (77)` where each program has one.
        let heading = words.contains(&b'(') && (words.ends_with(b":") || words.ends_with(b")"));
        self.summary |= heading;
        if !self.summary && !is_input_line(line) {
            let problem =
                format!("`{}` is not an event in blkparse's default format", shown(words));
            return Err(InputError::new(problem, "use the output of blkparse without -f and -F"));
        }
        notes.skip(Skipped::Summary);
        Ok(())
    }
}

/// The device that `word` is: `8,0`.
fn device(word: &[u8]) -> Option<DeviceNumber> {
    let comma = word.iter().position(|&byte| byte == b',')?;
    let number = |digits: &[u8]| u32::try_from(words::number(digits)?).ok();
    Some(DeviceNumber { major: number(&word[..comma])?, minor: number(&word[comma + 1..])? })
}

/// The time that `word` is, in nanoseconds: seconds, a point and nine digits.
fn time(word: &[u8]) -> Result<u64, InputError> {
    let point = word.iter().position(|&byte| byte == b'.');
    let time_ns = point.and_then(|point| {
        let behind = Some(&word[point + 1..]).filter(|digits| digits.len() == 9)?;
        let seconds_ns = words::number(&word[..point])?.checked_mul(1_000_000_000)?;
        seconds_ns.checked_add(words::number(behind)?)
    });
    time_ns.ok_or_else(|| {
        unreadable(word, "the time", "seconds with nine digits after the point, below 2^64 ns")
    })
}

/// Meaning of the letters. In order: `F` for a flush before; `R`, `W`, `D` (discard) or `N` (no
/// data); then `F` for FUA, and letters that change nothing here: `A`head, `S`ync, `M`eta, the
/// `B`arrier of old kernels, the `E` of a secure erase. The kernel's own text has `FF` for a flush.
struct Rwbs {
    preflush: bool,
    fua: bool,
    data: Data,
}

impl Rwbs {
    fn of(word: &[u8]) -> Result<Rwbs, InputError> {
        let expects = "what blkparse's RWBS field holds";
        let refused = || unreadable(word, "RWBS", expects);
        let preflush = word.first() == Some(&b'F');
        let mut letters = word[usize::from(preflush)..].iter();
        let data = match letters.next() {
            Some(b'W') => Data::Write,
            Some(b'D') => Data::Discard,
            Some(b'R' | b'N') => Data::Read,
            Some(b'F') | None if preflush => Data::Read,
            _ => return Err(refused()),
        };
        let mut fua = false;
        for letter in letters {
            match letter {
                b'F' => fua = true,
                b'A' | b'S' | b'M' | b'B' | b'E' => {}
                _ => return Err(refused()),
            }
        }
        Ok(Rwbs { preflush, fua, data })
    }

    /// A request without data.
    fn request(&self, at_ns: u64, device: DeviceNumber) -> StageRequest {
        let Rwbs { preflush, fua, data } = *self;
        StageRequest { at_ns, device, preflush, fua, data, sector: 0, length_bytes: 0 }
    }
}

/// Text that follows the letters.
enum Rest {
    NoData,
    Passthrough,
    Data { sector: u64, length_bytes: u32 },
}

impl Rest {
    fn of(mut words: LineWords<'_>, stage: Stage, line: &[u8]) -> Result<Rest, InputError> {
        let completed = stage == Stage::Completed;
        // Without a number, nothing moves; but a completed command is in brackets alone.
        if words.rest().first().is_some_and(|first| matches!(first, b'[' | b'(')) {
            return Ok(if completed { Rest::Passthrough } else { Rest::NoData });
        }
        let first = words.first().ok_or_else(|| missing(line, "sector and process"))?;
        let sector = expected(first, "the sector")?;
        if words.rest().first() != Some(&b'+') {
            bracket(&words, line)?;
            return Ok(if completed { Rest::NoData } else { Rest::Passthrough });
        }
        words.first();
        let count = words.first().ok_or_else(|| missing(line, "count of sectors"))?;
        bracket(&words, line)?;
        let length_bytes = expected_u32(count, "the count of sectors")?.checked_mul(SECTOR_BYTES);
        let length_bytes = length_bytes
            .ok_or_else(|| unreadable(count, "the count of sectors", "one below 2^32 bytes"))?;
        Ok(Rest::Data { sector, length_bytes })
    }
}

/// Checks that a process, an error or a time in brackets is next: else the line is cut.
fn bracket(words: &LineWords<'_>, line: &[u8]) -> Result<(), InputError> {
    match words.rest().first() {
        Some(b'[' | b'(') => Ok(()),
        _ => Err(missing(line, "process or error in brackets")),
    }
}
