//! Drives for people: a line each, or one with all its values.

use ::drive::profile::Quantity;

use super::{DriveText, DriveValue, Drives};
use crate::bench::figure_rounding::chosen_time;
use crate::bench::grid::{Grid, INDENT, cell, prose, quiet};
use crate::colored_line::{Flow, Line, PLAIN};
use crate::quantity_words::ViewWords;
use crate::text::{width, wrap};
use crate::view_options::Look;

/// Blanks between a drive's name and its title.
const GAP: usize = 3;
/// Before the published numbers by which a value was set.
const BY_INDENT: &str = "    ";
/// Meaning of each label of a value.
const LABELS: [(&str, &str); 5] = [
    ("known", "its source says so"),
    ("unconfirmed", "from memory, or as others quote it; not compared with its source"),
    ("assumed", "not published; usual for drives of its class"),
    ("calibrated", "set so that the model gives one published number"),
    ("fitted", "set so that the model gives several published numbers"),
];

/// The drives, a line each, by their kinds; with its last line feed.
#[must_use]
pub fn drive_list(drives: &Drives, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    let all = drives.drives.len();
    let text = "built-in drive profiles for --profile NAME; details: straddle drive show NAME";
    prose(cell(all.to_string()), text, limit, &mut page);
    let name = drives.drives.iter().map(|drive| width(&drive.name)).max().unwrap_or(0);
    let column = INDENT + name + GAP;
    let mut kinds: Vec<&str> = Vec::new();
    for drive in &drives.drives {
        if !kinds.contains(&drive.kind.as_str()) {
            kinds.push(&drive.kind);
        }
    }
    for kind in kinds {
        prose(quiet(kind), "", limit, &mut page);
        for drive in drives.drives.iter().filter(|drive| drive.kind == kind) {
            let mut line = Line::default();
            line.advance(INDENT, 0);
            line.push(PLAIN, &drive.name);
            line.advance(column, 0);
            Flow { margin: "", indent: column, limit }.write(line, [cell(&drive.title)], &mut page);
        }
    }
    page
}

/// A drive with all its values, and with the numbered sources of these.
#[must_use]
pub fn drive_text(drive: &DriveText, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    prose(cell(&drive.name), &format!("({}): {}", drive.kind, drive.title), limit, &mut page);
    if let Some(member) = &drive.member {
        let text = format!("member: {member} (to change it: --set member.KEY=VALUE)");
        indented(&text, limit, &mut page);
    }
    let mut sources: Vec<&str> = Vec::new();
    let mut grid = Grid::default();
    grid.push(["key", "value", "origin", "source"].map(quiet).to_vec());
    for value in &drive.values {
        if !sources.contains(&value.source.as_str()) {
            sources.push(&value.source);
        }
        let number = sources.iter().take_while(|source| **source != value.source).count() + 1;
        let cells = [value.key.clone(), shown(value, look), value.label.clone()];
        grid.push(cells.into_iter().chain([format!("[{number}]")]).map(cell).collect());
        if !value.by.is_empty() {
            let by = format!("to give {}", value.by);
            let by = wrap(&by, limit.saturating_sub(BY_INDENT.len() + INDENT));
            by.iter().for_each(|line| grid.alone(quiet(format!("{BY_INDENT}{line}"))));
        }
    }
    grid.write(&mut page);
    prose(quiet("origins"), "", limit, &mut page);
    let occurs = |label: &str| drive.values.iter().any(|value| value.label == label);
    for (label, meaning) in LABELS.iter().filter(|(label, _)| occurs(label)) {
        indented(&format!("{label}: {meaning}"), limit, &mut page);
    }
    prose(quiet("sources"), "", limit, &mut page);
    for (number, source) in sources.iter().enumerate() {
        indented(&format!("[{}] {source}", number + 1), limit, &mut page);
    }
    for note in &drive.notes {
        prose(quiet("note:"), note, limit, &mut page);
    }
    page
}

/// The value as people read it: times with three digits and the unit that fits, as everywhere.
fn shown(value: &DriveValue, look: &Look) -> String {
    let time = Quantity::Time.read(&value.value);
    time.map_or_else(|| value.value.clone(), |ns| chosen_time(ns, ViewWords { look }))
}

/// Writes `text` as an indented paragraph.
pub(super) fn indented(text: &str, limit: usize, page: &mut String) {
    let mut line = Line::default();
    line.advance(INDENT, 0);
    Flow { margin: "", indent: 2 * INDENT, limit }.write(line, [cell(text)], page);
}
