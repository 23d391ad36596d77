//! `straddle trace`: where a file's bytes lie, all the way down.

use jiff::Timestamp;
use report::trace::Trace as Document;
use report::{Look, Refusal};
use stack::file_extents::{FileRun, RunState};
use units::ByteRange;
use units::prefix::Exact;

use crate::arguments::Trace;
use crate::exit::CommandOutcome;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, PrintedKind, Said, shown};
use crate::shared::run;
use crate::shared::tracer::{Traced, Tracer};

mod document;

pub(crate) fn run(trace: &Trace) -> anyhow::Result<CommandOutcome> {
    let inspected = InspectedMachine::live().ignoring_measured(trace.measured.is_ignored);
    let run = run::run(Timestamp::now(), &inspected);
    let mut tracer = Tracer::new(&inspected, trace.sync);
    let traced = match tracer.file(&trace.file).and_then(|traced| reached(trace, traced)) {
        Ok(traced) => traced,
        Err(refusal) => {
            let outcome = CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal));
            print(trace, &document::refused(run, &trace.file, refusal))?;
            return Ok(outcome);
        }
    };
    tracer.note(&traced, &trace.file);
    let range = range(trace, &traced);
    let document = document::of(run, trace, &tracer, &traced, range);
    let said = Said::or(print(trace, &document)?, "nothing of the file has a known address");
    Ok(match is_unknown(&document, &traced, range) {
        true => CommandOutcome::NoVerdict(said),
        false => CommandOutcome::Done,
    })
}

/// Returns whether no byte of `range` has a known address, though something is there: holes have
/// none to know.
fn is_unknown(document: &Document, traced: &Traced, range: ByteRange) -> bool {
    let is_there =
        |run: &FileRun| run.state != RunState::Hole && run.range.intersection(range).is_some();
    traced.runs.iter().any(is_there) && document.total.placed_bytes == 0
}

/// Refuses to start after the end of the file.
fn reached(trace: &Trace, traced: Traced) -> Result<Traced, Refusal> {
    let past = if trace.length.is_some() { allocated(&traced) } else { 0 };
    let end = traced.length_bytes.max(past);
    if trace.offset == 0 || trace.offset < end {
        return Ok(traced);
    }
    let name = shown(&trace.file);
    let (offset, end) = (Exact(trace.offset), Exact(traced.length_bytes));
    Err(Refusal::hinted(
        format!("cannot trace {name} from {offset}: the file ends at {end}"),
        format!("trace all of it: straddle trace {name}"),
    ))
}

/// Returns where what is allocated ends.
fn allocated(traced: &Traced) -> u64 {
    traced.runs.last().map_or(0, |run| run.range.end_bytes())
}

/// The bytes asked about: from the offset to the file's end, or as many as were named and are
/// there; what is allocated past the end is.
fn range(trace: &Trace, traced: &Traced) -> ByteRange {
    let left = |end: u64| end.saturating_sub(trace.offset);
    let length = match trace.length {
        Some(length) => length.min(left(allocated(traced).max(traced.length_bytes))),
        None => left(traced.length_bytes),
    };
    ByteRange::new(trace.offset, length).expect("it ends within the file, or is empty")
}

fn print(trace: &Trace, document: &Document) -> std::io::Result<Option<Said>> {
    let text = match trace.document.json {
        true => document.json(),
        false => {
            let look = Look { bytes: trace.exact.bytes, ..printer::look(false) };
            report::trace::table(document, &look)
        }
    };
    printer::print_bytes(PrintedKind::Text, text.as_bytes())
}
