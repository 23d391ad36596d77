//! Commands and answers as the host knows them: all that a promise depends on.

use units::ByteRange;

use super::Sectors;

/// The most logical sectors that the writes of a log name, each as often as it is named.
pub const SECTORS_MAX: u64 = 1 << 22;

/// Self-description of the drive to the host; the promises follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPromises {
    /// Its sectors, as it reports them.
    pub sectors: Sectors,
    /// True if it has a cache that forgets. Where it says no, every acknowledgement is a promise.
    pub has_volatile_cache: bool,
}

/// A place in the log: a time, and the number of the event, since many can share a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Nanoseconds of simulated time.
    pub at_ns: u64,
    /// Number of events before.
    pub tick: u64,
}

/// A write that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// The bytes it names.
    pub range: ByteRange,
    /// True if it was forced to the medium.
    pub is_fua: bool,
    /// When it was sent.
    pub sent: Moment,
    /// When it was acknowledged; `None` while it was not, or where it failed.
    pub done: Option<Moment>,
}

/// A flush that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFlush {
    /// When it was sent.
    pub sent: Moment,
    /// When it completed.
    pub done: Option<Moment>,
}

/// A discard that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostDiscard {
    /// The bytes it names.
    pub range: ByteRange,
    /// When it was sent.
    pub sent: Moment,
    /// When it completed.
    pub done: Option<Moment>,
}

/// Commands and answers, in order. Writes, flushes and discards are each numbered from 0 in the
/// order in which they were sent.
///
/// It holds as many commands as it was made for, writing at most [`SECTORS_MAX`] sectors. Then it
/// stops and is [`HostLog::is_full`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLog {
    told: HostPromises,
    writes: Vec<HostWrite>,
    flushes: Vec<HostFlush>,
    discards: Vec<HostDiscard>,
    ticks: u64,
    sectors: u64,
    commands_max: usize,
    is_full: bool,
}

impl HostLog {
    /// An empty log of a drive that says `told`, for at most `commands_max` commands.
    #[must_use]
    pub fn new(told: HostPromises, commands_max: usize) -> HostLog {
        HostLog {
            told,
            writes: Vec::new(),
            flushes: Vec::new(),
            discards: Vec::new(),
            ticks: 0,
            sectors: 0,
            commands_max,
            is_full: false,
        }
    }

    /// Returns what the drive told.
    #[must_use]
    pub fn told(&self) -> HostPromises {
        self.told
    }

    /// The writes, by their number.
    #[must_use]
    pub fn writes(&self) -> &[HostWrite] {
        &self.writes
    }

    /// The flushes, by their number.
    #[must_use]
    pub fn flushes(&self) -> &[HostFlush] {
        &self.flushes
    }

    /// The discards, by their number.
    #[must_use]
    pub fn discards(&self) -> &[HostDiscard] {
        &self.discards
    }

    /// Returns how many logical sectors its writes name, each as often as it is named.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Returns whether something was not written down because there was no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The next moment.
    fn moment(&mut self, at_ns: u64) -> Moment {
        self.ticks += 1;
        Moment { at_ns, tick: self.ticks - 1 }
    }

    /// Returns whether there is room for a command that writes `range`; where not, the log is full.
    fn has_room(&mut self, range: Option<ByteRange>) -> bool {
        let lbas = range.map(|range| self.told.sectors.lbas(range));
        let sectors = self.sectors.saturating_add(lbas.map_or(0, |lbas| lbas.end - lbas.start));
        let commands = self.writes.len() + self.flushes.len() + self.discards.len();
        self.is_full |= sectors > SECTORS_MAX || commands >= self.commands_max;
        if !self.is_full {
            self.sectors = sectors;
        }
        !self.is_full
    }

    /// A write was sent at `at_ns`; its number, or `None` where there is no room.
    pub fn write_sent(&mut self, range: ByteRange, is_fua: bool, at_ns: u64) -> Option<usize> {
        if !self.has_room(Some(range)) {
            return None;
        }
        let sent = self.moment(at_ns);
        self.writes.push(HostWrite { range, is_fua, sent, done: None });
        Some(self.writes.len() - 1)
    }

    /// A flush was sent at `at_ns`; its number, or `None` where there is no room.
    pub fn flush_sent(&mut self, at_ns: u64) -> Option<usize> {
        if !self.has_room(None) {
            return None;
        }
        let sent = self.moment(at_ns);
        self.flushes.push(HostFlush { sent, done: None });
        Some(self.flushes.len() - 1)
    }

    /// A discard was sent at `at_ns`; its number, or `None` where there is no room.
    pub fn discard_sent(&mut self, range: ByteRange, at_ns: u64) -> Option<usize> {
        if !self.has_room(None) {
            return None;
        }
        let sent = self.moment(at_ns);
        self.discards.push(HostDiscard { range, sent, done: None });
        Some(self.discards.len() - 1)
    }

    /// The write `number` was acknowledged.
    ///
    /// # Panics
    /// When there is no such write.
    pub fn write_done(&mut self, number: usize, at_ns: u64) {
        self.writes[number].done = Some(self.moment(at_ns));
    }

    /// The flush `number` completed.
    ///
    /// # Panics
    /// When there is no such flush.
    pub fn flush_done(&mut self, number: usize, at_ns: u64) {
        self.flushes[number].done = Some(self.moment(at_ns));
    }

    /// The discard `number` completed.
    ///
    /// # Panics
    /// When there is no such discard.
    pub fn discard_done(&mut self, number: usize, at_ns: u64) {
        self.discards[number].done = Some(self.moment(at_ns));
    }
}
