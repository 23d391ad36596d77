//! `--stack`: the layers of an image or a device, and where their bytes lie on the one drive under
//! them.
//!
//! An array is refused: a write to it reads and writes what no address tells. A profile of the
//! array simulates it.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{anyhow, bail};
use format::table::PartitionRole;
use host::Beside;
use report::Refusal;
use stack::assemble::{Assembled, assemble};
use stack::mapping::Mapping;
use stack::resolve::{On, resolve};
use stack::{LayerId, LayerKind, Stack};
use units::ByteRange;
use units::text::escape;

use crate::arguments::Simulate;
use crate::printer::shown;
use crate::scene::Scene;
use crate::target::{self, What};
use crate::trace;

/// The most layers that are simulated without being named.
const LAYERS_MAX: usize = 64;
/// How far the first byte that lies anywhere is looked for, and in which steps.
const LOOK_BYTES: u64 = 256 << 20;
const STEP_BYTES: u64 = 1 << 20;
/// The most names in a message.
const NAMES_MAX: usize = 8;

/// A layer on one drive.
pub(super) struct Ground {
    stack: Rc<Stack>,
    layer: LayerId,
    /// What it is called: `disk.raw#1 ext4`.
    pub(super) name: String,
    /// Where its first byte lies on the drive, or the first one that lies anywhere.
    pub(super) start_bytes: u64,
    /// Its length.
    pub(super) length_bytes: u64,
}

/// The layers on which a workload is done.
pub(super) struct Grounds {
    /// At least one.
    pub(super) grounds: Vec<Ground>,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
}

impl Grounds {
    /// The layers of `path` that are meant: the one that is named, or each on which nothing lies.
    ///
    /// # Errors
    /// When it cannot be read, nothing is in it, no layer has the name, or none of them lies on one
    /// drive at addresses that are known; says why and what helps.
    pub(super) fn of(path: &Path, asked: &Simulate) -> anyhow::Result<Grounds> {
        let scene = match &asked.sysroot {
            Some(tree) => Scene::of(host::sysroot::open(tree)?, true),
            None => Scene::live(),
        };
        let (path, numbered) = split(path, &scene);
        let name = shown(&path);
        let refused = |refusal: Refusal| {
            let hint = refusal.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            anyhow!("cannot simulate on {name}: {}{hint}", refusal.message)
        };
        let Found { assembled, roots, is_file } = found(&path, &scene).map_err(refused)?;
        let stack = Rc::new(assembled.stack);
        let all = layers(&stack, &roots);
        let chosen = match asked.layer.as_ref().or(numbered.as_ref()) {
            Some(word) => vec![one(&stack, &all, word, &name)?],
            None => tops(&stack, &all),
        };
        if chosen.is_empty() {
            bail!(
                "cannot simulate on {name}: no partition, volume or file system is recognised in \
                 it\nhint: straddle check {name} shows what is"
            );
        }
        let mut notes = Vec::new();
        if is_file {
            notes.push(format!(
                "{name} is taken for the drive's own bytes: where its host puts them is not asked"
            ));
        }
        if chosen.len() > LAYERS_MAX {
            let count = chosen.len();
            notes.push(format!("{LAYERS_MAX} of {count} layers are simulated: see --layer"));
        }
        let mut grounds = Vec::new();
        let mut faults = Vec::new();
        for layer in chosen.into_iter().take(LAYERS_MAX) {
            match Ground::of(&stack, layer) {
                Ok(ground) => grounds.push(ground),
                Err(why) => faults.push(format!("{} {why}", label(&stack, layer))),
            }
        }
        match (grounds.is_empty(), faults.first()) {
            (true, Some(first)) => bail!(
                "cannot simulate on {name}: {first}\nhint: simulate an array by its own profile, \
                 such as raid5-5x64k, with --start or --shift; straddle drive list"
            ),
            _ => notes.extend(faults.iter().map(|fault| format!("not simulated: {fault}"))),
        }
        grounds.sort_by_key(|ground| ground.start_bytes);
        Ok(Grounds { grounds, notes })
    }
}

/// `IMAGE#1` is the partition `#1` of `IMAGE`, where no file has the whole name.
fn split(path: &Path, scene: &Scene) -> (PathBuf, Option<String>) {
    let whole = || (path.to_owned(), None);
    if scene.is_captured || path.exists() {
        return whole();
    }
    match path.to_str().and_then(|text| text.rsplit_once('#')) {
        Some((image, number)) => (PathBuf::from(image), Some(format!("#{number}"))),
        None => whole(),
    }
}

/// A stack, and the layers whose bytes are meant.
struct Found {
    assembled: Assembled,
    roots: Vec<LayerId>,
    is_file: bool,
}

/// What is on a file or a device, as `check` sees it.
fn found(path: &Path, scene: &Scene) -> Result<Found, Refusal> {
    let refusal = |message: String, hint: &str| Refusal { message, hint: Some(hint.to_owned()) };
    let targets = target::expand(std::slice::from_ref(&path.to_owned()), scene);
    let [target] = &targets[..] else {
        return Err(refusal(format!("it holds {} files", targets.len()), "name one of them"));
    };
    match &target.what {
        What::Refused(refusal) => Err(refusal.clone()),
        What::Found(_) => Err(refusal("it is a directory".to_owned(), "name a file in it")),
        What::File(path) => {
            let start = target::start_file(path)?;
            if let Some(Ok(bytes)) = &start.bytes
                && bytes.length_bytes() == 0
            {
                return Err(refusal("it is empty".to_owned(), "name an image that holds a disk"));
            }
            let assembled = assemble(vec![start], &Beside, None);
            let roots = assembled.roots.clone();
            Ok(Found { assembled, roots, is_file: true })
        }
        What::Devices { nodes, meant } => {
            let machine = scene.machine();
            let machine = machine.map_err(|why| refusal(why.clone(), "see straddle check"))?;
            let assembled = trace::beneath_loops(scene, scene.assemble(machine, nodes, None));
            let meant = meant.map(|id| escape(machine.node(id).name.as_bytes()));
            let is_meant = |layer: &stack::Layer| meant.is_some() && layer.device == meant;
            let found = assembled.stack.iter().find(|(_, layer)| is_meant(layer));
            let roots = found.map_or_else(|| assembled.roots.clone(), |(id, _)| vec![id]);
            Ok(Found { assembled, roots, is_file: false })
        }
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

/// The layer that `word` names: its name, its device, the end of a partition's name, or the label
/// that is shown of it.
fn one(stack: &Stack, all: &[LayerId], word: &str, target: &str) -> anyhow::Result<LayerId> {
    let is_named = |id: LayerId| {
        let layer = stack.layer(id);
        let is_numbered = word.starts_with('#') && layer.name.ends_with(word);
        let is_partition = matches!(layer.kind, LayerKind::Partition(..));
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
            "cannot simulate on {target}: nothing is recognised in it, and no layer is called \
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

/// What a layer is called with those that it lies on, down to an array or a drive: `disk.raw#1
/// ext4`.
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

impl Ground {
    /// A layer that lies on one drive at addresses that are known; else why it does not.
    fn of(stack: &Rc<Stack>, layer: LayerId) -> Result<Ground, String> {
        let under = stack.under(layer);
        let is_leaf = |id: &&LayerId| matches!(stack.layer(**id).mapping, Mapping::Leaf);
        let leaves = under.iter().filter(is_leaf).count();
        let spread = under.iter().map(|&id| members(&stack.layer(id).mapping)).max().unwrap_or(0);
        if leaves.max(spread) != 1 {
            let many = leaves.max(spread);
            return Err(format!("lies on {many} drives or files; on one it can be simulated"));
        }
        let Some(length_bytes) = stack.layer(layer).length() else {
            return Err("has a length that is not known".to_owned());
        };
        let stack = Rc::clone(stack);
        let name = label(&stack, layer);
        let mut ground = Ground { stack, layer, name, start_bytes: 0, length_bytes };
        ground.start_bytes = ground.first()?;
        Ok(ground)
    }

    /// The address of the first byte that has one.
    fn first(&self) -> Result<u64, String> {
        let mut at = 0;
        while at < self.length_bytes.min(LOOK_BYTES) {
            let length = (self.length_bytes - at).min(STEP_BYTES);
            let range = ByteRange::new(at, length).ok_or("lies behind the last address")?;
            for piece in resolve(&self.stack, self.layer, range) {
                match piece.on {
                    On::Leaf(_, address) => return Ok(address),
                    On::Unknown(reason) => return Err(format!("has no known address: {reason}")),
                    On::Zeros | On::Compressed(_) => {}
                }
            }
            at += length;
        }
        Err("lies nowhere yet: its image has holes there".to_owned())
    }

    /// The runs of the drive that `length_bytes` of the layer lie on, in order, each with its
    /// address and length; `None` where a part lies in a hole or is compressed, so that a write
    /// would put it elsewhere.
    ///
    /// # Errors
    /// When nobody can say where it lies; with the reason.
    pub(super) fn runs(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<Option<Vec<(u64, u64)>>, String> {
        let Some(range) = ByteRange::new(offset_bytes, length_bytes) else {
            return Err("it reaches behind the last address".to_owned());
        };
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for piece in resolve(&self.stack, self.layer, range) {
            let address = match piece.on {
                On::Leaf(_, address) => address,
                On::Zeros | On::Compressed(_) => return Ok(None),
                On::Unknown(reason) => {
                    return Err(format!("its byte {} has no address: {reason}", piece.at_bytes));
                }
            };
            match runs.last_mut() {
                Some((start, length)) if *start + *length == address => {
                    *length += piece.length_bytes;
                }
                _ => runs.push((address, piece.length_bytes)),
            }
        }
        Ok(Some(runs))
    }
}

/// Over how many members a mapping spreads what is on it, whether they were given or not; 1 where
/// it does not.
fn members(mapping: &Mapping) -> usize {
    match mapping {
        Mapping::Striped { members, .. }
        | Mapping::Mirrored { members }
        | Mapping::Parity { members, .. } => members.len(),
        Mapping::Segments(segments) => {
            let each = segments.iter().map(|segment| members(&segment.mapping));
            each.max().unwrap_or(1)
        }
        _ => 1,
    }
}
