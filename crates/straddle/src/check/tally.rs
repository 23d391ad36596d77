//! Judged targets: what is printed and saved of each, and the counts over all.

use report::{Blocks, MonitorAnswer, Refusal, Summary};

use super::baseline::Save;
use super::show::{Pieces, Press, PrintedPiece};
use crate::arguments::Check;
use crate::shared::printer;

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
}

impl Shown {
    pub(super) fn of(check: &Check, press: &Press, target: report::Target) -> Shown {
        let summary = Summary::of(&target);
        let saved = check.save.as_ref().map(|_| report::element(&target));
        let refusal = target.refusal.clone();
        let (answer, piece) = press.judge(target, check.only_bad);
        Shown { summary, answer, piece, saved, refusal }
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
}

impl CheckTally {
    pub(super) fn take(&mut self, page: &mut Pieces<'_>, shown: Shown) -> anyhow::Result<()> {
        self.summary.merge(&shown.summary);
        self.answer.merge(shown.answer);
        self.has_opened |= shown.refusal.is_none();
        shown.refusal.as_ref().map(printer::refusal);
        if let (Some(save), Some(element)) = (&mut self.save, &shown.saved) {
            save.take(element)?;
        }
        shown.piece.map_or(Ok(()), |piece| page.take(piece))
    }

    /// Returns where there is no target, none could be opened, unless all that the baseline has are
    /// gone.
    pub(super) fn answer(&self) -> MonitorAnswer {
        let none = self.summary.targets == 0 && !self.answer.unknown;
        let unopened = self.answer.unopened || none;
        MonitorAnswer { unopened, ..self.answer }
    }
}
