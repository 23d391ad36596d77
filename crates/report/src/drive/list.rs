//! Drives for people: a line each, or one with all its values.

use super::{DriveText, Drives};
use crate::bench::grid::{Grid, cell, prose, quiet};
use crate::look::Look;

/// A line for each drive, with its last line feed.
#[must_use]
pub fn drive_list(drives: &Drives, look: &Look) -> String {
    let mut page = String::new();
    let mut grid = Grid::default();
    for drive in &drives.drives {
        grid.push(vec![cell(&drive.name), quiet(&drive.kind), cell(&drive.title)]);
    }
    if grid.fits(look.columns()) {
        grid.write(&mut page);
        return page;
    }
    for drive in &drives.drives {
        prose(
            cell(&drive.name),
            &format!("({}): {}", drive.kind, drive.title),
            look.columns(),
            &mut page,
        );
    }
    page
}

/// A drive with all its values, each with its label and its source.
#[must_use]
pub fn drive_text(drive: &DriveText, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    prose(cell(&drive.name), &format!("({}): {}", drive.kind, drive.title), limit, &mut page);
    for value in &drive.values {
        let by = match value.by.as_str() {
            "" => String::new(),
            by => format!(" by {by}"),
        };
        let text = format!("= {}, {}{by}: {}", value.value, value.label, value.source);
        prose(cell(&value.key), &text, limit, &mut page);
    }
    for note in &drive.notes {
        prose(quiet("note"), note, limit, &mut page);
    }
    page
}
