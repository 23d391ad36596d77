//! Text to type for a layer.

use units::text::file_word;

use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::Mapping;

/// Returns what to type for a layer: the node of a device, the name of a file.
pub(in crate::rule) fn typed(layer: &Layer) -> String {
    node(layer).unwrap_or_else(|| "DEVICE".to_owned())
}

/// Returns what to type for a layer that has a node or a name of its own.
pub(in crate::rule) fn node(layer: &Layer) -> Option<String> {
    path(layer).map(|path| file_word(&path))
}

/// The node or name of a layer, not quoted.
pub(super) fn path(layer: &Layer) -> Option<String> {
    if let Some(device) = &layer.device {
        return Some(format!("/dev/{}", device.replace('!', "/")));
    }
    match layer.kind {
        LayerKind::Drive(_) => Some(format!("/dev/{}", layer.name)),
        LayerKind::ImageFile => Some(layer.path.clone().unwrap_or_else(|| layer.name.clone())),
        _ => None,
    }
}

/// The device or file in which a layer is, not quoted, and where it starts there.
pub(in crate::rule) fn within(stack: &Stack, id: LayerId) -> Option<(String, u64)> {
    let Mapping::Linear(below) = &stack.layer(id).mapping else { return None };
    let (mut below, mut at) = (below.layer, below.offset_bytes);
    loop {
        let layer = stack.layer(below);
        if let Some(path) = path(layer) {
            return Some((path, at));
        }
        let Mapping::Linear(next) = &layer.mapping else { return None };
        at = at.checked_add(next.offset_bytes)?;
        below = next.layer;
    }
}
