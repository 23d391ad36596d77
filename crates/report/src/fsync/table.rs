//! A result for people: the answer, then a row for each method in `pg_test_fsync`'s columns, with
//! the percentiles that it lacks.
//!
//! Text from the result cannot leave its line, and every line fits the width asked for.

use measure::durable::RowGroup;

use super::forecast::target;
use super::{
    Fsync, FsyncRow, FsyncScratch, RowComparison, Sustained, engine_verdict_view, honesty_view,
};
use crate::bench::figure_rounding::{UNKNOWN, holds_one, ratio_bounds, ratio_figure, time};
use crate::bench::grid::{Cell, Grid, Sheet, SheetRow, cell, flowing, quiet};
use crate::colored_line::{BAD, NAME};
use crate::quantity_words::count;
use crate::text_page::TextPage;
use crate::view_options::Look;

/// The title of a group, as it heads its rows.
pub(crate) fn title(group: RowGroup) -> &'static str {
    match group {
        RowGroup::OneWrite => "one 8kB write",
        RowGroup::TwoWrites => "two 8kB writes",
        RowGroup::OpenSyncSizes => "16kB by open_sync, in pieces",
        RowGroup::OtherDescriptor => "sync on another descriptor",
        RowGroup::NonSynced => "non-sync'ed 8kB write",
        RowGroup::OtherPath => "8kB, other cache mode",
        RowGroup::Wal => "write-ahead log patterns",
        RowGroup::GroupSize => "writes for each sync",
    }
}

/// The title of the group that begins with this row; `None` where none does.
fn headed(rows: &[FsyncRow], number: usize) -> Option<&'static str> {
    let group = rows[number].group;
    let before = number.checked_sub(1).map(|before| rows[before].group);
    (before != Some(group)).then(|| title(group))
}

/// Mark for a quantile of fewer writes than it needs.
const TOO_FEW: &str = "too few";
/// Heads of the columns behind the labels.
const HEADS: [&str; 7] = ["cache", "      ops/sec", "usecs/op", "median", "p90", "p99", "p99.9"];
/// The columns that are shown, as many as fit: the least wanted fall first.
const COLUMNS: [&[usize]; 5] = [
    &[0, 1, 2, 3, 4, 5, 6, 7],
    &[0, 1, 2, 3, 4, 5, 6],
    &[0, 1, 2, 3, 4, 6],
    &[0, 1, 2, 3, 6],
    &[0, 1, 2, 6],
];

/// The cells of these columns.
fn chosen(cells: Vec<Cell>, columns: &[usize]) -> Vec<Cell> {
    let numbered = cells.into_iter().enumerate();
    numbered.filter(|(number, _)| columns.contains(number)).map(|(_, cell)| cell).collect()
}

/// The cells of a row that stand under no heads: each figure with its own, the rates' behind them.
fn named(cells: Vec<Cell>) -> Vec<Cell> {
    let has_figures = cells.len() > HEADS.len();
    let named = |(number, (style, text)): (usize, Cell)| {
        let text = text.trim();
        let head = number.checked_sub(1).and_then(|number| HEADS.get(number));
        let text = match (number, head) {
            (2 | 3, Some(head)) if has_figures => format!("{text} {}", head.trim()),
            (4.., Some(head)) => format!("{head} {text}"),
            _ => text.to_owned(),
        };
        (style, text)
    };
    cells.into_iter().enumerate().map(named).collect()
}

/// The whole result as text, with its last line feed; colors only repeat what the words say.
#[must_use]
pub fn fsync_table(fsync: &Fsync, look: &Look) -> String {
    let mut page = TextPage::new(look);
    page.fsync(fsync);
    page.text
}

impl TextPage<'_> {
    fn fsync(&mut self, fsync: &Fsync) {
        if let Some(verdict) = &fsync.verdict {
            engine_verdict_view::verdict(verdict, self.words, self.limit, &mut self.text);
        }
        if let Some(honesty) = &fsync.honesty {
            honesty_view::honesty(honesty, self.words, self.limit, &mut self.text);
        }
        target(&fsync.target, self.words, self.limit, &mut self.text);
        if let Some(verdict) = &fsync.verdict {
            engine_verdict_view::why(verdict, self.words, self.limit, &mut self.text);
        }
        if self.words.look.explain {
            self.fsync_circumstances(fsync);
        }
        if let Some(scratch) = &fsync.scratch {
            self.scratch(scratch);
        }
        if !fsync.rows.is_empty() {
            self.rows(&fsync.rows);
        }
        self.comparisons(&fsync.comparisons, &fsync.rows);
        if let Some(sustained) = &fsync.sustained {
            self.sustained(sustained);
        }
        self.notes(&fsync.envelope.notes);
        self.refusal(fsync.envelope.refusal.as_ref());
    }

    /// Adds what the figures depend on, and what was said before anything was written.
    fn fsync_circumstances(&mut self, fsync: &Fsync) {
        self.run(&fsync.envelope, fsync.elapsed_ns, fsync.seed);
        self.rounds(fsync);
        if let Some(said) = &fsync.forecast {
            self.forecast(said);
        }
    }

    fn scratch(&mut self, scratch: &FsyncScratch) {
        let words = self.words;
        let (length, place) = (words.size(scratch.length_bytes), words.text(&scratch.place));
        let written = words.size(scratch.written_bytes);
        let line = format!(
            "scratch: files of {length} in {place}; {written} written in all; nothing else is \
             touched"
        );
        self.prose(quiet(""), &line);
    }

    /// Adds the order in which the rows took turns.
    fn rounds(&mut self, fsync: &Fsync) {
        let Some(rounds) = &fsync.rounds else { return };
        let words = self.words;
        let mut line = format!(
            "{}; in each, every row ran once, in random order, for up to {}, at least two \
             operations; {}",
            count(rounds.rounds, "round"),
            time(rounds.slice_ns, words),
            words.text(&rounds.warm_up),
        );
        if rounds.was_cut_short {
            line += "; the last round is incomplete";
        }
        self.prose(quiet(""), &line);
    }

    fn rows(&mut self, rows: &[FsyncRow]) {
        let grids = COLUMNS.iter().map(|columns| self.grid(rows, columns));
        match grids.into_iter().find(|grid| grid.fits(self.limit)) {
            Some(grid) => grid.write(&mut self.text),
            None => self.list(rows),
        }
        let words = self.words;
        for row in rows {
            for error in &row.errors {
                let text = format!("{}: {}", words.text(&row.id), words.text(error));
                self.prose((BAD, "void:".to_owned()), &text);
            }
        }
        let mut said: Vec<&str> = Vec::new();
        for row in rows {
            let Some(reason) = &row.unavailable else { continue };
            if !said.contains(&reason.as_str()) {
                said.push(reason);
                self.prose(quiet("n/a:"), &words.text(reason));
            }
        }
    }

    fn grid(&self, rows: &[FsyncRow], columns: &[usize]) -> Grid {
        let mut grid = Grid::default();
        for (number, row) in rows.iter().enumerate() {
            if let Some(title) = headed(rows, number) {
                let mut head = vec![(NAME, title.to_owned())];
                if number == 0 {
                    head.extend(HEADS.map(quiet));
                }
                grid.push(chosen(head, columns));
            }
            grid.push(chosen(self.cells(row), columns));
        }
        grid
    }

    fn cells(&self, row: &FsyncRow) -> Vec<Cell> {
        let words = self.words;
        let mut cells = vec![cell(format!("  {}", words.text(&row.label)))];
        cells.push(cell(row.path.word()));
        let rate = row.operations_per_second.filter(|rate| rate.is_finite());
        match (rate, row.mean_ns) {
            (Some(rate), Some(mean)) => {
                cells.push((NAME, format!("{rate:>13.3}")));
                cells.push(cell(format!("{:>8.0}", mean / 1e3)));
                let figure =
                    |value: Option<u64>| value.map_or(TOO_FEW.into(), |ns| time(ns, words));
                let figures = [row.median_ns, row.p90_ns, row.p99_ns, row.p999_ns];
                cells.extend(figures.map(figure).map(cell));
            }
            _ if !row.errors.is_empty() => cells.push((BAD, format!("{:>13}", "void"))),
            _ => cells.push(quiet(format!("{:>13}", "n/a"))),
        }
        cells
    }

    /// The rows where no columns fit.
    fn list(&mut self, rows: &[FsyncRow]) {
        for (number, row) in rows.iter().enumerate() {
            if let Some(title) = headed(rows, number) {
                self.prose((NAME, title.to_owned()), "");
            }
            let pieces = chosen(named(self.cells(row)), COLUMNS[2]);
            flowing(pieces, self.limit, &mut self.text);
        }
    }

    fn comparisons(&mut self, comparisons: &[RowComparison], rows: &[FsyncRow]) {
        let words = self.words;
        if comparisons.is_empty() {
            return;
        }
        let row = |one: &RowComparison| SheetRow {
            group: String::new(),
            cells: vec![
                words.text(&one.question),
                // A ratio without bounds says nothing.
                holds_one(one.interval).map_or(UNKNOWN.to_owned(), |_| ratio_figure(one.interval)),
                ratio_bounds(one.interval),
                one.result(rows),
            ],
        };
        let title = "ratio: median of the rounds' ratios; above 1: the first takes longer";
        self.prose((NAME, title.to_owned()), "");
        let heads = &["", "ratio", "interval", "result"];
        let sheet = Sheet { heads, droppable: &[], rows: comparisons.iter().map(row).collect() };
        sheet.write(self.limit, &mut self.text);
    }

    fn sustained(&mut self, sustained: &Sustained) {
        let words = self.words;
        let (written, took) =
            (words.size(sustained.written_bytes), time(sustained.elapsed_ns, words));
        let head = format!("{}: {written} in {took}", words.text(&sustained.title));
        self.prose((NAME, "sustained:".to_owned()), &head);
        if !sustained.reason.is_empty() {
            self.prose(quiet(""), &words.text(&sustained.reason));
        }
    }
}
