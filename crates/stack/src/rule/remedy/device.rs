//! What to type for a layer.

use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::Mapping;

/// What to type for a layer: the node of a device, the name of a file.
pub(in crate::rule) fn typed(layer: &Layer) -> String {
    node(layer).unwrap_or_else(|| "DEVICE".to_owned())
}

/// What to type for a layer that has a node or a name of its own.
pub(in crate::rule) fn node(layer: &Layer) -> Option<String> {
    path(layer).map(|path| quoted(&path))
}

/// The node or name of a layer, not quoted.
fn path(layer: &Layer) -> Option<String> {
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

/// A word as a shell takes it: in quotes where it holds anything but what names are made of. What
/// was escaped to be printed cannot be typed at all, so it stays as it is shown.
pub(in crate::rule) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    let dash = if word.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_so_that_it_can_be_typed() {
        assert_eq!(quoted("/srv/vm/disk-1.raw"), "/srv/vm/disk-1.raw");
        assert_eq!(quoted("a b.raw"), "'a b.raw'");
        assert_eq!(quoted("it's;rm"), r"'it'\''s;rm'");
        assert_eq!(quoted("-x"), "'./-x'");
    }
}
