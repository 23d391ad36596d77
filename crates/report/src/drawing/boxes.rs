//! The layers of a target as boxes, each with its words. A grid wider than the sheet is drawn in
//! several parts, one under the other, in which a layer that goes on is drawn again.

use std::ops::Range;

use anstyle::Style;
use stack::{LayerType, Verdict};

use super::grid::{Grid, Placed};
use super::sheet::{Frame, Sheet};
use crate::check_document::{LayerReport, Target};
use crate::colored_line::{BAD, CARE, GAP, NAME, PLAIN, QUIET, verdict_style};
use crate::layer_cells::Cells;
use crate::layer_order::ForestEntry;
use crate::quantity_words::ViewWords;
use crate::sectors::{self, sectors};
use crate::text::{shorten, shorten_middle, width, wrap};

/// The narrowest column of a grid, in columns of the sheet.
const NARROWEST: usize = 18;
/// A layer that is off is drawn so far to the right of the marks of the layer below.
const SHIFT: usize = 2;
/// From one of these marks to the next.
const TICK: usize = 4;
/// Columns of the name of a layer at most.
const NAME_COLUMNS: usize = 40;
/// Lines that the title of a layer takes at most.
const TITLE_LINES: usize = 3;

/// Pieces of text in lines.
type Lines = Vec<Vec<(Style, String)>>;

/// Draws all boxes of `grid` below what is on `sheet`.
pub(super) fn draw(target: &Target, grid: &Grid, sheet: &mut Sheet, words: ViewWords<'_>) {
    let in_part = sheet.columns.div_euclid(NARROWEST).max(1);
    for start in (0..grid.columns).step_by(in_part) {
        let part = Part {
            target,
            columns: start..grid.columns.min(start + in_part),
            sectors: sectors::logical(&target.layers),
            words,
        };
        if start > 0 {
            sheet.rows += 1;
        }
        part.draw(grid, sheet);
    }
}

/// The columns of a grid that stand side by side.
struct Part<'a> {
    target: &'a Target,
    columns: Range<usize>,
    sectors: std::collections::BTreeMap<u32, u64>,
    words: ViewWords<'a>,
}

/// A box with its text.
struct TextBox {
    frame: Frame,
    levels: Range<usize>,
    lines: Lines,
}

impl Part<'_> {
    fn draw(&self, grid: &Grid, sheet: &mut Sheet) {
        let boxes = grid.placed.iter().filter_map(|placed| self.text_box(placed, sheet.columns));
        let boxes: Vec<TextBox> = boxes.collect();
        let levels = boxes.iter().map(|it| it.levels.end).max().unwrap_or(0);
        let mut heights = vec![1; levels];
        for one in &boxes {
            let height = &mut heights[one.levels.end - 1];
            *height = one.lines.len().max(*height);
        }
        // The row of the line above each level, the lowest level first, then the last line.
        let first = sheet.rows;
        let top = |level: usize| {
            first + heights[level + 1..].iter().map(|height| height + 1).sum::<usize>()
        };
        for TextBox { mut frame, levels, lines } in boxes {
            frame.top = top(levels.end - 1);
            frame.bottom = top(levels.start) + heights[levels.start] + 1;
            for (row, line) in (frame.top + 1..).zip(lines) {
                sheet.line(frame.left + 2, row, line);
            }
            sheet.frame(frame);
        }
    }

    /// The box of a place, where the part has some of it; its rows are still to be filled in.
    fn text_box(&self, placed: &Placed, sheet_columns: usize) -> Option<TextBox> {
        let Range { start, end } = self.columns;
        let columns = placed.columns.start.max(start)..placed.columns.end.min(end);
        if columns.is_empty() {
            return None;
        }
        let count = self.columns.len();
        // Each box begins at a mark, so the marks of all drives are those of one ruler.
        let edge = |column: usize| match column - start {
            end if end == count => sheet_columns - 1,
            column => {
                let exact = (column * (sheet_columns - 1)).div_euclid(count);
                (exact + SHIFT).div_euclid(TICK) * TICK
            }
        };
        let (place, right) = (edge(columns.start), edge(columns.end));
        let layers = &self.target.layers;
        let is_again = columns.start > placed.columns.start;
        let (style, left, text): (_, _, fn(&_, &_, _) -> Lines) = match placed.entry {
            ForestEntry::Layer(index) if is_off(&layers[index]) => {
                (BAD, place + SHIFT, Part::words_of)
            }
            ForestEntry::Layer(_) => (QUIET, place, Part::words_of),
            ForestEntry::Reference { .. } => (QUIET, place, Part::reference),
        };
        let (ForestEntry::Layer(index) | ForestEntry::Reference { to: index, .. }) = placed.entry;
        let layer = &layers[index];
        let room = right - left - 3;
        let lines = match is_again {
            true => flow([(NAME, self.name(layer)), (QUIET, "continued".into())], room),
            false => text(self, layer, room),
        };
        let marks = if placed.on_root { place..right + 1 } else { 0..0 };
        let frame =
            Frame { left, right, top: 0, bottom: 0, ticks: marks.step_by(TICK).collect(), style };
        Some(TextBox { frame, levels: placed.levels.clone(), lines })
    }

    /// Name, kind, place and size of a layer, then its verdict.
    fn words_of(&self, layer: &LayerReport, room: usize) -> Lines {
        let sector = self.sectors.get(&layer.id).copied().unwrap_or(512);
        let cells = Cells::of(layer, sector, self.words);
        let is_root = layer.below.is_empty();
        let ellipsis = self.words.glyphs().ellipsis;
        let short = |text: &str| shorten(text, TITLE_LINES * room, ellipsis);
        let place = if is_root { String::new() } else { cells.start };
        let unit = if is_root { short(&sectors(layer, self.words)) } else { String::new() };
        let about = [short(&cells.title), place, cells.size, unit].map(|text| (PLAIN, text));
        let mut lines = flow([(NAME, cells.name)].into_iter().chain(about), room);
        let verdict = [(verdict_style(layer.verdict), cells.verdict), (BAD, cells.marker)];
        lines.append(&mut flow(verdict, room));
        lines
    }

    fn name(&self, layer: &LayerReport) -> String {
        shorten_middle(&self.words.text(&layer.name), NAME_COLUMNS, self.words.glyphs().ellipsis)
    }

    /// That a layer which is drawn elsewhere lies here too.
    fn reference(&self, to: &LayerReport, room: usize) -> Lines {
        let part = if to.kind == LayerType::MdArray { "member of" } else { "holds data of" };
        flow([(QUIET, part.to_owned()), (NAME, self.name(to))], room)
    }
}

/// Returns whether a layer starts off a boundary.
fn is_off(layer: &LayerReport) -> bool {
    matches!(layer.verdict, Verdict::Misaligned | Verdict::ChunkOnly)
}

/// Pieces one after the other in lines of at most `room` columns.
pub(super) fn flow(pieces: impl IntoIterator<Item = (Style, String)>, room: usize) -> Lines {
    let mut lines: Lines = Vec::new();
    let mut used = 0;
    for (style, text) in pieces.into_iter().filter(|(_, text)| !text.is_empty()) {
        let fits = used + GAP + width(&text) <= room;
        if let Some(line) = lines.last_mut().filter(|_| fits) {
            line.push((PLAIN, " ".repeat(GAP)));
            used += GAP + width(&text);
            line.push((style, text));
            continue;
        }
        for part in wrap(&text, room) {
            used = width(&part);
            lines.push(vec![(style, part)]);
        }
    }
    lines
}

/// The sentence about layers that have no box; `None` where all have one.
pub(super) fn left_out(target: &Target, grid: &Grid) -> Option<(Style, String)> {
    let count = grid.left_out.len();
    let off = grid.left_out.iter().filter(|&&index| is_off(&target.layers[index])).count();
    (count > 0).then(|| {
        let all = crate::quantity_words::count_of(count, "more layer");
        (CARE, format!("{all} not drawn, {off} of them misaligned: straddle check shows all"))
    })
}
