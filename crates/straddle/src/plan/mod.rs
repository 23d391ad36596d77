//! `straddle plan`: the cheapest change of a disk that aligns its partitions, and its script.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use host::ImageFiles;
use jiff::Timestamp;
use layout::{DiskPlan as Planned, NoPlan, Source};
use report::plan::{LAYOUT_SCHEMA, Layout, LayoutPartition, LayoutUnit};
use report::{Refusal, RefusalKind};
use stack::assemble::{self, Assembled, Start, StartKind};
use stack::judge::{self, Verdict};
use stack::rule::{self, Case};
use stack::{Condition, Layer, LayerId, LayerKind, Mapping, Stack};
use units::text::shell_word;

use crate::arguments::{Plan, is_standard_output};
use crate::exit::Outcome;
use crate::shared::beneath;
use crate::shared::destination::{Destination, PLAN, SCRIPT};
use crate::shared::printer::{self, shown};
use crate::shared::run;
use crate::shared::scene::Scene;
use crate::shared::target::{self, Target, What};

mod effect;
mod fresh;

pub(crate) fn run(plan: &Plan) -> anyhow::Result<Outcome> {
    let scene = Scene::live().ignoring_measured(plan.measured.is_ignored);
    if plan.new {
        return fresh::run(plan, &scene);
    }
    let content = if plan.script { SCRIPT } else { PLAN };
    let destination = Destination::of(content, plan.output.as_ref())?;
    let mut document = Layout {
        schema: LAYOUT_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        run: Some(run::run(Timestamp::now(), &scene)),
        target: shown(&plan.target),
        ..Layout::default()
    };
    let mut steps = Vec::new();
    let (outcome, script) = match planned(plan, &scene) {
        Ok(Answer::Plan(found)) => {
            fill(&mut document, &found);
            steps = next(plan, &found);
            (Outcome::Done, script(plan, &found))
        }
        Ok(Answer::Nothing(instead)) => {
            document.instead = instead;
            (Outcome::Done, None)
        }
        Err((kind, refusal)) => {
            let said = printer::refusal(&refusal.message, refusal.hint.as_deref());
            document.refusal = Some(refusal);
            (Outcome::of_refusal(kind, said), None)
        }
    };
    let json = document.json();
    if plan.script {
        show_script(&document, script.as_deref(), &steps, destination)?;
        return Ok(outcome);
    }
    let to_output = plan.output.as_deref().is_some_and(is_standard_output);
    if plan.document.json || to_output {
        printer::print(&json)?;
    } else {
        printer::print(&report::plan::table(&document, &steps, &printer::look(false)))?;
    }
    if let Some(destination) = destination {
        destination.write(&json)?;
    }
    Ok(outcome)
}

/// Prints the script, or writes it; where nothing changes, says so and prints a script that does
/// nothing, so that it may be piped to a shell all the same.
fn show_script(
    document: &Layout,
    script: Option<&str>,
    steps: &[String],
    destination: Option<Destination>,
) -> anyhow::Result<()> {
    if document.refusal.is_some() {
        return Ok(());
    }
    let Some(script) = script else {
        let target = &document.target;
        let left: String =
            document.unmended.iter().map(|line| format!("# left: {line}\n")).collect();
        let comment = format!("# {target}: {}\n{left}", document.verdict());
        let Some(destination) = destination else {
            printer::print(&format!("#!/bin/sh\n{comment}"))?;
            return Ok(());
        };
        // An older script in its place would still do what it was made for.
        destination.write(&format!("{}\n{comment}", SCRIPT.mark()))?;
        printer::note(&format!("{} on {target}: the script does nothing", document.verdict()));
        for line in &document.unmended {
            printer::note(&format!("left: {line}"));
        }
        return Ok(());
    };
    if let [copy, _, _, _] = steps {
        printer::note(&format!("this is the plan of a raw copy; make that first: {copy}"));
    }
    match destination {
        None => {
            printer::print(script)?;
        }
        Some(destination) => {
            destination.write(script)?;
            let run = steps.last().map_or("", String::as_str);
            printer::note(&format!("read it, back up the disk, then run it: {run}"));
        }
    }
    Ok(())
}

/// Returns what to type and do to carry a plan out, the run of the script last. A guest's disk is
/// moved in a raw copy, since no partitioner opens its image.
fn next(plan: &Plan, found: &Found) -> Vec<String> {
    let on = plan.on.as_ref().map(|on| format!(" --on {}", shell_word(&on.to_string())));
    let ignores = if plan.measured.is_ignored { " --ignore-measured" } else { "" };
    let on = on.unwrap_or_default() + ignores;
    let file = plan.output.as_deref().filter(|_| plan.script);
    let file = file.map_or_else(|| "plan.sh".to_owned(), |file| shell_word(&shown(file)));
    let (disk, copy) = typed(plan, found);
    let own = [
        format!("straddle plan {disk}{on} --script -o {file}"),
        format!("read {file}, and back up the disk"),
        format!("sh {file} {disk} DIR    # DIR: a directory on another disk"),
    ];
    copy.into_iter().chain(own).collect()
}

/// The file in which the guest's disk of an image is copied.
fn copy_of(plan: &Plan) -> String {
    rule::copy_name(&shown(&plan.target), "raw", |_| false)
}

/// The disk of a plan as it is typed, and the command that comes before where that is a raw copy.
fn typed(plan: &Plan, found: &Found) -> (String, Option<String>) {
    let target = shell_word(&shown(&plan.target));
    if found.copy {
        let new = shell_word(&copy_of(plan));
        let copy = format!("test ! -e {new} && qemu-img convert -O raw {target} {new}");
        return (new, Some(copy));
    }
    let path = path(plan, found);
    // A partition and a mount point lead to a disk that is called otherwise.
    let same = std::fs::canonicalize(&plan.target).ok();
    let is_disk = path.as_ref().is_none_or(|path| same.is_some_and(|same| same == Path::new(path)));
    (path.filter(|_| !is_disk).map_or(target, |path| shell_word(&path)), None)
}

/// Result for a target.
enum Answer {
    Plan(Box<Found>),
    /// No table, and nothing to be changed; says why.
    Nothing(String),
}

/// A plan, the stack it is of, and what its target is called.
struct Found {
    plan: Planned,
    stack: Stack,
    /// True if it is of a raw copy of what was named.
    copy: bool,
    serial: Option<String>,
    gains: Vec<String>,
    also_left: Vec<String>,
}

/// Why there is no plan, and which exit code that is.
type Refused = (RefusalKind, Refusal);

fn planned(plan: &Plan, scene: &Scene) -> Result<Answer, Refused> {
    let targets = target::expand(std::slice::from_ref(&plan.target), scene);
    let name = shown(&plan.target);
    let refuse = |reason: &str, hint: Option<String>| {
        let message = format!("cannot plan {name}: {reason}");
        (RefusalKind::NoVerdict, Refusal { message, hint })
    };
    let [target] = &targets[..] else {
        let hint = "straddle plan IMAGE, one image at a time".to_owned();
        let (_, refusal) = refuse("a directory is not a disk", Some(hint));
        return Err((RefusalKind::Misuse, refusal));
    };
    let on = plan.on.as_ref();
    let opened = assembled(target, scene, on);
    let (Assembled { stack, .. }, device) =
        opened.map_err(|refusal| (RefusalKind::Misuse, refusal))?;
    let Some(disk) = layout::disk_of(&stack, device.as_deref()) else {
        return without_table(&stack, device.as_deref(), &name, &refuse);
    };
    // No partitioner opens an image: what is moved is a raw copy, and that is planned.
    let copy = matches!(stack.layer(disk).kind, LayerKind::ImageFormat(_));
    let of_format = if copy { effect::in_format(&stack, disk, on) } else { Vec::new() };
    // Where nothing in an image has a place, no write in it has a cost.
    let is_priced = !copy || effect::is_priced(&stack, on);
    let (stack, disk) = match copy {
        true => raw_copy(&stack, disk, on)
            .ok_or_else(|| refuse("a raw copy of it would hold no partition table", None))?,
        false => (stack, disk),
    };
    let wrong = |wrong: NoPlan| {
        let hint = wrong.hint.map(|hint| hint.replace("TARGET", &shell_word(&name)));
        refuse(&wrong.reason, hint)
    };
    let judgments = judge::judge_all(&stack);
    let case = Case { stack: &stack, judgments: &judgments, told: on };
    let mut held = BTreeMap::new();
    let (found, mut also_left) = loop {
        let found = match layout::plan_around(&case, disk, &held) {
            Ok(found) => found,
            // The entries of a bootable ISO cover each other by design.
            Err(reason) => return read_only(&stack, disk).ok_or_else(|| wrong(reason)),
        };
        let effect =
            effect::verified(&stack, &found, on).map_err(|reason| refuse(&reason, None))?;
        // What a move makes worse stays where it is.
        let count = held.len();
        held.extend(effect.worse.into_iter().filter_map(|(number, code)| {
            let moves = found.moves.iter().any(|one| one.number == number);
            moves.then(|| (number, format!("a move would raise {code} in it")))
        }));
        if held.len() == count {
            break (found, effect.left);
        }
    };
    let findings = rule::findings(&case);
    let findings = if is_priced { findings } else { Vec::new() };
    let gains = effect::gains(&stack, &found, &findings);
    let serial = serial(scene, &stack, disk);
    also_left.extend(of_format);
    Ok(Answer::Plan(Box::new(Found { plan: found, stack, copy, serial, gains, also_left })))
}

/// The stack of a raw copy of the disk on layer `disk`, and that disk; `None` where its bytes
/// cannot be read.
fn raw_copy(stack: &Stack, disk: LayerId, on: Option<&Condition>) -> Option<(Stack, LayerId)> {
    let bytes = Rc::clone(stack.bytes(disk)?);
    let name = stack.layer(disk).name.clone();
    let identity = device::FileIdentity { device: 0, inode: 0 };
    let kind = StartKind::File { path: Vec::new(), identity };
    let start = Start { kind, name, bytes: Some(Ok(bytes)) };
    let stack = assemble::assemble(vec![start], &device::NoFiles, on).stack;
    let disk = layout::disk_of(&stack, None)?;
    Some((stack, disk))
}

/// The stack of a target, and the kernel's name of the device that was meant.
fn assembled(
    target: &Target,
    scene: &Scene,
    on: Option<&Condition>,
) -> Result<(Assembled, Option<String>), Refusal> {
    match &target.what {
        What::Refused(refusal) => Err(refusal.clone()),
        What::File(path) | What::Found(path) | What::Again { path, .. } => {
            let start = target::start_file(path)?;
            Ok((assemble::assemble(vec![start], &ImageFiles::Directory, on), None))
        }
        What::Devices { nodes, meant } => {
            let machine = scene.machine().map_err(|reason| Refusal {
                message: format!("cannot plan {}: {reason}", target.name),
                hint: None,
            })?;
            let device = meant.map(|id| machine.node(id).name.clone());
            let assembled = scene.assemble(machine, nodes, on);
            Ok((beneath::beneath_loops(scene, assembled), device))
        }
    }
}

/// Returns what to say of a disk that nobody writes in place.
fn read_only(stack: &Stack, disk: LayerId) -> Option<Answer> {
    let what = rule::read_only_medium(stack, disk)?;
    Some(Answer::Nothing(format!("read-only: {what}")))
}

/// Returns the layer that the kernel calls `device`, else the first of a file.
fn meant(stack: &Stack, device: Option<&str>) -> Option<LayerId> {
    let is_meant = |(_, layer): &(LayerId, &Layer)| match (device, &layer.kind) {
        (Some(device), LayerKind::Drive(drive)) => drive.name == device,
        (Some(device), _) => layer.device.as_deref() == Some(device),
        (None, _) => matches!(layer.mapping, Mapping::Leaf),
    };
    stack.iter().find(is_meant).map(|(id, _)| id)
}

/// Returns what to say of a disk that has no partition table.
fn without_table(
    stack: &Stack,
    device: Option<&str>,
    name: &str,
    refuse: &dyn Fn(&str, Option<String>) -> Refused,
) -> Result<Answer, Refused> {
    let disk = meant(stack, device).ok_or_else(|| refuse("it was not found", None))?;
    if let Some(reason) = unread(stack, disk) {
        return Err(refuse(&reason, None));
    }
    let over = stack.over(disk);
    let mut tables =
        [disk].into_iter().chain(over.iter().copied()).flat_map(|id| &stack.layer(id).tables);
    if let Some(table) = tables.next() {
        let reason = format!("its {} partition table lists no partition", table.kind.word());
        let hint = format!("lay it out: straddle plan --new {}", shell_word(name));
        return Err(refuse(&reason, Some(hint)));
    }
    let (images, above): (Vec<LayerId>, Vec<LayerId>) =
        over.iter().partition(|&&id| matches!(stack.layer(id).kind, LayerKind::ImageFormat(_)));
    let Some(&top) = above.last() else {
        let mut judged = images.iter().map(|&id| judge::judge(stack, id));
        if let Some(unread) = judged.rfind(|one| one.verdict == Verdict::Unknown) {
            let word = shell_word(name);
            // A plan is of one file; check may follow to others.
            let lacks = |&id: &LayerId| match &stack.layer(id).mapping {
                Mapping::Image { references, .. } => references.iter().any(Result::is_err),
                _ => false,
            };
            if images.iter().any(lacks) {
                let new = shell_word(&rule::copy_name(name, "raw", |_| false));
                let hint = format!(
                    "copy it whole, then plan the copy: test ! -e {new} && qemu-img convert -O raw \
                     {word} {new}"
                );
                return Err(refuse(&unread.reason, Some(hint)));
            }
            let hint = format!("straddle check {word} names the command");
            return Err(refuse(&unread.reason, Some(hint)));
        }
        let hint = format!("for a new disk: straddle plan --new {}", shell_word(name));
        let place = if images.is_empty() { "" } else { " in its image" };
        let reason = format!("no partition table and nothing else was recognized{place}");
        return Err(refuse(&reason, Some(hint)));
    };
    if let Some(answer) = read_only(stack, disk) {
        return Ok(answer);
    }
    let kind = stack.layer(top).kind.word();
    let judged = judge::judge(stack, top);
    Ok(Answer::Nothing(match judged.verdict {
        Verdict::Unknown => {
            let hint = format!("straddle check {} says what is known", shell_word(name));
            return Err(refuse(&judged.reason, Some(hint)));
        }
        Verdict::Aligned => format!("no partition table; its {kind} is aligned"),
        _ => format!("no partition table; no move helps its {kind}: see straddle check"),
    }))
}

/// Returns why the bytes of a disk could not be read; `None` where they could.
fn unread(stack: &Stack, disk: LayerId) -> Option<String> {
    let layer = stack.layer(disk);
    let is_read = stack.bytes(disk).is_some();
    let problem = layer.problems.first().map(|problem| problem.detail.clone());
    (!is_read).then(|| problem.unwrap_or_else(|| "its bytes could not be read".to_owned()))
}

/// The serial number of a drive, as the script reads it again.
fn serial(scene: &Scene, stack: &Stack, disk: LayerId) -> Option<String> {
    let LayerKind::Drive(drive) = &stack.layer(disk).kind else { return None };
    let text = scene.tree().read(&format!("/sys/class/block/{}/device/serial", drive.name)).ok()?;
    let text: String = text.chars().filter(|letter| !matches!(letter, ' ' | '\n')).collect();
    Some(text).filter(|text| !text.is_empty())
}

fn fill(document: &mut Layout, found: &Found) {
    let Found { plan, gains, also_left, .. } = found;
    document.disk_bytes = Some(plan.disk_bytes);
    document.table = Some(plan.table.word().into());
    document.old_sector_bytes = plan.old_sector_bytes;
    document.sector_bytes = plan.sector_bytes;
    let unit = |&(unit, unit_bytes, assumed): &(&'static str, u64, bool)| LayoutUnit {
        unit: unit.into(),
        unit_bytes,
        assumed,
    };
    document.units = plan.units.iter().map(unit).collect();
    document.changes = !plan.is_empty();
    document.moved_bytes = plan.moved_bytes();
    document.partitions = (plan.rows.iter().zip(gains))
        .map(|(row, gain)| {
            let moved = plan.moves.iter().filter(|one| one.number == row.number);
            let fix_ups = moved.flat_map(|one| &one.fix_ups).map(|fix| fix.what.clone());
            LayoutPartition {
                number: row.number,
                kind: row.kind.clone(),
                name: row.name.clone(),
                content: row.content.clone(),
                old_start_bytes: row.old.start_bytes(),
                old_length_bytes: row.old.length_bytes(),
                new_start_bytes: row.new.start_bytes(),
                new_length_bytes: row.new.length_bytes(),
                fix_ups: fix_ups.collect(),
                why: row.why.clone(),
                gain: gain.clone(),
            }
        })
        .collect();
    document.unmended = plan.unmended.iter().chain(also_left).cloned().collect();
    document.afterwards = plan.afterwards.clone();
}

/// The script of a plan that changes anything.
fn script(plan: &Plan, found: &Found) -> Option<String> {
    if found.plan.is_empty() {
        return None;
    }
    let path = if found.copy { Some(copy_of(plan)) } else { path(plan, found) };
    let source = Source { path, copy: typed(plan, found).1, serial: found.serial.clone() };
    Some(layout::script(&found.plan, &source))
}

/// Returns where the disk of a plan is opened; `None` for a guest's disk, which only its image's
/// format gives.
fn path(plan: &Plan, found: &Found) -> Option<String> {
    if found.copy {
        return None;
    }
    let layer = found.stack.layer(found.plan.disk);
    let device = |name: &str| format!("/dev/{}", name.replace('!', "/"));
    match &layer.kind {
        LayerKind::Drive(drive) => Some(device(&drive.name)),
        LayerKind::ImageFile => {
            let absolute =
                std::fs::canonicalize(&plan.target).unwrap_or_else(|_| plan.target.clone());
            absolute.to_str().map(str::to_owned)
        }
        _ => layer.device.as_deref().map(device),
    }
}
