//! Columns of one tree, so that they are the same for all its layers.

use std::collections::BTreeMap;

use stack::LayerType;

use crate::check_document::LayerReport;
use crate::colored_line::{GAP, gapped};
use crate::layer_order::{Branch, ForestEntry};
use crate::quantity_words::ViewWords;
use crate::sectors;
use crate::text::width;

/// The narrowest column in which wrapping still reads well.
const NARROWEST: usize = 20;

/// Cells of a layer's line, column by column.
pub(super) struct Cells {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) start: String,
    pub(super) size: String,
    pub(super) verdict: String,
    /// Points at the first bad layer; empty for all others.
    pub(super) marker: String,
}

impl Cells {
    /// The cells of `layer`, whose start is told in sectors of `sector_bytes`.
    pub(super) fn of(layer: &LayerReport, sector_bytes: u64, words: ViewWords<'_>) -> Cells {
        let ellipsis = words.glyphs().ellipsis;
        let name = words.text(&layer.name);
        let title = words.text(&layer.title);
        let marker = format!("{} first bad layer", words.glyphs().marker);
        Cells {
            title: crate::text::shorten(not_repeated(&name, &title), 160, ellipsis),
            name: crate::text::shorten_middle(&name, 40, ellipsis),
            start: match layer.start_bytes {
                None | Some(0) => String::new(),
                // Of a file system that is counted from its own start, not from the disk's.
                Some(start) if layer.kind == LayerType::FileSystem => {
                    format!("data at +{}", words.place(start, sector_bytes))
                }
                Some(start) => format!("at {}", words.place(start, sector_bytes)),
            },
            size: layer.length_bytes.map_or_else(String::new, |length| words.size(length)),
            verdict: words.verdict(layer),
            marker: if layer.first_bad { marker } else { String::new() },
        }
    }
}

/// `title` without `name` before it.
fn not_repeated<'a>(name: &str, title: &'a str) -> &'a str {
    match title.strip_prefix(name) {
        Some("") => "",
        Some(rest) => rest.strip_prefix(", ").unwrap_or(title),
        None => title,
    }
}

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
