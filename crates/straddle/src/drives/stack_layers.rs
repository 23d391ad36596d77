//! `--stack`: the layers of images, of devices or of a plan on which a workload is done.

use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{anyhow, bail};
use format::table::PartitionRole;
use report::Refusal;
use stack::mapping::Mapping;
use stack::{LayerId, LayerKind, Stack};
use units::text::escape;

use super::layer_place::LayerPlace;
use super::stack_input::{StackInput, opened};
use crate::arguments::Simulate;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;

/// The most layers that are simulated without being named.
const LAYERS_MAX: usize = 64;
/// The most names in a message.
const NAMES_MAX: usize = 8;

/// Advice where a layer has no address, and where that is since members were not given.
const WHERE: &str = "see where it is: straddle check";
const ALL_OF_IT: &str = "name every device or file that it is on: --stack A B C";

/// The layers on which a workload is done.
pub(super) struct StackLayers {
    /// At least one.
    pub(super) grounds: Vec<LayerPlace>,
    /// Notes that a reader should know.
    pub(super) notes: Vec<String>,
}

impl StackLayers {
    /// The layers of `paths` that are meant: the one that is named, or each on which nothing lies.
    ///
    /// # Errors
    /// When something cannot be read, nothing is in it, no layer has the name, or none of them lies
    /// on drives at addresses that are known; says why and what helps.
    pub(super) fn of(paths: &[PathBuf], asked: &Simulate) -> anyhow::Result<StackLayers> {
        let inspected = InspectedMachine::at(asked.captured.tree.as_deref())?;
        let (paths, numbered) = split(paths, &inspected);
        let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        let name = names.join(" ");
        let refused = |refusal: Refusal| {
            let hint = refusal.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            anyhow!("cannot simulate on {name}: {}{hint}", refusal.message)
        };
        let StackInput { stack, roots, parts, lacks, mut notes } =
            opened(&paths, &inspected).map_err(refused)?;
        let stack = Rc::new(stack);
        let mut all = layers(&stack, &roots);
        all.retain(|id| !parts.contains(id));
        let chosen = match asked.layer.as_ref().or(numbered.as_ref()) {
            Some(word) => vec![one(&stack, &all, word, &name)?],
            None => tops(&stack, &all),
        };
        if chosen.is_empty() {
            bail!(
                "cannot simulate on {name}: no partition, volume or file system is recognized in \
                 it\nhint: see what is there: straddle check {name}"
            );
        }
        if chosen.len() > LAYERS_MAX {
            let count = chosen.len();
            notes.push(format!("{LAYERS_MAX} of {count} layers are simulated: see --layer"));
        }
        let hint = if lacks { ALL_OF_IT } else { WHERE };
        let mut grounds = Vec::new();
        let mut faults = Vec::new();
        for layer in chosen.into_iter().take(LAYERS_MAX) {
            let name = label(&stack, layer);
            match LayerPlace::of(&stack, layer, name.clone(), hint) {
                Ok(ground) => grounds.push(ground),
                Err(why) => faults.push(format!("{name} {why}")),
            }
        }
        match (grounds.is_empty(), faults.first()) {
            (true, Some(first)) if lacks => {
                bail!("cannot simulate on {name}: {first}\nhint: {ALL_OF_IT}")
            }
            (true, Some(first)) => bail!(
                "cannot simulate on {name}: {first}\nhint: see where it is: straddle check {name}; \
                 arrays also have built-in profiles, such as raid5-5x64k"
            ),
            _ => notes.extend(faults.iter().map(|fault| format!("not simulated: {fault}"))),
        }
        grounds.sort_by_key(|ground| ground.start_bytes);
        Ok(StackLayers { grounds, notes })
    }
}

/// `IMAGE#1` is the partition `#1` of `IMAGE`, where it stands alone and no file has the whole
/// name.
fn split(paths: &[PathBuf], inspected: &InspectedMachine) -> (Vec<PathBuf>, Option<String>) {
    let whole = || (paths.to_owned(), None);
    let [path] = paths else { return whole() };
    if inspected.is_captured || path.exists() {
        return whole();
    }
    match path.to_str().and_then(|text| text.rsplit_once('#')) {
        Some((image, number)) => (vec![PathBuf::from(image)], Some(format!("#{number}"))),
        None => whole(),
    }
}

/// The layers that lie on `roots`, and these where they lie on others themselves.
fn layers(stack: &Stack, roots: &[LayerId]) -> Vec<LayerId> {
    let mut all: Vec<LayerId> = roots.to_vec();
    all.extend(roots.iter().flat_map(|&root| stack.over(root)));
    all.sort_unstable();
    all.dedup();
    all.retain(|&id| !matches!(stack.layer(id).mapping, Mapping::Leaf));
    all
}

/// Those on which nothing lies, and that hold data.
fn tops(stack: &Stack, all: &[LayerId]) -> Vec<LayerId> {
    let holds_data = |id: LayerId| match &stack.layer(id).kind {
        LayerKind::Partition(partition, _) => {
            !matches!(partition.role, PartitionRole::Extended | PartitionRole::Protective)
        }
        _ => true,
    };
    all.iter().copied().filter(|&id| stack.above(id).is_empty() && holds_data(id)).collect()
}

/// The number at the end of a partition's device: 3 of sda3, 1 of nvme0n1p1.
fn numbers(device: &str) -> Option<&str> {
    let rest = device.trim_end_matches(|last: char| last.is_ascii_digit());
    device.strip_prefix(rest).filter(|number| !number.is_empty())
}

/// The layer that `word` names: its name, its device, a partition's number, or the label that is
/// shown of it.
fn one(stack: &Stack, all: &[LayerId], word: &str, target: &str) -> anyhow::Result<LayerId> {
    let is_named = |id: LayerId| {
        let layer = stack.layer(id);
        let number = word.trim_start_matches('#');
        let is_numbered = layer.name.rsplit_once('#').is_some_and(|(_, own)| own == number)
            || layer.device.as_ref().is_some_and(|device| numbers(device) == Some(number));
        let is_partition =
            matches!(layer.kind, LayerKind::Partition(..) | LayerKind::KernelPartition);
        let is_device = layer.device.as_deref() == Some(word);
        layer.name == word || is_device || is_numbered && is_partition || label(stack, id) == word
    };
    let found: Vec<LayerId> = all.iter().copied().filter(|&id| is_named(id)).collect();
    let names = |ids: &[LayerId]| {
        let quoted = ids.iter().take(NAMES_MAX).map(|&id| format!("`{}`", label(stack, id)));
        quoted.collect::<Vec<String>>().join(", ")
    };
    let word = escape(word.as_bytes());
    match found[..] {
        [one] => Ok(one),
        [] if all.is_empty() => bail!(
            "cannot simulate on {target}: nothing is recognized in it, and no layer is called \
             `{word}`\nhint: straddle check {target}"
        ),
        [] => bail!(
            "cannot simulate on {target}: no layer of it is called `{word}`\nhint: name one of \
             these: {}",
            names(all)
        ),
        _ => bail!(
            "cannot simulate on {target}: {} layers are called `{word}`\nhint: name one of these: \
             {}",
            found.len(),
            names(&found)
        ),
    }
}

/// Returns what a layer is called with those that it lies on, down to an array or a drive:
/// `disk.raw#1 ext4`.
fn label(stack: &Stack, id: LayerId) -> String {
    let mut path = vec![id];
    while let Some(&id) = path.last()
        && let [below] = stack.layer(id).mapping.below()[..]
    {
        path.push(below);
    }
    let names: Vec<&str> = path.iter().rev().map(|&id| stack.layer(id).name.as_str()).collect();
    // A partition's name begins with that of its disk.
    let tells = |(at, name): (usize, &&str)| {
        let next = names.get(at + 1).is_none_or(|next| !next.starts_with(name));
        next.then(|| (*name).to_owned())
    };
    names.iter().enumerate().filter_map(tells).collect::<Vec<String>>().join(" ")
}
