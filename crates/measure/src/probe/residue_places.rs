//! Places that have a residue: addresses of a drive that are so much after a multiple of
//! something.

use units::random::Random;

use crate::MappedRun;

/// Places at `modulus` x j + `first` + `step` x i, where i is below `steps`, each with room for
/// one operation. All are addresses of the drive in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comb {
    pub(super) modulus_bytes: u64,
    pub(super) first_bytes: u64,
    pub(super) step_bytes: u64,
    pub(super) steps: u64,
    pub(super) operation_bytes: u64,
}

/// A comb laid over runs: how many of its teeth are in each.
#[derive(Clone, Debug)]
pub(super) struct Places {
    comb: Comb,
    /// The offset of address 0 as it would be, the first tooth, and how many teeth come before.
    stretches: Vec<(MappedRun, u64, u64)>,
    teeth: u64,
}

impl Comb {
    /// Returns how many bytes a tooth takes after its first place.
    fn reach_bytes(&self) -> u64 {
        self.step_bytes * (self.steps - 1) + self.operation_bytes
    }
}

impl Places {
    /// The teeth that lie wholly within a run.
    ///
    /// # Panics
    /// When the comb has no modulus or no steps.
    pub(super) fn new(runs: &[MappedRun], comb: Comb) -> Places {
        assert!(comb.modulus_bytes > 0 && comb.steps > 0, "a comb has teeth");
        let (mut stretches, mut teeth) = (Vec::new(), 0);
        for run in runs {
            let behind = run.address_bytes.saturating_sub(comb.first_bytes);
            let first = behind.div_ceil(comb.modulus_bytes);
            let start = first.saturating_mul(comb.modulus_bytes).saturating_add(comb.first_bytes);
            let end = run.address_bytes.saturating_add(run.length_bytes);
            let room = end.saturating_sub(start);
            let Some(beyond) = room.checked_sub(comb.reach_bytes()) else { continue };
            stretches.push((*run, first, teeth));
            teeth += beyond.div_euclid(comb.modulus_bytes) + 1;
        }
        Places { comb, stretches, teeth }
    }

    /// Returns how many teeth there are.
    pub(super) fn teeth(&self) -> u64 {
        self.teeth
    }

    /// The offset of any place, each equally likely.
    ///
    /// # Panics
    /// When there is none.
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let tooth = random.below(self.teeth);
        let step = random.below(self.comb.steps);
        let behind = self.stretches.partition_point(|(_, _, before)| *before <= tooth);
        let (run, first, before) = &self.stretches[behind - 1];
        let number = first + (tooth - before);
        let address =
            number * self.comb.modulus_bytes + self.comb.first_bytes + step * self.comb.step_bytes;
        run.offset_bytes + (address - run.address_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_the_residue_and_lies_within_a_run() {
        let run = |offset_bytes, length_bytes, address_bytes| MappedRun {
            offset_bytes,
            length_bytes,
            leaf: 0,
            address_bytes,
        };
        let runs = [run(0, 100_000, 1_000_512), run(200_000, 7000, 0), run(300_000, 65536, 65536)];
        let comb = Comb {
            modulus_bytes: 16384,
            first_bytes: 4096,
            step_bytes: 1024,
            steps: 3,
            operation_bytes: 2048,
        };
        let places = Places::new(&runs, comb);
        // 1 003 520 is the first of the first run, which holds 6; the second has room for none.
        assert_eq!(places.teeth(), 6 + 4);
        let mut random = Random::new(7);
        for _ in 0..500 {
            let offset = places.draw(&mut random);
            let run = runs.iter().find(|run| {
                offset >= run.offset_bytes && offset + 2048 <= run.offset_bytes + run.length_bytes
            });
            let run = run.expect("a run holds it");
            let residue = (run.address_bytes + offset - run.offset_bytes) % 16384;
            assert!([4096, 5120, 6144].contains(&residue), "{residue}");
        }
    }
}
