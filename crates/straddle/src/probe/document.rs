//! From what `measure` found to the document, and to what is kept.

use jiff::Timestamp;
use measure::Interval;
use measure::probe::{ArmComparison, Estimate, PanelKind, Reading, WriteAnswers};
use report::Envelope;
use report::probe::{
    Answers, FoundAlignment, FoundBytes, FoundCount, FoundDepth, FoundTurn, FoundTurns,
    KernelVersion, PROBE_SCHEMA, Probe as Document, ProbeAnswer as Said, ProbeComparison,
    ProbeTarget, Reported, ResultFate, SAVED_SCHEMA, Saved, SavedGranule, Spent, ToolHost, tools,
};
use stack::UnitKind;

use super::measuring::ProbeResults;
use super::open_target::OpenTarget;
use super::session::Session;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::shared::probe_store::{self, Store};
use crate::shared::run;
use crate::world::ScratchSpace;

/// Why writes say nothing where none are made.
const READS_ALONE: &str = "reads do not say what writes cost";

/// A document that says nothing yet.
pub(super) fn begun(run: &Session<'_>, started: Timestamp) -> Document {
    Document {
        envelope: Envelope::new(PROBE_SCHEMA, run::run(started, &run.inspected)),
        seed: run.seed,
        elapsed_ns: 0,
        dry_run: run.probe.start.dry_run,
        target: ProbeTarget { path: shown(&run.probe.target), ..ProbeTarget::default() },
        spent: Spent {
            bytes_max: run.probe.bytes_max,
            seconds_max: u64::from(run.probe.seconds),
            ..Spent::default()
        },
        answers: Answers::not_tried("nothing was measured"),
        reported: Reported::default(),
        comparisons: Vec::new(),
        tools: Vec::new(),
        kept: ResultFate::default(),
    }
}

/// Adds what the target is on.
pub(super) fn of_place(place: &MeasuredBytes, document: &mut Document) {
    let target = &mut document.target;
    target.layers.clone_from(&place.layers);
    target.drive = place.drive.as_ref().map(|drive| drive.name.clone());
    target.model = place.drive.as_ref().and_then(|drive| drive.model.clone());
    target.firmware = place.drive.as_ref().and_then(|drive| drive.firmware.clone());
    target.capacity_bytes = place.drive.as_ref().and_then(|drive| drive.capacity_bytes);
}

/// Adds what is known before anything is measured.
pub(super) fn describe(bed: &OpenTarget<impl ScratchSpace>, document: &mut Document) {
    of_place(&bed.place, document);
    document.target.writes = bed.writes;
    document.target.length_bytes = bed.length_bytes;
    if !bed.writes {
        document.spent.bytes_max = 0;
    }
    if let Ok(drive) = &bed.drive {
        let used = drive.units(None).used(UnitKind::Granule);
        document.reported = Reported {
            logical_sector_bytes: drive.logical_bytes.value().copied(),
            physical_sector_bytes: drive.physical_bytes.value().copied(),
            physical_sector_lies: None,
            granule_bytes: used.map(|(unit, _)| unit.length_bytes()),
            granule_source: used.map(|(_, source)| source),
        };
    }
}

/// Adds what was found.
pub(super) fn answer(
    run: &Session<'_>,
    bed: &OpenTarget<impl ScratchSpace>,
    found: &ProbeResults,
    document: &mut Document,
) {
    let mut answers = Answers::not_tried(READS_ALONE);
    if let Some(WriteAnswers { granule, turn, turns }) = &found.written {
        answers.alignment = said(&granule.alignment, |found| FoundAlignment {
            bytes: found.bytes,
            origin_bytes: found.origin_bytes,
        });
        answers.size = said(&granule.size, |bytes| FoundBytes { bytes: *bytes });
        document.comparisons.extend(granule.compared.iter().map(comparison));
        answers.turn = said(turn, |turn| FoundTurn {
            turn_ns: turn.turn_ns,
            low_ns: turn.low_ns,
            high_ns: turn.high_ns,
        });
        answers.turns = said(turns, |turns| FoundTurns {
            turns: turns.turns,
            low_turns: turns.low,
            high_turns: turns.high,
            policy: turns.policy(),
        });
    }
    answers.chunk = said(&found.stripe.chunk, |bytes| FoundBytes { bytes: *bytes });
    answers.members = said(&found.stripe.members, |count| FoundCount { count: *count });
    answers.depth = said(&found.depth.depth, |found| FoundDepth {
        reads: found.reads,
        is_of_member: found.is_of_member,
    });
    document.comparisons.extend(found.stripe.compared.iter().map(comparison));
    document.comparisons.extend(found.depth.compared.iter().map(comparison));
    let physical = document.reported.physical_sector_bytes;
    let granule = answers.size.value.map(|size| size.bytes);
    let granule = granule.or(answers.alignment.value.map(|found| found.bytes));
    document.reported.physical_sector_lies =
        physical.zip(granule).map(|(physical, granule)| physical != granule);
    let release = document.envelope.run.kernel.as_deref();
    let kernel = release.and_then(KernelVersion::of_release);
    document.tools = tools(&answers, &ToolHost { kernel, physical_sector_bytes: physical });
    document.answers = answers;
    document.kept = kept(run, bed, found, document);
}

fn said<T, U>(answer: &Estimate<T>, map: impl FnOnce(&T) -> U) -> Said<U> {
    match answer {
        Estimate::Found { value, alpha, said_by } => Said {
            value: Some(map(value)),
            alpha: Some(*alpha),
            said_by: Some(said_by.clone()),
            why: None,
            reason: None,
        },
        Estimate::Not { why, reason } => Said {
            value: None,
            alpha: None,
            said_by: None,
            why: Some(*why),
            reason: Some(reason.clone()),
        },
    }
}

fn comparison(one: &ArmComparison) -> ProbeComparison {
    ProbeComparison {
        panel: one.panel,
        arm: one.arm.clone(),
        against: one.against.clone(),
        interval: match one.blocks {
            0 => Interval { ratio: f64::NAN, ..one.ratio },
            _ => one.ratio,
        },
        blocks: one.blocks,
        reading: one.reading,
    }
}

/// Keeps the granule, where there is one and a drive to name.
fn kept(
    run: &Session<'_>,
    bed: &OpenTarget<impl ScratchSpace>,
    found: &ProbeResults,
    document: &Document,
) -> ResultFate {
    let not = |reason: String| ResultFate { file: None, reason: Some(reason) };
    if run.probe.no_save {
        return not("--no-save".to_owned());
    }
    let Some(granule) = saved_granule(found) else {
        return not("no granule was found".to_owned());
    };
    let drive = match &bed.drive {
        Ok(drive) => drive,
        Err(reason) => return not(reason.clone()),
    };
    let identity = match probe_store::identity(drive) {
        Ok(identity) => identity,
        Err(reason) => return not(reason),
    };
    let Some(store) = Store::of_environment() else {
        let reason = "none of $STATE_DIRECTORY, $XDG_STATE_HOME and $HOME names a directory";
        return not(reason.to_owned());
    };
    let saved = Saved {
        schema: SAVED_SCHEMA.to_owned(),
        version: document.envelope.version.clone(),
        measured: document.envelope.run.started.clone(),
        identity,
        granule,
    };
    match store.keep(&saved) {
        Ok(path) => ResultFate { file: Some(shown(&path)), reason: None },
        Err(reason) => not(reason),
    }
}

/// The granule with the bounds of the comparisons that say it.
fn saved_granule(found: &ProbeResults) -> Option<SavedGranule> {
    let granule = &found.written.as_ref()?.granule;
    let Estimate::Found { value, alpha, said_by } = &granule.alignment else { return None };
    let shifts = granule.compared.iter().filter(|one| one.panel == PanelKind::Alignment);
    // The panel that says it is the last one.
    let last = shifts.clone().next_back()?;
    let own = shifts.filter(|one| one.against == last.against);
    let (slower, others): (Vec<_>, Vec<_>) = own.partition(|one| one.reading == Reading::Slower);
    let low = slower.iter().map(|one| one.ratio.low).fold(f64::INFINITY, f64::min);
    let high = others.iter().map(|one| one.ratio.high).fold(0.0, f64::max);
    Some(SavedGranule {
        alignment_bytes: value.bytes,
        origin_bytes: value.origin_bytes,
        size_bytes: granule.size.value().copied(),
        slower_low: low,
        aligned_high: high,
        alpha: *alpha,
        said_by: said_by.clone(),
    })
}
