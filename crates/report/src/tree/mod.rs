//! The view for people: each target as a tree of layers, the disk first, each layer with its
//! verdict, and under it what the rules found, what that costs and how to put it right. Why a
//! target could not be judged is left to standard error.
//!
//! Nothing of the document's text can leave its line, and every line fits the width asked for; only
//! commands are never broken, because they are to be copied.

mod columns;
mod explanation;
mod findings;
mod row;

use std::collections::BTreeSet;

use crate::check_document::{LayerReport, Target};
use crate::colored_line::{Flow, GAP, Line, NAME};
use crate::layer_order::{self, Branch, ForestEntry};
use crate::quantity_words::ViewWords;
use crate::target_outcome::{self, TargetOutcome};
use crate::view_options::Look;
use columns::Columns;

/// The tree of one target; `several` says whether others stand beside it, so that it needs a
/// heading.
#[must_use]
pub fn tree(target: &Target, several: bool, look: &Look) -> String {
    let words = ViewWords { look };
    let mut page = TreeText { words, text: String::new(), explained: BTreeSet::new() };
    page.target(target, several);
    page.text
}

/// The text so far, and what need not be said again.
struct TreeText<'a> {
    words: ViewWords<'a>,
    text: String,
    /// Rules that `straddle explain` was already offered for.
    explained: BTreeSet<&'a str>,
}

impl<'a> TreeText<'a> {
    fn target(&mut self, target: &'a Target, several: bool) {
        if several || !names_itself(target) {
            self.heading(target);
        }
        let branches = layer_order::branches(&target.layers, self.words.glyphs());
        let columns = Columns::of(&target.layers, &branches, self.words);
        for branch in &branches {
            match branch.entry {
                ForestEntry::Layer(index) => {
                    self.entry(target, &target.layers[index], branch, &columns)
                }
                ForestEntry::Reference { to, above } => {
                    self.reference(&target.layers[to], above, &branch.stem);
                }
            }
        }
        self.stray_findings(target, &columns);
    }

    /// A layer with all that stands under it.
    fn entry(
        &mut self,
        target: &'a Target,
        layer: &LayerReport,
        branch: &Branch,
        columns: &Columns,
    ) {
        if branch.root {
            self.root(layer, branch, columns);
        } else {
            self.layer(layer, branch, columns);
        }
        self.why(target, layer, branch);
        for finding in target.findings.iter().filter(|finding| finding.layer == layer.id) {
            self.finding(finding, &layer.reason, &branch.margin, columns);
        }
        if self.words.look.explain {
            self.explanation(layer, &branch.margin);
        }
    }

    /// Name of the target and how it fares, where its tree does not say it first.
    fn heading(&mut self, target: &Target) {
        let outcome = TargetOutcome::of(target);
        let mut words = outcome.words().to_owned();
        if let Some(layer) = target_outcome::first_bad(target) {
            words += &target_outcome::place(layer, self.words);
        }
        let name = format!("{}:", self.words.text(&target.target));
        let flow = Flow { margin: "", indent: GAP, limit: self.words.look.columns() };
        flow.write(Line::default(), [(NAME, name), (outcome.style(), words)], &mut self.text);
    }
}

/// Returns whether the first line of the tree names the target.
fn names_itself(target: &Target) -> bool {
    let mut roots = target.layers.iter().filter(|layer| layer.below.is_empty());
    match (roots.next(), roots.next()) {
        (None, _) => true,
        (Some(root), None) => target.target.rsplit('/').next() == root.name.rsplit('/').next(),
        (Some(_), Some(_)) => false,
    }
}
