//! Work of a drive and its times: the drive's own account, which must add up to the time that
//! passed.

use crate::{CommandKind, DriveCommand};

/// Work of a drive so far. Times are sums over all its parts, so that two members that turn side by
/// side count twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriveTally {
    /// Commands that ended.
    pub commands: u64,
    /// Bytes that the host read.
    pub read_bytes: u64,
    /// Bytes that the host wrote.
    pub written_bytes: u64,
    /// Flushes that ended.
    pub flushes: u64,
    /// Reads that a cache answered.
    pub cache_hits: u64,
    /// Runs of sectors read from the medium.
    pub medium_reads: u64,
    /// Runs of sectors, or pages, written to the medium.
    pub medium_writes: u64,
    /// Physical sectors read from the medium for a command, or ahead of one that is expected.
    pub sectors_read: u64,
    /// Physical sectors written to the medium, each once for each run that touches it.
    pub sectors_written: u64,
    /// Parts of granules that were read so that they could be written whole.
    pub rmw_reads: u64,
    /// Movements of the arm.
    pub seeks: u64,
    /// Nanoseconds that the arm moved or settled.
    pub seek_ns: u64,
    /// Nanoseconds that the head waited for a sector to come by.
    pub wait_ns: u64,
    /// Nanoseconds that sectors passed under the head while they were read or written.
    pub transfer_ns: u64,
    /// Nanoseconds in which the medium was busy: seeks, waits and transfers; or reads, programs and
    /// erases.
    pub busy_ns: u64,
    /// Nanoseconds that cells were read.
    pub read_ns: u64,
    /// Nanoseconds that cells were programmed.
    pub program_ns: u64,
    /// Nanoseconds that blocks were erased.
    pub erase_ns: u64,
    /// Reads of what was never written, or was discarded: no medium was read for them.
    pub empty_reads: u64,
    /// Programs, each of a page on every plane of a die.
    pub programs: u64,
    /// Those among them that moved valid pages to get a block free.
    pub moves: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Reads that an array or a controller gave to what is below it.
    pub member_reads: u64,
    /// Writes that an array or a controller gave to what is below it.
    pub member_writes: u64,
    /// Parity chunks that were brought up to date.
    pub parity_updates: u64,
    /// Those among them for which something had to be read first.
    pub parity_rmws: u64,
}

impl DriveTally {
    /// Counts `command`, which has ended: the command, and the bytes that the host moved with it.
    pub fn count(&mut self, command: &DriveCommand) {
        self.commands += 1;
        match command.action {
            CommandKind::Read => self.read_bytes += command.length_bytes,
            CommandKind::Write { .. } => self.written_bytes += command.length_bytes,
            CommandKind::Flush => self.flushes += 1,
            CommandKind::Discard => {}
        }
    }

    /// The sums of both.
    #[must_use]
    pub fn plus(self, other: DriveTally) -> DriveTally {
        DriveTally {
            commands: self.commands + other.commands,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            flushes: self.flushes + other.flushes,
            cache_hits: self.cache_hits + other.cache_hits,
            medium_reads: self.medium_reads + other.medium_reads,
            medium_writes: self.medium_writes + other.medium_writes,
            sectors_read: self.sectors_read + other.sectors_read,
            sectors_written: self.sectors_written + other.sectors_written,
            rmw_reads: self.rmw_reads + other.rmw_reads,
            seeks: self.seeks + other.seeks,
            seek_ns: self.seek_ns + other.seek_ns,
            wait_ns: self.wait_ns + other.wait_ns,
            transfer_ns: self.transfer_ns + other.transfer_ns,
            busy_ns: self.busy_ns.saturating_add(other.busy_ns),
            read_ns: self.read_ns.saturating_add(other.read_ns),
            program_ns: self.program_ns.saturating_add(other.program_ns),
            erase_ns: self.erase_ns.saturating_add(other.erase_ns),
            empty_reads: self.empty_reads + other.empty_reads,
            programs: self.programs + other.programs,
            moves: self.moves + other.moves,
            erases: self.erases + other.erases,
            member_reads: self.member_reads + other.member_reads,
            member_writes: self.member_writes + other.member_writes,
            parity_updates: self.parity_updates + other.parity_updates,
            parity_rmws: self.parity_rmws + other.parity_rmws,
        }
    }

    /// The account of what stands over members with this sum of accounts: what the host asked is
    /// counted once, by `own`, and what the members did is added.
    #[must_use]
    pub fn over(self, own: DriveTally) -> DriveTally {
        DriveTally { commands: 0, read_bytes: 0, written_bytes: 0, flushes: 0, ..self }.plus(own)
    }
}
