//! The probe of a built-in drive, and how it did.

use anyhow::Context as _;
use measure::probe::{
    Ask, Estimate, Granule, MisalignedTurns, ProbeBudget, ProbedQueue, Revolution, Spending,
    Stripe, WriteAnswers, depth, reads,
};

use super::cases::{DriveCase, stretch};
use super::truth::{ASKED, Truth};

/// The probability that any answer of a probe is wrong, as `straddle probe` has it.
const ALPHA: f64 = 0.02;
/// Number of reads are in flight that look for an array, as there.
const DEPTH: u16 = 16;
/// Budget of each half: about that of `straddle probe`, and time enough for a disk that turns.
const BUDGET: ProbeBudget =
    ProbeBudget { written_bytes: 512 << 20, operations: 4_000_000, nanoseconds: 120_000_000_000 };

/// Findings of a probe.
#[derive(Clone, Debug)]
pub(super) struct ProbeFindings {
    pub(super) granule: Granule,
    pub(super) stripe: Stripe,
    pub(super) depth: depth::QueueDepth,
    pub(super) turn: Estimate<Revolution>,
    pub(super) turns: Estimate<MisalignedTurns>,
}

/// Scores, from right to wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Score {
    /// All that there is was found, and nothing else.
    Right,
    /// All that was found is so, and some is missing.
    Short,
    /// Something that was found is not so.
    Wrong,
}

/// A probe of `case`.
///
/// # Errors
/// When the drive cannot be, or an operation fails.
pub(super) fn probe(case: &DriveCase, seed: u64) -> anyhow::Result<ProbeFindings> {
    let runs = [stretch(seed)];
    let sector_bytes = case.model(0)?.logical_bytes();
    let ask = Ask { runs: &runs, sector_bytes, alpha: ALPHA, seed };
    let named = || format!("{}, seed {seed}", case.name);
    let budget = || Spending::new(BUDGET, 0);
    let (mut first, spending, pause) = (case.queue(1, seed)?, &mut budget(), &mut |_| true);
    let mut probed = ProbedQueue { queue: &mut first, ask: &ask, spending, pause };
    let mut written = WriteAnswers::ask(&mut probed).with_context(named)?;
    let (mut second, spending, pause) = (case.queue(DEPTH, seed)?, &mut budget(), &mut |_| true);
    let mut probed = ProbedQueue { queue: &mut second, ask: &ask, spending, pause };
    let stripe = reads(&mut probed, Some(&mut written)).with_context(named)?;
    let (mut third, spending) = (case.queue(depth::QUEUE_DEPTH, seed)?, &mut budget());
    let mut probed = ProbedQueue { queue: &mut third, ask: &ask, spending, pause };
    let depth = depth::find(&mut probed, &stripe).with_context(named)?;
    let WriteAnswers { granule, turn, turns } = written;
    // What `probe --contribute` writes must say the same.
    if let Some(found) = granule.alignment.value().filter(|found| found.bytes < 32 << 10) {
        let said = granule.evidence.granule(sector_bytes).map_err(anyhow::Error::msg);
        let said = said.with_context(named)?;
        let same = said.alignment == *found && said.size_bytes == granule.size.value().copied();
        anyhow::ensure!(same, "{}: its comparisons say {said:?}", named());
    }
    Ok(ProbeFindings { granule, stripe, depth, turn, turns })
}

impl ProbeFindings {
    /// Returns how it did, where `truth` is all that may be found.
    pub(super) fn score(&self, truth: &Truth) -> Score {
        self.scores(truth).into_iter().max().unwrap_or(Score::Right)
    }

    /// Returns how it did in each of [`ASKED`].
    pub(super) fn scores(&self, truth: &Truth) -> [Score; ASKED.len()] {
        let turn_ns = self.turn.value().map(|turn| turn.turn_ns);
        [
            of(truth.alignment, self.granule.alignment.value().copied()),
            of(truth.size_bytes, self.granule.size.value().copied()),
            match (truth.turn_ns, turn_ns) {
                (Some((least, most)), Some(turn_ns)) => {
                    let near = most / 200;
                    let is_right = (least - near..=most + near).contains(&turn_ns);
                    if is_right { Score::Right } else { Score::Wrong }
                }
                (truth, found) => of(truth.map(|_| 0), found),
            },
            of(truth.turns, self.turns.value().map(|turns| turns.turns)),
            of(truth.stripe.map(|stripe| stripe.0), self.stripe.chunk.value().copied()),
            of(truth.stripe.map(|stripe| stripe.1), self.stripe.members.value().copied()),
            of(truth.depth, self.depth.depth.value().copied()),
        ]
    }

    /// The answers, a line each.
    pub(super) fn details(&self) -> Vec<String> {
        let compared = self.granule.compared.iter();
        let compared = compared.chain(&self.stripe.compared).chain(&self.depth.compared);
        let mut lines: Vec<String> = compared
            .map(|one| {
                let (low, high) = (one.ratio.low, one.ratio.high);
                let (panel, arm, against) = (one.panel, &one.arm, &one.against);
                let reading = one.reading.word();
                format!(
                    "{panel:?}: {arm} / {against}: {low:.3} to {high:.3} {reading} {}",
                    one.blocks
                )
            })
            .collect();
        lines.extend([
            format!("alignment: {:?}", self.granule.alignment),
            format!("size: {:?}", self.granule.size),
            format!("chunk: {:?}", self.stripe.chunk),
            format!("members: {:?}", self.stripe.members),
            format!("depth: {:?}", self.depth.depth),
            format!("turn: {:?}", self.turn),
            format!("turns: {:?}", self.turns),
        ]);
        lines
    }
}

/// Returns how an answer did.
fn of<T: PartialEq>(truth: Option<T>, found: Option<T>) -> Score {
    match (truth, found) {
        (truth, found) if truth == found => Score::Right,
        (Some(_), None) => Score::Short,
        _ => Score::Wrong,
    }
}
