//! The layers of a target in the order that a tree prints them.
//!
//! Layers are a graph; a tree shows each layer once, under the first layer that it lies on. The
//! other layers that it lies on get a reference to it. Layers that lie on nothing known are roots.
//! Walks without recursion, and a layer that names itself or a later one cannot make a cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::check_document::LayerReport;
use crate::view_options::Glyphs;

/// Levels drawn with their own indent; deeper ones stay at the last.
const DEPTH_DRAWN: usize = 24;

/// Content of one entry of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForestEntry {
    /// The layer at this index.
    Layer(usize),
    /// That the layer at this index, shown elsewhere, lies here too.
    Reference {
        /// The index of the layer.
        to: usize,
        /// True if it was shown before.
        above: bool,
    },
}

/// One entry with what is drawn left of it.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) entry: ForestEntry,
    /// True if it lies on nothing.
    pub(crate) root: bool,
    /// Left of its first line.
    pub(crate) stem: String,
    /// Left of the lines below that belong to it.
    pub(crate) margin: String,
}

/// The entries from top to bottom.
pub(crate) fn branches(layers: &[LayerReport], glyphs: &Glyphs) -> Vec<Branch> {
    let Graph { roots, mut above } = graph(layers);
    let mut shown = BTreeSet::new();
    let mut branches = Vec::new();
    let mut waiting: Vec<WaitingEntry> = roots
        .into_iter()
        .rev()
        .map(|root| WaitingEntry {
            index: root,
            reference: false,
            stem: String::new(),
            indent: String::new(),
            depth: 0,
        })
        .collect();
    while let Some(WaitingEntry { index, reference, stem, indent, depth }) = waiting.pop() {
        if reference {
            let entry = ForestEntry::Reference { to: index, above: shown.contains(&index) };
            branches.push(Branch { entry, root: false, stem, margin: indent });
            continue;
        }
        shown.insert(index);
        let children = above.remove(&index).unwrap_or_default();
        let margin = format!("{indent}{}", if children.is_empty() { "   " } else { glyphs.bar });
        branches.push(Branch { entry: ForestEntry::Layer(index), root: depth == 0, stem, margin });
        for (position, child) in children.iter().enumerate().rev() {
            let last = position + 1 == children.len();
            let stem = format!("{indent}{}", if last { glyphs.end } else { glyphs.fork });
            let step = match (depth < DEPTH_DRAWN, last) {
                (false, _) => "",
                (true, true) => "   ",
                (true, false) => glyphs.bar,
            };
            waiting.push(WaitingEntry {
                index: child.index,
                reference: child.reference,
                stem,
                indent: format!("{indent}{step}"),
                depth: depth + 1,
            });
        }
    }
    branches
}

/// An entry that is still to be shown.
struct WaitingEntry {
    index: usize,
    reference: bool,
    stem: String,
    indent: String,
    depth: usize,
}

/// Layers that lie on nothing, and those on each layer.
pub(crate) struct Graph {
    pub(crate) roots: Vec<usize>,
    pub(crate) above: BTreeMap<usize, Vec<Child>>,
}

/// A layer on another.
pub(crate) struct Child {
    pub(crate) index: usize,
    /// True if it is shown on another layer that it lies on.
    pub(crate) reference: bool,
}

/// Returns which layers lie on which. Each layer lies on earlier ones only.
pub(crate) fn graph(layers: &[LayerReport]) -> Graph {
    let mut graph = Graph { roots: Vec::new(), above: BTreeMap::new() };
    let mut known: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, layer) in layers.iter().enumerate() {
        let mut parents = BTreeSet::new();
        for parent in layer.below.iter().filter_map(|id| known.get(id).copied()) {
            let reference = !parents.is_empty();
            if parents.insert(parent) {
                graph.above.entry(parent).or_default().push(Child { index, reference });
            }
        }
        if parents.is_empty() {
            graph.roots.push(index);
        }
        known.entry(layer.id).or_insert(index);
    }
    graph
}
