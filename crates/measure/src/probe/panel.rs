//! Arms that take turns, compared two by two, until every comparison has its answer.
//!
//! In each block every arm runs once, in a new random order, so that for each two of them
//! a fair coin says which comes first: see the head of [`crate::statistics`]. All arms run until
//! the last comparison is decided, so that one seen at a fast pace is never held against another
//! seen at a slow one: a penalty of some microseconds is nothing beside a pace of milliseconds.

use units::random::Random;

use super::answer::{ArmComparison, PanelKind};
use super::budget::{EndReason, Spending};
use super::slower_threshold::{Reading, SLOWER_ABOVE};
use crate::Fault;
use crate::statistics::{Interval, Ratios};
use units::number::{real, wide};

/// The blocks that are left out at the start: cold caches.
const WARM_UP: u64 = 4;
/// The most blocks that count.
const BLOCKS_MAX: usize = 1500;
/// Up to here there is a look at each block; from here at every eighth.
const LOOK_ALWAYS: u64 = 48;

/// Two arms to be compared, by their places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairing {
    pub(super) arm: usize,
    pub(super) against: usize,
    /// The panel goes on until this is known.
    pub(super) wanted: RatioQuestion,
}

impl Pairing {
    /// The control and what is `wanted` of the arms behind it, each against the first arm.
    pub(super) fn with_control(wanted: impl IntoIterator<Item = RatioQuestion>) -> Vec<Pairing> {
        let all = std::iter::once(RatioQuestion::Control).chain(wanted);
        (1..).zip(all).map(|(arm, wanted)| Pairing { arm, against: 0, wanted }).collect()
    }
}

/// A question about a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RatioQuestion {
    /// Asks whether it is slower.
    Slower,
    /// Asks whether it is slower; the first that is ends the panel.
    AnySlower,
    /// Asks whether it is slower, the same, or faster.
    Exactly,
    /// Asks whether it is faster; the first that is ends the panel.
    Faster,
    /// Asks by how much, from so many blocks on.
    Rounds(u64),
    /// Asks nothing: the two are the same, and an interval that excludes 1 voids the panel.
    Control,
}

/// Arms to be compared.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub(super) kind: PanelKind,
    pub(super) arms: Vec<String>,
    pub(super) pairings: Vec<Pairing>,
    /// The probability of an interval that misses, for each comparison.
    pub(super) alpha: f64,
    pub(super) seed: u64,
}

/// Result of a panel.
#[derive(Clone, Debug)]
pub(super) struct PanelResult {
    pub(super) compared: Vec<ArmComparison>,
    /// The times of all arms, block after block, in nanoseconds.
    pub(super) times_ns: Vec<u64>,
    /// The reason why it ended.
    pub(super) ended: EndReason,
    /// Why it means nothing: a control differed.
    pub(super) void: Option<String>,
}

/// The world of a panel: times an arm, and says whether to go on.
pub(super) trait Timed {
    /// Returns how long arm `arm` took, in nanoseconds.
    fn time(&mut self, arm: usize) -> Result<u64, Fault>;
    /// The operations and written bytes of one block.
    fn block(&self) -> (u64, u64);
    /// Now.
    fn now_ns(&mut self) -> u64;
    /// Told how long a block took; whether to go on.
    fn goes_on(&mut self, took_ns: u64) -> bool;
}

impl Panel {
    /// Runs blocks until all is decided or the spending is empty.
    pub(super) fn run(
        &self,
        world: &mut dyn Timed,
        spending: &mut Spending,
    ) -> Result<PanelResult, Fault> {
        let mut random = Random::new(self.seed);
        let mut order: Vec<usize> = (0..self.arms.len()).collect();
        let mut times_ns = vec![0; self.arms.len()];
        let mut ratios: Vec<Ratios> =
            self.pairings.iter().map(|_| Ratios::new(self.alpha, BLOCKS_MAX)).collect();
        let mut all_ns = Vec::with_capacity(self.arms.len() * 256);
        let (operations, bytes) = world.block();
        let (mut ran, mut blocks) = (0, 0);
        let (mut void, mut ended) = (None, EndReason::Rounds);
        while blocks < wide(BLOCKS_MAX) {
            if let Some(lacking) = spending.lacks(operations, bytes, world.now_ns()) {
                ended = lacking;
                break;
            }
            random.shuffle(&mut order);
            for &arm in &order {
                times_ns[arm] = world.time(arm)?.max(1);
            }
            spending.spend(operations, bytes);
            if !world.goes_on(times_ns.iter().sum()) {
                ended = EndReason::Interrupted;
                break;
            }
            ran += 1;
            if ran <= WARM_UP {
                continue;
            }
            blocks += 1;
            all_ns.extend_from_slice(&times_ns);
            for (pairing, ratios) in self.pairings.iter().zip(&mut ratios) {
                let log = |arm: usize| real(times_ns[arm]).ln();
                ratios.record(log(pairing.arm) - log(pairing.against));
            }
            let looks = blocks <= LOOK_ALWAYS || blocks % 8 == 0;
            if looks && let Some(settled) = self.look(&mut ratios) {
                (void, ended) = (settled.err(), EndReason::Settled);
                break;
            }
        }
        let compared = self.pairings.iter().zip(&mut ratios).map(|(pairing, ratios)| {
            let ratio = ratios.median();
            self.compared(*pairing, ratio, blocks)
        });
        Ok(PanelResult { compared: compared.collect(), times_ns: all_ns, ended, void })
    }

    /// Returns whether to stop; `Err` when a control differs.
    fn look(&self, ratios: &mut [Ratios]) -> Option<Result<(), String>> {
        let mut is_decided = true;
        for (pairing, ratios) in self.pairings.iter().zip(ratios) {
            let ratio = ratios.median();
            let reading = Reading::of(&ratio);
            is_decided &= match pairing.wanted {
                RatioQuestion::Control if !ratio.contains(1.0) => {
                    return Some(Err(format!(
                        "two arms that do the same differ: {} takes {:.3} times as long as {} \
                         ({:.3} to {:.3})",
                        self.arms[pairing.arm],
                        ratio.ratio,
                        self.arms[pairing.against],
                        ratio.low,
                        ratio.high
                    )));
                }
                RatioQuestion::Control => true,
                RatioQuestion::Faster if reading == Reading::Faster => return Some(Ok(())),
                RatioQuestion::Faster => ratio.low >= SLOWER_ABOVE.recip(),
                RatioQuestion::AnySlower if reading == Reading::Slower => return Some(Ok(())),
                RatioQuestion::Rounds(blocks) => wide(ratios.pairs()) >= blocks,
                RatioQuestion::Slower | RatioQuestion::AnySlower => reading != Reading::Open,
                RatioQuestion::Exactly => !matches!(reading, Reading::Open | Reading::NotSlower),
            };
        }
        is_decided.then_some(Ok(()))
    }

    fn compared(&self, pairing: Pairing, ratio: Interval, blocks: u64) -> ArmComparison {
        ArmComparison {
            panel: self.kind,
            arm: self.arms[pairing.arm].clone(),
            against: self.arms[pairing.against].clone(),
            ratio,
            blocks,
            reading: Reading::of(&ratio),
        }
    }
}

impl PanelResult {
    /// The readings, in the order of the pairings.
    pub(super) fn readings(&self) -> Vec<Reading> {
        self.compared.iter().map(|one| one.reading).collect()
    }

    /// The interval of the median of (time of `arm` − time of `against`) / `unit_ns`, each block
    /// one difference; `None` without blocks. The argument of [`crate::statistics`] holds for
    /// differences as for ratios, where an arm takes so much longer in either place.
    pub(super) fn difference(
        &self,
        (arm, against): (usize, usize),
        arms: usize,
        unit_ns: f64,
        alpha: f64,
    ) -> Option<(f64, f64, f64)> {
        let blocks = self.times_ns.chunks_exact(arms);
        let mut values = Ratios::new(alpha, BLOCKS_MAX);
        for block in blocks {
            // Ratios keeps logarithms: what it is given comes back as a logarithm.
            values.record((real(block[arm]) - real(block[against])) / unit_ns);
        }
        let found = values.median();
        (values.pairs() > 0).then(|| (found.ratio.ln(), found.low.ln(), found.high.ln()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::budget::ProbeBudget;

    struct Fixed(Vec<u64>, u64);

    impl Timed for Fixed {
        fn time(&mut self, arm: usize) -> Result<u64, Fault> {
            self.1 += self.0[arm];
            Ok(self.0[arm])
        }
        fn block(&self) -> (u64, u64) {
            (wide(self.0.len()), 4096)
        }
        fn now_ns(&mut self) -> u64 {
            self.1
        }
        fn goes_on(&mut self, _: u64) -> bool {
            true
        }
    }

    fn panel(arms: usize, wanted: RatioQuestion) -> Panel {
        Panel {
            kind: PanelKind::Size,
            arms: (0..arms).map(|arm| format!("arm {arm}")).collect(),
            pairings: (1..arms).map(|arm| Pairing { arm, against: 0, wanted }).collect(),
            alpha: 0.001,
            seed: 1,
        }
    }

    fn spending(written_bytes: u64) -> Spending {
        Spending::new(ProbeBudget { written_bytes, operations: 10_000, nanoseconds: 1 << 40 }, 0)
    }

    #[test]
    fn a_panel_ends_once_every_pairing_is_decided() {
        let mut world = Fixed(vec![100, 300, 100, 50], 0);
        let seen =
            panel(4, RatioQuestion::Exactly).run(&mut world, &mut spending(1 << 30)).unwrap();
        assert_eq!(seen.readings(), [Reading::Slower, Reading::Same, Reading::Faster]);
        assert!(seen.compared[0].blocks < 40, "{:?}", seen.compared[0]);
        let (_, low, high) = seen.difference((1, 0), 4, 100.0, 0.001).unwrap();
        assert!((low - 2.0).abs() < 1e-9 && (high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_panel_without_bytes_decides_nothing() {
        let mut world = Fixed(vec![100, 300], 0);
        let mut spending = spending(4096 * 6);
        let seen = panel(2, RatioQuestion::Slower).run(&mut world, &mut spending).unwrap();
        assert_eq!(seen.readings(), [Reading::Open]);
        assert_eq!(seen.ended, EndReason::Bytes);
        assert_eq!(spending.written_bytes(), 4096 * 6);
    }

    #[test]
    fn a_control_that_differs_voids_the_panel() {
        for control_ns in [101, 99] {
            let mut world = Fixed(vec![100, control_ns, 110], 0);
            let mut panel = panel(3, RatioQuestion::Exactly);
            panel.pairings[0].wanted = RatioQuestion::Control;
            let seen = panel.run(&mut world, &mut spending(1 << 30)).unwrap();
            assert!(seen.void.unwrap().contains("two arms that do the same differ"));
        }
    }
}
