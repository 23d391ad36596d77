//! Writes of an array with parity: stripe by stripe, in rounds.
//!
//! A write waits until there is room among the [`Stripes`](super::stripes::Stripes). A round of a
//! stripe reads what it needs, if anything, and then writes data and parity.

use super::members::{MemberRun, Owner};
use super::parity_update::{ChunkPart, StripeDimensions};
use super::stripes::{Phase, Taken};
use super::{Array, ArrayCommand};
use crate::{CommandKind, Model};

impl<M: Model> Array<M> {
    /// Gives waiting writes to their stripes, as far as there is room. Where there is none, what is
    /// held is held no longer.
    pub(super) fn write_on(&mut self) {
        let full_bytes = self.shape.stripe.full_bytes();
        while let Some(&place) = self.writes.front() {
            let ArrayCommand { command, next, end, .. } = *self.flights.at(place);
            let number = next / full_bytes;
            let start = number * full_bytes;
            let stop = end.min(start + full_bytes);
            let fua = command.action == CommandKind::Write { fua: true };
            let written = (next - start, stop - start);
            match self.stripes.take(number, written, place, fua, self.now_ns) {
                None => {
                    if let Some(held) = self.stripes.oldest() {
                        self.begin_stripe(held);
                    }
                    return;
                }
                Some(Taken::Begin(stripe)) => self.begin_stripe(stripe),
                Some(Taken::Waits) => {}
            }
            let flight = self.flights.at(place);
            (flight.next, flight.left) = (stop, flight.left + 1);
            if stop == end {
                self.writes.pop_front();
            }
        }
    }

    /// Begins a round of a stripe: with its reads, or its writes where it needs none.
    pub(super) fn begin_stripe(&mut self, place: usize) {
        let rows = StripeDimensions::of(&self.plan);
        let work = self.stripes.begin(place);
        if let Some(ledger) = &mut self.ledger {
            let flights = work.active.flights.iter();
            let writes = flights.map(|flight| self.flights.at(*flight).number).collect();
            work.round = ledger.round(work.number, writes);
        }
        let number = work.number;
        self.fill(place, number);
        self.tally.parity_updates += rows.parity;
        if self.stripes.at(place).parts.reads.is_empty() {
            self.post_stripe(place, Phase::Writes);
        } else {
            self.tally.parity_rmws += rows.parity;
            self.post_stripe(place, Phase::Reads);
        }
    }

    /// Goes on with a round whose reads have ended. What is lost may be on a spare by now.
    fn write_stripe(&mut self, place: usize) {
        if self.lost > 0 {
            let number = self.stripes.at(place).number;
            self.fill(place, number);
        }
        self.post_stripe(place, Phase::Writes);
    }

    /// Works out a round of the stripe `number` at `place`.
    fn fill(&mut self, place: usize, number: u64) {
        let rows = StripeDimensions::of(&self.plan);
        let work = self.stripes.at(place);
        let mut parts = std::mem::take(&mut work.parts);
        let written = std::mem::take(&mut work.active.written);
        let rotation = self.plan.level.rotation().expect("only arrays with parity have stripes");
        let end = (number + 1) * self.plan.chunk_bytes;
        let is_whole = self.lost == 0;
        parts.fill(&rows, &written, |chunk| {
            !is_whole && self.is_lost(chunk.member(&self.plan, rotation, number), end)
        });
        let work = self.stripes.at(place);
        (work.active.written, work.parts) = (written, parts);
    }

    /// Makes pieces of a round's reads or writes.
    fn post_stripe(&mut self, place: usize, phase: Phase) {
        let work = self.stripes.at(place);
        let (number, fua, origin) = (work.number, work.active.fua, work.round);
        work.phase = phase;
        let parts = std::mem::take(&mut work.parts);
        let (posted, action) = match phase {
            Phase::Reads => (&parts.reads, CommandKind::Read),
            _ => (&parts.writes, CommandKind::Write { fua }),
        };
        work.left = posted.len() as u64;
        let rotation = self.plan.level.rotation().expect("only arrays with parity have stripes");
        let base = number * self.plan.chunk_bytes;
        for &ChunkPart { chunk, start, end } in posted {
            let member = chunk.member(&self.plan, rotation, number);
            let (start, end) = (base + start, base + end);
            let owner = Owner::Stripe(place);
            self.members.post(MemberRun { member, action, start, end, owner, origin });
        }
        self.stripes.at(place).parts = parts;
    }

    /// Ends a piece of a round: behind its last read come its writes, and behind the last of these
    /// it ends.
    pub(super) fn end_stripe_piece(&mut self, place: usize) {
        let work = self.stripes.at(place);
        work.left -= 1;
        match (work.left, work.phase) {
            (0, Phase::Reads) => self.write_stripe(place),
            (0, _) => self.end_stripe(place),
            _ => {}
        }
    }

    /// Ends a round of a stripe, and begins the next if there is one.
    fn end_stripe(&mut self, place: usize) {
        let flights = std::mem::take(&mut self.stripes.at(place).active.flights);
        for &flight in &flights {
            self.end_part(flight, Ok(()));
        }
        self.stripes.at(place).active.flights = flights;
        if self.stripes.end(place, self.now_ns) {
            self.begin_stripe(place);
        }
    }
}
