//! Ways of making writes durable, measured beside each other.
//!
//! Every round that counts gives each row one short slice of operations, in a random order, so
//! that what drifts (a drive's state, a neighbor, a throttle) hits all rows alike. What a row took
//! in each round is kept, so that two rows can be compared round by round ([`compare`]).
//!
//! Left out, by rule and not by looking:
//! - the first operation of each slice, which pays for what the row before left in caches;
//! - the first round, in which files, caches and the journal are met for the first time.

mod compare;
mod rows;
mod sample;
mod slowest;
mod sustained;

use device::durable::DurableMethod;
use device::{Durable, DurableFault};
use units::random::Random;

pub use compare::{ComparedRows, Difference, compare};
pub use rows::{QUESTIONS, RowChoice, RowGroup, RowPlan, pg_rows};
pub use sample::{SERIES_MAX, ValueSample};
pub use slowest::SlowestSeries;
pub use sustained::{SeriesLimits, SeriesPoint, sustained};

use crate::Histogram;
use sample::ROUNDS_KEPT;

/// Limits of the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurableLimits {
    /// Longest time of all of them, in nanoseconds.
    pub elapsed_ns: u64,
    /// Up to which number of bytes written, as [`Durable::written_bytes`] counts them.
    pub written_bytes: u64,
    /// Length of a slice in nanoseconds; it has two operations however long they take,
    /// unless the time of all is over, and one in a round that is left out.
    pub slice_ns: u64,
    /// Number of bytes a slice writes at most, beyond those two operations.
    pub slice_bytes: u64,
    /// The most rounds, those left out included.
    pub rounds: u64,
}

/// The rounds at the beginning that are left out.
const WARM_UP_ROUNDS: u64 = 1;

/// Times of one row.
#[derive(Clone, Debug)]
pub struct RowSeen {
    /// The latencies that count.
    pub latencies: Histogram,
    /// The same in their order, in nanoseconds: all, or [`SERIES_MAX`] at least of a longer run.
    pub series: ValueSample<u64>,
    /// The slowest of those that count over the time since the rounds began.
    pub slowest: SlowestSeries,
    /// Time of those that count, added up, in nanoseconds.
    pub busy_ns: u64,
    /// The operations that were done and left out.
    pub discarded: u64,
    /// The mean latency of each round that counts, in nanoseconds; `None` for a round in which the
    /// row had no slice. Of a long run some, evenly from all of it: the same rounds for every row.
    pub round_means_ns: ValueSample<Option<f64>>,
    /// Why it cannot be measured here.
    pub unavailable: Option<String>,
    /// The failure; nothing was done with the row after that.
    pub errors: Vec<String>,
    /// True if the first of those was that there is no room.
    pub has_no_room: bool,
}

impl RowSeen {
    fn new() -> RowSeen {
        RowSeen {
            latencies: Histogram::new(),
            series: ValueSample::new(SERIES_MAX),
            slowest: SlowestSeries::new(),
            busy_ns: 0,
            discarded: 0,
            round_means_ns: ValueSample::new(ROUNDS_KEPT),
            unavailable: None,
            errors: Vec::new(),
            has_no_room: false,
        }
    }

    /// The mean latency in nanoseconds; `None` where none counts.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.latencies.count();
        (count > 0).then(|| units::number::real(self.busy_ns) / units::number::real(count))
    }

    /// Returns whether it goes on.
    fn is_live(&self) -> bool {
        self.unavailable.is_none() && self.errors.is_empty()
    }

    fn record(&mut self, at_ns: u64, took_ns: u64) {
        self.slowest.record(at_ns, took_ns);
        self.latencies.record(took_ns);
        self.busy_ns = self.busy_ns.saturating_add(took_ns);
        self.series.record(took_ns);
    }
}

/// Times of all rows.
#[derive(Clone, Debug)]
pub struct DurableSeen {
    /// Each row, in the order in which they were given.
    pub rows: Vec<RowSeen>,
    /// The rounds that count, the last of which may not be whole.
    pub rounds: u64,
    /// The rounds that were left out.
    pub discarded_rounds: u64,
    /// Time of all of it, in nanoseconds.
    pub elapsed_ns: u64,
    /// True if the last round is not whole.
    pub was_cut_short: bool,
    /// Why it stopped before its time: a sync failed.
    pub stopped: Option<String>,
}

/// Measures the rows whose ways these are, until a limit is reached or the user wants no more.
/// `seed` decides the order.
#[must_use]
pub fn run<D: Durable>(
    doer: &mut D,
    ways: &[DurableMethod],
    limits: DurableLimits,
    seed: u64,
) -> DurableSeen {
    let begun_ns = doer.now_ns();
    let mut rounds = DurableRun {
        begun_ns,
        end_ns: begun_ns.saturating_add(limits.elapsed_ns),
        sync_ns: 0,
        limits,
        ways,
        seen: ways.iter().map(|_| RowSeen::new()).collect(),
        stopped: None,
    };
    let mut random = Random::new(seed);
    let mut order: Vec<usize> = (0..ways.len()).collect();
    let (mut count, mut was_cut_short) = (0_u64, false);
    while count < limits.rounds && rounds.has_live() {
        random.shuffle(&mut order);
        let counts = count >= WARM_UP_ROUNDS;
        if !counts {
            // How long one sync takes is known before many are made at once.
            order.sort_by_key(|row| ways[*row].syncs());
        }
        let is_whole = rounds.round(doer, &order, counts);
        count += 1;
        if !is_whole {
            was_cut_short = true;
            break;
        }
        if rounds.is_over(doer) {
            break;
        }
    }
    let discarded_rounds = count.min(WARM_UP_ROUNDS);
    DurableSeen {
        rows: rounds.seen,
        rounds: count - discarded_rounds,
        discarded_rounds,
        elapsed_ns: doer.now_ns().saturating_sub(begun_ns),
        was_cut_short,
        stopped: rounds.stopped,
    }
}

/// The rounds as they go.
struct DurableRun<'a> {
    limits: DurableLimits,
    begun_ns: u64,
    end_ns: u64,
    /// Time of the last sync, in nanoseconds.
    sync_ns: u64,
    ways: &'a [DurableMethod],
    seen: Vec<RowSeen>,
    stopped: Option<String>,
}

impl DurableRun<'_> {
    fn has_live(&self) -> bool {
        self.seen.iter().any(RowSeen::is_live)
    }

    /// Returns whether a limit was reached.
    fn is_over<D: Durable>(&self, doer: &D) -> bool {
        !doer.goes_on()
            || doer.now_ns() >= self.end_ns
            || doer.written_bytes() >= self.limits.written_bytes
    }

    /// Returns whether no operation of `row` may begin: all its syncs but one must fit into the
    /// time, as far as it is known how long they take.
    fn is_late<D: Durable>(&self, doer: &D, row: usize) -> bool {
        let others_ns = self.sync_ns.saturating_mul(self.ways[row].syncs().saturating_sub(1));
        !doer.goes_on() || doer.now_ns().saturating_add(others_ns) >= self.end_ns
    }

    /// Does an operation of `row`; how long it took in nanoseconds.
    fn once<D: Durable>(&mut self, doer: &mut D, row: usize) -> Result<u64, DurableFault> {
        let took_ns = doer.once(row)?;
        self.sync_ns = took_ns.div_euclid(self.ways[row].syncs());
        Ok(took_ns)
    }

    /// Gives each row its slice; whether all had theirs.
    fn round<D: Durable>(&mut self, doer: &mut D, order: &[usize], counts: bool) -> bool {
        for (number, &row) in order.iter().enumerate() {
            if !self.seen[row].is_live() {
                self.note_mean(row, None, counts);
                continue;
            }
            // A round that has begun is cut short only by what must not be passed.
            let least = self.ways[row].operation_bytes().saturating_mul(2);
            let has_room = doer.written_bytes().saturating_add(least) <= self.limits.written_bytes;
            if !has_room || self.is_late(doer, row) {
                self.note_none(&order[number..], counts);
                return false;
            }
            let mean = self.slice(doer, row, counts);
            let mean = mean.unwrap_or_else(|fault| self.fault(row, fault));
            self.note_mean(row, mean, counts);
            if self.stopped.is_some() {
                self.note_none(&order[number + 1..], counts);
                return false;
            }
        }
        true
    }

    /// That these rows had no slice in a round that was cut short, so that all have as many rounds.
    fn note_none(&mut self, rows: &[usize], counts: bool) {
        rows.iter().for_each(|&row| self.note_mean(row, None, counts));
    }

    fn note_mean(&mut self, row: usize, mean: Option<f64>, counts: bool) {
        if counts {
            self.seen[row].round_means_ns.record(mean);
        }
    }

    fn fault(&mut self, row: usize, fault: DurableFault) -> Option<f64> {
        let seen = &mut self.seen[row];
        match fault {
            DurableFault::Unavailable(reason) => seen.unavailable = Some(reason),
            DurableFault::Void(reason) => seen.errors.push(reason),
            DurableFault::NoRoom(reason) => {
                seen.errors.push(reason);
                seen.has_no_room = true;
            }
            DurableFault::Stopped(reason) => {
                seen.errors.push(reason.clone());
                self.stopped = Some(reason);
            }
        }
        None
    }

    /// Some operations of a row; the mean of those that count, in nanoseconds. None begins after
    /// the time is over.
    fn slice<D: Durable>(
        &mut self,
        doer: &mut D,
        row: usize,
        counts: bool,
    ) -> Result<Option<f64>, DurableFault> {
        doer.begin(row)?;
        let first_ns = self.once(doer, row)?;
        self.seen[row].discarded += 1;
        let bytes = self.ways[row].operation_bytes();
        let written_max = doer.written_bytes().saturating_add(self.limits.slice_bytes);
        let slice_end_ns = doer.now_ns().saturating_add(self.limits.slice_ns).min(self.end_ns);
        if self.is_late(doer, row) || (!counts && first_ns >= self.limits.slice_ns) {
            return doer.end(row).map(|()| None);
        }
        let (mut busy_ns, mut operations) = (0_u64, 0_u64);
        loop {
            let took_ns = self.once(doer, row)?;
            let now_ns = doer.now_ns();
            busy_ns = busy_ns.saturating_add(took_ns);
            operations += 1;
            match counts {
                true => self.seen[row].record(now_ns.saturating_sub(self.begun_ns), took_ns),
                false => self.seen[row].discarded += 1,
            }
            let next = doer.written_bytes().saturating_add(bytes);
            let is_full = next > written_max || next > self.limits.written_bytes;
            if is_full || now_ns >= slice_end_ns || self.is_late(doer, row) {
                break;
            }
        }
        doer.end(row)?;
        let mean = units::number::real(busy_ns) / units::number::real(operations);
        Ok(counts.then_some(mean))
    }
}

#[cfg(test)]
mod tests;
