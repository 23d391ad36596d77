//! A drawing in cells of a terminal: frames and labels. Text and SVG are two ways to show it.

use anstyle::Style;

use crate::text::width;

/// A rectangle of lines through the middle of its outermost cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The column of its left line, from 0.
    pub left: usize,
    /// The column of its right line.
    pub right: usize,
    /// The row of its top line, from 0.
    pub top: usize,
    /// The row of its bottom line.
    pub bottom: usize,
    /// The columns of marks on its bottom line.
    pub ticks: Vec<usize>,
    /// Style of its lines.
    pub style: Style,
}

/// A text in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The column of its first character, from 0.
    pub column: usize,
    /// Its row, from 0.
    pub row: usize,
    /// The text: one harmless line.
    pub text: String,
    /// Its style.
    pub style: Style,
}

/// The drawing of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// Number of columns; nothing lies to the right of them.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// The frames; a later one is drawn over an earlier one.
    pub frames: Vec<Frame>,
    /// The labels.
    pub labels: Vec<Label>,
    /// The name of the target, and its verdict.
    pub title: String,
    /// The same as the drawing in sentences.
    pub about: String,
}

impl Sheet {
    /// Puts pieces of text into the row at `row`, the first at `column`.
    pub(super) fn line(&mut self, column: usize, row: usize, pieces: Vec<(Style, String)>) {
        let mut column = column;
        for (style, text) in pieces {
            let next = column + width(&text);
            if !text.trim().is_empty() {
                self.labels.push(Label { column, row, text, style });
            }
            column = next;
        }
        self.rows = self.rows.max(row + 1);
    }

    /// Puts a frame.
    pub(super) fn frame(&mut self, frame: Frame) {
        self.rows = self.rows.max(frame.bottom + 1);
        self.frames.push(frame);
    }
}
