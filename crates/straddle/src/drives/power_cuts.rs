//! `--power-cuts`: the same run, cut at many instants.

use anyhow::anyhow;
use drive::Model;
use drive::power::{self, CutFault, Liar, Lies, Logged, judge, losses};
use report::drive::SimulatedCuts;
use units::random::Random;

use super::cut_policy;
use crate::arguments::{Simulate, Survivors};

/// The most entries of a log: 80 bytes each.
const ENTRIES_MAX: usize = 1 << 22;
/// The most logical sectors that a workload of the command line may write: each takes some hundred
/// bytes at each cut.
const SECTORS_MAX: u64 = 1 << 20;

/// Power cuts: how the power is cut, and about what drives lie.
pub(super) struct Cuts {
    count: u32,
    seed: u64,
    lies: Lies,
    survivors: Survivors,
    cut: power::Cut,
    /// Most bytes that are written; 0 where a file says what is written.
    written_bytes: u64,
}

impl Cuts {
    /// Returns what is asked for, if anything is.
    pub(super) fn of(asked: &Simulate) -> Option<Cuts> {
        let is_told = asked.job.is_none() && asked.trace.is_none() && !asked.read;
        let written_bytes = asked.size.saturating_mul(asked.operations());
        Some(Cuts {
            written_bytes: if is_told { written_bytes } else { 0 },
            count: asked.power_cuts?,
            seed: asked.seed,
            lies: cut_policy::lies(&asked.lie),
            survivors: asked.survivors,
            cut: cut_policy::cut(&asked.lie, asked.half_written, asked.lost_member),
        })
    }

    /// Cut number `index`, until `end_ns`.
    fn one(&self, index: u32, end_ns: u64, random: &mut Random) -> power::Cut {
        let at_ns = random.below(end_ns.saturating_add(1));
        let survivors = cut_policy::survivors(self.survivors, index.into(), random);
        power::Cut { at_ns, survivors, ..self.cut }
    }
}

/// A model that is run, and watched where the power will be cut.
pub(super) enum Watched<'a> {
    Plain(Box<dyn Model>),
    Logged(Box<Logged<Liar<Box<dyn Model>>>>, &'a Cuts, String),
}

impl<'a> Watched<'a> {
    /// `model` of the drive called `name`, which did nothing yet.
    ///
    /// # Errors
    /// When the power is to be cut, and the model keeps no log.
    pub(super) fn new(
        model: Box<dyn Model>,
        cuts: Option<&'a Cuts>,
        name: &str,
    ) -> anyhow::Result<Watched<'a>> {
        let Some(cuts) = cuts else { return Ok(Watched::Plain(model)) };
        if cuts.written_bytes / model.logical_bytes() > SECTORS_MAX {
            return Err(failed(name, CutFault::Full));
        }
        let told = model.told();
        let liar = Liar::new(model, cuts.lies);
        let logged = Logged::with_entries(liar, told, ENTRIES_MAX, ENTRIES_MAX);
        let logged = logged.ok_or_else(|| failed(name, CutFault::NoLog))?;
        Ok(Watched::Logged(Box::new(logged), cuts, name.to_owned()))
    }

    /// The model, to be run.
    pub(super) fn model(&mut self) -> &mut dyn Model {
        match self {
            Watched::Plain(model) => &mut **model,
            Watched::Logged(model, ..) => &mut **model,
        }
    }

    /// Returns what cuts until `end_ns` leave, where any are asked for.
    ///
    /// # Errors
    /// When the drive cannot be cut so.
    pub(super) fn cut(&self, end_ns: u64) -> anyhow::Result<Option<SimulatedCuts>> {
        let Watched::Logged(model, cuts, name) = self else { return Ok(None) };
        let mut random = Random::new(cuts.seed);
        let mut all = SimulatedCuts::default();
        for index in 0..cuts.count {
            let one = cuts.one(index, end_ns, &mut random);
            add(&mut all, model, &one).map_err(|fault| failed(name, fault))?;
        }
        Ok(Some(all))
    }
}

/// Adds what `cut` leaves.
fn add(
    all: &mut SimulatedCuts,
    model: &Logged<impl Model>,
    cut: &power::Cut,
) -> Result<(), CutFault> {
    let after = model.cut(cut)?;
    let judged = judge(model.log(), &after)?;
    let losses = losses(model.log(), &after)?;
    all.cuts += 1;
    all.broken_cuts += u64::from(!judged.is_kept());
    all.acknowledged_writes += losses.acknowledged;
    all.lost_writes += losses.lost;
    all.torn_writes += losses.torn;
    all.promised_writes += losses.promised;
    all.broken_writes += losses.broken;
    all.missing_sectors += judged.missing;
    all.neighbour_sectors += judged.collateral;
    all.unreadable_sectors += judged.torn;
    all.mirror_sectors += after.unfit().mirrors;
    all.parity_sectors += after.unfit().parity;
    Ok(())
}

fn failed(name: &str, fault: CutFault) -> anyhow::Error {
    let hint = match fault {
        CutFault::Full => "write less: --operations 100",
        CutFault::NoSuchMember { .. } => "members are counted from 0: --lost-member 0",
        _ => "choose another drive; to list all: straddle drive list",
    };
    anyhow!("cannot cut the power of {name}: {fault}\nhint: {hint}")
}
