//! A result of `straddle trace` on the page.

use maud::{Markup, html};

use super::elements::{Tone, chip, folded, more, notes, pairs, refused, say, words};
use super::headline::Headline;
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::table::{Row, cell, figure, head, named, row, table};
use crate::bench::figure_rounding::UNKNOWN;
use crate::quantity_words::count;
use crate::trace::{
    Trace, TraceCost, TraceEffort, TraceExtent, TraceLayer, TraceShare, TraceUnknown,
};

const LAYERS_MAX: usize = 60;
const EXTENTS_MAX: usize = 100;
const SHARES_MAX: usize = 40;
/// The most reasons why something cannot be told.
const UNTOLD_MAX: usize = 8;
/// Heads of the table of units.
const UNIT_HEADS: [&str; 6] = ["Unit", "Layer", "Length", "Fits", "Does not fit", "Answer"];

const COST_HEADS: [&str; 6] = [
    "As",
    "Can be told",
    "Granules read",
    "Granules written",
    "With a read-modify-write",
    "With old data or parity read",
];

/// All of one result.
pub(super) fn section(trace: &Trace) -> Markup {
    let total = &trace.total;
    let rows = [
        ("File", Some(say(&trace.file))),
        ("Its length", trace.file_bytes.map(|bytes| words().size(bytes))),
        (
            "Traced",
            Some(format!("{} from byte {}", words().size(trace.length_bytes), trace.offset_bytes)),
        ),
        ("Extents", Some(total.extents.to_string())),
        ("With an address down to the drives", Some(words().size(total.placed_bytes))),
        ("In holes", Some(words().size(total.hole_bytes))),
        ("Not known where", unplaced(trace)),
        (
            "Not looked at",
            Some(total.unvisited_bytes).filter(|it| *it > 0).map(|it| words().size(it)),
        ),
    ];
    html! {
        (pairs(&rows))
        @if let Some(refusal) = &trace.envelope.refusal {
            (refused("not traced", &refusal.message, refusal.hint.as_deref()))
        }
        (layers(trace))
        (shares(trace))
        (cost(trace))
        (extents(trace))
        (notes(&trace.envelope.notes))
        (folded("Machine and command", &pairs(&super::run_facts::of_run(&trace.envelope))))
    }
}

/// Returns how many bytes have no address that is known, and why.
fn unplaced(trace: &Trace) -> Option<String> {
    const REASONS: usize = 8;
    let reason = |one: &TraceUnknown| format!("{}: {}", words().size(one.bytes), say(&one.reason));
    let reasons: Vec<String> = trace.total.unknown.iter().take(REASONS).map(reason).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The way down, the file on top.
fn layers(trace: &Trace) -> Markup {
    html! {
        @if !trace.layers.is_empty() {
            h3 { "Layers, the file on top" }
            ol.stack {
                @for layer in trace.layers.iter().rev().take(LAYERS_MAX) {
                    li.layer class=[bad(trace, layer).then_some("first-care")] {
                        p.name { strong { (say(&layer.name)) } " " (say(&layer.title)) }
                        @if bad(trace, layer) {
                            p { strong.care { "◀ bytes of the file miss its units" } }
                        }
                    }
                }
            }
            (more(trace.layers.len().saturating_sub(LAYERS_MAX), "layers"))
        }
    }
}

fn bad(trace: &Trace, layer: &TraceLayer) -> bool {
    trace.total.alignment.iter().any(|share| share.layer == layer.id && share.misaligned_bytes > 0)
}

fn shares(trace: &Trace) -> Markup {
    html! {
        @if !trace.total.alignment.is_empty() {
            h3 { "How it fits what it lies on" }
            (table("The traced bytes against each unit", &UNIT_HEADS,
                trace.total.alignment.iter().take(SHARES_MAX).map(|it| of_share(trace, it))))
        }
    }
}

fn of_share(trace: &Trace, share: &TraceShare) -> Row {
    let answer = match (share.aligned_bytes, share.misaligned_bytes) {
        (_, 1..) => chip(Tone::Bad, "misaligned"),
        (0, 0) => chip(Tone::Plain, "nothing to judge"),
        (_, 0) => chip(Tone::Good, "aligned"),
    };
    let unit = html! { (share.unit.word()) (if share.assumed { " (assumed)" } else { "" }) };
    row([
        named(unit),
        cell(name(trace, share.layer)),
        figure(words().exact(share.unit_bytes)),
        figure(words().size(share.aligned_bytes)),
        figure(words().size(share.misaligned_bytes)),
        cell(answer),
    ])
}

fn name(trace: &Trace, id: u32) -> String {
    let layer = trace.layers.iter().find(|layer| layer.id == id);
    layer.map_or(UNKNOWN.to_owned(), |layer| say(&layer.name))
}

fn cost(trace: &Trace) -> Markup {
    let Some(cost) = &trace.cost else { return Markup::default() };
    let drawn = match cost.counted_ios < cost.ios {
        true => format!(", of which {} were drawn and counted", cost.counted_ios),
        false => String::new(),
    };
    let efforts = [("reads", &cost.read, false), ("writes in place", &cost.write, true)];
    html! {
        h3 { "What " (count(cost.ios, "I/O")) " of " (words().exact(cost.io_bytes)) " cost" }
        @if cost.ios == 0 {
            p { "The range is shorter than one." }
        } @else {
            p.quiet { "One behind the other" (drawn) ", summed over all that can be told." }
            (table("Granules that are read and written", &COST_HEADS,
                efforts.map(|(name, effort, writes)| of_effort(name, effort, cost, writes))))
            @for (name, effort, _) in efforts {
                @for one in effort.untold.iter().take(UNTOLD_MAX) {
                    p {
                        (chip(Tone::Unknown, "unknown")) " for " (one.ios) " " (name) ": "
                        (say(&one.reason))
                    }
                }
            }
        }
    }
}

/// Returns what can be told; what cannot is no 0. Reads write nothing.
fn of_effort(name: &str, effort: &TraceEffort, of: &TraceCost, writes: bool) -> Row {
    let number = |number: u64, is_asked: bool| match effort.told_ios {
        1.. if is_asked => figure(number),
        _ => figure(UNKNOWN),
    };
    row([
        head(name),
        figure(format!("{} of {}", effort.told_ios, of.counted_ios)),
        number(effort.granules_read, true),
        number(effort.granules_written, writes),
        number(of.writes_with_rmw, writes),
        number(of.writes_with_parity_rmw, writes),
    ])
}

fn extents(trace: &Trace) -> Markup {
    let left_out = trace.extents.len().saturating_sub(EXTENTS_MAX);
    html! {
        @if !trace.extents.is_empty() {
            details {
                summary { (count(trace.total.extents, "extent")) }
                (table("Extents and holes", &["At", "Length", "State", "On", "Byte there"],
                    trace.extents.iter().take(EXTENTS_MAX).map(|it| of_extent(trace, it))))
                (more(left_out, "extents"))
            }
        }
    }
}

fn of_extent(trace: &Trace, extent: &TraceExtent) -> Row {
    let copies = extent.pieces.iter().flat_map(|piece| &piece.copies).chain(&extent.starts_at);
    let leaf = copies.filter_map(|copy| copy.path.last()).next();
    let state = html! { (extent.state.word()) " " span.quiet { (say(&extent.reason)) } };
    row([
        named(extent.offset_bytes),
        figure(words().size(extent.length_bytes)),
        cell(state),
        cell(leaf.map_or(UNKNOWN.to_owned(), |step| name(trace, step.layer))),
        figure(leaf.map_or(UNKNOWN.to_owned(), |step| step.at_bytes.to_string())),
    ])
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(trace: &Trace) -> Headline {
    if trace.envelope.refusal.is_some() {
        return Headline::new(Tone::Unknown, "not traced", "");
    }
    let shares = &trace.total.alignment;
    let off = shares.iter().map(|share| share.misaligned_bytes).max().unwrap_or(0);
    let fits = shares.iter().map(|share| share.aligned_bytes).max().unwrap_or(0);
    let unknown = trace.total.unknown.iter().map(|one| one.bytes);
    let unknown = unknown.fold(trace.total.unvisited_bytes, u64::saturating_add);
    let extents = count(trace.total.extents, "extent");
    match (off, unknown, fits) {
        (1.., _, _) => Headline::new(Tone::Care, "misaligned", words().size(off)),
        (0, 1.., _) => {
            let figures = format!("{extents}, {} unknown", words().size(unknown));
            Headline::new(Tone::Unknown, "unknown", figures)
        }
        (0, 0, 0) => Headline::new(Tone::Plain, "nothing to judge", extents),
        (0, 0, _) => Headline::new(Tone::Good, "aligned", extents),
    }
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(trace: &Trace) -> ShortAnswer {
    if let Some(refusal) = &trace.envelope.refusal {
        return ShortAnswer::refused("it was not traced", refusal);
    }
    let off = trace.total.alignment.iter().filter(|share| share.misaligned_bytes > 0);
    if let Some(share) = off.max_by_key(|share| (!share.assumed, share.misaligned_bytes)) {
        let what = format!(
            "{} of the file do not fit the {}{} of {} of {}.",
            words().size(share.misaligned_bytes),
            if share.assumed { "assumed " } else { "" },
            share.unit.word(),
            words().exact(share.unit_bytes),
            name(trace, share.layer)
        );
        let next = "straddle check of what its file system is mounted on names the layer that is \
                    off, and the fix";
        return ShortAnswer::new(Rank::Care, what).next(Some(next));
    }
    let Headline { tone, word, figures } = headline(trace);
    match (tone, trace.total.unknown.first()) {
        (Tone::Good, _) => ShortAnswer::new(Rank::Good, "The file fits all that it lies on."),
        (_, Some(unknown)) => {
            let what = format!("{figures}: {}", say(&unknown.reason));
            ShortAnswer::new(Rank::Unknown, sentence(&what))
        }
        (tone, None) => {
            let rank = if tone == Tone::Plain { Rank::Plain } else { Rank::Unknown };
            ShortAnswer::new(rank, sentence(&format!("{figures}, {word}")))
        }
    }
}
