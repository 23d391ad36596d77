//! A target's layers, drawn from the leaf up, the first bad one marked.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::elements::{Tone, chip, more, say, words};
use super::table::{Row, cell, figure, head, row, table, told};
use crate::check_document::{LayerReport, Target};
use crate::layer_order::{Branch, ForestEntry, branches};
use crate::sectors;
use crate::view_options::Look;
use stack::{Severity, UnitFact, Verdict};

/// The most layers of a target that are drawn.
const LAYERS_MAX: usize = 300;
/// The deepest indent that is drawn; what is deeper stays there.
const INDENT_MAX: usize = 8;
/// Columns of a level in a branch's stem.
const LEVEL: usize = 3;

/// The layers of `target`, those that others lie on first.
pub(super) fn stack(target: &Target) -> Markup {
    let look = Look::default();
    let branches = branches(&target.layers, look.glyphs());
    let sectors = sectors::logical(&target.layers);
    let left_out = branches.len().saturating_sub(LAYERS_MAX);
    html! {
        ol.stack {
            @for branch in branches.iter().take(LAYERS_MAX) {
                @match branch.entry {
                    ForestEntry::Layer(index) => {
                        (layer(target, &target.layers[index], branch, &sectors))
                    },
                    ForestEntry::Reference { to, above } => {
                        (reference(&target.layers[to], above, branch))
                    },
                }
            }
        }
        (more(left_out, "layers"))
    }
}

fn indent(branch: &Branch) -> String {
    let level = branch.stem.chars().count().div_euclid(LEVEL).min(INDENT_MAX);
    format!("layer level-{level}")
}

fn reference(layer: &LayerReport, above: bool, branch: &Branch) -> Markup {
    let place = if above { "shown above" } else { "shown below" };
    html! {
        li class=(indent(branch)) {
            span.quiet { "holds data of " (say(&layer.name)) ", " (place) }
        }
    }
}

fn layer(
    target: &Target,
    layer: &LayerReport,
    branch: &Branch,
    sectors: &BTreeMap<u32, u64>,
) -> Markup {
    let sector_bytes = sectors.get(&layer.id).copied().unwrap_or(512);
    let start = layer.start_bytes.map(|bytes| words().place(bytes, sector_bytes));
    let tone = of_verdict(layer.verdict, target);
    let mark = if layer.first_bad { format!(" first-{}", tone.word()) } else { String::new() };
    let class = indent(branch) + &mark;
    html! {
        li class=(class) {
            p.name {
                strong { (say(&layer.name)) } " " span { (say(&layer.title)) }
                @if let Some(bytes) = layer.length_bytes {
                    " " span.quiet { (words().size(bytes)) }
                }
            }
            p {
                (chip(tone, &words().verdict(layer)))
                @if layer.first_bad { " " strong.(tone.word()) { "◀ first bad layer" } }
                @if let Some(start) = &start {
                    " " span.quiet { "starts at " (start) (below(target, layer)) }
                }
            }
            @if !layer.mount_points.is_empty() {
                p.quiet { "mounted at " (say(&layer.mount_points.join(", "))) }
            }
            @if !layer.reason.is_empty() && layer.verdict != Verdict::Aligned {
                p.quiet { (say(&layer.reason)) }
            }
            (problems(layer))
        }
    }
}

/// ` of sda`: what a start is counted from.
fn below(target: &Target, layer: &LayerReport) -> String {
    let below = target.layers.iter().find(|other| layer.below.first() == Some(&other.id));
    below.map_or(String::new(), |below| format!(" of {}", say(&below.name)))
}

fn problems(layer: &LayerReport) -> Markup {
    const PROBLEMS: usize = 8;
    html! {
        @if !layer.problems.is_empty() {
            ul.notes {
                @for problem in layer.problems.iter().take(PROBLEMS) {
                    li { (chip(Tone::Care, problem.kind.word())) " at "
                        (words().exact(problem.at_bytes)) ": " (say(&problem.detail)) }
                }
            }
            (more(layer.problems.len().saturating_sub(PROBLEMS), "problems"))
        }
    }
}

/// Returns how good a verdict on a layer of `target` is: misaligned is as bad as its findings.
pub(super) fn of_verdict(verdict: Verdict, target: &Target) -> Tone {
    match verdict {
        Verdict::Aligned => Tone::Good,
        Verdict::Empty => Tone::Plain,
        Verdict::ChunkOnly | Verdict::NotExpressible | Verdict::Undefined | Verdict::Unknown => {
            Tone::Unknown
        }
        Verdict::Misaligned if has_error(target) => Tone::Bad,
        Verdict::Misaligned => Tone::Care,
    }
}

/// Returns whether a rule of severity error fired on `target`.
pub(super) fn has_error(target: &Target) -> bool {
    target.findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// The units that layers must fit, from every source.
pub(super) fn units(target: &Target) -> Markup {
    const UNITS: usize = 60;
    let all = target.layers.iter().flat_map(|layer| layer.units.iter().map(move |it| (layer, it)));
    let count = all.clone().count();
    html! {
        @if count > 0 {
            details {
                summary { "Units, and who says so" }
                (table("Units that layers must fit",
                    &["Layer", "Unit", "Length", "Source", "Used"],
                    all.take(UNITS).map(|(layer, unit)| of_unit(layer, unit))))
                (more(count.saturating_sub(UNITS), "units"))
            }
        }
    }
}

fn of_unit(layer: &LayerReport, unit: &UnitFact) -> Row {
    let used = html! {
        (if unit.used { "yes" } else { "no" }) " " span.quiet { (say(&unit.reason)) }
    };
    row([
        head(&layer.name),
        told(unit.unit.word()),
        figure(unit.bytes.map_or("not known".to_owned(), |it| words().exact(it))),
        told(unit.source_word()),
        cell(used),
    ])
}
