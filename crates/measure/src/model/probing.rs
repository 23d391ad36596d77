//! Probes of drives whose truth is known: how many are right, how many say that they cannot tell,
//! and how many are wrong, which none may be.

use super::Temper;
use units::stripe::Rotation;

use super::geometry::{Above, Geometry, Medium, Policy};
use super::pace::FAST_NS;
use super::probed::Probed;
use crate::probe::{
    Alignment, Answer, Ask, Budget, Granule, Purse, Stripe, Turn, Turns, Written, depth, reads,
};
use crate::{Fault, Run};

/// A drive, and what should be found of it. What is `None` must not be found.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Its name, and the chore's word for it.
    pub name: &'static str,
    /// What it is.
    pub geometry: Geometry,
    /// Place where writes must start.
    pub alignment: Option<Alignment>,
    /// Of what their lengths must be multiples.
    pub size_bytes: Option<u64>,
    /// The chunk and the members.
    pub stripe: Option<(u64, u64)>,
    /// How long a turn takes, in nanoseconds.
    pub turn_ns: Option<u64>,
    /// Number of turns a misaligned write takes.
    pub turns: Option<u8>,
    /// True if the probe may say that it cannot tell, where there is something to be found.
    pub is_hard: bool,
}

const KIB: u64 = 1 << 10;
const TURN_NS: u64 = 8_333_333;
const PART: f64 = 0.8;

const fn flash(alignment_bytes: u64, origin_bytes: u64, size_bytes: u64) -> Geometry {
    Geometry {
        alignment_bytes,
        origin_bytes,
        size_bytes,
        medium: Medium::Flash { part: PART },
        chunk_bytes: 1 << 40,
        members: 1,
        parity: None,
        above: Above::Nothing,
        temper: Temper::Steady,
    }
}

const fn platter(policy: Policy, origin_bytes: u64) -> Geometry {
    let medium = Medium::Platter { turn_ns: TURN_NS, policy };
    Geometry { medium, ..flash(4 * KIB, origin_bytes, 4 * KIB) }
}

const fn granules(name: &'static str, geometry: Geometry) -> Model {
    let Geometry { alignment_bytes, origin_bytes, size_bytes, .. } = geometry;
    Model {
        name,
        geometry,
        alignment: Some(Alignment { bytes: alignment_bytes, origin_bytes }),
        size_bytes: Some(size_bytes),
        stripe: None,
        turn_ns: None,
        turns: None,
        is_hard: false,
    }
}

const fn turning(name: &'static str, policy: Policy, turns: u8) -> Model {
    turning_from(name, policy, 0, turns)
}

const fn turning_from(name: &'static str, policy: Policy, origin_bytes: u64, turns: u8) -> Model {
    let model = granules(name, platter(policy, origin_bytes));
    Model { turn_ns: Some(TURN_NS), turns: Some(turns), ..model }
}

const fn nothing(name: &'static str, geometry: Geometry) -> Model {
    Model { alignment: None, size_bytes: None, ..granules(name, geometry) }
}

const fn array(name: &'static str, geometry: Geometry, chunk_bytes: u64, members: u64) -> Model {
    let geometry = Geometry { chunk_bytes, members, ..geometry };
    Model { stripe: Some((chunk_bytes, members)), ..nothing(name, geometry) }
}

const fn parity(name: &'static str, geometry: Geometry, rotation: Rotation) -> Model {
    array(name, Geometry { parity: Some(rotation), ..geometry }, 64 * KIB, 5)
}

/// So many operations in a second, after a burst.
const fn throttled(per_second: u64, burst: u64, tick_ns: u64) -> Above {
    Above::Throttle { per_second, burst, unit_bytes: 16 * KIB, tick_ns }
}

const fn below(above: Above, geometry: Geometry) -> Geometry {
    Geometry { above, ..geometry }
}

const fn hard(model: Model) -> Model {
    Model { is_hard: true, ..model }
}

/// All models. Those of the platter have the same granule and differ in their firmware.
pub const MODELS: &[Model] = &[
    granules("512e flash", flash(4 * KIB, 0, 4 * KIB)),
    granules("16K size, 4K alignment", flash(4 * KIB, 0, 16 * KIB)),
    granules("16K size and alignment", flash(16 * KIB, 0, 16 * KIB)),
    // A row of an array with parity looks the same.
    nothing("64K size and alignment", flash(64 * KIB, 0, 64 * KIB)),
    granules("512e, origin 3584", flash(4 * KIB, 3584, 4 * KIB)),
    array("RAID0 64K x 3", flash(512, 0, 512), 64 * KIB, 3),
    array("RAID0 128K x 4", flash(512, 0, 512), 128 * KIB, 4),
    turning("512e platter, batched", Policy::Batched, 2),
    turning("512e platter, per sector", Policy::PerSector, 3),
    turning("512e platter, serial", Policy::Serial, 4),
    turning_from("512e platter, origin 3584", Policy::PerSector, 3584, 3),
    turning_from("batched platter, origin 512", Policy::Batched, 512, 2),
    Model { turn_ns: Some(TURN_NS), ..nothing("platter, buffered", platter(Policy::Buffered, 0)) },
    hard(Model {
        alignment: Some(Alignment { bytes: 4 * KIB, origin_bytes: 0 }),
        size_bytes: Some(4 * KIB),
        ..array("RAID0 64K x 3 of 512e", flash(4 * KIB, 0, 4 * KIB), 64 * KIB, 3)
    }),
    hard(Model {
        alignment: Some(Alignment { bytes: 4 * KIB, origin_bytes: 0 }),
        size_bytes: Some(4 * KIB),
        ..array("RAID0 16K x 5 of 512e", flash(4 * KIB, 0, 4 * KIB), 16 * KIB, 5)
    }),
    hard(granules(
        "512e flash, barely slower",
        Geometry { medium: Medium::Flash { part: 0.12 }, ..flash(4 * KIB, 0, 4 * KIB) },
    )),
    hard(granules("16K, origin 8K", flash(16 * KIB, 8 * KIB, 16 * KIB))),
    hard(granules("16K, origin 512", flash(16 * KIB, 512, 16 * KIB))),
    hard(granules("1K size and alignment", flash(KIB, 0, KIB))),
    hard(granules("64K size, 4K alignment", flash(4 * KIB, 0, 64 * KIB))),
    hard(parity("RAID5 64K x 4+1", flash(512, 0, 512), Rotation::LeftSymmetric)),
    hard(parity("RAID5 64K x 4+1, asymm.", flash(512, 0, 512), Rotation::LeftAsymmetric)),
    hard(Model {
        alignment: Some(Alignment { bytes: 4 * KIB, origin_bytes: 0 }),
        size_bytes: Some(4 * KIB),
        ..parity("RAID5 64K x 4+1 of 512e", flash(4 * KIB, 0, 4 * KIB), Rotation::LeftSymmetric)
    }),
    // A whole row is 48 KiB, which is no power of two.
    hard(array(
        "RAID5 16K x 3+1",
        Geometry { parity: Some(Rotation::LeftSymmetric), ..flash(512, 0, 512) },
        16 * KIB,
        4,
    )),
    // A whole row is 64 KiB: less of it costs a read-modify-write, as with a granule, which it is
    // not.
    hard(array(
        "RAID5 16K x 4+1",
        Geometry { parity: Some(Rotation::LeftSymmetric), ..flash(512, 0, 512) },
        16 * KIB,
        5,
    )),
    array("RAID0 64K x 14", flash(512, 0, 512), 64 * KIB, 14),
    granules(
        "dm-crypt on 512e",
        below(Above::Crypt { each_ns: 30_000, kib_ns: 400 }, flash(4 * KIB, 0, 4 * KIB)),
    ),
    nothing("cloud, 3000 a second", below(throttled(3000, 1000, 1), flash(512, 0, 512))),
    nothing(
        "cloud, 500 a second, ticks",
        below(throttled(500, 100, 4_000_000), flash(512, 0, 512)),
    ),
    nothing("cloud, 100 a second", below(throttled(100, 1, 1), flash(512, 0, 512))),
    nothing("cloud, 300 a second, ticks", below(throttled(300, 1, 4_000_000), flash(512, 0, 512))),
    nothing("polled every 4 ms", below(Above::Polled { tick_ns: 4_000_000 }, flash(512, 0, 512))),
    hard(granules(
        "cloud on a granule of 16K",
        below(throttled(3000, 1000, 1), flash(16 * KIB, 0, 16 * KIB)),
    )),
    nothing("granule of 128K", flash(128 * KIB, 0, 128 * KIB)),
    nothing("granule of 12K", flash(12 * KIB, 0, 12 * KIB)),
    nothing("granule of 512", flash(512, 0, 512)),
    nothing(
        "hiding cache",
        Geometry {
            medium: Medium::Cache { times: 20_000.0 / FAST_NS },
            ..flash(4 * KIB, 0, 4 * KIB)
        },
    ),
];

/// What a probe of a model found.
#[derive(Clone, Debug)]
pub struct Probing {
    /// The granule.
    pub granule: Granule,
    /// The array.
    pub stripe: Stripe,
    /// Number of reads in flight at once: none of these drives has a queue with an end.
    pub depth: depth::Found,
    /// The turn.
    pub turn: Answer<Turn>,
    /// The turns of a misaligned write.
    pub turns: Answer<Turns>,
    /// What was written, in bytes.
    pub written_bytes: u64,
}

/// How a probe did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Score {
    /// All that should be found was, and nothing else.
    Right,
    /// Something that should be found was not, and what was is true.
    Short,
    /// Something was found that is not so.
    Wrong,
}

/// Number of probes of what can be found must be right, in percent.
const RIGHT_PERCENT: u64 = 95;
const SCRATCH_BYTES: u64 = 64 << 20;
const DEPTH: u16 = 16;
const ALPHA: f64 = 0.02;
const BUDGET: Budget =
    Budget { written_bytes: 512 << 20, operations: 4_000_000, nanoseconds: 60_000_000_000 };

impl Model {
    /// A probe of it, with every second seed on a drive that also changes its pace.
    ///
    /// # Errors
    /// When an operation fails, which none does.
    pub fn probe(&self, seed: u64) -> Result<Probing, Fault> {
        let temper = match self.geometry.medium {
            Medium::Platter { .. } => Temper::Steady,
            _ if seed.is_multiple_of(2) => Temper::Switching,
            _ => Temper::Steady,
        };
        let geometry = Geometry { temper, ..self.geometry };
        let run = Run { offset_bytes: 0, length_bytes: SCRATCH_BYTES, leaf: 0, address_bytes: 0 };
        let runs = [run];
        let ask = Ask { runs: &runs, sector_bytes: 512, alpha: ALPHA, seed };
        let (mut first, mut second) =
            (Probed::new(geometry, 1, seed), Probed::new(geometry, DEPTH, seed ^ 7));
        let mut purse = Purse::new(BUDGET, 0);
        let mut written = Written::ask(&mut first, &ask, &mut purse, &mut |_| true)?;
        let mut budget = Purse::new(BUDGET, 0);
        let stripe = reads(&mut second, &ask, Some(&mut written), &mut budget, &mut |_| true)?;
        let mut third = Probed::new(geometry, depth::QUEUE_DEPTH, seed ^ 11);
        let mut budget = Purse::new(BUDGET, 0);
        let depth = depth::find(&mut third, &ask, &stripe, &mut budget, &mut |_| true)?;
        let written_bytes = purse.written_bytes();
        let Written { granule, turn, turns } = written;
        Ok(Probing { granule, stripe, depth, turn, turns, written_bytes })
    }

    /// Returns how a probe did.
    #[must_use]
    pub fn score(&self, found: &Probing) -> Score {
        let turn_ns = found.turn.value().map(|turn| turn.turn_ns);
        let near = |turn_ns: u64| self.turn_ns.is_some_and(|own| own.abs_diff(turn_ns) < own / 200);
        let chunk = found.stripe.chunk.value().copied();
        let members = found.stripe.members.value().copied();
        let checks = [
            of(self.alignment, found.granule.alignment.value().copied()),
            of(self.size_bytes, found.granule.size.value().copied()),
            of(self.stripe.map(|(chunk, _)| chunk), chunk),
            of(self.stripe.map(|(_, members)| members), members),
            of(None, found.depth.depth.value()),
            of(self.turns, found.turns.value().map(|turns| turns.turns)),
            match turn_ns {
                Some(turn_ns) if near(turn_ns) => Score::Right,
                Some(_) => Score::Wrong,
                None if self.turn_ns.is_some() => Score::Short,
                None => Score::Right,
            },
        ];
        let has = |score| checks.contains(&score);
        match () {
            () if has(Score::Wrong) => Score::Wrong,
            () if has(Score::Short) => Score::Short,
            () => Score::Right,
        }
    }

    /// Returns whether there is anything to be found.
    #[must_use]
    pub fn is_identifiable(&self) -> bool {
        self.alignment.is_some() || self.stripe.is_some() || self.turn_ns.is_some()
    }

    /// Returns how many of so many probes must be right: nearly all where there is something to be
    /// found, all where there is nothing, and none where it is hard.
    #[must_use]
    pub fn right_least(&self, probes: u64) -> u64 {
        match (self.is_hard, self.is_identifiable()) {
            (true, _) => 0,
            (false, true) => (probes * RIGHT_PERCENT).div_ceil(100),
            (false, false) => probes,
        }
    }
}

fn of<T: PartialEq>(truth: Option<T>, found: Option<T>) -> Score {
    match (truth, found) {
        (truth, found) if truth == found => Score::Right,
        (Some(_), None) => Score::Short,
        _ => Score::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seeds of which a slice is a test; `cargo xtask soak probe` takes more.
    const SEEDS: u64 = 8;

    #[test]
    fn no_probe_is_wrong_and_nearly_all_of_what_can_be_found_is() {
        for model in MODELS {
            // Of what is hard a few will do here: nothing must be wrong, and nothing need be right.
            let seeds = if model.is_hard { SEEDS / 4 } else { SEEDS };
            let scores: Vec<Score> = (1..=seeds)
                .map(|seed| {
                    let found = model.probe(seed).unwrap();
                    let score = model.score(&found);
                    assert_ne!(score, Score::Wrong, "{}, seed {seed}: {found:?}", model.name);
                    score
                })
                .collect();
            let right = scores.iter().map(|score| u64::from(*score == Score::Right)).sum::<u64>();
            assert!(
                right >= model.right_least(SEEDS),
                "{}: {right} of {SEEDS} are right",
                model.name
            );
        }
    }
}
