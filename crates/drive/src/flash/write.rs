//! The way of a write: parts of units are joined in slots, whole ones fill pages that go through
//! the buffer to the dies, and a flush puts the mapping behind them.

use super::partial_units::{Joined, UnitPart};
use super::units::UnitSpan;
use super::{Arrival, Flash};

/// Units that were made whole.
#[derive(Clone, Copy, Debug)]
struct JoinedUnits {
    /// When the write that has parts of them may be acknowledged.
    taken_ns: u64,
    /// When they are whole.
    there_ns: u64,
}

impl Flash {
    /// Takes a write; when it ends: when there is room for it, or when it is durable where it is
    /// forced or there is no buffer.
    pub(super) fn write(&mut self, span: &UnitSpan, at: Arrival, fua: bool) -> u64 {
        let mut whole = span.units();
        let mut torn: [Option<u64>; 2] = [None; 2];
        let mut taken_ns = at.ready_ns;
        let mut data_ns = at.data_ns;
        self.dies.garbage.note(span.start, span.end);
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
                Joined::Evicts(UnitPart { unit, .. }) => {
                    let joined = self.join([Some(unit), None], at);
                    taken_ns = taken_ns.max(joined.taken_ns);
                    data_ns = data_ns.max(joined.there_ns);
                    whole += 1;
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
        if torn.iter().any(Option::is_some) {
            let joined = self.join(torn, at);
            taken_ns = taken_ns.max(joined.taken_ns);
            data_ns = data_ns.max(joined.there_ns);
            whole += torn.iter().flatten().count() as u64;
        }
        let bytes = whole.saturating_mul(self.plan.unit_bytes);
        let stored = Arrival { data_ns, ..at };
        let (room_ns, programmed_ns) = self.store(bytes, stored, fua && self.forgets());
        let durable_ns = programmed_ns.max(at.ready_ns).max(data_ns);
        if is_through {
            durable_ns
        } else if fua && self.forgets() {
            self.map(at.ready_ns, durable_ns)
        } else {
            taken_ns.max(room_ns).max(at.data_ns)
        }
    }

    /// Reads and joins `units` in a slot, side by side. They then are whole, to be stored with
    /// others; the slot is taken for as long as a program would last, as one that waits for it.
    fn join(&mut self, units: [Option<u64>; 2], at: Arrival) -> JoinedUnits {
        let (unit_bytes, page_bytes) = (self.plan.unit_bytes, self.plan.page_bytes);
        let (mut read_ns, mut count) = (0, 0);
        for unit in units.into_iter().flatten() {
            let pages = unit_bytes.div_ceil(page_bytes);
            let first = unit * unit_bytes / page_bytes;
            read_ns = self.dies.read(at.ready_ns, first, pages, unit_bytes).max(read_ns);
            self.buffer.keep(unit, unit);
            self.note(|ledger| ledger.join(unit));
            count += 1;
        }
        self.tally.rmw_reads += count;
        // Out of one die and into another.
        let moving_ns = self.dies.on_channel_ns(unit_bytes.min(page_bytes));
        let cell_ns = self.dies.cell_ns();
        let work_ns = self.plan.read_ns + 2 * moving_ns + cell_ns;
        let slot = self.parts.slot();
        let begun_ns = slot.free_ns.max(at.ready_ns).max(at.data_ns);
        let there_ns = begun_ns.saturating_add(self.plan.read_ns + moving_ns).max(read_ns);
        slot.free_ns = begun_ns.saturating_add(work_ns).max(there_ns);
        self.settled_ns = self.settled_ns.max(slot.free_ns);
        let taken_ns = self.parts.taken_ns(begun_ns, at.ready_ns);
        let taken_ns = if self.plan.rmw_waits { taken_ns.max(there_ns) } else { taken_ns };
        JoinedUnits { taken_ns, there_ns }
    }

    /// Puts `bytes` into the buffer, and pages that are full on the flash; all, where `closes` says
    /// so or there is no buffer. When there was room, and when what was programmed is durable.
    fn store(&mut self, bytes: u64, at: Arrival, closes: bool) -> (u64, u64) {
        let page_bytes = self.plan.program_bytes();
        let open_bytes = self.buffer.open_bytes.saturating_add(bytes);
        let is_closed = closes || self.buffer.pages() == 0;
        let mut pages = open_bytes / page_bytes;
        self.buffer.open_bytes = open_bytes % page_bytes;
        let data_ns = self.buffer.open_ns.max(at.data_ns);
        if is_closed && self.buffer.open_bytes > 0 {
            self.buffer.open_bytes = 0;
            pages += 1;
        }
        self.buffer.open_ns = match (self.buffer.open_bytes, pages) {
            (0, _) => 0,
            (_, 0) => data_ns,
            _ => at.data_ns,
        };
        let mut end_ns = 0;
        let most = self.buffer.pages().max(1) as u64;
        if pages > most {
            // More than the buffer holds: the first of them are but work for the dies.
            end_ns = self.dies.program_all(at.ready_ns, pages - most);
            let end_ns = end_ns.max(data_ns);
            self.note(|ledger| ledger.program((pages - most) * page_bytes, (data_ns, end_ns)));
            pages = most;
        }
        let mut room_ns = at.ready_ns.max(end_ns);
        for _ in 0..pages {
            room_ns = self.buffer.room(at.ready_ns).max(room_ns);
            let cell_ns = self.dies.cell_ns();
            let programmed_ns = self.dies.program(at.ready_ns);
            self.buffer.fill(programmed_ns);
            let to_ns = programmed_ns.max(data_ns.saturating_add(cell_ns));
            let from_ns = to_ns.saturating_sub(cell_ns).max(data_ns);
            end_ns = end_ns.max(to_ns);
            self.note(|ledger| ledger.program(page_bytes, (from_ns, to_ns)));
        }
        self.settled_ns = self.settled_ns.max(end_ns);
        (room_ns, end_ns)
    }

    /// Notes that the units from `first` to `last` enter the buffer whole.
    fn note_whole(&mut self, first: u64, last: u64) {
        let layout = self.layout;
        self.note(|ledger| {
            ledger.forget(first, last);
            (first..=last).for_each(|unit| ledger.enter(layout.unit(unit)));
        });
    }

    /// Programs the mapping behind data that are durable at `data_ns`; when it is.
    fn map(&mut self, at_ns: u64, data_ns: u64) -> u64 {
        let moving_ns = self.dies.on_channel_ns(self.plan.program_bytes());
        let mut end_ns = data_ns;
        for _ in 1..self.plan.flush_programs {
            let one_ns = moving_ns + self.dies.cell_ns();
            end_ns = self.dies.program(at_ns).max(end_ns.saturating_add(one_ns));
        }
        self.settled_ns = self.settled_ns.max(end_ns);
        end_ns
    }

    /// Makes durable all that was written; when it is.
    pub(super) fn flush(&mut self, heard_ns: u64) -> u64 {
        let ready_ns = self.controller.serve(heard_ns, 0);
        let cheap_ns = ready_ns.saturating_add(self.plan.flush_ns);
        if !self.forgets() {
            return cheap_ns;
        }
        if self.is_dirty {
            let at = Arrival { ready_ns, data_ns: ready_ns };
            let (mut bytes, mut stored) = (0, at);
            while let Some(UnitPart { unit, .. }) = self.parts.oldest() {
                let joined = self.join([Some(unit), None], at);
                stored.data_ns = stored.data_ns.max(joined.there_ns);
                bytes += self.plan.unit_bytes;
            }
            self.store(bytes, stored, true);
            self.is_dirty = false;
            self.durable_ns = self.map(ready_ns, self.settled_ns.max(ready_ns));
        }
        cheap_ns.max(self.durable_ns)
    }
}
