//! The members: whether, and round how many of them, the chunks go.
//!
//! Reads kept on every `m`-th chunk are held against those kept on every `2m`-th, `3m`-th, `5m`-th
//! and so on, by primes: where the prime times `m` divides the number of members, they share fewer
//! of them. `m` starts with 1; what is slower is counted in, and all is asked again with fresh
//! reads. A number is believed where no multiple of it is slower. That also finds what half of all
//! members do not show: 14 go 7 times as fast as 2 at any depth, and 7 times 2 is asked of those 2.

use device::Queue;

use super::super::answer::{PanelKind, Unidentified};
use super::super::panel::{Pairing, RatioQuestion};
use super::super::residue_places::Comb;
use super::super::slower_threshold::Reading;
use super::search::{Refused, Search, refused};
use crate::Fault;

/// Members as far as they are known.
pub(super) struct Members {
    /// Divisor of their number; above 1 where several were seen.
    pub(super) divisor: u64,
    /// Their number.
    pub(super) count: Result<u64, Refused>,
}

/// The most members.
pub const MEMBERS_MAX: u64 = 16;
/// Factors that a number of members may lack: a product of up to twice [`MEMBERS_MAX`]
/// is tried.
const FACTORS: [u64; 6] = [2, 3, 5, 7, 11, 13];
/// Most rounds: 16 is found as 1 x 2 x 2 x 2 x 2, and is asked again.
const ROUNDS_MAX: u64 = 5;

impl<Q: Queue> Search<'_, '_, '_, Q> {
    /// Returns how many members reads go round.
    pub(super) fn members(&mut self, chunk_bytes: u64) -> Result<Members, Fault> {
        let mut members = 1;
        let not =
            |reason| Members { divisor: 1, count: refused(Unidentified::Contradiction, reason) };
        for round in 0..ROUNDS_MAX {
            let factor = match self.factor(members, chunk_bytes, round)? {
                Ok(factor) => factor,
                Err(refused) => return Ok(Members { divisor: members, count: Err(refused) }),
            };
            members *= factor;
            match (factor, members) {
                (1, 1) => return Ok(not(no_members(chunk_bytes))),
                (1, _) => return Ok(Members { divisor: members, count: Ok(members) }),
                (_, ..=MEMBERS_MAX) => {}
                _ => break,
            }
        }
        Ok(not(format!("the chunks go round {members} members or more: more than are looked for")))
    }

    /// By what `members`, a divisor of the number of members, is to be multiplied at least.
    fn factor(
        &mut self,
        members: u64,
        chunk_bytes: u64,
        round: u64,
    ) -> Result<Result<u64, Refused>, Fault> {
        let multiples = FACTORS
            .iter()
            .map(|factor| factor * members)
            .take_while(|multiple| *multiple <= 2 * MEMBERS_MAX);
        let every = [members, members].into_iter().chain(multiples);
        let arms: Vec<(String, Comb)> = every
            .map(|every| (format!("on every {every}th chunk"), self.kept(every, chunk_bytes)))
            .collect();
        let pairings = Pairing::with_control(arms[2..].iter().map(|_| RatioQuestion::AnySlower));
        self.rounds = round;
        let seen = match self.panel(PanelKind::Members, &arms, pairings, 100)? {
            Ok(seen) => seen,
            Err(refused) => return Ok(Err(refused)),
        };
        let readings = &seen.readings()[1..];
        let factor = product(readings);
        Ok(match factor == 1 && readings.contains(&Reading::Open) {
            false => Ok(factor),
            true => refused(Unidentified::Noise, not_settled(members, seen.ended.said())),
        })
    }

    /// Reads kept on every so-many-th chunk.
    fn kept(&self, every: u64, chunk_bytes: u64) -> Comb {
        let length = 2 * self.half_bytes;
        Comb {
            modulus_bytes: every * chunk_bytes,
            first_bytes: 0,
            step_bytes: length,
            steps: chunk_bytes.div_euclid(length),
            operation_bytes: length,
        }
    }
}

/// The product of those of [`FACTORS`] that make reads slower.
fn product(readings: &[Reading]) -> u64 {
    let slower = FACTORS.iter().zip(readings).filter(|(_, one)| **one == Reading::Slower);
    slower.map(|(factor, _)| factor).product()
}

fn not_settled(divisor: u64, when: &str) -> String {
    match divisor {
        1 => format!("the number of members was undecided when {when}"),
        _ => format!("there are {divisor} members or a multiple of that: undecided when {when}"),
    }
}

fn no_members(chunk_bytes: u64) -> String {
    format!(
        "boundaries of {chunk_bytes} bytes make reads slower, but no members show: \
         something splits commands there"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(one: u64, other: u64) -> u64 {
        if other == 0 { one } else { shared(other, one % other) }
    }

    #[test]
    fn every_number_of_members_up_to_sixteen_follows_from_what_it_makes_slower() {
        for wanted in 2..=MEMBERS_MAX {
            let (mut members, mut rounds) = (1, 0);
            loop {
                let readings: Vec<Reading> = FACTORS
                    .iter()
                    .take_while(|factor| *factor * members <= 2 * MEMBERS_MAX)
                    .map(|factor| match shared(members * factor, wanted) > members {
                        true => Reading::Slower,
                        false => Reading::Same,
                    })
                    .collect();
                assert!(rounds < ROUNDS_MAX, "{wanted}");
                match product(&readings) {
                    1 => break,
                    factor => members *= factor,
                }
                rounds += 1;
            }
            assert_eq!(members, wanted);
        }
    }
}
