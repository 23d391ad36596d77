//! The members: whether, and round how many of them, the chunks go.

use device::Queue;

use super::super::answer::{Reading, Unidentified};
use super::super::panel::{Pairing, Wanted};
use super::super::places::Comb;
use super::{Refused, Search, refused};
use crate::Fault;

/// The most members.
pub const MEMBERS_MAX: u64 = 16;
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

impl<Q: Queue> Search<'_, '_, Q> {
    /// How many members reads go round.
    pub(super) fn members(&mut self, chunk_bytes: u64) -> Result<Result<u64, Refused>, Fault> {
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
