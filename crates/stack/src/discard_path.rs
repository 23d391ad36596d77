//! The way of a discard from a file system to its drives: the layer at which it ends, and the
//! largest unit on it.
//!
//! The kernel folds the limits of discards from below, so that one layer that takes none makes all
//! above it take none: the lowest of them is to blame. Source: Linux `block/blk-settings.c`
//! (`blk_stack_limits`), `drivers/md/{raid5,dm-crypt,dm-thin}.c`, `drivers/block/loop.c`.

use format::filesystem::is_read_only_kind;
use format::image::Image;

use crate::graph::Stack;
use crate::id::LayerId;
use crate::kernel::dm::{PoolDiscards, TableDiscards};
use crate::layer::{Layer, LayerKind, LayerType};
use crate::mapping::Mapping;

/// The way of a discard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscardPath {
    /// Its end.
    pub arrival: DiscardArrival,
    /// The largest unit on it: less than a whole one frees nothing there. `None` where no layer
    /// tells one.
    pub grain: Option<DiscardGrain>,
}

/// The end of a discard's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscardArrival {
    /// It reaches these layers, which are drives, or files in which it frees blocks.
    Arrives(Vec<LayerId>),
    /// A layer takes none.
    Stopped {
        /// The lowest that takes none.
        by: LayerId,
        /// The evidence.
        why: String,
        /// Layers above it whose own tables would stop it too, with the evidence.
        also: Vec<(LayerId, String)>,
    },
    /// Its end cannot be told.
    Unknown {
        /// The reason.
        why: String,
    },
}

/// The largest unit on a discard's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardGrain {
    /// Its length in bytes.
    pub bytes: u64,
    /// The layer that has it.
    pub layer: LayerId,
    /// Bytes between a boundary of it and the file system's start; `None` where the way between
    /// them is not straight.
    pub offset_bytes: Option<u64>,
}

/// A layer's say about discards.
enum Passes {
    Yes,
    No(String),
    Unknown(String),
}

/// Returns the way of a discard of the file system `id`; `None` of another layer, of a file system
/// that is never written, and of one in a plain file, of whose disk nothing is known.
#[must_use]
pub fn of(stack: &Stack, id: LayerId) -> Option<DiscardPath> {
    let system = stack.layer(id);
    match &system.kind {
        LayerKind::FileSystem(system) if !system.is_read_only => {}
        LayerKind::Mounted(kind) if !is_read_only_kind(kind) => {}
        _ => return None,
    }
    let way = way(stack, id);
    let is_image = |&id: &LayerId| matches!(stack.layer(id).kind, LayerKind::ImageFormat(_));
    let is_file = |&id: &LayerId| matches!(stack.layer(id).kind, LayerKind::ImageFile);
    if way.iter().any(is_file) && !way.iter().any(is_image) {
        return None;
    }
    Some(DiscardPath { arrival: arrival(stack, id, &way), grain: grain(stack, id, &way) })
}

/// The layers under `id` down to its drives, or to a file: a discard frees blocks of the file, and
/// goes on from there only when the file's own file system discards. Lower numbers first.
fn way(stack: &Stack, id: LayerId) -> Vec<LayerId> {
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec![id];
    while let Some(here) = open.pop() {
        let layer = stack.layer(here);
        let below = layer.mapping.below();
        let is_new = |below: &LayerId| seen.insert(*below);
        if !matches!(layer.kind, LayerKind::File) {
            open.extend(below.into_iter().filter(is_new));
        }
    }
    seen.into_iter().collect()
}

fn arrival(stack: &Stack, id: LayerId, way: &[LayerId]) -> DiscardArrival {
    let mut unknown = None;
    for &below in way {
        match passes(stack.layer(below)) {
            Passes::Yes => {}
            Passes::No(why) => {
                let above = way.iter().copied().filter(|&above| above > below);
                let also = above.filter_map(|id| Some((id, table_reason(stack.layer(id))?)));
                return DiscardArrival::Stopped { by: below, why, also: also.collect() };
            }
            Passes::Unknown(why) => unknown = unknown.or(Some(why)),
        }
    }
    if let Some(why) = unknown {
        return DiscardArrival::Unknown { why };
    }
    if let Mapping::Unknown { on, .. } = &stack.layer(id).mapping
        && on.is_empty()
    {
        return DiscardArrival::Unknown { why: "the layers below are not known".to_owned() };
    }
    let ends = way.iter().copied().filter(|&id| is_end(stack.layer(id)));
    DiscardArrival::Arrives(ends.collect())
}

fn is_end(layer: &Layer) -> bool {
    matches!(layer.kind, LayerKind::File) || matches!(layer.mapping, Mapping::Leaf)
}

fn passes(layer: &Layer) -> Passes {
    if let LayerKind::Drive(drive) = &layer.kind {
        let said = [&drive.discard_bytes, &drive.queue.discard_max_bytes];
        return match said.map(|known| known.value().copied()) {
            [Some(0), _] => Passes::No("discard_granularity is 0".to_owned()),
            [_, Some(0)] => Passes::No("discard_max_bytes is 0".to_owned()),
            [Some(_), _] => Passes::Yes,
            [None, _] => Passes::Unknown(format!("{} does not tell of discards", layer.name)),
        };
    }
    if let Some(why) = table_reason(layer) {
        return Passes::No(why);
    }
    if let Some(limits) = &layer.limits {
        match limits.discard_max_bytes.value() {
            Some(0) => return Passes::No(stacked_reason(layer)),
            Some(_) => return Passes::Yes,
            None => {}
        }
    }
    match &layer.kind {
        LayerKind::Luks(luks) => Passes::Unknown(format!(
            "{} is not open here; its header {}",
            layer.name,
            match luks.allows_discards {
                true => "allows discards",
                false => "has no allow-discards flag, so they pass only if it is opened with it",
            }
        )),
        _ if has_parity(layer) => Passes::Unknown(format!("{}: {PARITY}", layer.name)),
        LayerKind::ImageFormat(_) => {
            Passes::Unknown("QEMU frees clusters only with discard=unmap on its drive".to_owned())
        }
        // Of other devices the kernel says it, where it says anything.
        LayerKind::Mapped(_) | LayerKind::Bcache(_) | LayerKind::Integrity(_) => {
            Passes::Unknown(format!("{}: its limits are not known", layer.name))
        }
        _ => Passes::Yes,
    }
}

/// Why a device-mapper device hands none down by its own table; `None` where it does, and of other
/// layers.
fn table_reason(layer: &Layer) -> Option<String> {
    let why = match layer.limits.as_ref()?.table_discards.as_ref()? {
        TableDiscards::Crypt { allowed: false, .. } => "its table has no allow_discards",
        TableDiscards::Pool(PoolDiscards::Ignored) => "its table has ignore_discard",
        TableDiscards::Pool(PoolDiscards::KeptInPool) => {
            "its table has no_discard_passdown: only the pool gets space back"
        }
        TableDiscards::Crypt { .. } | TableDiscards::Pool(PoolDiscards::PassedDown) => return None,
    };
    Some(why.to_owned())
}

/// Why a stacked device takes none although the devices below do.
fn stacked_reason(layer: &Layer) -> String {
    let about = match layer.kind.kind() {
        _ if has_parity(layer) => PARITY,
        LayerType::Loop => "the file system of its file cannot punch holes",
        _ => return "discard_max_bytes is 0".to_owned(),
    };
    format!("discard_max_bytes is 0: {about}")
}

/// Returns whether a layer is an array with parity.
pub(crate) fn has_parity(layer: &Layer) -> bool {
    match &layer.kind {
        LayerKind::MdArray(array) => matches!(array.level, 4..=6),
        _ => matches!(layer.mapping, Mapping::Parity { .. }),
    }
}

/// Source: Linux `drivers/md/raid5.c` (`raid5_set_limits`), `drivers/md/dm-raid.c`.
const PARITY: &str = "RAID with parity passes discards only where devices_handle_discard_safely of \
                      raid456 (LVM: dm_raid) is Y and members discard whole stripes";

/// The largest unit; of equal ones the lowest.
fn grain(stack: &Stack, id: LayerId, way: &[LayerId]) -> Option<DiscardGrain> {
    let units = way.iter().filter_map(|&layer| Some((unit(stack.layer(layer))?, layer)));
    let largest = units.max_by_key(|&((bytes, _), layer)| (bytes, std::cmp::Reverse(layer)));
    let ((bytes, origin), layer) = largest?;
    let start = offset(stack, id, layer);
    // Counted from a boundary at or before the start, wherever the first one is.
    let offset_bytes = start.and_then(|start| {
        let first = origin.checked_rem(bytes)?;
        start.checked_add(bytes.checked_sub(first)?)?.checked_rem(bytes)
    });
    Some(DiscardGrain { bytes, layer, offset_bytes })
}

/// The unit of discards of one layer, and the byte of it at which the first one starts.
fn unit(layer: &Layer) -> Option<(u64, u64)> {
    if let LayerKind::Drive(drive) = &layer.kind {
        let unit = drive.discard_unit()?;
        return Some((unit.length_bytes(), unit.origin_bytes()));
    }
    let image = match &layer.kind {
        LayerKind::ImageFormat(image) => cluster(image),
        _ => None,
    };
    let chunk = match &layer.mapping {
        Mapping::Scattered { chunk_bytes, .. } => Some(*chunk_bytes),
        _ => None,
    };
    image.or(chunk).filter(|&bytes| bytes > 0).map(|bytes| (bytes, 0))
}

fn cluster(image: &Image) -> Option<u64> {
    image.subblock_bytes.or(image.block_bytes)
}

/// The byte of `below` at which `id` starts, where all between them is straight.
fn offset(stack: &Stack, id: LayerId, below: LayerId) -> Option<u64> {
    let (mut here, mut at) = (id, 0_u64);
    while here != below {
        let Mapping::Linear(next) = &stack.layer(here).mapping else { return None };
        at = at.checked_add(next.offset_bytes)?;
        here = next.layer;
    }
    Some(at)
}
