//! The stripes that are being written: a bounded table.
//!
//! A write joins what waits for its stripe. A stripe is worked at in rounds, one behind the other,
//! so that two writes to it are in order: all that waits is taken, then read for, then written.

use std::collections::{BTreeMap, BTreeSet};

use super::parity_update::{self, Round, Written};

/// Bytes to be written to a stripe, and the commands that write them.
#[derive(Clone, Debug, Default)]
pub(super) struct StripeBatch {
    pub(super) written: Vec<Written>,
    pub(super) flights: Vec<usize>,
    pub(super) fua: bool,
}

impl StripeBatch {
    fn clear(&mut self) {
        self.written.clear();
        self.flights.clear();
        self.fua = false;
    }
}

/// Phase of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for the rest of itself until then.
    Held(u64),
    /// Old data and parity are read.
    Reads,
    /// New data and parity are written.
    Writes,
}

/// A stripe that is being written.
#[derive(Clone, Debug)]
pub(super) struct StripeWork {
    pub(super) number: u64,
    pub(super) phase: Phase,
    /// Parts that came since the round began.
    waiting: StripeBatch,
    /// Parts that the round writes.
    pub(super) active: StripeBatch,
    /// Work of the round.
    pub(super) parts: Round,
    /// Parts that the members have not done yet.
    pub(super) left: u64,
    /// Number of the round in the array's ledger; 0 where it keeps none.
    pub(super) round: usize,
}

/// The stripes that are being written.
#[derive(Clone, Debug)]
pub(super) struct Stripes {
    most: usize,
    hold_ns: u64,
    full_bytes: u64,
    works: Vec<StripeWork>,
    free: Vec<usize>,
    places: BTreeMap<u64, usize>,
    held: BTreeSet<(u64, usize)>,
}

impl Stripes {
    /// None yet; at most `most` at once, of `full_bytes` each.
    pub(super) fn new(most: u64, hold_ns: u64, full_bytes: u64) -> Stripes {
        Stripes {
            most: usize::try_from(most).unwrap_or(usize::MAX),
            hold_ns,
            full_bytes,
            works: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            held: BTreeSet::new(),
        }
    }

    /// Takes a part of stripe `number`, where there is room. `Some` is what can be begun now.
    pub(super) fn take(
        &mut self,
        number: u64,
        written: Written,
        flight: usize,
        fua: bool,
        now_ns: u64,
    ) -> Option<Taken> {
        let (place, is_new) = match self.places.get(&number) {
            Some(&place) => (place, false),
            None => (self.place(number, now_ns)?, true),
        };
        let work = &mut self.works[place];
        parity_update::join(&mut work.waiting.written, written);
        work.waiting.flights.push(flight);
        work.waiting.fua |= fua;
        let is_full = work.waiting.written[..] == [(0, self.full_bytes)];
        match work.phase {
            Phase::Held(until_ns) if is_full || until_ns <= now_ns => {
                self.held.remove(&(until_ns, place));
                Some(Taken::Begin(place))
            }
            Phase::Held(until_ns) if is_new => {
                self.held.insert((until_ns, place));
                Some(Taken::Waits)
            }
            _ => Some(Taken::Waits),
        }
    }

    /// A place for stripe `number`; `None` where all are taken.
    fn place(&mut self, number: u64, now_ns: u64) -> Option<usize> {
        let phase = Phase::Held(now_ns.saturating_add(self.hold_ns));
        let place = if let Some(place) = self.free.pop() {
            (self.works[place].number, self.works[place].phase) = (number, phase);
            place
        } else {
            if self.works.len() >= self.most {
                return None;
            }
            let (waiting, active) = (StripeBatch::default(), StripeBatch::default());
            let parts = Round::default();
            self.works.push(StripeWork {
                number,
                phase,
                waiting,
                active,
                parts,
                left: 0,
                round: 0,
            });
            self.works.len() - 1
        };
        self.places.insert(number, place);
        Some(place)
    }

    /// The stripe that has been held longest, no longer held; `None` where none is.
    pub(super) fn oldest(&mut self) -> Option<usize> {
        self.held.pop_first().map(|(_, place)| place)
    }

    /// A stripe that has been held long enough, no longer held.
    pub(super) fn due(&mut self, now_ns: u64) -> Option<usize> {
        let is_due = self.next_ns().is_some_and(|next_ns| next_ns <= now_ns);
        if is_due { self.oldest() } else { None }
    }

    /// When a stripe will have been held long enough.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.held.first().map(|&(until_ns, _)| until_ns)
    }

    /// Begins a round: what waits becomes what is written.
    pub(super) fn begin(&mut self, place: usize) -> &mut StripeWork {
        let work = &mut self.works[place];
        std::mem::swap(&mut work.waiting, &mut work.active);
        work.waiting.clear();
        work
    }

    /// The stripe at `place`.
    pub(super) fn at(&mut self, place: usize) -> &mut StripeWork {
        &mut self.works[place]
    }

    /// Returns how many stripes were written at once, at most.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.works.len()
    }

    /// Ends a round; whether another can be begun at once. Where nothing waits, the place is free.
    pub(super) fn end(&mut self, place: usize, now_ns: u64) -> bool {
        let until_ns = now_ns.saturating_add(self.hold_ns);
        let work = &mut self.works[place];
        work.active.clear();
        if work.waiting.flights.is_empty() {
            self.places.remove(&work.number);
            self.free.push(place);
            return false;
        }
        let is_full = work.waiting.written[..] == [(0, self.full_bytes)];
        if is_full || until_ns <= now_ns {
            return true;
        }
        work.phase = Phase::Held(until_ns);
        self.held.insert((until_ns, place));
        false
    }
}

/// Outcome of offering a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It waits for what is before it, or for the rest of the stripe.
    Waits,
    /// The stripe can be begun.
    Begin(usize),
}
