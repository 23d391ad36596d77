//! Pictures of a target's layers: boxes on their drives, and the first bad boundary to scale.
//!
//! All words and verdicts are those of the document. One [`Sheet`] of frames and labels in cells is
//! laid out; [`text()`] and [`svg()`] show it, so both say the same and nothing overlaps in either.

mod boxes;
mod grid;
mod magnified;
mod sheet;
mod svg;
mod terminal;

pub use sheet::{Frame, Label, Sheet};
pub(crate) use svg::{DRAWING_STYLE, inline};
pub use svg::{SVG_MARK, svg};
pub use terminal::text;

use crate::check_document::Target;
use crate::quantity_words::ViewWords;
use crate::view_options::Look;

/// Columns where the look names none, and of every SVG.
const COLUMNS: usize = 80;
/// Columns at most: longer lines are hard to follow.
const COLUMNS_MAX: usize = 100;

/// Returns the drawing of `target`, from 40 to 100 columns wide, 80 where `look` names no width.
#[must_use]
pub fn drawing(target: &Target, look: &Look) -> Sheet {
    let words = ViewWords { look };
    let columns = look.width.unwrap_or(COLUMNS).clamp(40, COLUMNS_MAX);
    let heading = magnified::heading(target, words);
    let title = heading.each_ref().map(|(_, text)| text.as_str()).join(" ");
    let mut sheet = Sheet { columns, title, ..Sheet::default() };
    for line in boxes::flow(heading, columns) {
        sheet.line(0, sheet.rows, line);
    }
    let grid = grid::grid(&target.layers);
    boxes::draw(target, &grid, &mut sheet, words);
    if let Some(left_out) = boxes::left_out(target, &grid) {
        for line in boxes::flow([left_out], columns) {
            sheet.line(0, sheet.rows, line);
        }
    }
    magnified::draw(target, &mut sheet, words);
    sheet
}
