//! Many experiments in little room: a line for each arm that is compared.

use measure::{CostVerdict, Role};

use super::arms::{SHEET_MIN, is_control};
use super::figure_rounding::{
    confidence, holds_one, interval_title, ratio_bounds, ratio_figure, ratio_text, time,
};
use super::grid::{Cell, Grid, INDENT, Sheet, SheetRow, cell, flowing, labeled, prose, quiet};
use super::sentences::{regimes, verdict, verdict_word};
use super::{Arm, Comparison, Experiment};
use crate::colored_line::NAME;
use crate::quantity_words::{ViewWords, count_of};
use crate::text::{shorten_middle, width};

/// The columns of a title beside its figures; longer ones stand above them.
const TITLE_MAX: usize = 44;
/// The columns of the longest verdict.
const VERDICT_MAX: usize = 16;

/// Writes a table with a line for each comparison, then what it does not show.
pub(super) fn write(
    experiments: &[Experiment],
    words: ViewWords<'_>,
    limit: usize,
    page: &mut String,
) {
    let rows: Vec<OverviewLine<'_>> = experiments.iter().flat_map(rows).collect();
    // A title that is cut may be the same as another: those stand on lines of their own.
    let is_short = rows.iter().all(|row| width(&row.name(words)) <= TITLE_MAX);
    let mut grids = [true, false].into_iter().map(|full| grid(&rows, words, full));
    match grids.find(|grid| is_short && grid.fits(limit)) {
        Some(grid) => grid.write(page),
        None if limit >= SHEET_MIN => sheet(&rows, words, limit, page),
        None => rows.iter().for_each(|row| row.sentence(words, limit, page)),
    }
    together(&rows, limit, page);
    controls(experiments, words, limit, page);
    for experiment in experiments {
        let title = format!("{}:", words.text(&experiment.title));
        // The rows say all of an interval that is too wide; why one is void stands nowhere else.
        if experiment.verdict == CostVerdict::Void {
            let ((_, word), reason) = verdict(experiment, words);
            prose((NAME, title.clone()), &format!("{word} {reason}"), limit, page);
        }
        if let Some(changed) = regimes(experiment, words) {
            prose((NAME, title), &changed, limit, page);
        }
    }
}

/// A line of the table.
struct OverviewLine<'a> {
    experiment: &'a Experiment,
    /// The arm with its comparison; `None` for an experiment that compared nothing.
    compared: Option<(&'a Arm, Option<&'a Comparison>)>,
    /// True if it is the experiment's first line, which alone bears its title and verdict.
    first: bool,
}

fn rows(experiment: &Experiment) -> Vec<OverviewLine<'_>> {
    let others =
        experiment.arms.iter().filter(|arm| !is_control(arm) && arm.role != Role::Baseline);
    let mut rows: Vec<OverviewLine<'_>> = others
        .enumerate()
        .map(|(index, arm)| {
            let own = experiment.comparisons.iter().find(|one| one.arm == arm.name);
            OverviewLine { experiment, compared: Some((arm, own)), first: index == 0 }
        })
        .collect();
    if rows.is_empty() {
        rows.push(OverviewLine { experiment, compared: None, first: true });
    }
    rows
}

/// The title of the intervals; those of several widths have no common one.
fn intervals(rows: &[OverviewLine<'_>]) -> String {
    let alpha = rows.first().map_or(f64::NAN, |row| row.experiment.alpha);
    let same = rows.iter().all(|row| row.experiment.alpha.to_bits() == alpha.to_bits());
    interval_title(if same { alpha } else { f64::NAN })
}

/// Writes the probability with which all intervals hold together, where each was made wider for
/// that.
fn together(rows: &[OverviewLine<'_>], limit: usize, page: &mut String) {
    let alphas = rows.iter().filter(|row| row.compared.is_some_and(|(_, one)| one.is_some()));
    let alphas: Vec<f64> = alphas.map(|row| row.experiment.alpha).collect();
    let sum: f64 = alphas.iter().sum();
    // Intervals of 95 % each promise nothing of the table. Parts of 5 % add up to 5 % or nearly.
    let all = confidence(sum).filter(|_| sum < 0.05 + 1e-6);
    let is_same = alphas.windows(2).all(|two| two[0].to_bits() == two[1].to_bits());
    let each = alphas.first().filter(|_| is_same && alphas.len() > 1).copied().and_then(confidence);
    if let (Some(each), Some(all)) = (each, all) {
        let text = format!(
            "{each} % each: all {} together are right with a probability of {all} %",
            alphas.len()
        );
        labeled("intervals", vec![cell(text)], limit, page);
    }
}

/// Each title on a line, and its arms beneath.
fn sheet(rows: &[OverviewLine<'_>], words: ViewWords<'_>, limit: usize, page: &mut String) {
    let dots = words.glyphs().ellipsis;
    let mut group = String::new();
    let line = |row: &OverviewLine<'_>| {
        if row.first {
            group = shorten_middle(&row.name(words), limit.saturating_sub(INDENT), dots);
        }
        let ratio = row.compared.and_then(|(_, comparison)| comparison).map(|one| one.interval);
        let arm = row.compared.map_or(String::new(), |(arm, _)| words.text(&arm.name));
        let verdict = if row.first { row.verdict().1 } else { String::new() };
        let cells = vec![
            shorten_middle(&arm, TITLE_MAX.div_euclid(2), dots),
            ratio.map_or("-".to_owned(), ratio_figure),
            ratio.map_or("-".to_owned(), ratio_bounds),
            shorten_middle(&verdict, VERDICT_MAX, dots),
        ];
        SheetRow { group: group.clone(), cells }
    };
    let lines: Vec<SheetRow> = rows.iter().map(line).collect();
    // A sheet of one group does not name it.
    if lines.iter().all(|line| line.group == group) {
        flowing(vec![(NAME, group)], limit, page);
    }
    let heads = [&experiments(rows), "ratio", &intervals(rows), "verdict"];
    Sheet { heads: &heads, droppable: &[], rows: lines }.write(limit, page);
}

fn grid(rows: &[OverviewLine<'_>], words: ViewWords<'_>, full: bool) -> Grid {
    let title = intervals(rows);
    let mut grid = Grid::default();
    let head =
        [experiments(rows), "arm".into(), "baseline".into(), "median".into(), "ratio".into()];
    let mut head: Vec<Cell> = head.into_iter().map(quiet).collect();
    head.extend([quiet(title), quiet("verdict")]);
    grid.push(slimmed(head, full));
    for row in rows {
        let median =
            |arm: &Arm| if arm.count > 0 { time(arm.median_ns, words) } else { "-".into() };
        let baseline = row.experiment.arms.iter().find(|arm| arm.role == Role::Baseline);
        let ratio = row.compared.and_then(|(_, comparison)| comparison).map(|one| one.interval);
        let arm = row.compared.map(|(arm, _)| arm);
        let name = arm.map_or(String::new(), |arm| words.text(&arm.name));
        let name = shorten_middle(&name, TITLE_MAX, words.glyphs().ellipsis);
        let mut cells = vec![(NAME, row.title(words)), cell(name)];
        cells.push(cell(baseline.map_or("-".to_owned(), median)));
        cells.push(cell(arm.map_or("-".to_owned(), median)));
        cells.push(cell(ratio.map_or("-".to_owned(), ratio_figure)));
        cells.push(cell(ratio.map_or("-".to_owned(), ratio_bounds)));
        cells.push(if row.first { row.verdict() } else { cell("") });
        grid.push(slimmed(cells, full));
    }
    grid
}

/// Without the medians, where there is no room for them.
fn slimmed(cells: Vec<Cell>, full: bool) -> Vec<Cell> {
    let kept = |index: &usize| full || !matches!(index, 2..=3);
    let numbered = cells.into_iter().enumerate();
    numbered.filter(|(index, _)| kept(index)).map(|(_, cell)| cell).collect()
}

fn experiments(rows: &[OverviewLine<'_>]) -> String {
    count_of(rows.iter().filter(|row| row.first).count(), "experiment")
}

impl OverviewLine<'_> {
    fn title(&self, words: ViewWords<'_>) -> String {
        if self.first { self.name(words) } else { String::new() }
    }

    /// Returns what was done, without the arm, which has a column of its own.
    fn name(&self, words: ViewWords<'_>) -> String {
        let title = words.text(&self.experiment.title);
        let arm = self.compared.map_or(String::new(), |(arm, _)| words.text(&arm.name));
        match title.strip_suffix(&arm).and_then(|rest| rest.strip_suffix(", ")) {
            Some(rest) if !arm.is_empty() => rest.to_owned(),
            _ => title,
        }
    }

    fn verdict(&self) -> Cell {
        let (style, word) = verdict_word(self.experiment);
        (style, word.to_lowercase())
    }

    fn sentence(&self, words: ViewWords<'_>, limit: usize, page: &mut String) {
        let mut pieces = vec![(NAME, format!("{}:", words.text(&self.experiment.title)))];
        if let Some((arm, comparison)) = self.compared {
            pieces.push(cell(words.text(&arm.name)));
            if let Some(ratio) = comparison.map(|one| one.interval) {
                pieces.push(cell(ratio_text(ratio)));
            }
        }
        if self.first {
            pieces.push(self.verdict());
        }
        flowing(pieces, limit, page);
    }
}

/// Adds to `page` whether the controls found equal things equal.
fn controls(experiments: &[Experiment], words: ViewWords<'_>, limit: usize, page: &mut String) {
    let (mut sound, mut unknown, mut differing) = (0_u64, 0_u64, Vec::new());
    for experiment in experiments {
        for arm in experiment.arms.iter().filter(|arm| is_control(arm)) {
            let own = experiment.comparisons.iter().find(|one| one.arm == arm.name);
            match own.and_then(|comparison| holds_one(comparison.interval)) {
                Some(true) => sound += 1,
                Some(false) => differing.push(words.text(&experiment.title)),
                None => unknown += 1,
            }
        }
    }
    let mut pieces = Vec::new();
    if sound > 0 {
        pieces.push(cell(format!("{sound} sound")));
    }
    if unknown > 0 {
        pieces.push(cell(format!("{unknown} without a verdict")));
    }
    pieces.extend(differing.iter().map(|title| cell(format!("differs: {title}"))));
    if !pieces.is_empty() && width("controls") < limit {
        labeled("controls", pieces, limit, page);
    }
}
