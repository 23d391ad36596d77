//! `straddle trace`: where a file's bytes lie, all the way down.

use std::path::Path;

use host::FileFacts;
use jiff::Timestamp;
use report::trace::Trace as Document;
use report::{Look, Refusal};
use stack::assemble::Assembled;
use stack::file::Run;
use stack::judge::{self, Verdict};
use stack::layer::Host;
use stack::mountinfo::MountLine;
use stack::{Layer, LayerId, LayerKind, Mapping, Stack};
use units::ByteRange;
use units::prefix::Exact;

use crate::arguments::{Color, Trace};
use crate::exit::Outcome;
use crate::printer::{self, Said, shown};
use crate::run;
use crate::scene::Scene;

mod btrfs;
mod document;
pub(crate) mod mount;
mod seam;
mod tracer;

use tracer::{Traced, Tracer};

pub(crate) fn run(trace: &Trace) -> anyhow::Result<Outcome> {
    let scene = Scene::live().ignoring_measured(trace.ignore_measured);
    let run = run::run(Timestamp::now(), &scene);
    let mut tracer = Tracer::new(&scene, trace.sync);
    let traced = match tracer.file(&trace.file).and_then(|traced| reached(trace, traced)) {
        Ok(traced) => traced,
        Err(refusal) => {
            let said = printer::refusal(&refusal.message, refusal.hint.as_deref());
            print(trace, &document::refused(run, &trace.file, refusal))?;
            return Ok(Outcome::Misuse(said));
        }
    };
    tracer.note(&traced, &trace.file);
    tracer.notes.extend(document::guard_notes(&traced, &trace.file));
    let range = range(trace, &traced);
    let document = document::of(run, trace, &tracer, &traced, range);
    let said = Said::or(print(trace, &document)?, "nothing of the file has a known address");
    Ok(match is_unknown(&document, &traced, range) {
        true => Outcome::NoVerdict(said),
        false => Outcome::Done,
    })
}

/// `assembled` with what lies beneath its loop devices: the files behind them, and all that those
/// lie on; or unknown, with the reason. A loop device over a file in memory stays where it is.
pub(crate) fn beneath_loops(scene: &Scene, assembled: Assembled) -> Assembled {
    let is_loop = |layer: &Layer| match &layer.kind {
        LayerKind::Drive(drive) => drive.backing_file.is_some(),
        _ => false,
    };
    let loops = assembled.stack.iter().filter(|(_, layer)| is_loop(layer));
    let loops: Vec<LayerId> = loops.map(|(id, _)| id).collect();
    if loops.is_empty() {
        return assembled;
    }
    let mut tracer = Tracer::new(scene, false);
    tracer.fills_holes = true;
    let unknown = |id: LayerId| {
        let reason = "where the file behind it lies was not captured".to_owned();
        (id, Mapping::Unknown { on: Vec::new(), reason })
    };
    let behind = match scene.is_captured {
        true => loops.into_iter().map(unknown).collect(),
        false => tracer.loops_on_disks(&assembled.stack),
    };
    if behind.is_empty() {
        return assembled;
    }
    let raised_by = tracer.stack.graft(&assembled.stack, &behind);
    let roots = assembled.roots.iter().map(|root| LayerId(root.0 + raised_by)).collect();
    Assembled { stack: tracer.stack, roots, incomplete: assembled.incomplete }
}

/// Place where files lie on this machine; devices are looked at once, however many files are on
/// them.
pub(crate) struct Hosts<'a>(Tracer<'a>);

impl Hosts<'_> {
    pub(crate) fn new(scene: &Scene) -> Hosts<'_> {
        let mut tracer = Tracer::new(scene, false);
        tracer.fills_holes = true;
        Hosts(tracer)
    }

    /// Returns where the file at `path` lies, holes counted as what they will be.
    pub(crate) fn of(&mut self, path: &Path) -> Host {
        let found = match self.0.file(path) {
            Ok(traced) => host(&self.0, &traced),
            Err(refusal) => Host { on: Err(refusal.message), off: None },
        };
        self.0.keep_devices();
        found
    }
}

fn host(tracer: &Tracer<'_>, traced: &Traced) -> Host {
    let stack = &tracer.stack;
    let under = stack.under(traced.id).into_iter().rev().filter(|&id| id != traced.id);
    let names: Vec<&str> = under.map(|id| stack.layer(id).name.as_str()).take(NAMES_MAX).collect();
    let judgment = judge::judge(stack, traced.id);
    let off = judgment.granule.as_ref().map(|miss| {
        let (unit, owner) = (Exact(miss.unit.length_bytes()), &stack.layer(miss.owner).name);
        let share = miss.share * 100.0;
        match miss.offset_bytes {
            Some(bytes) => {
                format!("{share:.1} % of it is {} off the granule of {owner}, {unit}", Exact(bytes))
            }
            None => format!("{share:.1} % of it is off the granule of {owner}, {unit}"),
        }
    });
    let on = match judgment.verdict {
        Verdict::Unknown => Err(judgment.reason),
        _ => Ok(names.join(" on ")),
    };
    Host { on, off }
}

/// The stack under the file at `path`, the file's layer in it, and what statx says of the file.
/// `name` stands for the file in what is printed.
///
/// # Errors
/// When the file cannot be traced; the refusal says why and what to do.
pub(crate) fn beneath(scene: &Scene, path: &Path) -> Result<(Stack, LayerId, FileFacts), Refusal> {
    let mut tracer = Tracer::new(scene, true);
    let traced = tracer.file(path)?;
    Ok((tracer.stack, traced.id, traced.facts))
}

/// The stack under the block device with this number, loop devices followed, and its layer in it.
///
/// # Errors
/// When the kernel's tree does not have it.
pub(crate) fn beneath_device(
    scene: &Scene,
    number: (u32, u32),
) -> Result<(Stack, LayerId), Refusal> {
    let mut tracer = Tracer::new(scene, false);
    let id = tracer.device(number)?;
    Ok((tracer.stack, id))
}

/// The mount that what has `facts` at `path` is on; `None` when it cannot be told.
pub(crate) fn mount_of(scene: &Scene, facts: &FileFacts, path: &Path) -> Option<MountLine> {
    mount::of(scene.tree(), &mount::table(scene.tree()), facts, path)
}

/// The most layers that one line names.
const NAMES_MAX: usize = 8;

/// Returns whether no byte of `range` that should have an address has a known one.
fn is_unknown(document: &Document, traced: &Traced, range: ByteRange) -> bool {
    let is_within = |run: &Run| run.range.intersection(range).is_some();
    let wanted = traced.runs.iter().any(|run| run.state.should_have_place() && is_within(run));
    let unknown = !document.total.unknown.is_empty();
    wanted && unknown && document.total.placed_bytes == 0
}

/// Refuses to start after the end of the file.
fn reached(trace: &Trace, traced: Traced) -> Result<Traced, Refusal> {
    let end = traced.length_bytes.max(allocated(&traced));
    if trace.offset == 0 || trace.offset < end {
        return Ok(traced);
    }
    let name = shown(&trace.file);
    Err(Refusal {
        message: format!(
            "cannot trace {name} from {}: the file ends at {}",
            Exact(trace.offset),
            Exact(end)
        ),
        hint: Some(format!("straddle trace {name} traces all of it")),
    })
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
    let text = match trace.json {
        true => document.json(),
        false => {
            let look = Look { bytes: trace.bytes, ..printer::look(false) };
            report::trace::table(document, &look)
        }
    };
    printer::print_bytes(Color::Never, text.as_bytes())
}
