//! Cells in columns, and text that flows where columns do not fit.

use anstyle::Style;

use crate::colored_line::{self, Flow, Line, PLAIN, QUIET, gapped};
use crate::text::{width, wrap};

/// Left of everything that belongs to an experiment.
pub(crate) const INDENT: usize = 2;

/// A text and its color.
pub(crate) type Cell = (Style, String);

/// An ordinary cell.
pub(crate) fn cell(text: impl Into<String>) -> Cell {
    (PLAIN, text.into())
}

/// A label or heading.
pub(crate) fn quiet(text: impl Into<String>) -> Cell {
    (QUIET, text.into())
}

/// Rows of cells; all start where their column starts.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<GridRow>,
}

/// Cells of which the first `columns` stand in columns; the others follow as long as they like.
#[derive(Debug)]
struct GridRow {
    cells: Vec<Cell>,
    columns: usize,
}

/// Blanks between columns.
const GAP: usize = 3;

impl Grid {
    pub(crate) fn push(&mut self, cells: Vec<Cell>) {
        let columns = if cells.len() > 1 { cells.len() } else { 0 };
        self.rows.push(GridRow { cells, columns });
    }

    /// A row that is as long as it likes.
    pub(crate) fn alone(&mut self, cell: Cell) {
        self.push(vec![cell]);
    }

    /// A row whose label stands in the first column; what follows it keeps to no column.
    pub(crate) fn free(&mut self, label: Cell, mut pieces: Vec<Cell>) {
        pieces.insert(0, label);
        self.rows.push(GridRow { cells: pieces, columns: 1 });
    }

    /// Returns whether it fits into `limit` columns.
    pub(crate) fn fits(&self, limit: usize) -> bool {
        let starts = self.starts();
        let free = self.rows.iter().filter(|row| row.columns == 1);
        let mut ends = free.map(|row| {
            let pieces = row.cells[1..].iter().map(|(_, text)| gapped(width(text)));
            starts[1] + pieces.sum::<usize>()
        });
        starts.last().is_none_or(|end| *end <= limit + GAP)
            && ends.all(|end| end <= limit + colored_line::GAP)
    }

    /// Returns where each column starts, and where one behind the last would.
    fn starts(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(|row| row.columns).max().unwrap_or(0);
        let mut starts = vec![INDENT];
        for column in 0..columns {
            let rows = self.rows.iter().filter(|row| column < row.columns);
            let cells = rows.filter_map(|row| row.cells.get(column));
            let widest = cells.map(|(_, text)| width(text)).max().unwrap_or(0);
            let gap = if widest == 0 { 0 } else { GAP };
            starts.push(starts.last().copied().unwrap_or(INDENT) + widest + gap);
        }
        starts
    }

    /// Writes the rows.
    pub(crate) fn write(&self, page: &mut String) {
        let starts = self.starts();
        for row in &self.rows {
            let mut line = Line::default();
            for (column, (style, text)) in row.cells.iter().enumerate() {
                match column <= row.columns {
                    true => line.advance(starts[column], 0),
                    false => line.advance(0, colored_line::GAP),
                }
                line.push(*style, text);
            }
            line.end(page);
        }
    }
}

/// A table of named rows that fits any width: columns are left out, the least important first, and
/// where that is not enough each name stands on a line of its own.
pub(crate) struct Sheet<'a> {
    /// The heads, of the names' column first.
    pub(crate) heads: &'a [&'a str],
    /// Columns that may be left out, the first one first.
    pub(crate) droppable: &'a [usize],
    /// Each row's group, name and figures.
    pub(crate) rows: Vec<SheetRow>,
}

/// A row of a [`Sheet`].
pub(crate) struct SheetRow {
    /// Rows of one group stand together; its name is shown above them where there are several.
    pub(crate) group: String,
    /// The name and the figures, in the order of the heads.
    pub(crate) cells: Vec<String>,
}

impl Sheet<'_> {
    /// Writes the table into `limit` columns; nothing where it has no rows.
    pub(crate) fn write(&self, limit: usize, page: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        let left = self.columns(limit);
        let is_narrow = !self.grid(&left, false).fits(limit);
        self.grid(&left, is_narrow).write(page);
    }

    /// The columns that are shown where there is room for `limit`.
    pub(crate) fn columns(&self, limit: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.heads.len()).collect();
        for dropped in self.droppable {
            if self.grid(&left, false).fits(limit) {
                break;
            }
            left.retain(|column| column != dropped);
        }
        left
    }

    fn grid(&self, columns: &[usize], is_narrow: bool) -> Grid {
        let mut grid = Grid::default();
        let is_grouped = self.rows.windows(2).any(|two| two[0].group != two[1].group);
        grid.push(columns.iter().map(|&column| quiet(self.heads[column])).collect());
        let mut group = None;
        for row in &self.rows {
            if is_grouped && group != Some(&row.group) {
                grid.alone(cell(row.group.clone()));
                group = Some(&row.group);
            }
            let mut cells: Vec<Cell> =
                columns.iter().map(|&at| cell(row.cells[at].clone())).collect();
            if is_narrow {
                grid.alone(std::mem::take(&mut cells[0]));
            }
            grid.push(cells);
        }
        grid
    }
}

/// Columns that a label leaves to what is behind it, at least.
const ROOM: usize = 12;

/// Writes `pieces` behind `label`, as many lines as they need, the later ones under the first
/// piece; under the label where that leaves no room.
pub(crate) fn labeled(label: &str, pieces: Vec<Cell>, limit: usize, page: &mut String) {
    let mut line = Line::default();
    line.advance(INDENT, 0);
    if INDENT + width(label) + 2 + ROOM > limit {
        let pieces = std::iter::once(quiet(label)).chain(pieces);
        return Flow { margin: "", indent: 2 * INDENT, limit }.write(line, pieces, page);
    }
    line.push(QUIET, label);
    line.advance(0, 2);
    let indent = line.width().min(limit.div_euclid(2));
    Flow { margin: "", indent, limit }.write(line, pieces, page);
}

/// Writes `text` as a paragraph that begins with `head` in its color.
pub(crate) fn prose((style, head): Cell, text: &str, limit: usize, page: &mut String) {
    let whole = [head.as_str(), text].join(" ");
    for (number, part) in wrap(whole.trim(), limit.saturating_sub(INDENT)).iter().enumerate() {
        let mut line = Line::default();
        line.advance(if number == 0 { 0 } else { INDENT }, 0);
        match part.strip_prefix(head.as_str()).filter(|_| number == 0) {
            Some(rest) => {
                line.push(style, &head);
                line.push(PLAIN, rest);
            }
            None => line.push(PLAIN, part),
        }
        line.end(page);
    }
}

/// Writes `pieces` from the left edge on, two blanks apart.
pub(crate) fn flowing(pieces: Vec<Cell>, limit: usize, page: &mut String) {
    Flow { margin: "", indent: INDENT, limit }.write(Line::default(), pieces, page);
}
