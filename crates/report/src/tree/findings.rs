//! Lines under a layer: the rules that fired, what that costs, how to put it right.

use std::collections::BTreeSet;

use anstyle::Style;

use super::TreeText;
use super::columns::{Columns, TreeLayout};
use crate::check_document::{Finding, LayerReport, Target};
use crate::colored_line::{CARE, GAP, Line, PLAIN, QUIET, severity_style};
use crate::layer_order::Branch;
use crate::text::{width, wrap};
use stack::Verdict;

/// Columns for the word before each line.
pub(super) const LABEL: usize = 7;

impl<'a> TreeText<'a> {
    /// One finding about a layer whose verdict has `reason`. Its code comes first, so that several
    /// under one layer stay apart.
    pub(super) fn finding(
        &mut self,
        finding: &'a Finding,
        reason: &str,
        margin: &str,
        columns: &Columns,
    ) {
        self.rule(finding, margin, columns);
        self.evidence(finding, reason, margin);
        if let Some(cost) = finding.cost.as_ref().filter(|cost| !cost.sentence.is_empty()) {
            self.paragraph(margin, "cost", &cost.sentence);
        }
        for (number, remedy) in finding.remedies.iter().enumerate() {
            let mut line = self.labeled_line(margin, QUIET, if number == 0 { "fix" } else { "" });
            line.push(PLAIN, &self.words.command(remedy));
            line.end(&mut self.text);
        }
    }

    /// The first of a finding's evidence, or all of it where all is to be explained; what `reason`
    /// says already is not said again.
    fn evidence(&mut self, finding: &Finding, reason: &str, margin: &str) {
        let shown = if self.words.look.explain { usize::MAX } else { 1 };
        let evidence = finding.evidence.iter().filter(|text| *text != reason);
        for (number, text) in evidence.take(shown).enumerate() {
            self.paragraph(margin, if number == 0 { "seen" } else { "" }, text);
        }
    }

    /// `ST101  error: the rule in one line    straddle explain ST101`
    fn rule(&mut self, finding: &'a Finding, margin: &str, columns: &Columns) {
        let style = severity_style(finding.severity);
        let code = self.words.text(&finding.code);
        let title = format!("{}: {}", finding.severity.word(), self.words.text(&finding.title));
        let mut line = self.labeled_line(margin, style, &code);
        let parts = wrap(&title, self.room(margin));
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                line.end(&mut self.text);
                line = self.labeled_line(margin, PLAIN, "");
            }
            line.push(PLAIN, part);
        }
        if !self.explained.insert(&finding.code) {
            return line.end(&mut self.text);
        }
        let offer = format!("straddle explain {code}");
        let limit = self.words.look.columns();
        let column = if columns.layout == TreeLayout::Flowing { 0 } else { columns.verdict };
        if line.width().max(column) + GAP + width(&offer) > limit {
            line.end(&mut self.text);
            let fits = width(&offer) <= self.room(margin);
            let beside = || self.labeled_line(margin, PLAIN, "");
            line = if fits { beside() } else { Line::starting(margin) };
        } else {
            line.advance(column, GAP);
        }
        line.push(QUIET, &offer);
        line.end(&mut self.text);
    }

    /// The reason of a verdict that does not speak for itself; not again where the layer below has
    /// the same.
    pub(super) fn why(&mut self, target: &Target, layer: &LayerReport, branch: &Branch) {
        let is_said = |layer: &LayerReport| {
            let plain = layer.verdict == Verdict::Aligned || layer.misalignment.is_some();
            !layer.reason.is_empty() && (!plain || self.words.look.explain)
        };
        if !is_said(layer) {
            return;
        }
        let below = target.layers.iter().find(|other| Some(&other.id) == layer.below.first());
        if below.is_none_or(|below| !is_said(below) || below.reason != layer.reason) {
            self.labeled(&branch.margin, CARE, "why", &layer.reason);
        }
    }

    /// Findings about layers that the target does not have: not expected, but not lost either.
    pub(super) fn stray_findings(&mut self, target: &'a Target, columns: &Columns) {
        let known: BTreeSet<u32> = target.layers.iter().map(|layer| layer.id).collect();
        for finding in target.findings.iter().filter(|finding| !known.contains(&finding.layer)) {
            self.finding(finding, "", "", columns);
        }
    }

    /// `label` and then `text`, wrapped beside it.
    pub(super) fn paragraph(&mut self, margin: &str, label: &str, text: &str) {
        self.labeled(margin, QUIET, label, text);
    }

    fn labeled(&mut self, margin: &str, style: Style, label: &str, text: &str) {
        for (number, part) in wrap(&self.words.text(text), self.room(margin)).iter().enumerate() {
            let mut line = self.labeled_line(margin, style, if number == 0 { label } else { "" });
            line.push(PLAIN, part);
            line.end(&mut self.text);
        }
    }

    /// A line up to where its text begins.
    pub(super) fn labeled_line(&self, margin: &str, style: Style, label: &str) -> Line {
        let mut line = Line::starting(margin);
        line.push(style, label);
        line.advance(width(margin) + LABEL, usize::from(!label.is_empty()));
        line
    }

    /// The columns beside a label.
    pub(super) fn room(&self, margin: &str) -> usize {
        self.words.look.columns().saturating_sub(width(margin) + LABEL)
    }
}
