//! A flash drive: a controller with a buffer before dies that read, program and erase.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | what a drive is, and what it cannot be |
//! | `units` | which mapping units a range touches, and which in part |
//! | `write` | what becomes of a write, until it is durable |
//! | `dies` | how long it takes to read and program pages |
//! | `buffer` | room for pages that are not yet programmed |
//! | `partial_units` | parts of units, and the slots in which they are made whole |
//! | `slc` | cells that take one bit, quickly, until they are full |
//! | `channel` | the wires that dies share |
//! | `garbage` | what collecting garbage adds, as the pattern of writes makes it |
//! | `amplification` | the formula of that |
//! | `pattern` | what the host writes lately |
//! | `unmapped` | what holds nothing |
//! | `ledger` | which write is in which page, for power cuts |
//!
//! Why a misaligned access costs: it touches one unit more, each of which the controller must look
//! up, and a write of a part of a unit must read the whole, join it and program it. Aligned, the
//! host's side of the drive may be the slowest part, so that units cost nothing to be seen.
//!
//! A command passes the host's side, the wire and the controller, which work side by side; a read
//! then waits for its pages, a write for room in the buffer. A flush of a buffer that forgets
//! programs what is there and then the mapping, one behind the other.

mod amplification;
mod buffer;
mod channel;
mod dies;
mod garbage;
mod ledger;
mod partial_units;
mod pattern;
mod plan;
mod slc;
mod units;
mod unmapped;
mod write;

pub(crate) use amplification::amplification;
use buffer::Buffer;
use dies::Dies;
use garbage::Garbage;
use ledger::FlashLedger;
use partial_units::Parts;
pub use plan::{FlashPlan, Victim};
use units::{UnitAddresses, UnitSpan};
use unmapped::Unmapped;

use crate::model::refuses;
use crate::plan_bounds::PlanFault;
use crate::power::{self, Aftermath, Cut, CutFault, HostLog, HostPromises, MediumLog, Sectors};
use crate::server::{Agenda, Server, transfer_ns};
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// A flash drive in simulated time. Its memory is bounded by its plan: by its buffer, its dies and
/// 4096 stretches of what is not in use. [`DriveTally`] counts the dies' work when it is ordered,
/// so that it may be ahead of the clock.
#[derive(Clone, Debug)]
pub struct Flash {
    plan: FlashPlan,
    layout: UnitAddresses,
    host: Server,
    controller: Server,
    link_in: Server,
    link_out: Server,
    dies: Dies,
    buffer: Buffer,
    parts: Parts,
    /// When all that was ordered is programmed.
    settled_ns: u64,
    /// When the last flush ends.
    durable_ns: u64,
    /// True if anything was written since the last flush.
    is_dirty: bool,
    /// When the last command of all that came ends.
    last_ns: u64,
    endings: Agenda<DriveCommand>,
    tally: DriveTally,
    /// Ledger of what is put on the flash, if somebody asked for it.
    ledger: Option<Box<FlashLedger>>,
}

/// When a command is through the controller, and when its data are there.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    ready_ns: u64,
    data_ns: u64,
}

impl Flash {
    /// A drive that did nothing yet, at time 0.
    ///
    /// # Errors
    /// When such a drive cannot be.
    pub fn new(plan: FlashPlan) -> Result<Flash, PlanFault> {
        let plan = plan.checked()?;
        let layout = UnitAddresses::new(&plan);
        let mut unmapped = Unmapped::default();
        let shift_bytes = layout.unit(0).from;
        let used_end = (plan.used_bytes + shift_bytes).next_multiple_of(plan.unit_bytes);
        unmapped.insert(used_end, plan.capacity_bytes + shift_bytes);
        let garbage = Garbage::new(&plan, unmapped);
        Ok(Flash {
            layout,
            host: Server::default(),
            controller: Server::default(),
            link_in: Server::default(),
            link_out: Server::default(),
            dies: Dies::new(&plan, garbage),
            buffer: Buffer::new(&plan),
            parts: Parts::new(plan.joined_parts, plan.rmw_slots, plan.rmw_queue),
            settled_ns: 0,
            durable_ns: 0,
            is_dirty: false,
            last_ns: 0,
            endings: Agenda::new(),
            tally: DriveTally::default(),
            ledger: None,
            plan,
        })
    }

    fn on_link_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.plan.link_bytes_per_second)
    }

    /// Returns whether what is in the buffer is lost when the power goes.
    fn forgets(&self) -> bool {
        self.plan.is_volatile && self.buffer.pages() > 0
    }

    /// Returns what the controller takes for a command: each part of a unit and the first whole one
    /// by itself, and the other whole ones in one run.
    fn controller_ns(&self, span: &UnitSpan) -> u64 {
        let parts = span.parts(&self.layout).into_iter().flatten().count() as u64;
        let whole = span.units() - parts;
        let alone = parts + whole.min(1);
        let run_ns = (whole.saturating_sub(1)).saturating_mul(self.plan.run_unit_ns);
        (alone * self.plan.unit_ns).saturating_add(run_ns)
    }

    /// When `command` ends.
    fn ends_ns(&mut self, command: &DriveCommand, at_ns: u64) -> u64 {
        let heard_ns = self.host.serve(at_ns, self.plan.host_ns);
        let Some(range) = command.range() else { return self.flush_ends_ns(heard_ns) };
        let span = self.layout.span(range);
        let end_ns = match command.action {
            CommandKind::Read => {
                let work_ns = self.controller_ns(&span);
                let ready_ns = self.controller.serve(heard_ns, work_ns);
                self.read(&span, ready_ns, command.length_bytes)
            }
            CommandKind::Write { fua } => {
                let link_ns = self.on_link_ns(command.length_bytes);
                let data_ns = self.link_in.serve(heard_ns, link_ns);
                let work_ns = self.controller_ns(&span);
                let ready_ns = self.controller.serve(heard_ns, work_ns);
                let is_cached = self.buffer.pages() > 0;
                self.note(|ledger| ledger.takes(command.id, is_cached, data_ns));
                self.write(&span, Arrival { ready_ns, data_ns }, fua)
            }
            CommandKind::Flush => return self.flush_ends_ns(heard_ns),
            CommandKind::Discard => {
                let ready_ns = self.controller.serve(heard_ns, self.plan.unit_ns);
                let (start, end) = self.layout.inner(&span);
                self.dies.garbage.unmapped.insert(start, end);
                self.note(|ledger| ledger.log.dropped(range, ready_ns));
                ready_ns
            }
        };
        end_ns.saturating_add(self.plan.command_ns)
    }

    /// When a flush ends that was heard at `heard_ns`: with nothing beside it where it must be
    /// alone.
    fn flush_ends_ns(&mut self, heard_ns: u64) -> u64 {
        if !self.plan.flushes_alone {
            return self.flush(heard_ns);
        }
        let end_ns = self.flush(heard_ns.max(self.last_ns));
        self.host.free_ns = self.host.free_ns.max(end_ns);
        end_ns
    }

    fn read(&mut self, span: &UnitSpan, at_ns: u64, bytes: u64) -> u64 {
        let ready_ns = if self.dies.garbage.unmapped.covers(span.start, span.end) {
            self.tally.empty_reads += 1;
            at_ns
        } else if self.buffer.has(span.first, span.last) {
            self.tally.cache_hits += 1;
            at_ns
        } else {
            let first = span.start / self.plan.page_bytes;
            let pages = (span.end - 1) / self.plan.page_bytes - first + 1;
            // A page's code covers units whole: they come out whole.
            let bytes = (span.units() * self.plan.unit_bytes).min(pages * self.plan.page_bytes);
            self.dies.read(at_ns, first, pages, bytes)
        };
        let link_ns = self.on_link_ns(bytes);
        self.link_out.serve(at_ns, link_ns).max(ready_ns.saturating_add(link_ns))
    }

    /// Does something to the ledger, where there is one.
    fn note(&mut self, what: impl FnOnce(&mut FlashLedger)) {
        if let Some(ledger) = &mut self.ledger {
            what(ledger);
        }
    }

    /// Returns what it writes as one: its mapping units.
    fn sectors(&self) -> Sectors {
        let FlashPlan { logical_bytes, unit_bytes, origin_bytes, .. } = self.plan;
        Sectors { logical_bytes, physical_bytes: unit_bytes, origin_bytes }
    }
}

impl Model for Flash {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        if refuses(self, &command, at_ns, done) {
            return;
        }
        let end_ns = self.ends_ns(&command, at_ns);
        self.last_ns = self.last_ns.max(end_ns);
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
        self.tally.plus(self.dies.tally)
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new = self.endings.is_new() && self.tally() == DriveTally::default();
        if is_new {
            let log = MediumLog::new(self.sectors(), self.plan.capacity_bytes, entries_max);
            let shift_bytes = self.layout.unit(0).from;
            self.ledger = Some(Box::new(FlashLedger::new(log, shift_bytes, self.plan.unit_bytes)));
        }
        is_new
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.ledger.as_ref().map(|ledger| &ledger.log)
    }

    fn has_write_cache(&self) -> bool {
        self.plan.tells_cache || self.forgets()
    }

    fn told(&self) -> HostPromises {
        HostPromises { sectors: self.sectors(), has_volatile_cache: self.forgets() }
    }

    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        let cut = if self.plan.is_volatile { *cut } else { cut.protected() };
        power::cut(host, self.medium_log().ok_or(CutFault::NoLog)?, &cut)
    }
}
