//! A plan on its way to be carried out: its script, and what to type for that.

use std::path::Path;

use format::image::ImageKind;
use layout::{DiskPlan, NamedDisk};
use report::plan::Layout;
use stack::rule::{self, CopySource};
use stack::{LayerKind, Stack};
use units::text::{file_word, shell_word};

use crate::arguments::Plan;
use crate::shared::destination::{Destination, SCRIPT};
use crate::shared::printer::{self, shown};
use crate::shared::qcow2_image::Qcow2Image;

/// A plan, the stack it is of, and what its target is called.
pub(super) struct PlannedDisk {
    pub(super) plan: DiskPlan,
    pub(super) stack: Stack,
    /// The image that was named, where the plan is of a raw copy of it.
    pub(super) copy: Option<CopySource>,
    /// The image that was named, where it is one that can be written in place.
    pub(super) qcow2: Option<Qcow2Image>,
    pub(super) serial: Option<String>,
    pub(super) gains: Vec<String>,
    pub(super) also_left: Vec<String>,
}

impl PlannedDisk {
    /// Sentences on what stays wrong.
    pub(super) fn remains(&self) -> Vec<String> {
        let unmended = self.plan.unmended.iter().map(|one| &one.what);
        unmended.chain(&self.also_left).cloned().collect()
    }
}

/// Prints the script, or writes it; where nothing changes, says so and prints a script that does
/// nothing, so that it may be piped to a shell all the same.
pub(super) fn show(
    document: &Layout,
    script: Option<&str>,
    steps: &[String],
    destination: Option<Destination>,
) -> anyhow::Result<()> {
    if document.envelope.refusal.is_some() {
        return Ok(());
    }
    let Some(script) = script else {
        let target = &document.target;
        let left: String =
            document.unmended.iter().map(|line| format!("# left: {line}\n")).collect();
        let comment = format!("# {target}: {}\n{left}", document.verdict());
        match destination {
            None => {
                printer::print(&format!("#!/bin/sh\n{comment}"))?;
            }
            // An older script in its place would still do what it was made for.
            Some(destination) => destination.write(&format!("{}\n{comment}", SCRIPT.mark()))?,
        }
        printer::note(&format!("{} on {target}: the script does nothing", document.verdict()));
        for line in &document.unmended {
            printer::note(&format!("left: {line}"));
        }
        return Ok(());
    };
    if let [copy, _, _, _, ..] = steps {
        printer::note(&format!("this is the plan of a raw copy; make that first: {copy}"));
    }
    match destination {
        None => {
            printer::print(script)?;
        }
        Some(destination) => {
            destination.write(script)?;
            for line in &document.unmended {
                printer::note(&format!("remains: {line}"));
            }
            let run = steps.iter().find(|step| step.starts_with("sh ")).map_or("", String::as_str);
            printer::note(&format!("read it, back up the disk, then run it: {run}"));
        }
    }
    Ok(())
}

/// Returns what to type and do to carry a plan out. A guest's disk is moved in a raw copy, since no
/// partitioner opens its image; the last step is then an image of that.
pub(super) fn next(plan: &Plan, found: &PlannedDisk) -> Vec<String> {
    let file = plan.output.as_deref().filter(|_| plan.script);
    let file = file.map_or_else(|| "plan.sh".to_owned(), |file| shell_word(&shown(file)));
    let (disk, copy) = typed(plan, found);
    let own = [
        format!("{} --script -o {file}", planned_again(plan, &disk)),
        format!("read {file}, and back up the disk{}", overlays(found)),
        format!("sh {file} {disk} DIR    # DIR: {}", room(found)),
    ];
    let again = found.copy.and_then(|image| copied_back(image.kind?, &disk));
    copy.into_iter().chain(own).chain(again).collect()
}

/// Returns the command that makes a plan for `straddle apply` again.
pub(super) fn applied_again(plan: &Plan, found: &PlannedDisk) -> String {
    match found.qcow2 {
        Some(_) => planned_again(plan, &shell_word(&shown(&plan.target))),
        None => planned_again(plan, &typed(plan, found).0),
    }
}

/// Returns the command that makes this plan of `disk` again.
pub(super) fn planned_again(plan: &Plan, disk: &str) -> String {
    let on = plan.on.as_ref().map(|on| format!(" --on {}", shell_word(&on.to_string())));
    let ignores = if plan.measured.is_ignored { " --ignore-measured" } else { "" };
    format!("straddle plan {disk}{}{ignores}", on.unwrap_or_default())
}

/// A warning where an image file itself is changed: its overlays no longer fit it.
fn overlays(found: &PlannedDisk) -> &'static str {
    match &found.stack.layer(found.plan.disk).kind {
        LayerKind::ImageFile if found.copy.is_none() => "; qcow2 files based on it break",
        _ => "",
    }
}

/// Directories that may keep the pieces that move: those of an image file are safe in any file
/// system, those of a disk only on another one.
fn room(found: &PlannedDisk) -> &'static str {
    match &found.stack.layer(found.plan.disk).kind {
        LayerKind::ImageFile => "any directory with free space, not in tmpfs",
        _ if found.copy.is_some() => "any directory with free space, not in tmpfs",
        _ => "a directory on another disk",
    }
}

/// The file in which the guest's disk of an image is copied.
pub(super) fn copy_of(plan: &Plan) -> String {
    rule::copy_name(&shown(&plan.target), "raw", |_| false)
}

/// Returns what makes an image of format `kind` of the raw `copy`; `None` for a format that QEMU
/// does not write, or whose blocks are off the granule.
fn copied_back(kind: ImageKind, copy: &str) -> Option<String> {
    let format = match kind {
        ImageKind::Qcow2 => "qcow2",
        ImageKind::Vdi => "vdi",
        ImageKind::VmdkSparse => "vmdk",
        ImageKind::Vhdx => "vhdx",
        _ => return None,
    };
    Some(format!("test ! -e NEW && qemu-img convert -f raw -O {format} {copy} NEW"))
}

/// The disk of a plan as it is typed, and the command that comes before where that is a raw copy.
fn typed(plan: &Plan, found: &PlannedDisk) -> (String, Option<String>) {
    let target = file_word(&shown(&plan.target));
    if let Some(image) = found.copy {
        let new = file_word(&copy_of(plan));
        let copy = rule::copy_command(image, "raw", &target, &new);
        return (new, Some(copy));
    }
    let path = path(plan, found);
    // A partition and a mount point lead to a disk that is called otherwise.
    let same = std::fs::canonicalize(&plan.target).ok();
    let is_disk = path.as_ref().is_none_or(|path| same.is_some_and(|same| same == Path::new(path)));
    (path.filter(|_| !is_disk).map_or(target, |path| shell_word(&path)), None)
}

/// The script of a plan that changes anything.
pub(super) fn script(plan: &Plan, found: &PlannedDisk) -> Option<String> {
    if found.plan.is_empty() {
        return None;
    }
    // The script may be run from anywhere.
    let copied = || std::path::absolute(copy_of(plan)).ok()?.to_str().map(str::to_owned);
    let path = if found.copy.is_some() { copied() } else { path(plan, found) };
    let (serial, remains) = (found.serial.clone(), found.remains());
    let source = NamedDisk { path, copy: typed(plan, found).1, serial, remains };
    Some(layout::script(&found.plan, &source))
}

/// Returns where the disk of a plan is opened; `None` for a guest's disk, which only its image's
/// format gives.
pub(super) fn path(plan: &Plan, found: &PlannedDisk) -> Option<String> {
    if found.copy.is_some() {
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
