//! The line of one layer, in columns where there is room, else flowing over several lines.

use anstyle::Style;

use super::TreeText;
use super::columns::{Columns, TreeLayout};
use crate::check_document::LayerReport;
use crate::colored_line::{BAD, Flow, GAP, Line, NAME, PLAIN, QUIET, verdict_style};
use crate::layer_order::Branch;
use crate::sectors::sectors;
use crate::text::{width, wrap};
use stack::{LayerType, Verdict};

impl TreeText<'_> {
    /// A layer that lies on nothing: what it is, its size and its sectors; its verdict where that
    /// is not plain.
    pub(super) fn root(&mut self, layer: &LayerReport, branch: &Branch, columns: &Columns) {
        let cells = columns.cells(layer, self.words);
        let mut pieces = vec![(NAME, self.words.text(&layer.name)), (PLAIN, cells.title)];
        pieces.push((PLAIN, cells.size));
        pieces.push((PLAIN, sectors(layer, self.words)));
        if layer.verdict != Verdict::Aligned || layer.first_bad {
            pieces.push((verdict_style(layer.verdict), cells.verdict));
            pieces.push((BAD, cells.marker));
        }
        self.flow(&branch.stem, &branch.margin, pieces);
    }

    /// A layer that lies on another.
    pub(super) fn layer(&mut self, layer: &LayerReport, branch: &Branch, columns: &Columns) {
        let cells = columns.cells(layer, self.words);
        let style = verdict_style(layer.verdict);
        if columns.layout == TreeLayout::Flowing {
            let about = [cells.title, cells.start, cells.size].map(|cell| (PLAIN, cell));
            let verdict = [(style, cells.verdict), (BAD, cells.marker)];
            let pieces = [(NAME, cells.name)].into_iter().chain(about).chain(verdict);
            return self.flow(&branch.stem, &branch.margin, pieces);
        }
        let mut line = Line::starting(&branch.stem);
        line.push(NAME, &cells.name);
        line.advance(columns.title, 0);
        let mut more = Vec::new();
        if columns.layout == TreeLayout::Columns {
            line.push(PLAIN, &cells.title);
            line.advance(columns.start, 0);
            line.push(PLAIN, &cells.start);
            line.advance(columns.size_end.saturating_sub(width(&cells.size)), 0);
            line.push(PLAIN, &cells.size);
        } else {
            let room = self.words.look.columns().saturating_sub(columns.title);
            let cells = [cells.title, cells.start, cells.size];
            more = packed(&cells, columns.packed_width(), room);
            line.push(PLAIN, &more.remove(0));
        }
        line.advance(columns.verdict, 0);
        line.push(style, &cells.verdict);
        line.advance(0, GAP);
        line.push(BAD, &cells.marker);
        line.end(&mut self.text);
        for part in more {
            let mut line = Line::starting(&branch.margin);
            line.advance(columns.title, 0);
            line.push(PLAIN, &part);
            line.end(&mut self.text);
        }
    }

    /// That a layer which is shown elsewhere lies here too.
    pub(super) fn reference(&mut self, to: &LayerReport, above: bool, stem: &str) {
        let part = if to.kind == LayerType::MdArray { "member" } else { "holds data" };
        let place = if above { "above" } else { "below" };
        let mut line = Line::starting(stem);
        line.push(PLAIN, &format!("{part} of "));
        line.push(NAME, &self.words.text(&to.name));
        line.push(QUIET, &format!(", shown {place}"));
        line.end(&mut self.text);
    }

    fn flow(
        &mut self,
        stem: &str,
        margin: &str,
        pieces: impl IntoIterator<Item = (Style, String)>,
    ) {
        let flow = Flow { margin, indent: width(margin) + GAP, limit: self.words.look.columns() };
        flow.write(Line::starting(stem), pieces, &mut self.text);
    }
}

/// The cells one after the other in lines of at most `room` columns, the first of at most `first`;
/// at least one line.
fn packed(cells: &[String; 3], first: usize, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for cell in cells.iter().filter(|cell| !cell.is_empty()) {
        let is_first = lines.len() == 1 && lines[0].is_empty();
        let limit = if is_first { first } else { room };
        let fits = if lines.len() == 1 { first } else { room };
        for (number, part) in wrap(cell, limit).into_iter().enumerate() {
            match lines.last_mut() {
                Some(line) if line.is_empty() => *line = part,
                Some(line) if number == 0 && width(line) + GAP + width(cell) <= fits => {
                    line.extend(std::iter::repeat_n(' ', GAP));
                    line.push_str(&part);
                }
                _ => lines.push(part),
            }
        }
    }
    lines
}
