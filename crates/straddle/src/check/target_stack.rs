//! The stack of one target, or of several that belong together, and its result.

use std::collections::BTreeSet;

use host::ImageFiles;
use report::Refusal;
use stack::Verdict;
use stack::assemble::{self, Devices as _};

use super::document::{self, ReportSettings};
use crate::arguments::Check;
use crate::shared::bug::{self, Bug};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::stack_beneath;
use crate::shared::target::{self, CheckTarget, What};

/// End of the names of files at which a look panics, in tests.
#[cfg(test)]
pub(super) const BUG: &str = "bug.raw";

/// The stack of targets that belong together. One that cannot be opened is left out where there are
/// others: what it held is then missing from the stack, which says so.
pub(super) fn assembled(
    check: &Check,
    members: &[&CheckTarget],
    inspected: &InspectedMachine,
    hosts: &mut stack_beneath::FileHosts<'_>,
) -> Result<assemble::Assembled, Refusal> {
    let mut nodes = BTreeSet::new();
    let mut starts = Vec::new();
    let mut refusals = Vec::new();
    for target in members {
        match &target.what {
            What::Devices { nodes: joined, .. } => nodes.extend(joined.iter().copied()),
            What::File(path) | What::Found(path) | What::Again { path, .. } => {
                match target::start_file(path) {
                    Ok(start) => starts.push(start),
                    Err(refusal) => refusals.push(refusal),
                }
            }
            What::Refused(refusal) => match target.found.as_ref().and_then(|it| it.odd.as_ref()) {
                Some((path, what)) => starts.push(target::start_odd(path, what)),
                None => refusals.push(refusal.clone()),
            },
        }
    }
    let told = check.subject.on.as_ref();
    if !nodes.is_empty()
        && let Ok(machine) = inspected.machine()
    {
        let nodes: Vec<_> = nodes.into_iter().collect();
        if starts.is_empty() {
            let assembled = inspected.assemble(machine, &nodes, told);
            return Ok(on_this_machine(inspected, stack_beneath::of_loops(inspected, assembled)));
        }
        // Members that are files beside members that are disks: bytes alone join them.
        let disks = nodes.iter().map(|&id| machine.node(id)).filter(|node| node.below.is_empty());
        starts.extend(disks.map(|node| inspected.disk(&node.name)));
    }
    match (starts.is_empty(), refusals.into_iter().next()) {
        (true, Some(refusal)) => Err(refusal),
        _ => {
            let mut assembled = assemble::assemble(starts, &beside(check, members), told);
            if let [CheckTarget { what: What::File(path) | What::Again { path, .. }, .. }] = members
                && !inspected.is_captured
                && told.is_none()
                && let Some(&root) = assembled.roots.first()
            {
                assembled.stack.layer_mut(root).host = Some(hosts.of(path));
            }
            Ok(on_this_machine(inspected, assembled))
        }
    }
}

/// Notes the memory pages of the machine that is to mount what was assembled; those of a captured
/// one are not known.
fn on_this_machine(
    inspected: &InspectedMachine,
    mut assembled: assemble::Assembled,
) -> assemble::Assembled {
    if !inspected.is_captured {
        assembled.stack.note_pages(host::page_bytes());
    }
    assembled
}

/// Returns which files these images may name: what lies in a directory was chosen by nobody, so
/// nothing in it leads elsewhere.
fn beside(check: &Check, members: &[&CheckTarget]) -> ImageFiles {
    let is_found = |target: &&CheckTarget| matches!(target.what, What::Found(_));
    match check.subject.follow_references && !members.iter().any(is_found) {
        true => ImageFiles::Everywhere,
        false => ImageFiles::Directory,
    }
}

/// The kernel's name of the device that was meant.
fn meant(target: &CheckTarget, inspected: &InspectedMachine) -> Option<String> {
    let What::Devices { meant: Some(id), .. } = target.what else { return None };
    Some(units::text::escape(inspected.machine().ok()?.node(id).name.as_bytes()))
}

/// Members of one stack, judged together.
pub(super) fn together(
    check: &Check,
    members: &[&CheckTarget],
    inspected: &InspectedMachine,
) -> report::Target {
    let judged = bug::caught(|| {
        match assembled(check, members, inspected, &mut stack_beneath::FileHosts::new(inspected)) {
            Ok(assembled) => result(check, members, inspected, &assembled),
            Err(refusal) => refused(name(members), refusal),
        }
    });
    judged.unwrap_or_else(|bug| failed(name(members), &bug))
}

/// Returns the judged stack as a target of the document.
pub(super) fn result(
    check: &Check,
    members: &[&CheckTarget],
    inspected: &InspectedMachine,
    assembled: &assemble::Assembled,
) -> report::Target {
    // Where one of them is a file, or stands for all that it is joined to, all is shown.
    let meant: Option<Vec<String>> = members.iter().map(|one| meant(one, inspected)).collect();
    let meant = meant.unwrap_or_default();
    let view = ReportSettings {
        told: check.subject.on.as_ref(),
        rules: &check.rules,
        meant: &meant,
        wear: check.explain.then(|| inspected.tree()),
    };
    let target = document::target(name(members), assembled, &view);
    report::Target { joined: joined(members, inspected), ..target }
}

fn name(members: &[&CheckTarget]) -> String {
    let names: Vec<&str> = members.iter().map(|target| target.name.as_str()).collect();
    target::joined_names(&names)
}

/// The names that `members` stand for, those of all disks where a target is a whole stack; none for
/// one alone.
fn joined(members: &[&CheckTarget], inspected: &InspectedMachine) -> Vec<String> {
    let names = members.iter().flat_map(|target| match (&target.what, inspected.machine()) {
        (What::Devices { nodes, meant: None }, Ok(machine)) => target::disk_names(machine, nodes),
        _ => vec![target.name.clone()],
    });
    let names: Vec<String> = names.collect();
    if names.len() > 1 { names } else { Vec::new() }
}

/// Returns a target at which straddle itself failed.
pub(super) fn failed(name: String, bug: &Bug) -> report::Target {
    let refusal = Refusal::hinted(format!("cannot judge {name}: {bug}"), bug::HINT);
    refused(name, refusal)
}

/// Returns a target that could not be judged.
pub(super) fn refused(name: String, refusal: Refusal) -> report::Target {
    report::Target {
        target: name,
        joined: Vec::new(),
        refusal: Some(refusal),
        verdict: Verdict::Unknown,
        layers: Vec::new(),
        findings: Vec::new(),
    }
}
