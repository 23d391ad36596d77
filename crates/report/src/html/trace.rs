//! A result of `straddle trace` on the page.

use maud::{Markup, html};

use super::phrase::{Tone, chip, more, notes, pairs, say, wide, words};
use crate::bench::figures::UNKNOWN;
use crate::trace::{Trace, TraceExtent, TraceLayer, TraceShare, TraceUnknown};
use crate::words::count;

const LAYERS_MAX: usize = 60;
const EXTENTS_MAX: usize = 100;
const SHARES_MAX: usize = 40;
/// What is said of each unit.
const UNIT_HEADS: [&str; 6] = ["Unit", "Layer", "Length", "Fits", "Does not fit", "Answer"];

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
        ("straddle", Some(say(&trace.version))),
    ];
    html! {
        (pairs(&rows))
        @if let Some(refusal) = &trace.refusal {
            p { (chip(Tone::Care, "not traced")) " " (say(&refusal.message)) }
            @if let Some(hint) = &refusal.hint { p.quiet { "What to do: " (say(hint)) } }
        }
        (layers(trace))
        (shares(trace))
        (cost(trace))
        (extents(trace))
        (notes(&trace.notes))
    }
}

/// How many bytes have no address that is known, and why.
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
                    li.layer class=[bad(trace, layer).then_some("first-bad")] {
                        p.name { strong { (say(&layer.name)) } " " (say(&layer.title)) }
                        @if bad(trace, layer) {
                            p { strong.marker { "◀ bytes of the file miss its units" } }
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
            (wide("The traced bytes against each unit", &UNIT_HEADS, &html! {
                @for share in trace.total.alignment.iter().take(SHARES_MAX) {
                    (row(trace, share))
                }
            }))
        }
    }
}

fn row(trace: &Trace, share: &TraceShare) -> Markup {
    let answer = match (share.aligned_bytes, share.misaligned_bytes) {
        (_, 1..) => chip(Tone::Bad, "misaligned"),
        (0, 0) => chip(Tone::Plain, "nothing to judge"),
        (_, 0) => chip(Tone::Good, "aligned"),
    };
    html! {
        tr {
            th scope="row" { (say(&share.unit)) (if share.assumed { " (assumed)" } else { "" }) }
            td { (name(trace, share.layer)) }
            td { (words().exact(share.unit_bytes)) }
            td { (words().size(share.aligned_bytes)) }
            td { (words().size(share.misaligned_bytes)) }
            td { (answer) }
        }
    }
}

fn name(trace: &Trace, id: u32) -> String {
    let layer = trace.layers.iter().find(|layer| layer.id == id);
    layer.map_or(UNKNOWN.to_owned(), |layer| say(&layer.name))
}

fn cost(trace: &Trace) -> Markup {
    let Some(cost) = &trace.cost else { return Markup::default() };
    html! {
        h3 { "What " (words().exact(cost.io_bytes)) " operations cost" }
        p {
            (cost.counted_ios) " of " (cost.ios) " counted. As writes in place: "
            (cost.write.granules_written) " granules written, " (cost.write.granules_read)
            " read first, " (cost.writes_with_rmw) " writes with a read-modify-write, "
            (cost.writes_with_parity_rmw) " that read old data or parity. As reads: "
            (cost.read.granules_read) " granules."
        }
    }
}

fn extents(trace: &Trace) -> Markup {
    let left_out = trace.extents.len().saturating_sub(EXTENTS_MAX);
    html! {
        @if !trace.extents.is_empty() {
            details {
                summary { (count(trace.total.extents, "extent")) }
                (wide("Extents and holes", &["At", "Length", "State", "On", "Byte there"], &html! {
                    @for extent in trace.extents.iter().take(EXTENTS_MAX) {
                        (extent_row(trace, extent))
                    }
                }))
                (more(left_out, "extents"))
            }
        }
    }
}

fn extent_row(trace: &Trace, extent: &TraceExtent) -> Markup {
    let copies = extent.pieces.iter().flat_map(|piece| &piece.copies).chain(&extent.starts_at);
    let leaf = copies.filter_map(|copy| copy.path.last()).next();
    html! {
        tr {
            th scope="row" { (extent.offset_bytes) }
            td { (words().size(extent.length_bytes)) }
            td { (say(&extent.state)) " " span.quiet { (say(&extent.reason)) } }
            td { (leaf.map_or(UNKNOWN.to_owned(), |step| name(trace, step.layer))) }
            td { (leaf.map_or(UNKNOWN.to_owned(), |step| step.at_bytes.to_string())) }
        }
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn summary(trace: &Trace) -> (Tone, String) {
    if trace.refusal.is_some() {
        return (Tone::Care, "not traced".to_owned());
    }
    let shares = &trace.total.alignment;
    let off = shares.iter().map(|share| share.misaligned_bytes).max().unwrap_or(0);
    let fits = shares.iter().map(|share| share.aligned_bytes).max().unwrap_or(0);
    let unknown = trace.total.unknown.iter().map(|one| one.bytes);
    let unknown = unknown.fold(trace.total.unvisited_bytes, u64::saturating_add);
    let extents = count(trace.total.extents, "extent");
    match (off, unknown, fits) {
        (1.., _, _) => (Tone::Bad, format!("{} misaligned", words().size(off))),
        (0, 1.., _) => (Tone::Care, format!("{extents}, {} unknown", words().size(unknown))),
        (0, 0, 0) => (Tone::Plain, format!("{extents}, nothing to judge")),
        (0, 0, _) => (Tone::Good, format!("{extents}, aligned")),
    }
}
