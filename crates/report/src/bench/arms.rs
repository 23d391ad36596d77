//! The arms of one experiment side by side: medians, p99, turns, rates, ratios.
//!
//! Two arms stand in columns with the figures beneath; more have a row each. Where neither fits,
//! each arm is a sentence.

use measure::Role;

use super::figure_rounding::{
    UNKNOWN, holds_one, interval_title, number, ratio_bounds, ratio_figure, time, turns,
};
use super::grid::{Cell, Grid, INDENT, Sheet, SheetRow, cell, labeled, quiet};
use super::{Arm, Comparison, Experiment};
use crate::colored_line::{BAD, GOOD, NAME};
use crate::quantity_words::ViewWords;
use crate::text::shorten_middle;

/// The columns below which arms are sentences.
pub(super) const SHEET_MIN: usize = 60;

/// The arms of an experiment, to be written.
pub(super) struct Arms<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) words: ViewWords<'a>,
    pub(super) limit: usize,
}

/// A figure of each arm: its name, and what it is of one arm, where that has it.
type Figure<'a> = (&'static str, &'a dyn Fn(&Arm) -> Option<String>);

impl Arms<'_> {
    pub(super) fn write(&self, page: &mut String) {
        if self.experiment.arms.is_empty() {
            return;
        }
        let forms = [self.columns(), Some(self.rows())];
        match forms.into_iter().flatten().find(|grid| grid.fits(self.limit)) {
            Some(grid) => grid.write(page),
            None if self.limit >= SHEET_MIN => self.sheet(page),
            None => self.sentences(page),
        }
    }

    /// The figures that at least one arm has, the median always.
    fn figures(&self) -> Vec<(&'static str, Vec<String>)> {
        let words = self.words;
        let seen = |arm: &Arm| arm.count > 0;
        let figures: [Figure<'_>; 4] = [
            ("median", &|arm| seen(arm).then(|| time(arm.median_ns, words))),
            ("p99", &|arm| arm.p99_ns.filter(|_| seen(arm)).map(|p99| time(p99, words))),
            ("turns", &|arm| arm.turns.map(turns)),
            ("mean IOPS", &|arm| arm.operations_per_second.map(number)),
        ];
        let mut shown = Vec::new();
        for (name, figure) in figures {
            let values: Vec<Option<String>> = self.experiment.arms.iter().map(figure).collect();
            if shown.is_empty() || values.iter().any(Option::is_some) {
                let known = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
                shown.push((name, values.into_iter().map(known).collect()));
            }
        }
        shown
    }

    /// The baseline and one other arm as columns; beneath, the ratio of each arm to the baseline.
    /// `None` for any other set of arms.
    fn columns(&self) -> Option<Grid> {
        let arms = &self.experiment.arms;
        let mut shifted = (1..arms.len()).filter(|&index| !is_control(&arms[index]));
        let (other, None) = (shifted.next()?, shifted.next()) else { return None };
        if arms[0].role != Role::Baseline {
            return None;
        }
        let mut grid = Grid::default();
        let names = [&arms[0], &arms[other]].map(|arm| (NAME, self.words.text(&arm.name)));
        let [baseline, name] = names;
        grid.push(vec![quiet(""), baseline, name]);
        for (label, values) in self.figures() {
            grid.push(vec![quiet(label), cell(&*values[0]), cell(&*values[other])]);
        }
        // The pairs' ratio need not be that of both medians, so it does not stand beside them.
        for arm in std::iter::once(&arms[other]).chain(arms.iter().filter(|arm| is_control(arm))) {
            let Some(comparison) = self.comparison(arm) else { continue };
            let (label, title) = match is_control(arm) {
                true => (self.words.text(&arm.name), String::new()),
                false => ("pair by pair".to_owned(), interval_title(self.experiment.alpha) + " "),
            };
            let ratio = comparison.interval;
            let text = format!("ratio {}, {title}{}", ratio_figure(ratio), ratio_bounds(ratio));
            grid.free(quiet(label), vec![cell(text), self.soundness(arm)]);
        }
        Some(grid)
    }

    /// An arm in each row.
    fn rows(&self) -> Grid {
        let figures = self.figures();
        let mut grid = Grid::default();
        let mut head = vec![quiet("")];
        head.extend(figures.iter().map(|(label, _)| quiet(*label)));
        head.push(quiet(format!("ratio, {}", interval_title(self.experiment.alpha))));
        grid.push(head);
        for (index, arm) in self.experiment.arms.iter().enumerate() {
            let mut row = vec![(NAME, self.words.text(&arm.name))];
            row.extend(figures.iter().map(|(_, values)| cell(&*values[index])));
            row.push(cell(self.ratio(arm)));
            row.push(self.soundness(arm));
            grid.push(row);
        }
        grid
    }

    /// An arm in each row, its name above where there is no room beside the figures.
    fn sheet(&self, page: &mut String) {
        let figures = self.figures();
        let ratio = format!("ratio, {}", interval_title(self.experiment.alpha));
        let mut heads = vec![""];
        heads.extend(figures.iter().map(|(label, _)| *label));
        heads.extend([ratio.as_str(), ""]);
        let room = self.limit.saturating_sub(2 * INDENT);
        let row = |(index, arm): (usize, &Arm)| {
            let dots = self.words.glyphs().ellipsis;
            let mut cells = vec![shorten_middle(&self.words.text(&arm.name), room, dots)];
            cells.extend(figures.iter().map(|(_, values)| values[index].clone()));
            cells.extend([self.ratio(arm), self.soundness(arm).1]);
            SheetRow { group: String::new(), cells }
        };
        let rows = self.experiment.arms.iter().enumerate().map(row).collect();
        // Rates go first, then turns and p99: the median and the ratio are the answer.
        let droppable: Vec<usize> = (2..=figures.len()).rev().collect();
        Sheet { heads: &heads, droppable: &droppable, rows }.write(self.limit, page);
    }

    /// An arm in each sentence.
    fn sentences(&self, page: &mut String) {
        let figures = self.figures();
        for (index, arm) in self.experiment.arms.iter().enumerate() {
            let mut pieces: Vec<Cell> = Vec::new();
            for (label, values) in &figures {
                if values[index] != UNKNOWN {
                    pieces.push(cell(format!("{label} {}", values[index])));
                }
            }
            if let Some(comparison) = self.comparison(arm) {
                let ratio = comparison.interval;
                let title = interval_title(self.experiment.alpha);
                pieces.push(cell(format!("ratio {}", ratio_figure(ratio))));
                pieces.push(cell(format!("{title}: {}", ratio_bounds(ratio))));
            }
            pieces.push(self.soundness(arm));
            labeled(&self.words.text(&arm.name), pieces, self.limit, page);
        }
    }

    /// `3.00   2.97 to 3.03`; nothing for what is compared with nothing.
    fn ratio(&self, arm: &Arm) -> String {
        let ratio = self.comparison(arm).map(|one| one.interval);
        ratio.map_or(String::new(), |ratio| {
            format!("{}   {}", ratio_figure(ratio), ratio_bounds(ratio))
        })
    }

    fn comparison(&self, arm: &Arm) -> Option<&Comparison> {
        self.experiment.comparisons.iter().find(|comparison| comparison.arm == arm.name)
    }

    /// Returns whether a control says that equal things were found equal; nothing for other arms,
    /// and where its interval has no ends.
    fn soundness(&self, arm: &Arm) -> Cell {
        if !is_control(arm) {
            return cell("");
        }
        match self.comparison(arm).and_then(|comparison| holds_one(comparison.interval)) {
            Some(true) => (GOOD, "no bias".to_owned()),
            Some(false) => (BAD, "differs".to_owned()),
            None => cell(""),
        }
    }
}

/// Returns whether an arm is the same as the baseline.
pub(crate) fn is_control(arm: &Arm) -> bool {
    arm.role == Role::Control
}
