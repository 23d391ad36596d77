//! The chunk and the members of an array, from reads at a depth.
//!
//! At depth 1 an array hides its boundaries: two members work side by side. At a depth that keeps
//! all of them busy, a read across a boundary costs two where another costs one. So reads of `2h`
//! bytes are centred on odd multiples of `c`, for `c` from `2h` to 1 MiB, and held against reads
//! centred on odd multiples of `h`, which no boundary is. They are slower exactly where `c` is a
//! multiple of the chunk. (`h` is 4 KiB, or the granule where that is longer.)
//!
//! A boundary alone may be anything: a controller splits commands, flash has pages. Only where the
//! chunks are also seen to lie on several members is it a chunk. With `k` a power of a prime, reads
//! are kept on every `k`-th chunk: where `k` divides the number of members they share fewer of them
//! than with the power below. The number is the product of the greatest `k` that do.
//!
//! Members are counted as reads go round them. In an array with parity some of each row hold none
//! of the data, which reads do not show.

use device::Queue;
use units::random::Random;

use super::answer::{Answer, Compared, Reading, Unidentified};
use super::bout::Bout;
use super::panel::{Pairing, Panel, Seen, Timed, Wanted};
use super::pattern::{self, Pattern};
use super::places::{Comb, Places};
use super::{Ask, Pause, Purse};
use crate::Fault;
use crate::number::{count, wide};

/// The largest chunk that is looked for.
pub const CHUNK_BYTES_MAX: u64 = 1 << 20;
/// The most members.
pub const MEMBERS_MAX: u64 = 16;
/// The reads of a block for each in flight.
const ROUNDS: u32 = 2;
/// What half an operation has at least.
pub const HALF_BYTES: u64 = 4096;
/// The places that an arm needs, so that no cache holds them all.
const TEETH_LEAST: u64 = 4;
/// Powers of primes, and the place of the power below each in this table; `None` for 1.
const POWERS: [(u64, u64, Option<usize>); 10] = [
    (2, 2, None),
    (3, 3, None),
    (5, 5, None),
    (7, 7, None),
    (11, 11, None),
    (13, 13, None),
    (4, 2, Some(0)),
    (9, 3, Some(1)),
    (8, 2, Some(6)),
    (16, 2, Some(8)),
];

/// What was found of an array.
#[derive(Clone, Debug)]
pub struct Stripe {
    /// The bytes that lie on one member before the next one's come.
    pub chunk: Answer<u64>,
    /// How many members reads go round.
    pub members: Answer<u64>,
    /// Every comparison.
    pub compared: Vec<Compared>,
}

impl Stripe {
    /// An array that was not looked for.
    #[must_use]
    pub fn not_tried(reason: &str) -> Stripe {
        let (chunk, members) = (
            Answer::not(Unidentified::NotTried, reason),
            Answer::not(Unidentified::NotTried, reason),
        );
        Stripe { chunk, members, compared: Vec::new() }
    }

    fn not(why: Unidentified, reason: &str, compared: Vec<Compared>) -> Stripe {
        Stripe { chunk: Answer::not(why, reason), members: Answer::not(why, reason), compared }
    }
}

/// The array behind `queue`, whose depth is used whole and whose buffers hold twice `granule_bytes`
/// and 8 KiB.
///
/// # Errors
/// When an operation fails.
pub fn find<Q: Queue>(
    queue: &mut Q,
    ask: &Ask<'_>,
    granule_bytes: Option<u64>,
    purse: &mut Purse,
    pause: Pause<'_>,
) -> Result<Stripe, Fault> {
    let half_bytes = granule_bytes.unwrap_or(HALF_BYTES).max(HALF_BYTES);
    let mut search = Search { queue, ask, half_bytes, purse, pause, compared: Vec::new() };
    let chunk_bytes = match search.chunk()? {
        Ok(chunk_bytes) => chunk_bytes,
        Err((why, reason)) => return Ok(Stripe::not(why, &reason, search.compared)),
    };
    let members = match search.members(chunk_bytes)? {
        Ok(members) => members,
        Err((why, reason)) => return Ok(Stripe::not(why, &reason, search.compared)),
    };
    let alpha = ask.share() * count(search.compared.len());
    let said_by = format!(
        "reads at a depth are slower across odd multiples of {chunk_bytes} bytes and more, and not \
         of less; and slower where they are kept on every {members}th of them"
    );
    let found = |value| Answer::Found { value, alpha, said_by: said_by.clone() };
    Ok(Stripe { chunk: found(chunk_bytes), members: found(members), compared: search.compared })
}

type Refused = (Unidentified, String);

fn refused<T>(why: Unidentified, reason: impl Into<String>) -> Result<T, Refused> {
    Err((why, reason.into()))
}

struct Search<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    ask: &'a Ask<'b>,
    half_bytes: u64,
    purse: &'a mut Purse,
    pause: Pause<'a>,
    compared: Vec<Compared>,
}

impl<Q: Queue> Search<'_, '_, Q> {
    fn chunk(&mut self) -> Result<Result<u64, Refused>, Fault> {
        let half = self.half_bytes;
        let candidates: Vec<u64> = std::iter::successors(Some(2 * half), |bytes| Some(bytes << 1))
            .take_while(|bytes| *bytes <= CHUNK_BYTES_MAX)
            .collect();
        // Centred on odd multiples of `centre`.
        let comb = |centre: u64| Comb {
            modulus_bytes: 2 * centre,
            first_bytes: centre - half,
            step_bytes: 0,
            steps: 1,
            operation_bytes: 2 * half,
        };
        let centres = [half, half].into_iter().chain(candidates.iter().copied());
        let arms: Vec<(String, Comb)> = centres
            .map(|centre| (format!("across odd multiples of {centre} bytes"), comb(centre)))
            .collect();
        let mut pairings = vec![Pairing { arm: 1, against: 0, wanted: Wanted::Control }];
        let pair = |arm| Pairing { arm, against: 0, wanted: Wanted::Slower };
        pairings.extend((2..arms.len()).map(pair));
        let seen = match self.panel("chunk", &arms, pairings, 50)? {
            Ok(seen) => seen,
            Err(refused) => return Ok(Err(refused)),
        };
        Ok(match pattern::of_lengths(&seen.readings()[1..]) {
            Pattern::Step(0) => refused(
                Unidentified::Contradiction,
                "reads across any boundary that was tried are slower: it may be a page or a \
                 granule, or a chunk below what is read",
            ),
            Pattern::Step(place) => Ok(candidates[place]),
            Pattern::Flat => refused(
                Unidentified::NoSignal,
                "no boundary up to 1 MiB makes reads at a depth slower",
            ),
            Pattern::Open => refused(
                Unidentified::Noise,
                "some boundaries were not settled when the budget ended",
            ),
            Pattern::Odd | Pattern::Elsewhere => refused(
                Unidentified::Contradiction,
                "reads are slower across some boundaries and not across their multiples",
            ),
        })
    }

    fn members(&mut self, chunk_bytes: u64) -> Result<Result<u64, Refused>, Fault> {
        let length = 2 * self.half_bytes;
        let comb = |every: u64| Comb {
            modulus_bytes: every * chunk_bytes,
            first_bytes: 0,
            step_bytes: length,
            steps: chunk_bytes.div_euclid(length),
            operation_bytes: length,
        };
        let every = [1, 1].into_iter().chain(POWERS.iter().map(|(power, _, _)| *power));
        let arms: Vec<(String, Comb)> =
            every.map(|every| (format!("on every {every}th chunk"), comb(every))).collect();
        let mut pairings = vec![Pairing { arm: 1, against: 0, wanted: Wanted::Control }];
        pairings.extend(POWERS.iter().enumerate().map(|(place, (_, _, below))| Pairing {
            arm: place + 2,
            against: below.map_or(0, |below| below + 2),
            wanted: Wanted::Slower,
        }));
        let seen = match self.panel("members", &arms, pairings, 90)? {
            Ok(seen) => seen,
            Err(refused) => return Ok(Err(refused)),
        };
        let readings = &seen.readings()[1..];
        if readings.contains(&Reading::Open) {
            return Ok(refused(
                Unidentified::Noise,
                "how many members there are was not settled when the budget ended",
            ));
        }
        Ok(number(readings, chunk_bytes))
    }

    fn panel(
        &mut self,
        name: &'static str,
        arms: &[(String, Comb)],
        pairings: Vec<Pairing>,
        percent: u64,
    ) -> Result<Result<Seen, Refused>, Fault> {
        let places: Vec<Places> =
            arms.iter().map(|(_, comb)| Places::new(self.ask.runs, *comb)).collect();
        if places.iter().any(|places| places.teeth() < TEETH_LEAST) {
            let reason = "there is no room for reads across boundaries up to 1 MiB";
            return Ok(refused(Unidentified::NotTried, reason));
        }
        let depth = self.queue.depth();
        let part = if name == "chunk" { 70 } else { 71 };
        let seed = self.ask.seed(part);
        let panel = Panel {
            name,
            arms: arms.iter().map(|(name, _)| name.clone()).collect(),
            pairings,
            alpha: self.ask.share(),
            seed,
        };
        let now_ns = self.queue.now_ns();
        let mut purse = self.purse.part(percent, now_ns);
        let mut reads = Reads {
            queue: self.queue,
            bout: Bout::new(depth),
            places,
            random: Random::new(seed ^ 1),
            length_bytes: u32::try_from(2 * self.half_bytes).unwrap_or(u32::MAX),
            count: u32::from(depth) * ROUNDS,
            pause: self.pause,
        };
        let seen = panel.run(&mut reads, &mut purse);
        self.purse.settle(&purse);
        let seen = seen?;
        self.compared.extend(seen.compared.iter().cloned());
        Ok(match seen.void.clone() {
            Some(reason) => refused(Unidentified::Contradiction, reason),
            None => Ok(seen),
        })
    }
}

/// The number of members that the readings of [`POWERS`] say.
fn number(readings: &[Reading], chunk_bytes: u64) -> Result<u64, Refused> {
    let mut members = 1;
    for ((_, prime, below), reading) in POWERS.iter().zip(readings) {
        if *reading != Reading::Slower {
            continue;
        }
        // A power divides only what the power below divides.
        if below.is_some_and(|below| readings[below] != Reading::Slower) {
            let reason = "reads kept on some of the chunks are slower in a pattern of no number";
            return refused(Unidentified::Contradiction, reason);
        }
        members *= prime;
    }
    match members {
        1 => refused(
            Unidentified::Contradiction,
            format!(
                "boundaries of {chunk_bytes} bytes make reads slower, but no members are seen \
                 behind them: something splits commands there"
            ),
        ),
        2..=MEMBERS_MAX => Ok(members),
        _ => refused(
            Unidentified::Contradiction,
            format!("the chunks go round {members} members, more than are looked for"),
        ),
    }
}

/// Blocks of reads at the queue's depth.
struct Reads<'a, 'b, Q: Queue> {
    queue: &'a mut Q,
    bout: Bout,
    places: Vec<Places>,
    random: Random,
    length_bytes: u32,
    count: u32,
    pause: &'a mut (dyn FnMut(u64) -> bool + 'b),
}

impl<Q: Queue> Timed for Reads<'_, '_, Q> {
    fn time(&mut self, arm: usize) -> Result<u64, Fault> {
        let (places, random) = (&self.places[arm], &mut self.random);
        self.bout.reads(self.queue, self.count, self.length_bytes, &mut || places.draw(random))
    }

    fn block(&self) -> (u64, u64) {
        (u64::from(self.count) * wide(self.places.len()), 0)
    }

    fn now_ns(&mut self) -> u64 {
        self.queue.now_ns()
    }

    fn goes_on(&mut self, took_ns: u64) -> bool {
        (self.pause)(took_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_members_up_to_sixteen_follows_from_what_it_makes_slower() {
        for members in 2..=MEMBERS_MAX {
            let shared = |every: u64| {
                let (mut one, mut other) = (every, members);
                while other > 0 {
                    (one, other) = (other, one % other);
                }
                one
            };
            let readings: Vec<Reading> = POWERS
                .iter()
                .map(|(power, _, below)| {
                    let against = below.map_or(1, |below| POWERS[below].0);
                    match shared(*power) > shared(against) {
                        true => Reading::Slower,
                        false => Reading::Same,
                    }
                })
                .collect();
            assert_eq!(number(&readings, 65536), Ok(members));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let mut readings = [Reading::Same; POWERS.len()];
        assert!(number(&readings, 65536).is_err());
        readings[6] = Reading::Slower;
        assert!(number(&readings, 65536).is_err(), "4 divides it and 2 does not");
        let all = [Reading::Slower; POWERS.len()];
        assert!(number(&all, 65536).is_err());
    }
}
