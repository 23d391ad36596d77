//! Columns of one tree, so that they are the same for all its layers.

use std::collections::BTreeMap;

use crate::check_document::LayerReport;
use crate::colored_line::{GAP, gapped};
use crate::layer_cells::Cells;
use crate::layer_order::{Branch, ForestEntry};
use crate::quantity_words::ViewWords;
use crate::sectors;
use crate::text::width;

/// The narrowest column in which wrapping still reads well.
const NARROWEST: usize = 20;

/// Layout of the lines of a tree, by the room that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeLayout {
    /// Every cell has its column.
    Columns,
    /// Title, start and size share a column and wrap in it.
    Packed,
    /// No columns; each layer flows over as many lines as it needs.
    Flowing,
}

/// Place where each column starts.
#[derive(Debug)]
pub(super) struct Columns {
    /// The bytes of a sector under each layer.
    sectors: BTreeMap<u32, u64>,
    pub(super) layout: TreeLayout,
    /// Behind the names: titles, and what is packed with them.
    pub(super) title: usize,
    pub(super) start: usize,
    /// Place where sizes end, because they are set flush right.
    pub(super) size_end: usize,
    pub(super) verdict: usize,
}

impl Columns {
    pub(super) fn of(layers: &[LayerReport], branches: &[Branch], words: ViewWords<'_>) -> Columns {
        let sectors = sectors::logical(layers);
        let sector = |layer: &LayerReport| sectors.get(&layer.id).copied().unwrap_or(512);
        let mut widest = Widths::default();
        for branch in branches.iter().filter(|branch| !branch.root) {
            if let ForestEntry::Layer(index) = branch.entry {
                let layer = &layers[index];
                widest.include(&branch.stem, &Cells::of(layer, sector(layer), words));
            }
        }
        let title = gapped(widest.head);
        let start = title + gapped(widest.title);
        let size_end = start + gapped(widest.start) + widest.size;
        let verdict = start + gapped(widest.start) + gapped(widest.size);
        let limit = words.look.columns();
        if verdict + widest.verdict <= limit {
            Columns { sectors, layout: TreeLayout::Columns, title, start, size_end, verdict }
        } else {
            let packed = widest.packed.min(limit.saturating_sub(title + GAP + widest.verdict));
            let layout = if packed < widest.packed.min(NARROWEST) {
                TreeLayout::Flowing
            } else {
                TreeLayout::Packed
            };
            Columns { sectors, layout, title, start, size_end, verdict: title + gapped(packed) }
        }
    }

    /// Returns what the line of `layer` says.
    pub(super) fn cells(&self, layer: &LayerReport, words: ViewWords<'_>) -> Cells {
        Cells::of(layer, self.sectors.get(&layer.id).copied().unwrap_or(512), words)
    }

    /// The columns for what is packed with the titles.
    pub(super) fn packed_width(&self) -> usize {
        self.verdict.saturating_sub(self.title + GAP)
    }
}

/// The widest cell of each column.
#[derive(Default)]
struct Widths {
    head: usize,
    title: usize,
    start: usize,
    size: usize,
    packed: usize,
    /// With the marker where there is one.
    verdict: usize,
}

impl Widths {
    fn include(&mut self, stem: &str, cells: &Cells) {
        let (title, start, size) = (width(&cells.title), width(&cells.start), width(&cells.size));
        self.head = self.head.max(width(stem) + width(&cells.name));
        self.title = self.title.max(title);
        self.start = self.start.max(start);
        self.size = self.size.max(size);
        let packed = gapped(title) + gapped(start) + gapped(size);
        self.packed = self.packed.max(packed.saturating_sub(GAP));
        let verdict = gapped(width(&cells.verdict)) + gapped(width(&cells.marker));
        self.verdict = self.verdict.max(verdict.saturating_sub(GAP));
    }
}
