//! Input that `--stack` names, opened: images that belong together, a directory of them, devices,
//! or a plan.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::Disk;
use host::ImageFiles;
use report::Refusal;
use stack::assemble::{Assembled, Start, assemble};
use stack::kernel::NodeId;
use stack::{Layer, LayerId, Stack};
use units::text::escape;

use super::table_script;
use crate::shared::btrfs;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;
use crate::shared::stack_beneath;
use crate::shared::target::{self, What};

/// A stack, and the layers whose bytes are meant.
pub(super) struct StackInput {
    pub(super) stack: Stack,
    pub(super) roots: Vec<LayerId>,
    /// Layers among those over the roots that stand for a part of another.
    pub(super) parts: Vec<LayerId>,
    /// True if arrays or volume groups lack members that were not given.
    pub(super) lacks: bool,
    /// Notes that a reader should know.
    pub(super) notes: Vec<String>,
}

impl StackInput {
    /// Returns what was `assembled`, of which `roots` are meant.
    fn of(assembled: Assembled, roots: Vec<LayerId>, mut notes: Vec<String>) -> StackInput {
        let Assembled { mut stack, incomplete, .. } = assembled;
        let lacks = !incomplete.is_empty();
        if lacks {
            notes.push(
                "not all devices of an array, volume group or file system were given: what lies on \
                 the others is not simulated"
                    .to_owned(),
            );
        }
        let parts = btrfs::add_data(&mut stack, &mut notes);
        StackInput { stack, roots, parts, lacks, notes }
    }
}

/// The most files of directories that are opened at once.
const FOUND_MAX: usize = 64;

/// A file that is taken for a drive's own bytes.
struct Image {
    path: PathBuf,
    /// True if a directory happened to hold it, so that it may be anything.
    is_found: bool,
}

/// Returns what is on files or devices, as `check` sees it; of a directory, on all files that are
/// in it; of a plan, what it says.
///
/// # Errors
/// When something cannot be opened, or is none of these; says what helps.
pub(super) fn opened(
    paths: &[PathBuf],
    inspected: &InspectedMachine,
) -> Result<StackInput, Refusal> {
    if paths == [PathBuf::from(table_script::STDIN)] {
        return of_plan(table_script::of_stdin(), "standard input");
    }
    let (mut images, mut devices) = (Vec::new(), Vec::new());
    for target in target::expand(paths, inspected) {
        match target.what {
            _ if target.found.is_some_and(|found| found.is_left_out()) => {}
            What::Refused(refusal) => return Err(refusal),
            What::Found(path) => images.push(Image { path, is_found: true }),
            What::Again { .. } => {}
            What::File(path) => images.push(Image { path, is_found: false }),
            What::Devices { nodes, meant } => devices.push((nodes, meant)),
        }
    }
    let found = images.iter().filter(|image| image.is_found).count();
    if found > FOUND_MAX {
        return Err(Refusal::hinted(
            format!("it holds {found} files, more than {FOUND_MAX}"),
            "name the files that belong together: --stack A B C",
        ));
    }
    match (&images[..], &devices[..]) {
        (images, []) => of_images(images),
        ([], devices) => of_devices(devices, inspected),
        _ => Err(Refusal::hinted(
            "files and devices are mixed",
            "name only files, or only devices; to make a device of a file: losetup --find --show \
             FILE",
        )),
    }
}

fn of_images(images: &[Image]) -> Result<StackInput, Refusal> {
    if let [Image { path, .. }] = images
        && let Some(plan) = table_script::read(path)
    {
        return of_plan(plan, &shown(path));
    }
    let mut starts = Vec::new();
    let mut opened = Vec::new();
    for image in images {
        match start(&image.path)? {
            Some(start) => {
                starts.push(start);
                opened.push(image);
            }
            None if image.is_found => {}
            None => {
                let message = format!("{} is empty", shown(&image.path));
                return Err(Refusal::hinted(message, "name an image of a disk"));
            }
        }
    }
    let assembled = assemble(starts, &ImageFiles::Directory, None);
    let holds = |image: &Image, root| !image.is_found || !assembled.stack.above(root).is_empty();
    let roots = assembled.roots.iter().copied();
    let taken = opened.into_iter().zip(roots).filter(|&(image, root)| holds(image, root));
    let (taken, roots): (Vec<&Image>, Vec<LayerId>) = taken.unzip();
    let notes = said(&taken, images.len() - taken.len());
    Ok(StackInput::of(assembled, roots, notes))
}

/// Returns what a reader should know of images, and of files that were `left_out`.
fn said(taken: &[&Image], left_out: usize) -> Vec<String> {
    let names: Vec<String> = taken.iter().map(|image| shown(&image.path)).collect();
    let whole = match &names[..] {
        [] => None,
        [one] => Some(format!("{one} is simulated as a drive of its own")),
        all => Some(format!("each image is simulated as a drive of its own: {}", all.join(" "))),
    };
    let files = if left_out == 1 { "file" } else { "files" };
    let rest = || format!("skipped {left_out} {files} of the directory: no recognized content");
    whole.into_iter().chain((left_out > 0).then(rest)).collect()
}

fn of_plan(plan: table_script::Read, name: &str) -> Result<StackInput, Refusal> {
    let (stack, root) = plan?;
    let note = format!("{name} is a plan: no disk is asked whether it has these partitions");
    let notes = vec![note];
    Ok(StackInput { stack, roots: vec![root], parts: Vec::new(), lacks: false, notes })
}

/// Returns where the stack of a file starts; `None` where it has no bytes.
fn start(path: &Path) -> Result<Option<Start>, Refusal> {
    let start = target::start_file(path)?;
    let has_bytes = |bytes: &Result<Rc<dyn Disk>, String>| {
        !bytes.as_ref().is_ok_and(|disk| disk.length_bytes() == 0)
    };
    Ok(start.bytes.as_ref().is_none_or(has_bytes).then_some(start))
}

fn of_devices(
    devices: &[(Vec<NodeId>, Option<NodeId>)],
    inspected: &InspectedMachine,
) -> Result<StackInput, Refusal> {
    let machine = inspected.machine();
    let machine =
        machine.map_err(|why| Refusal::hinted(why, "see what is known of them: straddle check"))?;
    let mut nodes: Vec<NodeId> = devices.iter().flat_map(|(nodes, _)| nodes.clone()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let assembled = stack_beneath::of_loops(inspected, inspected.assemble(machine, &nodes, None));
    let meant: Vec<String> = devices
        .iter()
        .filter_map(|(_, meant)| *meant)
        .map(|id| escape(machine.node(id).name.as_bytes()))
        .collect();
    let is_meant = |layer: &Layer| layer.device.as_ref().is_some_and(|own| meant.contains(own));
    let found = assembled.stack.iter().filter(|(_, layer)| is_meant(layer));
    let mut roots: Vec<LayerId> = found.map(|(id, _)| id).collect();
    if roots.is_empty() {
        roots.clone_from(&assembled.roots);
    }
    Ok(StackInput::of(assembled, roots, Vec::new()))
}
