//! What `--stack` names, opened: images that belong together, devices, or a plan.

use std::path::{Path, PathBuf};

use host::Beside;
use report::Refusal;
use stack::assemble::{Start, assemble};
use stack::kernel::NodeId;
use stack::{Layer, LayerId, Stack};
use units::text::escape;

use super::{btrfs, plan};
use crate::printer::shown;
use crate::scene::Scene;
use crate::target::{self, What};
use crate::trace;

/// A stack, and the layers whose bytes are meant.
pub(super) struct Opened {
    pub(super) stack: Stack,
    pub(super) roots: Vec<LayerId>,
    /// Layers among those over the roots that stand for a part of another.
    pub(super) parts: Vec<LayerId>,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
}

impl Opened {
    fn of(mut stack: Stack, roots: Vec<LayerId>, mut notes: Vec<String>) -> Opened {
        let parts = btrfs::add_data(&mut stack, &mut notes);
        Opened { stack, roots, parts, notes }
    }
}

/// What is on files or devices, as `check` sees it; of a plan, what it says.
///
/// # Errors
/// When something cannot be opened, or is none of these; says what helps.
pub(super) fn opened(paths: &[PathBuf], scene: &Scene) -> Result<Opened, Refusal> {
    if paths == [PathBuf::from(plan::STDIN)] {
        return of_plan(plan::of_stdin(), "standard input");
    }
    let (mut files, mut devices) = (Vec::new(), Vec::new());
    for path in paths {
        let targets = target::expand(std::slice::from_ref(path), scene);
        let [target] = &targets[..] else {
            let message = format!("{} holds {} files", shown(path), targets.len());
            return Err(refusal(message, "name those that belong together"));
        };
        match &target.what {
            What::Refused(refusal) => return Err(refusal.clone()),
            What::Found(_) => {
                let message = format!("{} is a directory", shown(path));
                return Err(refusal(message, "name a file in it"));
            }
            What::File(path) => files.push(path.clone()),
            What::Devices { nodes, meant } => devices.push((nodes.clone(), *meant)),
        }
    }
    match (&files[..], &devices[..]) {
        (files, []) => of_files(files),
        ([], devices) => of_devices(devices, scene),
        _ => Err(refusal(
            "it is files and devices at once".to_owned(),
            "name files alone, or devices alone; losetup makes a device of a file",
        )),
    }
}

fn refusal(message: String, hint: &str) -> Refusal {
    Refusal { message, hint: Some(hint.to_owned()) }
}

fn of_files(paths: &[PathBuf]) -> Result<Opened, Refusal> {
    if let [path] = paths
        && let Some(plan) = plan::read(path)
    {
        return of_plan(plan, &shown(path));
    }
    let starts = paths.iter().map(|path| start(path)).collect::<Result<Vec<Start>, Refusal>>()?;
    let assembled = assemble(starts, &Beside, None);
    let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
    let note = match &names[..] {
        [one] => format!("{one} is taken for the drive's own bytes"),
        all => format!("{} are taken for drives' own bytes", all.join(" ")),
    };
    let notes = vec![format!("{note}: where its host puts them is not asked")];
    Ok(Opened::of(assembled.stack, assembled.roots, notes))
}

fn of_plan(plan: plan::Read, name: &str) -> Result<Opened, Refusal> {
    let (stack, root) = plan?;
    let note = format!("{name} is a plan: no disk is asked whether it has these partitions");
    Ok(Opened::of(stack, vec![root], vec![note]))
}

fn start(path: &Path) -> Result<Start, Refusal> {
    let start = target::start_file(path)?;
    match &start.bytes {
        Some(Ok(bytes)) if bytes.length_bytes() == 0 => {
            let message = format!("{} is empty", shown(path));
            Err(refusal(message, "name an image that holds a disk"))
        }
        _ => Ok(start),
    }
}

fn of_devices(devices: &[(Vec<NodeId>, Option<NodeId>)], scene: &Scene) -> Result<Opened, Refusal> {
    let machine = scene.machine();
    let machine = machine.map_err(|why| refusal(why.clone(), "see straddle check"))?;
    let mut nodes: Vec<NodeId> = devices.iter().flat_map(|(nodes, _)| nodes.clone()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let assembled = trace::beneath_loops(scene, scene.assemble(machine, &nodes, None));
    let meant: Vec<String> = devices
        .iter()
        .filter_map(|(_, meant)| *meant)
        .map(|id| escape(machine.node(id).name.as_bytes()))
        .collect();
    let is_meant = |layer: &Layer| layer.device.as_ref().is_some_and(|own| meant.contains(own));
    let found = assembled.stack.iter().filter(|(_, layer)| is_meant(layer));
    let mut roots: Vec<LayerId> = found.map(|(id, _)| id).collect();
    if roots.is_empty() {
        roots = assembled.roots;
    }
    Ok(Opened::of(assembled.stack, roots, Vec::new()))
}
