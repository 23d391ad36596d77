//! From a stack with a file on top to the document that is printed.

use std::collections::BTreeMap;
use std::path::Path;

use device::ExtentFlags;
use report::trace::{
    TRACE_SCHEMA, Trace as Document, TraceCopy, TraceCost, TraceEffort, TraceEnd, TraceExtent,
    TraceLayer, TracePiece, TraceShare, TraceStep, TraceTotal, TraceUnknown, TraceUntold,
};
use report::{Envelope, Fact, Refusal, Run};
use stack::amplify::Effort;
use stack::file_extents::{FileRun, RunState};
use stack::resolve::On;
use stack::trace::{self, Alignment, Cost, TracedPiece};
use stack::{LayerId, LayerKind, Stack};
use units::{ByteRange, Known, text};

use crate::arguments::Trace;
use crate::shared::title;
use crate::shared::tracer::{Traced, Tracer};

/// Number of extents the document holds.
const EXTENTS_MAX: usize = 1 << 16;
/// Number of pieces the document holds, all extents together.
const PIECES_MAX: usize = 1 << 16;

/// The document of a file that cannot be traced.
pub(super) fn refused(run: Run, path: &Path, refusal: Refusal) -> Document {
    let envelope = Envelope::new(TRACE_SCHEMA, run);
    blank(Envelope { refusal: Some(refusal), ..envelope }, path)
}

/// A document that says nothing yet.
fn blank(envelope: Envelope, path: &Path) -> Document {
    Document {
        envelope,
        file: text::escape(path.as_os_str().as_encoded_bytes()),
        file_bytes: None,
        offset_bytes: 0,
        length_bytes: 0,
        facts: Vec::new(),
        layers: Vec::new(),
        extents: Vec::new(),
        omitted_extents: 0,
        total: TraceTotal::default(),
        cost: None,
    }
}

/// The document of `range` of a traced file.
pub(super) fn of(
    run: Run,
    trace: &Trace,
    tracer: &Tracer<'_>,
    traced: &Traced,
    range: ByteRange,
) -> Document {
    let envelope = Envelope::new(TRACE_SCHEMA, run);
    let stack = &tracer.stack;
    let kept = stack.under(traced.id);
    let numbers: Numbers = kept.iter().copied().zip(0..).collect();
    let mut listing = ExtentListing { stack, traced, numbers: &numbers, left: PIECES_MAX };
    let mut total = Alignment::default();
    let (mut extents, mut omitted_extents, mut count) = (Vec::new(), 0, 0);
    for run in &traced.runs {
        let Some(part) = run.range.intersection(range) else { continue };
        count += u64::from(run.state != RunState::Hole);
        let extent = listing.extent(run, part, &mut total);
        if extents.len() < EXTENTS_MAX {
            extents.push(extent);
        } else {
            omitted_extents += 1;
        }
    }
    let cost = trace.size.map(|io| cost(&trace::cost(stack, traced.id, range, io)));
    Document {
        file_bytes: Some(traced.length_bytes),
        offset_bytes: range.start_bytes(),
        length_bytes: range.length_bytes(),
        facts: facts(traced),
        layers: kept.iter().map(|&id| layer(stack, id, &numbers)).collect(),
        extents,
        omitted_extents,
        total: sum(&total, count, &numbers),
        cost,
        ..blank(Envelope { notes: tracer.notes.clone(), ..envelope }, &trace.file)
    }
}

/// The numbers of layers in the document.
type Numbers = BTreeMap<LayerId, u32>;

fn number(numbers: &Numbers, id: LayerId) -> u32 {
    numbers.get(&id).copied().unwrap_or(u32::MAX)
}

fn layer(stack: &Stack, id: LayerId, numbers: &Numbers) -> TraceLayer {
    let layer = stack.layer(id);
    TraceLayer {
        id: number(numbers, id),
        below: layer.mapping.below().into_iter().map(|id| number(numbers, id)).collect(),
        kind: layer.kind.kind(),
        name: match layer.kind {
            LayerKind::File => layer.path.clone().unwrap_or_else(|| layer.name.clone()),
            _ => layer.name.clone(),
        },
        title: title::title(layer),
        length_bytes: layer.length(),
        units: layer.units.facts().to_vec(),
    }
}

fn facts(traced: &Traced) -> Vec<Fact> {
    let facts = &traced.facts;
    let number = |key: &'static str, known: &Known<u64>| Fact {
        key: key.into(),
        value: known.value().map(u64::to_string),
        source: known.source(),
        reason: known.reason().map(str::to_owned),
    };
    let numbers = [
        number("direct-io-offset-alignment-bytes", &facts.direct_offset_bytes),
        number("direct-io-memory-alignment-bytes", &facts.direct_memory_bytes),
        number("atomic-write-max-bytes", &facts.atomic_write_bytes),
    ];
    numbers.to_vec()
}

/// Lists extents with their pieces, as many as there is room for.
struct ExtentListing<'a> {
    stack: &'a Stack,
    traced: &'a Traced,
    numbers: &'a Numbers,
    left: usize,
}

impl ExtentListing<'_> {
    /// The `part` of a run, which is counted in `total` too.
    fn extent(&mut self, run: &FileRun, part: ByteRange, total: &mut Alignment) -> TraceExtent {
        let mut own = Alignment::default();
        let mut pieces = Vec::new();
        let mut pieces_end_bytes = None;
        let end = trace::walk(self.stack, self.traced.id, part, &mut |piece| {
            own.take(self.stack, piece);
            if self.left > 0 {
                self.left -= 1;
                pieces.push(listed(piece, self.numbers));
            } else {
                pieces_end_bytes = pieces_end_bytes.or(Some(piece.at_bytes));
            }
            true
        });
        own.unvisited_bytes = part.end_bytes().saturating_sub(end);
        total.add(&own);
        let into = part.start_bytes() - run.range.start_bytes();
        TraceExtent {
            offset_bytes: part.start_bytes(),
            length_bytes: part.length_bytes(),
            state: run.state,
            flags: run.flags.words().map(Into::into).collect(),
            shared: run.flags.has(ExtentFlags::SHARED),
            physical_bytes: run.physical_bytes.map(|bytes| bytes.saturating_add(into)),
            reason: run.state.reason().to_owned(),
            alignment: shares(&own, self.numbers),
            starts_at: self.start(run),
            pieces,
            pieces_end_bytes,
        }
    }
}

impl ExtentListing<'_> {
    /// Returns where a run starts whose bytes have no addresses of their own: compressed, in
    /// metadata.
    fn start(&self, run: &FileRun) -> Vec<TraceCopy> {
        let place = run.physical_bytes.filter(|_| !run.state.has_place());
        let range = place.and_then(|place| ByteRange::new(place, 1));
        let Some((range, system)) = range.zip(self.traced.system) else { return Vec::new() };
        let mut found = Vec::new();
        trace::walk(self.stack, system, range, &mut |piece| {
            found = copies(piece, 0, self.numbers);
            false
        });
        found
    }
}

fn listed(piece: &TracedPiece, numbers: &Numbers) -> TracePiece {
    TracePiece {
        offset_bytes: piece.at_bytes,
        length_bytes: piece.length_bytes,
        // The first step is the file itself.
        copies: copies(piece, 1, numbers),
    }
}

/// The ways of a piece without their first steps.
fn copies(piece: &TracedPiece, without: usize, numbers: &Numbers) -> Vec<TraceCopy> {
    let copies = piece.ways.iter().map(|way| {
        let (end, reason) = match &way.end {
            On::Leaf(..) => (TraceEnd::Leaf, ""),
            On::Zeros => (TraceEnd::Hole, ""),
            On::Compressed(_) => (TraceEnd::Compressed, "it is compressed"),
            On::Unknown(reason) => (TraceEnd::Unknown, reason.as_str()),
        };
        let path = way
            .steps
            .iter()
            .skip(without)
            .map(|&(layer, at_bytes)| TraceStep { layer: number(numbers, layer), at_bytes });
        TraceCopy { path: path.collect(), end, reason: reason.to_owned() }
    });
    copies.collect()
}

fn shares(alignment: &Alignment, numbers: &Numbers) -> Vec<TraceShare> {
    let share = |(fit, share): (&trace::Fit, &trace::Share)| TraceShare {
        unit: fit.kind,
        layer: number(numbers, fit.owner),
        unit_bytes: fit.unit_bytes,
        assumed: share.assumed,
        aligned_bytes: share.aligned_bytes,
        misaligned_bytes: share.misaligned_bytes,
        offsets_bytes: share.offsets_bytes.clone(),
    };
    alignment.shares.iter().map(share).collect()
}

fn sum(total: &Alignment, extents: u64, numbers: &Numbers) -> TraceTotal {
    let unknown = total.unknown_bytes.iter();
    TraceTotal {
        extents,
        placed_bytes: total.placed_bytes,
        hole_bytes: total.nowhere_bytes,
        unknown: unknown
            .map(|(reason, &bytes)| TraceUnknown { bytes, reason: reason.clone() })
            .collect(),
        unvisited_bytes: total.unvisited_bytes,
        alignment: shares(total, numbers),
    }
}

fn cost(cost: &Cost) -> TraceCost {
    TraceCost {
        io_bytes: cost.io_bytes,
        ios: cost.ios,
        counted_ios: cost.counted,
        read: effort(&cost.read, cost.told(false), &cost.untold_reads),
        write: effort(&cost.write, cost.told(true), &cost.untold_writes),
        writes_with_rmw: cost.writes_with_rmw,
        writes_with_parity_rmw: cost.writes_with_parity_rmw,
    }
}

fn effort(effort: &Effort, told_ios: u64, untold: &BTreeMap<String, u64>) -> TraceEffort {
    TraceEffort {
        told_ios,
        granules_read: effort.reads,
        granules_written: effort.writes,
        rmws: effort.rmws,
        parity_updates: effort.parity_updates,
        untold: (untold.iter())
            .map(|(reason, &ios)| TraceUntold { ios, reason: reason.clone() })
            .collect(),
    }
}
