//! Parts of a drive that do one thing after the other, and what is on its way back to the host.
//!
//! A drive of electronics is a row of such parts. Each is a [`Server`]: it knows only until when it
//! has work. Work is counted in the order in which commands came, so that a part never does more
//! than its rate allows, and a command that is late elsewhere does not keep the part idle for those
//! behind it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::{DriveCommand, DriveCompletion, DriveTally};

/// A part that does one thing after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Server {
    /// Until when it has work.
    pub(crate) free_ns: u64,
}

impl Server {
    /// Gives it `work_ns` of work at `at_ns`; when that is done.
    pub(crate) fn serve(&mut self, at_ns: u64, work_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(at_ns).saturating_add(work_ns);
        self.free_ns
    }
}

/// Returns how long `bytes` take at `bytes_per_second`, rounded down; `u64::MAX` where that is too
/// long.
pub(crate) fn transfer_ns(bytes: u64, bytes_per_second: u64) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    match bytes.checked_mul(SECOND_NS) {
        Some(product) => product / bytes_per_second,
        None => {
            let ns = u128::from(bytes) * u128::from(SECOND_NS) / u128::from(bytes_per_second);
            u64::try_from(ns).unwrap_or(u64::MAX)
        }
    }
}

/// Place, among `count` parts, of the part whose turn `number` is; there is at least one part.
pub(crate) fn turn(number: u64, count: usize) -> usize {
    usize::try_from(number % count as u64).expect("less than a count is one")
}

/// Events to come, and the time until which all have happened. Holds as much as is in flight.
#[derive(Clone, Debug)]
pub(crate) struct Agenda<T> {
    events: BinaryHeap<Reverse<Event<T>>>,
    now_ns: u64,
    number: u64,
}

/// One event. Events go by their times, and those of one time as they became known.
#[derive(Clone, Debug)]
struct Event<T> {
    at_ns: u64,
    number: u64,
    what: T,
}

impl<T> Ord for Event<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at_ns, self.number).cmp(&(other.at_ns, other.number))
    }
}

impl<T> PartialOrd for Event<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Event<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Event<T> {}

impl<T> Agenda<T> {
    /// Nothing, at time 0.
    pub(crate) fn new() -> Agenda<T> {
        Agenda { events: BinaryHeap::new(), now_ns: 0, number: 0 }
    }

    /// `what` will happen at `at_ns`.
    pub(crate) fn push(&mut self, at_ns: u64, what: T) {
        self.number += 1;
        self.events.push(Reverse(Event { at_ns, number: self.number, what }));
    }

    /// Returns whether nothing was ever to happen, and no time has passed.
    pub(crate) fn is_new(&self) -> bool {
        (self.now_ns, self.number) == (0, 0)
    }

    /// When the next happens.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.events.peek().map(|Reverse(event)| event.at_ns)
    }

    /// Returns what happens next until `to_ns`, that included, and when.
    ///
    /// # Panics
    /// When `to_ns` is before the time of an earlier call.
    pub(crate) fn pop(&mut self, to_ns: u64) -> Option<(u64, T)> {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        self.now_ns = to_ns;
        if self.next_ns()? > to_ns {
            return None;
        }
        self.events.pop().map(|Reverse(event)| (event.at_ns, event.what))
    }
}

impl Agenda<DriveCommand> {
    /// Advances to `to_ns`; what ends until then is counted and told.
    ///
    /// # Panics
    /// When `to_ns` is before the time of an earlier call.
    pub(crate) fn advance(
        &mut self,
        to_ns: u64,
        tally: &mut DriveTally,
        done: &mut Vec<DriveCompletion>,
    ) {
        while let Some((at_ns, command)) = self.pop(to_ns) {
            tally.count(&command);
            done.push(DriveCompletion { id: command.id, at_ns, outcome: Ok(()) });
        }
    }
}
