//! Tables of which each cell knows its head, so that a narrow page shows each row as a card with
//! nothing lost. What a table is to those who do not see it is said by roles, since a row that is
//! drawn as a card is no row to every browser.

use maud::{Markup, Render, html};

use super::elements::{or_unknown, say};

/// Content of one place of a table.
pub(super) struct Cell {
    markup: Markup,
    kind: CellKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CellKind {
    /// Subject of the row.
    Name,
    Text,
    /// A figure, which is set flush right.
    Figure,
    /// Instead of all that would follow.
    Rest,
}

/// One row.
pub(super) struct Row {
    cells: Vec<Cell>,
}

/// Returns what a row is about.
pub(super) fn head(text: &str) -> Cell {
    named(or_unknown(text))
}

/// Returns what a row is about, as markup.
pub(super) fn named(content: impl Render) -> Cell {
    Cell { markup: content.render(), kind: CellKind::Name }
}

/// A text of ours, or markup.
pub(super) fn cell(content: impl Render) -> Cell {
    Cell { markup: content.render(), kind: CellKind::Text }
}

/// A text of a file.
pub(super) fn told(text: &str) -> Cell {
    cell(say(text))
}

/// A number, a time, a size.
pub(super) fn figure(content: impl Render) -> Cell {
    Cell { markup: content.render(), kind: CellKind::Figure }
}

/// The last cell of a row that has nothing to say in the columns that are left.
pub(super) fn rest(content: impl Render) -> Cell {
    Cell { markup: content.render(), kind: CellKind::Rest }
}

/// A row of `cells`, as many as there are heads, or ended by a [`rest`].
pub(super) fn row(cells: impl Into<Vec<Cell>>) -> Row {
    Row { cells: cells.into() }
}

/// From so many columns on a table wants more room than a tablet has.
const MANY: usize = 7;

/// A table of `rows`. It scrolls by itself where it is wider than its room, and is a list of cards
/// where there is little room.
pub(super) fn table(caption: &str, heads: &[&str], rows: impl IntoIterator<Item = Row>) -> Markup {
    let rows: Vec<Row> = rows.into_iter().collect();
    let is_figure = |column: usize| {
        rows.iter().filter_map(|row| row.cells.get(column)).any(|one| one.kind == CellKind::Figure)
    };
    let many = heads.len() >= MANY;
    html! {
        div.wide.many[many] role="region" tabindex="0" aria-label=(caption) {
            table role="table" {
                caption { (caption) }
                thead role="rowgroup" {
                    tr role="row" {
                        @for (column, head) in heads.iter().enumerate() {
                            th.figure[is_figure(column)] scope="col" role="columnheader" { (head) }
                        }
                    }
                }
                tbody role="rowgroup" { @for row in &rows { (drawn(heads, row)) } }
            }
        }
    }
}

fn drawn(heads: &[&str], row: &Row) -> Markup {
    html! {
        tr role="row" {
            @for (column, Cell { markup, kind }) in row.cells.iter().enumerate() {
                @let head = heads.get(column).copied().unwrap_or_default();
                @match kind {
                    CellKind::Name => th scope="row" role="rowheader" data-head=(head) { (markup) },
                    CellKind::Text => td role="cell" data-head=(head) { (markup) },
                    CellKind::Figure => td.figure role="cell" data-head=(head) { (markup) },
                    CellKind::Rest => td.rest role="cell"
                        colspan=(heads.len().saturating_sub(column)) {
                        (markup)
                    },
                }
            }
        }
    }
}
