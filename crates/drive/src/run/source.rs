//! Sources of operations.

use units::random::Random;
use workload::job::JobPace;

use crate::CommandKind;

/// A part of an operation: one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandPart {
    /// Kind of command.
    pub action: CommandKind,
    /// The first byte; 0 for a flush.
    pub offset_bytes: u64,
    /// Number of bytes; 0 for a flush.
    pub length_bytes: u64,
}

/// A stream of operations.
pub trait OperationSource {
    /// Puts the commands of the next operation into `pieces`, which is empty: they follow each
    /// other. Returns whether there was one.
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool;

    /// When the next operation arrives, in nanoseconds of the run, whether the drive has done those
    /// before it or not; `None` where it comes as soon as there is a lane for it.
    fn arrives_ns(&mut self) -> Option<u64> {
        None
    }

    /// Nanoseconds that it rests before the next operation, once those in flight have
    /// ended; told once for each rest, `None` where it goes on.
    fn rests_ns(&mut self) -> Option<u64> {
        None
    }

    /// Returns whether what comes after a read waits for it, as in a program that reads one file
    /// after another.
    fn waits_for_reads(&self) -> bool {
        false
    }
}

/// Operations that arrive at a rate, whatever the drive does (an open loop), or with rests.
#[derive(Clone, Debug)]
pub struct Paced<S> {
    inner: S,
    pace: JobPace,
    number: u64,
    rested_at: u64,
}

impl<S: OperationSource> Paced<S> {
    /// The operations of `inner` when `pace` says.
    pub fn new(inner: S, pace: JobPace) -> Paced<S> {
        Paced { inner, pace, number: 0, rested_at: 0 }
    }

    /// The operations of `inner`, so many a second, at least 1; evenly.
    pub fn at_rate(inner: S, per_second: u64) -> Paced<S> {
        let most = Some((per_second.max(1), 1_000_000_000));
        Paced::new(inner, JobPace { most, ..JobPace::default() })
    }
}

impl<S: OperationSource> OperationSource for Paced<S> {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        self.number += 1;
        self.inner.next(pieces)
    }

    fn arrives_ns(&mut self) -> Option<u64> {
        let (operations, ns) = self.pace.most?;
        let arrives = u128::from(self.number) * u128::from(ns) / u128::from(operations.max(1));
        u64::try_from(arrives).ok()
    }

    fn rests_ns(&mut self) -> Option<u64> {
        let (ns, every) = self.pace.rest?;
        let is_due = self.number.is_multiple_of(u64::from(every.get()));
        if !is_due || self.rested_at == self.number {
            return None;
        }
        self.rested_at = self.number;
        Some(ns)
    }
}

/// Part of a drive on which operations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first byte.
    pub start_bytes: u64,
    /// Its length, at least one operation.
    pub length_bytes: u64,
}

/// In which order operations go over a region.
#[derive(Clone, Debug)]
pub enum AccessOrder {
    /// From its first byte to its last, and again.
    Sequential,
    /// Anywhere, at multiples of so many bytes; what decides where.
    Random {
        /// Of what offsets are multiples, at least 1.
        align_bytes: u64,
        /// Random numbers that decide the offsets.
        random: Random,
    },
}

/// Operations of one length on a region.
#[derive(Clone, Debug)]
pub struct OperationStream {
    /// Bytes of the drive that it works on.
    pub region: Region,
    /// In which order.
    pub order: AccessOrder,
    /// Bytes of each, at most the region's.
    pub bytes: u64,
    /// Percentage of reads; the rest are writes.
    pub read_percent: u8,
    /// True if writes are forced to the medium.
    pub fua: bool,
    /// Behind how many writes a flush follows; 0 for none.
    pub flush_every: u32,
    /// Offset of the next operation in the region, in bytes, if it goes in order.
    pub at_bytes: u64,
    /// Writes since the last flush.
    pub unflushed: u32,
    /// Random numbers that decide which operations read, if both are done.
    pub random: Random,
}

/// The command that puts all on the medium.
const FLUSH: CommandPart =
    CommandPart { action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 };

impl OperationStream {
    /// Writes of so many bytes in order, and nothing that makes them durable.
    #[must_use]
    pub fn writes(region: Region, bytes: u64) -> OperationStream {
        OperationStream {
            region,
            order: AccessOrder::Sequential,
            bytes,
            read_percent: 0,
            fua: false,
            flush_every: 0,
            at_bytes: 0,
            unflushed: 0,
            random: Random::new(0),
        }
    }

    /// Reads of so many bytes in order.
    #[must_use]
    pub fn reads(region: Region, bytes: u64) -> OperationStream {
        OperationStream { read_percent: 100, ..OperationStream::writes(region, bytes) }
    }

    /// The same at places that `seed` decides, multiples of their length.
    #[must_use]
    pub fn at_random(self, seed: u64) -> OperationStream {
        let order = AccessOrder::Random { align_bytes: self.bytes, random: Random::new(seed) };
        OperationStream { order, ..self }
    }

    /// The same with a flush after each write.
    #[must_use]
    pub fn flushed(self) -> OperationStream {
        OperationStream { flush_every: 1, ..self }
    }

    /// Returns where the next operation is, in bytes of the region.
    fn next_at(&mut self) -> u64 {
        let OperationStream { region, bytes, .. } = *self;
        match &mut self.order {
            AccessOrder::Sequential => {
                if self.at_bytes + bytes > region.length_bytes {
                    self.at_bytes = 0;
                }
                let at_bytes = self.at_bytes;
                self.at_bytes += bytes;
                at_bytes
            }
            AccessOrder::Random { align_bytes, random } => {
                let count = region.length_bytes.saturating_sub(bytes) / *align_bytes + 1;
                random.below(count) * *align_bytes
            }
        }
    }

    /// Returns whether the next operation reads.
    fn next_reads(&mut self) -> bool {
        match self.read_percent {
            0 => false,
            100 => true,
            percent => self.random.below(100) < u64::from(percent),
        }
    }
}

impl OperationSource for OperationStream {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let offset_bytes = self.region.start_bytes + self.next_at();
        if self.next_reads() {
            pieces.push(CommandPart {
                action: CommandKind::Read,
                offset_bytes,
                length_bytes: self.bytes,
            });
            return true;
        }
        let action = CommandKind::Write { fua: self.fua };
        pieces.push(CommandPart { action, offset_bytes, length_bytes: self.bytes });
        self.unflushed += 1;
        if self.unflushed == self.flush_every {
            self.unflushed = 0;
            pieces.push(FLUSH);
        }
        true
    }
}

/// Commands that ext4 sends for each 4 KiB that is appended and fsynced, in ordered mode with a
/// barrier: the data; then the journal's descriptor with two blocks of metadata; a flush; the
/// commit block behind them; a flush (fs/jbd2/commit.c: `jbd2_journal_commit_transaction`).
#[derive(Clone, Copy, Debug)]
pub struct Ext4Sync {
    file: Region,
    journal: Region,
    /// Offset of the next data in the file, in bytes.
    at_bytes: u64,
    /// Offset of the next transaction in the journal, in bytes.
    logged_bytes: u64,
}

impl Ext4Sync {
    /// The commands for a file and a journal that are at these places of the drive.
    #[must_use]
    pub fn new(file: Region, journal: Region) -> Ext4Sync {
        Ext4Sync { file, journal, at_bytes: 0, logged_bytes: 0 }
    }
}

const BLOCK_BYTES: u64 = 4096;
/// A descriptor and two blocks of metadata.
const LOG_BLOCKS: u64 = 3;

impl OperationSource for Ext4Sync {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let logged = (LOG_BLOCKS + 1) * BLOCK_BYTES;
        if self.at_bytes + BLOCK_BYTES > self.file.length_bytes {
            self.at_bytes = 0;
        }
        if self.logged_bytes + logged > self.journal.length_bytes {
            self.logged_bytes = 0;
        }
        let write = |offset_bytes, blocks| CommandPart {
            action: CommandKind::Write { fua: false },
            offset_bytes,
            length_bytes: blocks * BLOCK_BYTES,
        };
        let log = self.journal.start_bytes + self.logged_bytes;
        pieces.extend([
            write(self.file.start_bytes + self.at_bytes, 1),
            write(log, LOG_BLOCKS),
            FLUSH,
            write(log + LOG_BLOCKS * BLOCK_BYTES, 1),
            FLUSH,
        ]);
        self.at_bytes += BLOCK_BYTES;
        self.logged_bytes += logged;
        true
    }
}
