//! Judged targets: what is printed and saved of each, and the counts over all.

use std::collections::BTreeMap;

use report::{Blocks, MonitorAnswer, Refusal, Summary};
use stack::{UnitFact, UnitKind, Verdict};
use units::Source;

use super::baseline::Save;
use super::document::UNREAD;
use super::show::{Pieces, Press, PrintedPiece};
use crate::arguments::Check;
use crate::shared::{printer, target};

/// Remainder of a target that was judged: its counts, and what is printed of it.
pub(super) struct Shown {
    summary: Summary,
    answer: MonitorAnswer,
    /// `None` where it is not to be shown.
    pub(super) piece: Option<PrintedPiece>,
    /// Blocks that are saved of it, where any are.
    pub(super) saved: Option<Blocks>,
    /// Why it could not be judged.
    refusal: Option<Refusal>,
    /// Its name, if it has no verdict because its bytes were not read.
    unread: Option<String>,
    /// Logical sector of the device that it is, in bytes, and the device's name.
    sector: Option<(u64, String)>,
}

/// The logical sector of the device that a target names, in bytes, where it is known.
fn sector(target: &report::Target) -> Option<(u64, String)> {
    let name = target.target.rsplit('/').next()?;
    let device = target.layers.iter().find(|layer| layer.device.as_deref() == Some(name))?;
    let known = |unit: &&UnitFact| {
        unit.unit == UnitKind::LogicalSector && unit.used && unit.source != Some(Source::Assumed)
    };
    Some((device.units.iter().find(known)?.bytes?, device.name.clone()))
}

impl Shown {
    pub(super) fn of(check: &Check, press: &Press, target: report::Target) -> Shown {
        let summary = Summary::of(&target);
        let saved = check.save.as_ref().map(|_| report::element(&target));
        let refusal = target.refusal.clone();
        let is_unread = target.verdict == Verdict::Unknown
            && target.findings.iter().any(|finding| &*finding.code == UNREAD);
        let unread = is_unread.then(|| target.target.clone());
        let sector = sector(&target);
        let (answer, piece) = press.judge(target, check.only_bad);
        Shown { summary, answer, piece, saved, refusal, unread, sector }
    }
}

/// Counts, over everything that was shown.
#[derive(Default)]
pub(super) struct CheckTally {
    pub(super) summary: Summary,
    pub(super) answer: MonitorAnswer,
    pub(super) save: Option<Save>,
    /// True if at least one target could be opened.
    pub(super) has_opened: bool,
    /// True if nothing was named: what cannot be judged is then no failure.
    is_overview: bool,
    /// The names of targets without a verdict whose bytes were not read.
    unread: Vec<String>,
    /// A device of each logical sector, in bytes.
    sectors: BTreeMap<u64, String>,
}

impl CheckTally {
    /// Returns an empty tally of what `check` asks for, whose results go to `save`.
    pub(super) fn of(check: &Check, save: Option<Save>) -> CheckTally {
        CheckTally { save, is_overview: check.is_overview(), ..CheckTally::default() }
    }

    pub(super) fn take(&mut self, page: &mut Pieces<'_>, shown: Shown) -> anyhow::Result<()> {
        self.summary.merge(&shown.summary);
        self.answer.merge(shown.answer);
        self.has_opened |= shown.refusal.is_none();
        if let Some(refusal) = &shown.refusal {
            if self.is_overview {
                let hint = refusal.hint.as_deref().map(|hint| format!("\nhint: {hint}"));
                printer::note(&format!("{}{}", refusal.message, hint.unwrap_or_default()));
            } else {
                printer::refusal(refusal);
            }
        }
        self.unread.extend(shown.unread);
        if let Some((bytes, name)) = shown.sector {
            self.sectors.entry(bytes).or_insert(name);
        }
        if let (Some(save), Some(element)) = (&mut self.save, &shown.saved) {
            save.take(element)?;
        }
        shown.piece.map_or(Ok(()), |piece| page.take(piece))
    }

    /// Returns where there is no target, none could be opened, unless all that the baseline has are
    /// gone. Where nothing was named, what is unknown does not count, but a baseline needs a disk.
    pub(super) fn answer(&self) -> MonitorAnswer {
        let none = self.summary.targets == 0 && !self.answer.unknown;
        let unopened = self.answer.unopened || none;
        match self.is_overview {
            true => MonitorAnswer {
                unopened: unopened && self.save.is_some(),
                unknown: false,
                ..self.answer
            },
            false => MonitorAnswer { unopened, ..self.answer },
        }
    }

    /// The sentence about disks whose bytes were not read, where nothing was named; `None` if all
    /// were.
    pub(super) fn unread_note(&self) -> Option<String> {
        let names: Vec<&str> = self.unread.iter().map(String::as_str).collect();
        (self.is_overview && !names.is_empty()).then(|| {
            let names = target::joined_names(&names);
            format!("only what the kernel reports was judged: the bytes of {names} were not read")
        })
    }

    /// The sentence about named disks whose logical sectors differ; `None` where all are alike.
    pub(super) fn mixed_note(&self) -> Option<String> {
        let (small, large) = (self.sectors.first_key_value()?, self.sectors.last_key_value()?);
        (!self.is_overview && small.0 != large.0).then(|| {
            format!(
                "{} has {}-byte sectors, {} has {}-byte ones: vgcreate refuses to mix them, and an \
                 md array of both has {}-byte sectors (straddle explain ST308)",
                small.1, small.0, large.1, large.0, large.0
            )
        })
    }
}
