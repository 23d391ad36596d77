//! `straddle plan`: the cheapest change of a disk that aligns its partitions, and its script.

use std::collections::BTreeMap;

use jiff::Timestamp;
use layout::NoPlan;
use report::plan::{LAYOUT_SCHEMA, Layout, LayoutPartition, LayoutUnit, TableChangeDocument};
use report::{Envelope, Refusal};
use stack::assemble::Assembled;
use stack::judge::{self, Verdict};
use stack::mapping::{Unread, Why};
use stack::rule::{self, CopySource, RuleInput};
use stack::{LayerId, LayerKind, Mapping, Stack, UnitKind};
use units::ByteRange;
use units::text::shell_word;

use crate::arguments::{Plan, is_standard_output};
use crate::exit::CommandOutcome;
use crate::shared::destination::{Destination, PLAN, SCRIPT};
use crate::shared::disk_target::{
    assembled, empty_table, lost_volumes, meant, raw_copy, serial, unread,
};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, shown};
use crate::shared::qcow2_image::Qcow2Image;
use crate::shared::run;
use crate::shared::table_document;
use crate::shared::target;

mod applied;
mod effect;
mod new_disk;
mod script;

use script::PlannedDisk;

pub(crate) fn run(plan: &Plan) -> anyhow::Result<CommandOutcome> {
    let inspected = InspectedMachine::live().ignoring_measured(plan.measured.is_ignored);
    let inspected = inspected.specified(plan.on.as_ref());
    if plan.new && !plan.document.json && plan.output.is_none() {
        return new_disk::run(plan, &inspected);
    }
    let content = if plan.script { SCRIPT } else { PLAN };
    let destination = Destination::of(content, plan.output.as_ref())?;
    let mut document = Layout {
        envelope: Envelope::new(LAYOUT_SCHEMA, run::run(Timestamp::now(), &inspected)),
        target: shown(&plan.target),
        ..Layout::default()
    };
    let mut steps = Vec::new();
    let (outcome, script) = match answer(plan, &inspected) {
        Ok(PlanAnswer::Plan(found)) => {
            fill(&mut document, &found);
            match applied::table_change(plan, &found) {
                Ok(change) => document.table_change = change,
                Err(reason) => document.not_applied_because = reason,
            }
            steps = script::next(plan, &found);
            if let Some(change) = &document.table_change {
                // The partitions that move hold nothing.
                document.moved_bytes = 0;
                document.afterwards.retain(|line| !line.starts_with(layout::UNKNOWN_CONTENT));
                if !plan.script {
                    steps = applied::next(plan, change, &script::applied_again(plan, &found));
                }
            }
            (CommandOutcome::Done, script::script(plan, &found))
        }
        Ok(PlanAnswer::NewTable(change, range)) => {
            steps = applied::next(plan, &change, "");
            new_disk::fill(&mut document, *change, range);
            (CommandOutcome::Done, None)
        }
        Ok(PlanAnswer::Nothing(instead)) => {
            document.instead = instead;
            (CommandOutcome::Done, None)
        }
        Err(refusal) => {
            let outcome = CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal));
            document.envelope.refusal = Some(refusal);
            (outcome, None)
        }
    };
    let json = document.json();
    if plan.script {
        script::show(&document, script.as_deref(), &steps, destination)?;
        return Ok(outcome);
    }
    let to_output = plan.output.as_deref().is_some_and(is_standard_output);
    if plan.document.json || to_output {
        printer::print(&json)?;
    } else {
        printer::print(&report::plan::table(&document, &steps, &printer::look(false)))?;
    }
    // A plan that is there stays, and is checked again by whatever carries it out.
    if let Some(destination) = destination.filter(|_| document.envelope.refusal.is_none()) {
        destination.write(&json)?;
    }
    Ok(outcome)
}

/// Result for a target.
enum PlanAnswer {
    Plan(Box<PlannedDisk>),
    /// The first table of a blank disk, and its one partition.
    NewTable(Box<TableChangeDocument>, ByteRange),
    /// No table, and nothing to be changed; says why.
    Nothing(String),
}

fn answer(plan: &Plan, inspected: &InspectedMachine) -> Result<PlanAnswer, Refusal> {
    match plan.new {
        true => new_disk::table(plan, inspected),
        false => planned(plan, inspected),
    }
}

fn planned(plan: &Plan, inspected: &InspectedMachine) -> Result<PlanAnswer, Refusal> {
    let targets = target::expand(std::slice::from_ref(&plan.target), inspected);
    let name = shown(&plan.target);
    let refuse = |reason: &str, hint: Option<String>| {
        Refusal::undecided(format!("cannot plan {name}: {reason}"), hint)
    };
    let [target] = &targets[..] else {
        let message = format!("cannot plan {name}: a directory, not a disk");
        return Err(Refusal::hinted(message, "name one image in it: straddle plan IMAGE"));
    };
    let on = plan.on.as_ref();
    let (Assembled { stack, .. }, device) = assembled("plan", target, inspected, on)?;
    let Some(disk) = layout::disk_of(&stack, device.as_deref()) else {
        return without_table(&stack, device.as_deref(), &name, &refuse);
    };
    // No partitioner opens an image: what is moved is a raw copy, and that is planned.
    let copy = match &stack.layer(disk).kind {
        LayerKind::ImageFormat(_) => Some(CopySource::of(stack.layer(disk))),
        _ => None,
    };
    let of_format = match copy {
        Some(_) => effect::in_format(&stack, disk, on, &script::copy_of(plan)),
        None => Vec::new(),
    };
    let qcow2 = Qcow2Image::of(&stack, disk);
    // Where nothing in an image has a place, no write in it has a cost.
    let is_priced = copy.is_none() || effect::is_priced(&stack, on);
    let (stack, disk) = match copy {
        Some(_) => raw_copy(&stack, disk, on)
            .ok_or_else(|| refuse("a raw copy of it would hold no partition table", None))?,
        None => (stack, disk),
    };
    let wrong = |wrong: NoPlan| {
        let hint = wrong.hint.map(|hint| hint.replace("TARGET", &shell_word(&name)));
        refuse(&wrong.reason, hint)
    };
    let judgments = judge::judge_all(&stack);
    let case = RuleInput { stack: &stack, judgments: &judgments, told: on };
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
    let serial = serial(inspected, &stack, disk);
    also_left.extend(of_format);
    Ok(PlanAnswer::Plan(Box::new(PlannedDisk {
        plan: found,
        stack,
        copy,
        qcow2,
        serial,
        gains,
        also_left,
    })))
}

/// Returns what to say of a disk that nobody writes in place.
fn read_only(stack: &Stack, disk: LayerId) -> Option<PlanAnswer> {
    let what = rule::read_only_medium(stack, disk)?;
    Some(PlanAnswer::Nothing(format!("read-only: {what}")))
}

/// Returns what to say of a disk that has no partition table.
fn without_table(
    stack: &Stack,
    device: Option<&str>,
    name: &str,
    refuse: &dyn Fn(&str, Option<String>) -> Refusal,
) -> Result<PlanAnswer, Refusal> {
    let disk = meant(stack, device).ok_or_else(|| refuse("no such disk is known", None))?;
    if let Some(reason) = unread(stack, disk) {
        return Err(refuse(&reason, None));
    }
    if let Some(reason) = lost_volumes(stack, disk) {
        let hint = format!("to see what: straddle check {}", shell_word(name));
        return Err(refuse(&reason, Some(hint)));
    }
    if let Some(reason) = empty_table(stack, disk) {
        let hint = format!("lay it out: straddle plan --new {}", shell_word(name));
        return Err(refuse(&reason, Some(hint)));
    }
    let over = stack.over(disk);
    let (images, above): (Vec<LayerId>, Vec<LayerId>) =
        over.iter().partition(|&&id| matches!(stack.layer(id).kind, LayerKind::ImageFormat(_)));
    let Some(&top) = above.last() else {
        let mut judged = images.iter().map(|&id| judge::judge(stack, id));
        if let Some(unread) = judged.rfind(|one| one.verdict == Verdict::Unknown) {
            let word = shell_word(name);
            // A plan is of one file; check may follow to others.
            let is_outside = |one: &Result<_, Unread>| {
                one.as_ref().is_err_and(|unread| unread.why == Why::Outside)
            };
            let lacks = |&id: &LayerId| match &stack.layer(id).mapping {
                Mapping::Image { references, .. } => references.iter().any(is_outside),
                _ => false,
            };
            if images.iter().any(lacks) {
                let new = shell_word(&rule::copy_name(name, "raw", |_| false));
                let copy = rule::copy_command(CopySource::default(), "raw", &word, &new);
                let hint = format!("copy it whole, then plan the copy: {copy}");
                return Err(refuse(&unread.reason, Some(hint)));
            }
            let hint = format!("to see what is known of it: straddle check {word}");
            return Err(refuse(&unread.reason, Some(hint)));
        }
        let hint = format!("for a new disk: straddle plan --new {}", shell_word(name));
        let reason = match images.is_empty() {
            true => "no partition table, nothing recognized",
            false => "the guest's disk has no partition table, and nothing was recognized on it",
        };
        return Err(refuse(reason, Some(hint)));
    };
    if let Some(answer) = read_only(stack, disk) {
        return Ok(answer);
    }
    let kind = stack.layer(top).kind.word().replace('-', " ");
    let judged = judge::judge(stack, top);
    Ok(PlanAnswer::Nothing(match judged.verdict {
        Verdict::Unknown => {
            let hint = format!("to see what is known of it: straddle check {}", shell_word(name));
            return Err(refuse(&judged.reason, Some(hint)));
        }
        Verdict::Aligned => format!("no partition table; its {kind} is aligned"),
        _ => format!("no partition table to change; for its {kind}, see straddle check"),
    }))
}

fn fill(document: &mut Layout, found: &PlannedDisk) {
    let PlannedDisk { plan, gains, .. } = found;
    document.disk_bytes = Some(plan.disk_bytes);
    document.table = Some(plan.table.word().into());
    document.old_sector_bytes = plan.old_sector_bytes;
    document.sector_bytes = plan.sector_bytes;
    let unit = |&(unit, unit_bytes, assumed): &(UnitKind, u64, bool)| LayoutUnit {
        unit: unit.words().into(),
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
                fix_ups: fix_ups.collect(),
                gain: gain.clone(),
                ..table_document::partition(row)
            }
        })
        .collect();
    document.unmended = found.remains();
    document.lacks_room = plan.unmended.iter().any(|one| one.lacks_room);
    document.afterwards = plan.afterwards.clone();
}
