//! Place of every layer in a grid: drives at the bottom, what lies on a layer above it.
//!
//! An array spans the chains of its members where nothing else lies on these. Any other layer
//! stands above the first layer that it lies on, with a reference above each other one. So every
//! graph has a place, and no two places overlap.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::check_document::LayerReport;
use crate::layer_order::{Child, ForestEntry, Graph, graph};

/// Columns that are drawn; what stands to the right of them is counted.
const COLUMNS_MAX: usize = 24;
/// Levels that are drawn; what is higher is counted.
const LEVELS_MAX: usize = 16;

/// One place.
pub(super) struct Placed {
    pub(super) entry: ForestEntry,
    pub(super) columns: Range<usize>,
    /// From the drive up.
    pub(super) levels: Range<usize>,
    /// True if it lies on a drive or an image itself.
    pub(super) on_root: bool,
}

/// All layers in their places.
pub(super) struct Grid {
    pub(super) placed: Vec<Placed>,
    pub(super) columns: usize,
    pub(super) levels: usize,
    /// The indices of layers that have no place, since there are too many.
    pub(super) left_out: Vec<usize>,
}

/// Returns the places of `layers`.
pub(super) fn grid(layers: &[LayerReport]) -> Grid {
    let Graph { above, .. } = graph(layers);
    let chains = Chains::of(layers.len(), &above);
    let spans = chains.spans();
    let mut grid = Grid { placed: Vec::new(), columns: 0, levels: 0, left_out: Vec::new() };
    for (index, span) in spans.into_iter().enumerate() {
        grid.put(ForestEntry::Layer(index), &span, &chains.levels(index), chains.on_root(index));
        if chains.is_within(index) {
            continue;
        }
        let level = chains.level[index] + 1;
        for (child, columns) in chains.children(index, &span) {
            if child.reference {
                let entry = ForestEntry::Reference { to: child.index, above: false };
                grid.put(entry, &columns, &(level..level + 1), false);
            }
        }
    }
    grid
}

impl Grid {
    fn put(
        &mut self,
        entry: ForestEntry,
        columns: &Range<usize>,
        levels: &Range<usize>,
        on_root: bool,
    ) {
        let columns = columns.start..columns.end.min(COLUMNS_MAX);
        let levels = levels.start..levels.end.min(LEVELS_MAX);
        if !columns.is_empty() && !levels.is_empty() {
            self.columns = self.columns.max(columns.end);
            self.levels = self.levels.max(levels.end);
            self.placed.push(Placed { entry, columns, levels, on_root });
        } else if let ForestEntry::Layer(index) = entry {
            self.left_out.push(index);
        }
    }
}

/// The layers as chains that end in arrays, and what lies above those. Each list has an item for
/// each layer.
struct Chains<'a> {
    above: &'a BTreeMap<usize, Vec<Child>>,
    below: Vec<Vec<usize>>,
    /// True if each layer from here down, this one too, has one layer above it.
    is_single: Vec<bool>,
    /// The columns that the layer needs for what is under it.
    under: Vec<usize>,
    /// The columns that it needs for what is above it.
    over: Vec<usize>,
    level: Vec<usize>,
}

impl<'a> Chains<'a> {
    fn of(count: usize, above: &'a BTreeMap<usize, Vec<Child>>) -> Chains<'a> {
        let mut below = vec![Vec::new(); count];
        for (&parent, children) in above {
            children.iter().for_each(|child| below[child.index].push(parent));
        }
        let mut chains = Chains {
            above,
            below,
            is_single: vec![false; count],
            under: vec![1; count],
            over: vec![1; count],
            level: vec![0; count],
        };
        for index in 0..count {
            let parents = &chains.below[index];
            let is_joint = chains.is_joint(index);
            let level = parents.iter().map(|&it| chains.level[it] + 1).max().unwrap_or(0);
            let under: usize = parents.iter().map(|&parent| chains.under[parent]).sum();
            chains.under[index] = if is_joint { under.max(1) } else { 1 };
            chains.level[index] = level;
            chains.is_single[index] = is_joint && chains.above(index).len() == 1;
        }
        for index in (0..count).rev() {
            let children = chains.above(index).iter().map(|child| chains.over_child(child));
            chains.over[index] = children.sum::<usize>().max(1);
        }
        chains
    }

    fn above(&self, index: usize) -> &'a [Child] {
        self.above.get(&index).map_or(&[], Vec::as_slice)
    }

    fn over_child(&self, child: &Child) -> usize {
        if child.reference { 1 } else { self.over[child.index] }
    }

    /// Returns whether a layer may stand across all that is under it.
    fn is_joint(&self, index: usize) -> bool {
        self.below[index].iter().all(|&parent| self.is_single[parent])
    }

    /// Returns whether a layer stands under the joint one above it.
    fn is_within(&self, index: usize) -> bool {
        self.is_single[index] && self.above(index).iter().all(|child| self.is_joint(child.index))
    }

    fn on_root(&self, index: usize) -> bool {
        self.below[index].iter().any(|&parent| self.below[parent].is_empty())
    }

    fn levels(&self, index: usize) -> Range<usize> {
        let level = self.level[index];
        let joint = self.above(index).first().filter(|_| self.is_within(index));
        level..joint.map_or(level + 1, |joint| self.level[joint.index])
    }

    /// The layers and references above a layer in `span`, each with its columns.
    fn children(
        &self,
        index: usize,
        span: &Range<usize>,
    ) -> impl Iterator<Item = (&'a Child, Range<usize>)> {
        let children = self.above(index);
        let needs: Vec<usize> = children.iter().map(|child| self.over_child(child)).collect();
        children.iter().zip(shares(span, &needs))
    }

    /// The columns of each layer.
    fn spans(&self) -> Vec<Range<usize>> {
        let count = self.below.len();
        let mut spans = vec![0..0; count];
        let mut end = 0;
        for index in (0..count).filter(|&it| self.is_joint(it) && !self.is_within(it)) {
            let needed = self.under[index].max(self.over[index]);
            spans[index] = end..end + needed;
            end += needed;
        }
        for index in (0..count).rev().filter(|&it| self.is_joint(it)) {
            let needs: Vec<usize> = self.below[index].iter().map(|&it| self.under[it]).collect();
            for (&parent, span) in self.below[index].iter().zip(shares(&spans[index], &needs)) {
                spans[parent] = span;
            }
        }
        for index in (0..count).filter(|&it| !self.is_within(it)) {
            let span = spans[index].clone();
            for (child, columns) in self.children(index, &span).filter(|(it, _)| !it.reference) {
                spans[child.index] = columns;
            }
        }
        spans
    }
}

/// `span` cut into a part for each of `needs`, in proportion; none gets less than it needs where
/// all fit.
fn shares(span: &Range<usize>, needs: &[usize]) -> Vec<Range<usize>> {
    let all = needs.iter().sum::<usize>().max(1);
    let at = |before: usize| span.start + (before * span.len()).div_euclid(all);
    let mut before = 0;
    let share = |need: &usize| {
        let start = at(before);
        before += need;
        start..at(before)
    };
    needs.iter().map(share).collect()
}
