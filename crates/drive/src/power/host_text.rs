//! The host's log as lines of text, one for each event, in order: it can be kept, read and judged
//! again.
//!
//! ```text
//! straddle host log 1
//! told logical=512 physical=4096 origin=0 cache=volatile
//! 1000 write 0 8192+4096 tag=0 epoch=0
//! 1500 done write 0
//! 1500 flush 0
//! 9000 done flush 0
//! 9000 write 1 8704+512 fua tag=1 epoch=1
//! ```
//!
//! A line begins with its time in nanoseconds. Writes, flushes and discards are each numbered from
//! 0. A range is its first byte and its length; the epoch is how many flushes had completed.

use std::fmt;
use std::str::FromStr;

use units::ByteRange;
use units::text::escape;

use super::{HostLog, Moment, Sectors, Told};
use crate::bounds::{CAPACITY_BYTES_MAX, PlanFault};

/// The longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 256 << 20;

const HEAD: &str = "straddle host log 1";

/// A text that is no log, with the line that is the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the host's log: line {line}: {problem}")]
pub struct HostTextError {
    /// The line, from 1.
    pub line: usize,
    /// Reason for the refusal.
    pub problem: HostTextProblem,
}

/// Fault of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum HostTextProblem {
    /// The text is longer than any that is read.
    #[error("it has {bytes} bytes, more than {TEXT_BYTES_MAX}")]
    TooLong { bytes: usize },
    /// The log has not the first or second line of one.
    #[error("it is not `{expected}`")]
    Head { expected: &'static str },
    /// The drive cannot have such sectors.
    #[error("{fault}")]
    Sectors { fault: PlanFault },
    /// No event looks so.
    #[error("`{}` is no event", escape(line.as_bytes()))]
    Event { line: String },
    /// Time runs backward.
    #[error("{at_ns} ns is before {before_ns} ns")]
    Backward { at_ns: u64, before_ns: u64 },
    /// The number is not the next.
    #[error("it is number {number}, and {next} is next")]
    Number { number: u64, next: usize },
    /// Nothing with this number is in flight.
    #[error("nothing of that kind with number {number} is in flight")]
    NotInFlight { number: u64 },
    /// The range is empty, not of whole sectors, or beyond any drive.
    #[error("{start}+{length} is no range of whole sectors below 2^56")]
    Range { start: u64, length: u64 },
    /// Not as many flushes had completed.
    #[error("{epoch} flushes had not completed here, but {found}")]
    Epoch { epoch: u64, found: u64 },
    /// The writes name more sectors than a log does.
    #[error("its writes name more sectors than a log may")]
    Full,
}

impl fmt::Display for HostLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Told { sectors, has_volatile_cache } = self.told();
        let Sectors { logical_bytes, physical_bytes, origin_bytes } = sectors;
        let cache = if has_volatile_cache { "volatile" } else { "none" };
        writeln!(f, "{HEAD}")?;
        writeln!(
            f,
            "told logical={logical_bytes} physical={physical_bytes} origin={origin_bytes} \
             cache={cache}"
        )?;
        let mut events: Vec<(Moment, Event)> = Vec::new();
        for (number, write) in self.writes().iter().enumerate() {
            events.push((write.sent, Event::Write(number)));
            events.extend(write.done.map(|done| (done, Event::Done("write", number))));
        }
        for (number, flush) in self.flushes().iter().enumerate() {
            events.push((flush.sent, Event::Flush(number)));
            events.extend(flush.done.map(|done| (done, Event::Done("flush", number))));
        }
        for (number, discard) in self.discards().iter().enumerate() {
            events.push((discard.sent, Event::Discard(number)));
            events.extend(discard.done.map(|done| (done, Event::Done("discard", number))));
        }
        events.sort_unstable_by_key(|(moment, _)| moment.tick);
        events.into_iter().try_for_each(|(moment, event)| self.line(f, moment, event))
    }
}

/// Event of a line.
#[derive(Clone, Copy, Debug)]
enum Event {
    Write(usize),
    Flush(usize),
    Discard(usize),
    Done(&'static str, usize),
}

impl HostLog {
    fn line(&self, f: &mut fmt::Formatter<'_>, moment: Moment, event: Event) -> fmt::Result {
        write!(f, "{} ", moment.at_ns)?;
        match event {
            Event::Write(number) => {
                let write = &self.writes()[number];
                let (start, length) = (write.range.start_bytes(), write.range.length_bytes());
                let fua = if write.is_fua { " fua" } else { "" };
                let (tag, epoch) = (write.tag, write.epoch);
                writeln!(f, "write {number} {start}+{length}{fua} tag={tag:x} epoch={epoch}")
            }
            Event::Flush(number) => writeln!(f, "flush {number}"),
            Event::Discard(number) => {
                let range = self.discards()[number].range;
                let (start, length) = (range.start_bytes(), range.length_bytes());
                writeln!(f, "discard {number} {start}+{length}")
            }
            Event::Done(kind, number) => writeln!(f, "done {kind} {number}"),
        }
    }
}

impl FromStr for HostLog {
    type Err = HostTextError;

    /// The log that `text` is.
    ///
    /// Memory: in proportion to the text, which is at most [`TEXT_BYTES_MAX`].
    ///
    /// # Errors
    /// When it is too long, or a line is not what can stand there; with the line.
    fn from_str(text: &str) -> Result<HostLog, HostTextError> {
        let refused = |line: usize, problem| HostTextError { line: line + 1, problem };
        if text.len() > TEXT_BYTES_MAX {
            return Err(refused(0, HostTextProblem::TooLong { bytes: text.len() }));
        }
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(HEAD) {
            return Err(refused(0, HostTextProblem::Head { expected: HEAD }));
        }
        let told = told(lines.next().map_or("", |(_, line)| line));
        let told = told.map_err(|problem| refused(1, problem))?;
        let mut reader = Reader { log: HostLog::new(told, usize::MAX), now_ns: 0, flushed: 0 };
        for (line, text) in lines {
            reader.event(text).map_err(|problem| refused(line, problem))?;
        }
        Ok(reader.log)
    }
}

/// Returns what the second line says.
fn told(line: &str) -> Result<Told, HostTextProblem> {
    let expected = "told logical=BYTES physical=BYTES origin=BYTES cache=volatile|none";
    let values = || {
        let mut words = line.split(' ');
        let is_told = words.next() == Some("told");
        let mut value = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=');
        let logical_bytes = number(value("logical")?)?;
        let physical_bytes = number(value("physical")?)?;
        let origin_bytes = number(value("origin")?)?;
        let has_volatile_cache = match value("cache")? {
            "volatile" => true,
            "none" => false,
            _ => return None,
        };
        let sectors = Sectors { logical_bytes, physical_bytes, origin_bytes };
        let is_end = words.next().is_none();
        (is_told && is_end).then_some(Told { sectors, has_volatile_cache })
    };
    let told = values().ok_or(HostTextProblem::Head { expected })?;
    let sectors = told.sectors.checked().map_err(|fault| HostTextProblem::Sectors { fault })?;
    Ok(Told { sectors, ..told })
}

/// The number that `text` is, as it would be written.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

struct Reader {
    log: HostLog,
    now_ns: u64,
    flushed: u64,
}

impl Reader {
    /// Takes an event from its line.
    fn event(&mut self, line: &str) -> Result<(), HostTextProblem> {
        let known = self.words(line);
        known.unwrap_or_else(|| {
            let line = line.chars().take(100).collect();
            Err(HostTextProblem::Event { line })
        })
    }

    /// The same; `None` where the line has not the form of an event.
    fn words(&mut self, line: &str) -> Option<Result<(), HostTextProblem>> {
        let mut words = line.split(' ');
        let at_ns = number(words.next()?)?;
        let kind = words.next()?;
        let done = if kind == "done" { Some(words.next()?) } else { None };
        let given = number(words.next()?)?;
        let rest: Vec<&str> = words.take(5).collect();
        if at_ns < self.now_ns {
            let before_ns = self.now_ns;
            return Some(Err(HostTextProblem::Backward { at_ns, before_ns }));
        }
        self.now_ns = at_ns;
        Some(match (kind, done, rest.as_slice()) {
            ("done", Some(kind), []) => self.done(kind, given)?,
            ("flush", None, []) => {
                self.sent(given, self.log.flushes().len(), |log| log.flush_sent(at_ns))
            }
            ("discard", None, [range]) => self.range(range)?.and_then(|range| {
                let next = self.log.discards().len();
                self.sent(given, next, |log| log.discard_sent(range, at_ns))
            }),
            ("write", None, [range, rest @ ..]) => {
                let (is_fua, tag, epoch) = match rest {
                    ["fua", tag, epoch] => (true, tag, epoch),
                    [tag, epoch] => (false, tag, epoch),
                    _ => return None,
                };
                let tag = tag.strip_prefix("tag=")?;
                let tag =
                    u64::from_str_radix(tag, 16).ok().filter(|of| format!("{of:x}") == tag)?;
                let epoch = number(epoch.strip_prefix("epoch=")?)?;
                self.range(range)?.and_then(|range| {
                    let next = self.log.writes().len();
                    let found = self.flushed;
                    if epoch != found {
                        return Err(HostTextProblem::Epoch { epoch, found });
                    }
                    self.sent(given, next, |log| log.write_sent(range, is_fua, tag, at_ns))
                })
            }
            _ => return None,
        })
    }

    /// The range that `text` names; `None` where it has not the form of one.
    fn range(&self, text: &str) -> Option<Result<ByteRange, HostTextProblem>> {
        let (start, length) = text.split_once('+')?;
        let (start, length) = (number(start)?, number(length)?);
        let logical_bytes = self.log.told().sectors.logical_bytes;
        let is_whole = length > 0
            && start.is_multiple_of(logical_bytes)
            && length.is_multiple_of(logical_bytes);
        let range = ByteRange::new(start, length);
        let range = range.filter(|range| is_whole && range.end_bytes() <= CAPACITY_BYTES_MAX);
        Some(range.ok_or(HostTextProblem::Range { start, length }))
    }

    fn sent(
        &mut self,
        number: u64,
        next: usize,
        send: impl FnOnce(&mut HostLog) -> Option<usize>,
    ) -> Result<(), HostTextProblem> {
        if usize::try_from(number) != Ok(next) {
            return Err(HostTextProblem::Number { number, next });
        }
        send(&mut self.log).map(|_| ()).ok_or(HostTextProblem::Full)
    }

    /// Ends what is in flight; `None` where there is no such kind.
    fn done(&mut self, kind: &str, number: u64) -> Option<Result<(), HostTextProblem>> {
        let none = HostTextProblem::NotInFlight { number };
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let log = &self.log;
        let is_flying = match kind {
            "write" => log.writes().get(place).is_some_and(|write| write.done.is_none()),
            "flush" => log.flushes().get(place).is_some_and(|flush| flush.done.is_none()),
            "discard" => log.discards().get(place).is_some_and(|one| one.done.is_none()),
            _ => return None,
        };
        if !is_flying {
            return Some(Err(none));
        }
        match kind {
            "write" => self.log.write_done(place, self.now_ns),
            "flush" => {
                self.log.flush_done(place, self.now_ns);
                self.flushed += 1;
            }
            _ => self.log.discard_done(place, self.now_ns),
        }
        Some(Ok(()))
    }
}
