//! Persistent memory behind a block interface: neither pages to be programmed nor blocks to be
//! erased.
//!
//! Lines are read and written in place, on one bank after the other; 256 bytes are what Optane
//! writes as one (J. Yang et al., "An Empirical Guide to the Behavior and Use of Scalable
//! Persistent Memory", FAST 2020). A part of a line is read before the line is written. What is
//! acknowledged is durable, so that a flush costs a command and no more.

use crate::model::refuses;
use crate::plan_bounds::{PlanFault, capacity, check, logical_sector, speed, time};
use crate::power::{HostPromises, MediumLog, MediumPass, Sectors};
use crate::server::{Agenda, Server, transfer_ns, turn};
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// Values of such a drive: [`MemoryPlan::checked`] gives the bounds of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Number of bytes it holds.
    pub capacity_bytes: u64,
    /// The addressable unit.
    pub logical_bytes: u64,
    /// Bytes of a line, which is read and written as one.
    pub line_bytes: u64,
    /// Number of banks that read or write lines, each by itself; lines go to one after the other.
    pub banks: u32,
    /// Time of a bank to read a line.
    pub read_ns: u64,
    /// Time of a bank to write a line.
    pub write_ns: u64,
    /// Time of the host's side for each command, one after the other.
    pub host_ns: u64,
    /// Time of a command besides, without keeping others from anything.
    pub command_ns: u64,
    /// The speed of the wire to the host, in each direction.
    pub link_bytes_per_second: u64,
}

impl MemoryPlan {
    /// The plan, where such a drive can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<MemoryPlan, PlanFault> {
        let line = self.line_bytes.is_power_of_two() && (64..=65_536).contains(&self.line_bytes);
        let checks = [
            logical_sector(self.logical_bytes),
            (line, "line", self.line_bytes, "a power of two from 64 to 65536"),
            capacity(self.capacity_bytes, self.logical_bytes),
            ((1..=4096).contains(&self.banks), "banks", self.banks.into(), "from 1 to 4096"),
            time("read", self.read_ns),
            time("write", self.write_ns),
            time("host", self.host_ns),
            time("command", self.command_ns),
            speed("link", self.link_bytes_per_second),
        ];
        check(checks)?;
        Ok(self)
    }
}

/// Persistent memory in simulated time. [`DriveTally`] counts the banks' work when it is ordered,
/// and lines as `medium_reads` and `medium_writes`.
#[derive(Clone, Debug)]
pub struct Memory {
    plan: MemoryPlan,
    host: Server,
    link_in: Server,
    link_out: Server,
    banks: Vec<Server>,
    endings: Agenda<DriveCommand>,
    tally: DriveTally,
    /// Log of what is put on the lines, if somebody asked for it.
    log: Option<Box<MediumLog>>,
}

/// The lines that a range touches.
#[derive(Clone, Copy, Debug)]
struct CacheLines {
    first: u64,
    last: u64,
    is_head_part: bool,
    is_tail_part: bool,
}

impl CacheLines {
    fn of(command: &DriveCommand, line_bytes: u64) -> CacheLines {
        let (start, end) = (command.offset_bytes, command.offset_bytes + command.length_bytes);
        let (first, last) = (start / line_bytes, (end - 1) / line_bytes);
        let is_part = |line: u64| start > line * line_bytes || end < (line + 1) * line_bytes;
        let is_tail_part = first != last && is_part(last);
        CacheLines { first, last, is_head_part: is_part(first), is_tail_part }
    }

    fn count(self) -> u64 {
        self.last - self.first + 1
    }
}

impl Memory {
    /// A drive that did nothing yet, at time 0.
    ///
    /// # Errors
    /// When such a drive cannot be.
    pub fn new(plan: MemoryPlan) -> Result<Memory, PlanFault> {
        let plan = plan.checked()?;
        Ok(Memory {
            host: Server::default(),
            link_in: Server::default(),
            link_out: Server::default(),
            banks: vec![Server::default(); plan.banks as usize],
            endings: Agenda::new(),
            tally: DriveTally::default(),
            log: None,
            plan,
        })
    }

    /// When `command` ends.
    fn ends_ns(&mut self, command: &DriveCommand, at_ns: u64) -> u64 {
        let heard_ns = self.host.serve(at_ns, self.plan.host_ns);
        let link_ns = transfer_ns(command.length_bytes, self.plan.link_bytes_per_second);
        let end_ns = match command.action {
            CommandKind::Flush | CommandKind::Discard => heard_ns,
            CommandKind::Read => {
                let lines = CacheLines::of(command, self.plan.line_bytes);
                let ready_ns = self.touch(lines, heard_ns, self.plan.read_ns);
                self.tally.medium_reads += lines.count();
                self.link_out.serve(heard_ns, link_ns).max(ready_ns.saturating_add(link_ns))
            }
            CommandKind::Write { .. } => {
                let lines = CacheLines::of(command, self.plan.line_bytes);
                let data_ns = self.link_in.serve(heard_ns, link_ns);
                let read_ns = self.read_parts(lines, heard_ns);
                let written_ns = self.touch(lines, heard_ns, self.plan.write_ns);
                self.tally.medium_writes += lines.count();
                let from_ns = data_ns.max(read_ns);
                let to_ns = written_ns.max(read_ns).max(data_ns.saturating_add(self.plan.write_ns));
                self.log_write(command, (from_ns.min(to_ns), to_ns));
                to_ns
            }
        };
        end_ns.saturating_add(self.plan.command_ns)
    }

    /// Returns what is written as one: lines, or logical sectors where those are longer.
    fn sectors(&self) -> Sectors {
        let MemoryPlan { logical_bytes, line_bytes, .. } = self.plan;
        let physical_bytes = logical_bytes.max(line_bytes);
        Sectors { logical_bytes, physical_bytes, origin_bytes: 0 }
    }

    /// Writes down that a write comes in, and is put on its lines one after the other.
    fn log_write(&mut self, command: &DriveCommand, (from_ns, to_ns): (u64, u64)) {
        let sectors = self.sectors();
        let (Some(log), Some(range)) = (&mut self.log, command.range()) else { return };
        let units = sectors.physical().touched(&sectors.lbas(range));
        let span =
            MediumPass { first: units.start, sectors: units.end - units.start, from_ns, to_ns };
        log.written(command, (from_ns, to_ns), &[span]);
    }

    /// Reads the lines that are written in part; when they are there.
    fn read_parts(&mut self, lines: CacheLines, at_ns: u64) -> u64 {
        let mut ready_ns = at_ns;
        for (is_part, line) in [(lines.is_head_part, lines.first), (lines.is_tail_part, lines.last)]
        {
            if is_part {
                let lines = CacheLines { first: line, last: line, ..lines };
                ready_ns = self.touch(lines, at_ns, self.plan.read_ns).max(ready_ns);
                self.tally.rmw_reads += 1;
            }
        }
        ready_ns
    }

    /// Keeps the banks of `lines` busy for `line_ns` each; until when.
    fn touch(&mut self, lines: CacheLines, at_ns: u64, line_ns: u64) -> u64 {
        let banks = self.banks.len() as u64;
        let mut end_ns = at_ns;
        for step in 0..lines.count().min(banks) {
            let count = (lines.count() - step).div_ceil(banks);
            let work_ns = count.saturating_mul(line_ns);
            let bank = turn(lines.first + step, self.banks.len());
            end_ns = self.banks[bank].serve(at_ns, work_ns).max(end_ns);
            self.tally.transfer_ns = self.tally.transfer_ns.saturating_add(work_ns);
            self.tally.busy_ns = self.tally.busy_ns.saturating_add(work_ns);
        }
        end_ns
    }
}

impl Model for Memory {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        if refuses(self, &command, at_ns, done) {
            return;
        }
        let end_ns = self.ends_ns(&command, at_ns);
        self.endings.push(end_ns, command);
        self.advance(at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.endings.next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.endings.advance(to_ns, &mut self.tally, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.plan.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        self.plan.logical_bytes
    }

    fn tally(&self) -> DriveTally {
        self.tally
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new = self.endings.is_new() && self.tally == DriveTally::default();
        if is_new {
            let log = MediumLog::new(self.sectors(), self.plan.capacity_bytes, entries_max);
            self.log = Some(Box::new(log));
        }
        is_new
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.log.as_deref()
    }

    fn told(&self) -> HostPromises {
        HostPromises { sectors: self.sectors(), has_volatile_cache: false }
    }
}
