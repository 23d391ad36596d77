//! A drawing as text: lines of boxes join where they meet.

use anstyle::Style;

use super::sheet::{Frame, Label, Sheet};
use crate::colored_line::{Line, PLAIN};
use crate::text::width;
use crate::view_options::Look;

const UP: usize = 1;
const DOWN: usize = 2;
const LEFT: usize = 4;
const RIGHT: usize = 8;

/// A sign for each set of directions.
const UNICODE: [char; 16] =
    [' ', '╵', '╷', '│', '╴', '┘', '┐', '┤', '╶', '└', '┌', '├', '─', '┴', '┬', '┼'];
const ASCII: [char; 16] =
    [' ', '|', '|', '|', '-', '+', '+', '+', '-', '+', '+', '+', '-', '+', '+', '+'];

/// Returns `sheet` as text with colors, as wide as it is; each line ends in a line feed.
#[must_use]
pub fn text(sheet: &Sheet, look: &Look) -> String {
    let signs = if look.ascii { &ASCII } else { &UNICODE };
    let mut rows = vec![vec![(0, PLAIN); sheet.columns]; sheet.rows];
    sheet.frames.iter().for_each(|frame| draw(frame, &mut rows));
    let mut page = String::new();
    for (row, cells) in rows.iter().enumerate() {
        let mut labels: Vec<&Label> = sheet.labels.iter().filter(|it| it.row == row).collect();
        labels.sort_by_key(|label| label.column);
        let mut line = Line::default();
        let mut column = 0;
        for label in labels {
            borders(&mut line, &cells[column..label.column], signs);
            line.push(label.style, &label.text);
            column = label.column + width(&label.text);
        }
        borders(&mut line, &cells[column..], signs);
        line.end(&mut page);
    }
    page
}

/// Adds the lines of a frame to `rows`.
fn draw(frame: &Frame, rows: &mut [Vec<(usize, Style)>]) {
    let mut add = |row: usize, column: usize, ways: usize| {
        let cell = &mut rows[row][column];
        *cell = (cell.0 | ways, frame.style);
    };
    for (row, inner) in [(frame.top, DOWN), (frame.bottom, UP)] {
        add(row, frame.left, RIGHT | inner);
        add(row, frame.right, LEFT | inner);
        (frame.left + 1..frame.right).for_each(|column| add(row, column, LEFT | RIGHT));
    }
    for row in frame.top + 1..frame.bottom {
        add(row, frame.left, UP | DOWN);
        add(row, frame.right, UP | DOWN);
    }
    frame.ticks.iter().for_each(|&column| add(frame.bottom, column, DOWN));
}

/// Adds the signs of `cells`, those of one style together.
fn borders(line: &mut Line, cells: &[(usize, Style)], signs: &[char; 16]) {
    for part in cells.chunk_by(|one, other| one.1 == other.1) {
        let text: String = part.iter().map(|(ways, _)| signs[*ways]).collect();
        line.push(part[0].1, &text);
    }
}
