//! A flash drive: a controller with a buffer before dies that read, program and erase.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | what a drive is, and what it cannot be |
//! | `units` | which mapping units a range touches, and which in part |
//! | `dies` | how long it takes to read and program pages |
//! | `buffer` | room for pages that are not yet programmed |
//! | `parts` | parts of units, and the slots in which they are made whole |
//! | `slc` | cells that take one bit, quickly, until they are full |
//! | `garbage` | what collecting garbage adds |
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

mod buffer;
mod dies;
mod garbage;
mod ledger;
mod parts;
mod plan;
mod slc;
mod units;
mod unmapped;

use buffer::Buffer;
use dies::Dies;
use garbage::Garbage;
use ledger::Ledger;
use parts::{Joined, Part, Parts};
pub use plan::FlashPlan;
use units::{Layout, Span};
use unmapped::Unmapped;

use crate::hard_disk::PlanFault;
use crate::power::{self, Aftermath, Cut, CutFault, HostLog, MediumLog, Sectors, Told};
use crate::server::{Agenda, Server, transfer_ns};
use crate::{Action, Command, Done, Model, Tally};

/// A flash drive in simulated time. Its memory is bounded by its plan: by its buffer, its dies and
/// 4096 stretches of what is not in use. [`Tally`] counts the dies' work when it is ordered, so
/// that it may be ahead of the clock.
#[derive(Clone, Debug)]
pub struct Flash {
    plan: FlashPlan,
    layout: Layout,
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
    /// Whether anything was written since the last flush.
    is_dirty: bool,
    endings: Agenda<Command>,
    tally: Tally,
    /// What it puts on its flash, where somebody asked.
    ledger: Option<Box<Ledger>>,
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
        let layout = Layout::new(&plan);
        let mut unmapped = Unmapped::default();
        let shift_bytes = layout.unit(0).from;
        let used_end = (plan.used_bytes + shift_bytes).next_multiple_of(plan.unit_bytes);
        unmapped.insert(used_end, plan.capacity_bytes + shift_bytes);
        let garbage = Garbage::new(
            plan.capacity_bytes + plan.spare_bytes,
            plan.capacity_bytes,
            plan.erased_bytes / plan.page_bytes,
            unmapped,
        );
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
            endings: Agenda::new(),
            tally: Tally::default(),
            ledger: None,
            plan,
        })
    }

    fn on_link_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.plan.link_bytes_per_second)
    }

    /// Whether what is in the buffer is lost when the power goes.
    fn forgets(&self) -> bool {
        self.plan.is_volatile && self.buffer.pages() > 0
    }

    /// What the controller takes for a command: each part of a unit and the first whole one by
    /// itself, and the other whole ones in one run.
    fn controller_ns(&self, span: &Span) -> u64 {
        let parts = span.parts(&self.layout).into_iter().flatten().count() as u64;
        let whole = span.units() - parts;
        let alone = parts + whole.min(1);
        let run_ns = (whole.saturating_sub(1)).saturating_mul(self.plan.run_unit_ns);
        (alone * self.plan.unit_ns).saturating_add(run_ns)
    }

    /// When `command` ends.
    fn ends_ns(&mut self, command: &Command, at_ns: u64) -> u64 {
        let heard_ns = self.host.serve(at_ns, self.plan.host_ns);
        let Some(range) = command.range() else { return self.flush(heard_ns) };
        let span = self.layout.span(range);
        let end_ns = match command.action {
            Action::Read => {
                let work_ns = self.controller_ns(&span);
                let ready_ns = self.controller.serve(heard_ns, work_ns);
                self.read(&span, ready_ns, command.length_bytes)
            }
            Action::Write { fua } => {
                let link_ns = self.on_link_ns(command.length_bytes);
                let data_ns = self.link_in.serve(heard_ns, link_ns);
                let work_ns = self.controller_ns(&span);
                let ready_ns = self.controller.serve(heard_ns, work_ns);
                let is_cached = self.buffer.pages() > 0;
                self.note(|ledger| ledger.takes(command.id, is_cached, data_ns));
                self.write(&span, Arrival { ready_ns, data_ns }, fua)
            }
            Action::Flush => return self.flush(heard_ns),
            Action::Discard => {
                let ready_ns = self.controller.serve(heard_ns, self.plan.unit_ns);
                let (start, end) = self.layout.inner(&span);
                self.dies.garbage.unmapped.insert(start, end);
                self.note(|ledger| ledger.log.dropped(range, ready_ns));
                ready_ns
            }
        };
        end_ns.saturating_add(self.plan.command_ns)
    }

    fn read(&mut self, span: &Span, at_ns: u64, bytes: u64) -> u64 {
        let ready_ns = if self.dies.garbage.unmapped.covers(span.start, span.end) {
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

    fn write(&mut self, span: &Span, at: Arrival, fua: bool) -> u64 {
        let mut whole = span.units();
        let mut torn: [Option<u64>; 2] = [None; 2];
        let mut taken_ns = at.ready_ns;
        for (part, torn) in span.parts(&self.layout).into_iter().zip(&mut torn) {
            let Some(part) = part else { continue };
            let all = self.layout.unit(part.unit);
            if self.dies.garbage.unmapped.covers(all.from, all.upto) {
                // There is nothing to be read.
                self.note(|ledger| ledger.enter(part));
                continue;
            }
            whole -= 1;
            if fua || !self.parts.joins() {
                self.parts.forget(part.unit, part.unit);
                *torn = Some(part.unit);
                self.note(|ledger| ledger.keep(part));
                continue;
            }
            match self.parts.join(part, all) {
                Joined::Kept => self.note(|ledger| ledger.keep(part)),
                Joined::Whole => {
                    whole += 1;
                    self.note(|ledger| ledger.enter(part));
                }
                Joined::Evicts(Part { unit, .. }) => {
                    let (begun_ns, _) = self.join([Some(unit), None], at);
                    taken_ns = taken_ns.max(self.parts.taken_ns(begun_ns, at.ready_ns));
                    self.note(|ledger| ledger.keep(part));
                }
            }
        }
        let (start, end) = self.layout.inner(span);
        if start < end {
            let last = (end - 1) / self.plan.unit_bytes;
            self.parts.forget(start / self.plan.unit_bytes, last);
            self.buffer.keep(start / self.plan.unit_bytes, last);
            self.note_whole(start / self.plan.unit_bytes, last);
        }
        let touched = (self.layout.unit(span.first).from, self.layout.unit(span.last).upto);
        self.dies.garbage.unmapped.forget(touched.0, touched.1);
        self.is_dirty = true;
        let is_through = self.buffer.pages() == 0;
        let mut durable_ns = at.ready_ns.max(at.data_ns);
        if torn.iter().any(Option::is_some) {
            let (begun_ns, end_ns) = self.join(torn, at);
            taken_ns = taken_ns.max(self.parts.taken_ns(begun_ns, at.ready_ns));
            durable_ns = durable_ns.max(end_ns);
        }
        let bytes = whole.saturating_mul(self.plan.unit_bytes);
        let (room_ns, programmed_ns) = self.store(bytes, at, fua && self.forgets());
        durable_ns = durable_ns.max(programmed_ns);
        if is_through {
            durable_ns
        } else if fua && self.forgets() {
            self.map(at.ready_ns, durable_ns)
        } else {
            taken_ns.max(room_ns).max(at.data_ns)
        }
    }

    /// Reads, joins and writes `units` in a slot: when that begins, and when it ends. They are read
    /// side by side, and what becomes of them is programmed together.
    fn join(&mut self, units: [Option<u64>; 2], at: Arrival) -> (u64, u64) {
        let (unit_bytes, page_bytes) = (self.plan.unit_bytes, self.plan.page_bytes);
        let mut end_ns = 0;
        let mut count = 0;
        let cell_ns = self.dies.cell_ns();
        for unit in units.into_iter().flatten() {
            let pages = unit_bytes.div_ceil(page_bytes);
            let first = unit * unit_bytes / page_bytes;
            end_ns = self.dies.read(at.ready_ns, first, pages, unit_bytes).max(end_ns);
            count += 1;
        }
        for _ in 0..(count * unit_bytes).div_ceil(page_bytes) {
            end_ns = self.dies.program(at.ready_ns).max(end_ns);
        }
        self.tally.rmw_reads += count;
        // Out of one die and into another.
        let moving_ns = 2 * self.dies.on_channel_ns(unit_bytes.min(page_bytes));
        let work_ns = self.plan.read_ns + moving_ns + cell_ns;
        let slot = self.parts.slot();
        let begun_ns = slot.free_ns.max(at.ready_ns).max(at.data_ns);
        slot.free_ns = begun_ns.saturating_add(work_ns).max(end_ns);
        let freed_ns = slot.free_ns;
        self.settled_ns = self.settled_ns.max(freed_ns);
        for unit in units.into_iter().flatten() {
            self.note(|ledger| ledger.join(unit, (begun_ns, freed_ns)));
        }
        (begun_ns, freed_ns)
    }

    /// Puts `bytes` into the buffer, and pages that are full on the flash; all, where `closes` says
    /// so or there is no buffer. When there was room, and when what was programmed is durable.
    fn store(&mut self, bytes: u64, at: Arrival, closes: bool) -> (u64, u64) {
        let page_bytes = self.plan.page_bytes;
        let open_bytes = self.buffer.open_bytes.saturating_add(bytes);
        let is_closed = closes || self.buffer.pages() == 0;
        let mut pages = open_bytes / page_bytes;
        self.buffer.open_bytes = open_bytes % page_bytes;
        if is_closed && self.buffer.open_bytes > 0 {
            self.buffer.open_bytes = 0;
            pages += 1;
        }
        let mut end_ns = 0;
        let most = self.buffer.pages().max(1) as u64;
        if pages > most {
            // More than the buffer holds: the first of them are but work for the dies.
            end_ns = self.dies.program_all(at.ready_ns, pages - most);
            let end_ns = end_ns.max(at.data_ns);
            self.note(|ledger| ledger.program((pages - most) * page_bytes, (at.data_ns, end_ns)));
            pages = most;
        }
        let mut room_ns = at.ready_ns.max(end_ns);
        for _ in 0..pages {
            room_ns = self.buffer.room(at.ready_ns).max(room_ns);
            let cell_ns = self.dies.cell_ns();
            let programmed_ns = self.dies.program(at.ready_ns);
            self.buffer.fill(programmed_ns);
            let to_ns = programmed_ns.max(at.data_ns.saturating_add(cell_ns));
            let from_ns = to_ns.saturating_sub(cell_ns).max(at.data_ns);
            end_ns = end_ns.max(to_ns);
            self.note(|ledger| ledger.program(page_bytes, (from_ns, to_ns)));
        }
        self.settled_ns = self.settled_ns.max(end_ns);
        (room_ns, end_ns)
    }

    /// Does something to the ledger, where there is one.
    fn note(&mut self, what: impl FnOnce(&mut Ledger)) {
        if let Some(ledger) = &mut self.ledger {
            what(ledger);
        }
    }

    /// Notes that the units from `first` to `last` enter the buffer whole.
    fn note_whole(&mut self, first: u64, last: u64) {
        let layout = self.layout;
        self.note(|ledger| {
            ledger.forget(first, last);
            (first..=last).for_each(|unit| ledger.enter(layout.unit(unit)));
        });
    }

    /// What it writes as one: its mapping units.
    fn sectors(&self) -> Sectors {
        let FlashPlan { logical_bytes, unit_bytes, origin_bytes, .. } = self.plan;
        Sectors { logical_bytes, physical_bytes: unit_bytes, origin_bytes }
    }

    /// Programs the mapping behind data that are durable at `data_ns`; when it is.
    fn map(&mut self, at_ns: u64, data_ns: u64) -> u64 {
        let moving_ns = self.dies.on_channel_ns(self.plan.page_bytes);
        let mut end_ns = data_ns;
        for _ in 1..self.plan.flush_programs {
            let one_ns = moving_ns + self.dies.cell_ns();
            end_ns = self.dies.program(at_ns).max(end_ns.saturating_add(one_ns));
        }
        self.settled_ns = self.settled_ns.max(end_ns);
        end_ns
    }

    /// Makes durable all that was written; when it is.
    fn flush(&mut self, heard_ns: u64) -> u64 {
        let ready_ns = self.controller.serve(heard_ns, 0);
        let cheap_ns = ready_ns.saturating_add(self.plan.flush_ns);
        if !self.forgets() {
            return cheap_ns;
        }
        if self.is_dirty {
            let at = Arrival { ready_ns, data_ns: ready_ns };
            while let Some(Part { unit, .. }) = self.parts.oldest() {
                self.join([Some(unit), None], at);
            }
            self.store(0, at, true);
            self.is_dirty = false;
            self.durable_ns = self.map(ready_ns, self.settled_ns.max(ready_ns));
        }
        cheap_ns.max(self.durable_ns)
    }
}

impl Model for Flash {
    fn submit(&mut self, command: Command, at_ns: u64, done: &mut Vec<Done>) {
        self.advance(at_ns, done);
        if let Err(fault) = command.checked(self.plan.capacity_bytes, self.plan.logical_bytes) {
            done.push(Done { id: command.id, at_ns, outcome: Err(fault) });
            return;
        }
        let end_ns = self.ends_ns(&command, at_ns);
        self.endings.push(end_ns, command);
        self.advance(at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.endings.next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<Done>) {
        self.endings.advance(to_ns, &mut self.tally, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.plan.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        self.plan.logical_bytes
    }

    fn tally(&self) -> Tally {
        self.tally.plus(self.dies.tally)
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new = self.endings.is_new() && self.tally() == Tally::default();
        if is_new {
            let log = MediumLog::new(self.sectors(), self.plan.capacity_bytes, entries_max);
            let shift_bytes = self.layout.unit(0).from;
            self.ledger = Some(Box::new(Ledger::new(log, shift_bytes, self.plan.unit_bytes)));
        }
        is_new
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.ledger.as_ref().map(|ledger| &ledger.log)
    }

    fn told(&self) -> Told {
        Told { sectors: self.sectors(), has_volatile_cache: self.forgets() }
    }

    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        let cut = if self.plan.is_volatile { *cut } else { cut.protected() };
        power::cut(host, self.medium_log().ok_or(CutFault::NoLog)?, &cut)
    }
}
