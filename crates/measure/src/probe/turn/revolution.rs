//! The revolution time, from durable writes of one place: see [`super`].

use device::Queue;
use units::random::Random;

use super::super::answer::{Estimate, Unidentified};
use super::super::budget::EndReason;
use super::super::granule::Granule;
use super::super::operations::Operations;
use super::super::{Ask, ProbedQueue};
use crate::statistics::Ratios;
use crate::{Fault, MappedRun};
use units::number::{count, real, whole};

/// The writes from which the turn is guessed.
const PILOT: usize = 9;
/// The writes that test it, a third of them after more than a turn.
const TESTS: usize = 72;
/// Waits of the host, in hundredths of a turn.
const WAITS_PERCENT: [u64; 3] = [20, 50, 135];
/// Least share of them that must end a whole number of turns after the last.
const AGREE: f64 = 0.9;
/// Largest distance of an end from a whole number of turns, in turns.
const NEAR: f64 = 0.04;
/// The other places that are written, and how often each.
const PLACES: usize = 6;
const VISITS: usize = 5;
/// From here on one ends at another time, in turns.
const ELSEWHERE: f64 = 0.1;
/// Number of must: of places anywhere on a turn fewer do so in one of 600 probes.
const ELSEWHERE_LEAST: usize = 2;
/// The shortest and the longest turn of any drive, in nanoseconds: 30000 and 3000 turns a minute.
const TURN_NS: std::ops::RangeInclusive<u64> = 2_000_000..=20_000_000;
/// Most times that a clock is asked while the host waits.
const SPINS_MAX: u64 = 20_000_000;
/// The length of the writes that find the turn.
const WRITE_BYTES: u32 = 4096;

/// Time of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revolution {
    /// The median, in nanoseconds.
    pub turn_ns: u64,
    /// The lower bound.
    pub low_ns: u64,
    /// The upper bound.
    pub high_ns: u64,
}

/// Returns how long the drive that is probed takes for a turn, if it turns.
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(probed: &mut ProbedQueue<'_, '_, Q>) -> Result<Estimate<Revolution>, Fault> {
    at(probed, Places { origin_bytes: 0, part: 90 })
}

/// Returns what [`find`] answered; asked again at places on granules, where it found none and
/// `granule` says that they start elsewhere than was written.
///
/// # Errors
/// When an operation fails.
pub fn find_again<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    first: Estimate<Revolution>,
    granule: &Granule,
) -> Result<Estimate<Revolution>, Fault> {
    let origin_bytes = granule.alignment.value().map_or(0, |found| found.origin_bytes);
    match first {
        Estimate::Not { .. } if origin_bytes > 0 => at(probed, Places { origin_bytes, part: 91 }),
        first => Ok(first),
    }
}

/// The turn, from writes of `places`.
fn at<Q: Queue>(
    probed: &mut ProbedQueue<'_, '_, Q>,
    places: Places,
) -> Result<Estimate<Revolution>, Fault> {
    let ask = probed.ask;
    let Some(offset_bytes) = places.home(ask) else {
        return Ok(Estimate::not(Unidentified::NotTried, "there is no place to rewrite"));
    };
    let (operations, ended) = (Operations::new(1), EndReason::Settled);
    let mut loops = Rewrites { probed, operations, ended };
    let mut pilot = Vec::with_capacity(PILOT);
    while pilot.len() < PILOT {
        let Some((latency_ns, _)) = loops.write(offset_bytes, 0)? else {
            return Ok(loops.unsettled());
        };
        pilot.push(latency_ns);
    }
    // The first one finds the place anywhere.
    pilot.remove(0);
    pilot.sort_unstable();
    let guess_ns = pilot[pilot.len() / 2];
    if !TURN_NS.contains(&guess_ns) {
        return Ok(Estimate::not(
            Unidentified::NoSignal,
            format!(
                "rewriting one place takes {}, which is not the rotation time of a disk",
                milliseconds(guess_ns)
            ),
        ));
    }
    let mut random = Random::new(ask.seed(places.part));
    let Some((_, mut last_ns)) = loops.write(offset_bytes, 0)? else {
        return Ok(loops.unsettled());
    };
    let (mut whole_turns, mut singles) = (0_usize, Ratios::new(ask.share(), TESTS));
    for _ in 0..TESTS {
        let wait_ns = guess_ns * random.choose::<u64>(&WAITS_PERCENT) / 100;
        let Some((_, ended_ns)) = loops.write(offset_bytes, wait_ns)? else {
            return Ok(loops.unsettled());
        };
        let period = real(ended_ns.saturating_sub(last_ns)) / real(guess_ns);
        last_ns = ended_ns;
        if (period - period.round()).abs() <= NEAR && period > 0.5 {
            whole_turns += 1;
            if period < 1.5 {
                singles.record(period.ln());
            }
        }
    }
    if count(whole_turns) < AGREE * count(TESTS) || singles.pairs() < TESTS / 3 {
        return Ok(Estimate::not(
            Unidentified::NoSignal,
            format!(
                "no rotation visible: only {whole_turns} of {TESTS} rewrites fit the best \
                 candidate, {} a turn",
                milliseconds(guess_ns)
            ),
        ));
    }
    let Some(elsewhere) = loops.elsewhere(places, offset_bytes, guess_ns, &mut random)? else {
        return Ok(loops.unsettled());
    };
    if elsewhere < ELSEWHERE_LEAST {
        return Ok(Estimate::not(
            Unidentified::Contradiction,
            format!(
                "all writes fit a period of {}, wherever they go: served by a clock, not a platter",
                milliseconds(guess_ns)
            ),
        ));
    }
    let found = singles.median();
    let ns = |turns: f64| whole((turns * real(guess_ns)).round());
    let value =
        Revolution { turn_ns: ns(found.ratio), low_ns: ns(found.low), high_ns: ns(found.high) };
    let said_by = format!(
        "{whole_turns} of {TESTS} writes of one place ended a whole number of turns after the \
         last, however long the host waited, and {elsewhere} of {PLACES} other places did not"
    );
    Ok(Estimate::Found { value, alpha: ask.share(), said_by })
}

fn milliseconds(ns: u64) -> String {
    format!("{}.{:03} ms", ns.div_euclid(1_000_000), ns.div_euclid(1000).rem_euclid(1000))
}

/// Places that are written: on boundaries of 64 KiB, or so far after them, so that no granule is
/// read before it is written.
#[derive(Clone, Copy, Debug)]
struct Places {
    origin_bytes: u64,
    /// The part whose seed draws the waits and the other places.
    part: u64,
}

/// Distance of places from each other.
const STEP_BYTES: u64 = 64 << 10;

impl Places {
    /// The first place of a run, and how many there are.
    fn of(self, run: &MappedRun) -> Option<(u64, u64)> {
        let ahead = run.address_bytes.checked_next_multiple_of(STEP_BYTES)? - run.address_bytes;
        let ahead = ahead + self.origin_bytes;
        let count = run.length_bytes.checked_sub(ahead)?.div_euclid(STEP_BYTES);
        (count > 0).then_some((run.offset_bytes + ahead, count))
    }

    /// The place that is written again and again.
    fn home(self, ask: &Ask<'_>) -> Option<u64> {
        Some(ask.runs.iter().find_map(|run| self.of(run))?.0)
    }

    /// Any place.
    fn anywhere(self, ask: &Ask<'_>, random: &mut Random) -> Option<u64> {
        let all: Vec<(u64, u64)> = ask.runs.iter().filter_map(|run| self.of(run)).collect();
        let total = all.iter().map(|(_, count)| count).sum();
        let mut left = if total > 0 { random.below(total) } else { return None };
        all.into_iter().find_map(|(first, count)| {
            let is_here = left < count;
            let found = is_here.then(|| first + left * STEP_BYTES);
            left = left.saturating_sub(count);
            found
        })
    }
}

/// Durable writes of few places.
struct Rewrites<'a, 'b, 'c, Q: Queue> {
    probed: &'a mut ProbedQueue<'b, 'c, Q>,
    operations: Operations,
    /// The reason why it did not go on.
    ended: EndReason,
}

impl<Q: Queue> Rewrites<'_, '_, '_, Q> {
    /// The answer where it could not go on.
    fn unsettled<T>(&self) -> Estimate<T> {
        let ended = self.ended.said();
        Estimate::not(Unidentified::Noise, format!("undecided when {ended}: does the drive rotate"))
    }

    /// Returns how many of some other places end at another time than the first; `None` where the
    /// budget is used up.
    fn elsewhere(
        &mut self,
        places: Places,
        home_bytes: u64,
        turn_ns: u64,
        random: &mut Random,
    ) -> Result<Option<usize>, Fault> {
        let mut elsewhere = 0;
        for _ in 0..PLACES {
            let Some(other_bytes) = places.anywhere(self.probed.ask, random) else {
                return Ok(Some(0));
            };
            let mut phases = Vec::with_capacity(VISITS);
            for _ in 0..VISITS {
                let Some((_, home_ns)) = self.write(home_bytes, 0)? else { return Ok(None) };
                let Some((_, other_ns)) = self.write(other_bytes, 0)? else { return Ok(None) };
                let turns = real(other_ns.saturating_sub(home_ns)) / real(turn_ns);
                phases.push((turns - turns.round()).abs());
            }
            phases.sort_unstable_by(f64::total_cmp);
            elsewhere += usize::from(phases[VISITS / 2] > ELSEWHERE);
        }
        Ok(Some(elsewhere))
    }

    /// Waits, and writes: how long the write took, and when it ended. `None` where the budget is
    /// used up.
    fn write(&mut self, offset_bytes: u64, wait_ns: u64) -> Result<Option<(u64, u64)>, Fault> {
        let mut now_ns = self.probed.queue.now_ns();
        if let Some(lacking) = self.probed.spending.lacks(1, u64::from(WRITE_BYTES), now_ns) {
            self.ended = lacking;
            return Ok(None);
        }
        let until_ns = now_ns.saturating_add(wait_ns);
        let mut spins = 0;
        while now_ns < until_ns && spins < SPINS_MAX {
            now_ns = self.probed.queue.now_ns();
            spins += 1;
        }
        let completion = self.operations.write(self.probed.queue, offset_bytes, WRITE_BYTES)?;
        self.probed.spending.spend(1, u64::from(WRITE_BYTES));
        // A rest between would be taken for a wait; it is only asked whether to go on.
        let goes_on = (self.probed.pause)(0);
        if !goes_on {
            self.ended = EndReason::Interrupted;
        }
        Ok(goes_on.then_some((completion.latency_ns(), completion.completed_ns)))
    }
}
