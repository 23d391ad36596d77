//! File systems with a part on another device: which belong together, and what was not given.

use std::collections::BTreeMap;

use format::filesystem::{Beside, FileSystem};

use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::LayerKind;

/// A file system, or its log, that lacks what is on other devices.
pub(crate) struct Lack {
    /// Its layer.
    pub(crate) layer: LayerId,
    /// The key that those that belong together share.
    pub(crate) key: String,
    /// A note for a person; `None` where nothing of the layer is unknown.
    pub(crate) text: Option<String>,
}

/// Returns what belongs to other devices, by layer.
fn parts(stack: &Stack) -> impl Iterator<Item = (LayerId, &FileSystem, &Beside)> {
    stack.iter().filter_map(|(id, layer)| match &layer.kind {
        LayerKind::FileSystem(system) => Some((id, system.as_ref(), system.beside.as_ref()?)),
        _ => None,
    })
}

/// The file systems of which `id` is the log, or the logs of file system `id`.
#[must_use]
pub fn partners(stack: &Stack, id: LayerId) -> Vec<LayerId> {
    let Some((_, _, own)) = parts(stack).find(|(layer, ..)| *layer == id) else {
        return Vec::new();
    };
    let fits = |other: &Beside| match (own, other) {
        (Beside::LogOn(uuid), Beside::LogOf(other))
        | (Beside::LogOf(uuid), Beside::LogOn(other)) => uuid == other,
        _ => false,
    };
    parts(stack).filter(|(.., other)| fits(other)).map(|(layer, ..)| layer).collect()
}

/// Every part whose others are not in the stack.
pub(crate) fn lacking(stack: &Stack) -> Vec<Lack> {
    let mut devices: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
    for (_, _, beside) in parts(stack) {
        if let Beside::OneOf { uuid, number, .. } = beside {
            *devices.entry(uuid).or_default().entry(*number).or_default() += 1;
        }
    }
    let lack = |(layer, system, beside): (LayerId, &FileSystem, &Beside)| {
        let alone = || partners(stack, layer).is_empty();
        let (uuid, text) = match beside {
            Beside::LogOn(uuid) if alone() => {
                (uuid, Some(format!("its log is on another device, which was not given: {uuid}")))
            }
            Beside::LogOf(uuid) if alone() => (uuid, None),
            Beside::OneOf { of, uuid, number } => {
                let given = devices.get(uuid.as_str())?;
                let (had, kind) = (given.len() as u64, system.kind);
                match given.get(number) {
                    Some(2..) => (
                        uuid,
                        Some(format!(
                            "device {number} of the {kind} is given more than once: all but one \
                             are copies, and only one may be attached when it is mounted"
                        )),
                    ),
                    _ if had < *of => {
                        (uuid, Some(format!("given: {had} of the {of} devices of the {kind}")))
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Lack { layer, key: format!("file system {uuid}"), text })
    };
    parts(stack).filter_map(lack).collect()
}
