//! Drawings as SVG: one image that needs no font of its own, is dark where the reader's screen is,
//! and says in words what it shows. Each text is drawn as wide as its cells, whatever the font.

use anstyle::Style;
use maud::{Markup, PreEscaped, html};

use super::sheet::{Frame, Label, Sheet};
use crate::colored_line::{BAD, CARE, GOOD, NAME, QUIET};
use crate::quantity_words::count_of;
use crate::text::{width, xml_characters};

/// The first bytes of each drawing, by which it is known again.
pub const SVG_MARK: &str = "<svg class=\"straddle-drawing\"";

/// Width of a cell.
const CELL: usize = 8;
/// Height of a row.
const ROW: usize = 18;
/// From the top of a row to the line that its text stands on.
const BASE: usize = 13;
/// Around everything.
const MARGIN: usize = 12;
/// Empty rows between two targets.
const BETWEEN: usize = 2;
/// Colors and letters of drawings.
pub(crate) const DRAWING_STYLE: &str = include_str!("drawing.css");

/// Returns an SVG image of `sheets`, one under the other, without a line feed at its end.
#[must_use]
pub fn svg(sheets: &[Sheet]) -> String {
    let columns = sheets.iter().map(|sheet| sheet.columns).max().unwrap_or(0);
    let rows: usize = sheets.iter().map(|sheet| sheet.rows + BETWEEN).sum();
    let [wide, high] = size(columns, rows.saturating_sub(BETWEEN));
    let title = match sheets {
        [one] => one.title.clone(),
        many => count_of(many.len(), "storage stack"),
    };
    let about = sheets.iter().map(|sheet| format!("{}. {}", sheet.title, sheet.about));
    let about: Vec<String> = about.collect();
    let mut row = 0;
    let placed = sheets.iter().map(|sheet| {
        let place = row;
        row += sheet.rows + BETWEEN;
        drawn(sheet, place)
    });
    let image = html! {
        svg class="straddle-drawing" xmlns="http://www.w3.org/2000/svg" role="img"
            viewBox=(format!("0 0 {wide} {high}")) width=(wide) height=(high) {
            title { (title) }
            desc { (about.join(" ").trim_end()) }
            style { (PreEscaped(DRAWING_STYLE)) }
            rect class="sheet" width=(wide) height=(high) {}
            @for sheet in placed { (sheet) }
        }
    };
    // One element on a line: text has no such pair of signs, since they are escaped in it.
    xml_characters(&image.into_string()).replace("><", ">\n<")
}

/// The drawing for a page that has [`DRAWING_STYLE`]; `id` begins the names of its parts.
pub(crate) fn inline(sheet: &Sheet, id: &str) -> Markup {
    let [wide, high] = size(sheet.columns, sheet.rows);
    let (title, about) = (format!("{id}-t"), format!("{id}-d"));
    html! {
        svg class="straddle-drawing" role="img" viewBox=(format!("0 0 {wide} {high}"))
            aria-labelledby=(title) aria-describedby=(about) {
            title id=(title) { (sheet.title) }
            desc id=(about) { (sheet.about.trim_end()) }
            (drawn(sheet, 0))
        }
    }
}

/// Width and height of so many cells with what is around them.
fn size(columns: usize, rows: usize) -> [usize; 2] {
    [columns * CELL + 2 * MARGIN, rows * ROW + 2 * MARGIN]
}

/// All of `sheet`, its first row at `row`.
fn drawn(sheet: &Sheet, row: usize) -> Markup {
    html! {
        g transform=(format!("translate({MARGIN} {})", MARGIN + row * ROW)) {
            @for it in &sheet.frames { (frame(it)) }
            @for it in &sheet.labels { (label(it)) }
        }
    }
}

fn frame(frame: &Frame) -> Markup {
    let middle = |column: usize| column * CELL + CELL.div_euclid(2);
    let line = |row: usize| row * ROW + ROW.div_euclid(2);
    let (wide, high) = ((frame.right - frame.left) * CELL, (frame.bottom - frame.top) * ROW);
    let (x, y) = (middle(frame.left), line(frame.top));
    let ticks = frame.ticks.iter().map(|&tick| format!("M{} {}v6", middle(tick), y + high));
    html! {
        path class=(class(frame.style)) d=(format!("M{x} {y}h{wide}v{high}h-{wide}z")) {}
        @if !frame.ticks.is_empty() { path d=(ticks.collect::<String>()) {} }
    }
}

fn label(label: &Label) -> Markup {
    html! {
        text class=(class(label.style)) x=(label.column * CELL) y=(label.row * ROW + BASE)
            textLength=(width(&label.text) * CELL) lengthAdjust="spacingAndGlyphs" {
            (label.text)
        }
    }
}

/// The class that has the color of a style.
fn class(style: Style) -> &'static str {
    let classes = [(GOOD, "good"), (CARE, "care"), (BAD, "bad"), (NAME, "name"), (QUIET, "quiet")];
    classes.iter().find(|(known, _)| *known == style).map_or("plain", |(_, class)| class)
}
