//! Drives for people: a line each, or one with all its values.

use super::{DriveText, Drives};
use crate::bench::grid::{Grid, Sheet, SheetRow, cell, prose, quiet};
use crate::text::wrap;
use crate::view_options::Look;

/// Before the lines of a value's source.
const SOURCE_INDENT: &str = "    ";

/// A line for each drive, with its last line feed.
#[must_use]
pub fn drive_list(drives: &Drives, look: &Look) -> String {
    let mut page = String::new();
    let row = |drive: &DriveText| SheetRow {
        group: String::new(),
        cells: vec![drive.name.clone(), drive.kind.clone(), drive.title.clone()],
    };
    let rows = drives.drives.iter().map(row).collect();
    Sheet { heads: &["drive", "kind", ""], droppable: &[], rows }.write(look.columns(), &mut page);
    page
}

/// A drive with all its values, each with its source, and with what it was adjusted to.
#[must_use]
pub fn drive_text(drive: &DriveText, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    prose(cell(&drive.name), &format!("({}): {}", drive.kind, drive.title), limit, &mut page);
    let mut grid = Grid::default();
    grid.push(["key", "value", "adjusted"].map(quiet).to_vec());
    for value in &drive.values {
        // What was not adjusted to anything is as its source says.
        let adjusted = match value.by.as_str() {
            "" => String::new(),
            by => format!("{} to {by}", value.label),
        };
        grid.push(vec![cell(&value.key), cell(&value.value), cell(adjusted)]);
        let source = wrap(&value.source, limit.saturating_sub(SOURCE_INDENT.len() + 2));
        source.iter().for_each(|line| grid.alone(quiet(format!("{SOURCE_INDENT}{line}"))));
    }
    grid.write(&mut page);
    for note in &drive.notes {
        prose(quiet("note"), note, limit, &mut page);
    }
    page
}
