//! Disks on which nothing was found: empty, or of unknown content.

use format::image::ImageLayout;
use format::lost_table::{self, Unlisted};
use format::{Problem, ProblemKind, blank};
use units::prefix::Exact;

use crate::graph::Stack;
use crate::layer::{Bare, Layer, LayerKind};

/// Says of each disk, image and guest disk that was read, and on which nothing stands, what that
/// means; of an encrypted one, also where another image stands on it.
pub(super) fn mark(stack: &mut Stack) {
    let found: Vec<_> = (stack.iter())
        .filter(|(id, layer)| is_encrypted(layer) || is_disk(layer) && stack.above(*id).is_empty())
        .filter_map(|(id, layer)| {
            let disk = stack.bytes(id)?;
            let bare = match layer.tables.as_slice() {
                [] => untabled(layer, || blank::is_blank(disk.as_ref())),
                tables => {
                    let words: Vec<&str> = tables.iter().map(|table| table.kind.word()).collect();
                    tabled(layer, &words.join(" and "))
                }
            };
            let found = match is_encrypted(layer) || unread_layout(layer).is_some() {
                true => Unlisted::default(),
                false => lost_table::unlisted(disk.as_ref()),
            };
            let bare = match (bare, found.data_at_bytes) {
                (Bare::Empty(_), Some(at)) => Bare::Unknown(format!(
                    "nothing recognized, and bytes from {} on are not zero",
                    Exact(at)
                )),
                (bare, _) => bare,
            };
            Some((id, if found.volumes.is_empty() { bare } else { Bare::Lost(found.volumes) }))
        })
        .collect();
    for (id, bare) in found {
        stack.layer_mut(id).bare = Some(bare);
    }
}

fn is_disk(layer: &Layer) -> bool {
    matches!(layer.kind, LayerKind::Drive(_) | LayerKind::ImageFile | LayerKind::ImageFormat(_))
}

fn is_encrypted(layer: &Layer) -> bool {
    matches!(&layer.kind, LayerKind::ImageFormat(image) if image.encrypted)
}

/// Returns why the bytes that an image format gives a guest are not known, where that is so.
fn unread_layout(layer: &Layer) -> Option<&String> {
    match &layer.kind {
        LayerKind::ImageFormat(image) => match &image.layout {
            ImageLayout::Unknown(reason) => Some(reason),
            _ => None,
        },
        _ => None,
    }
}

/// A partition table that lists nothing.
fn tabled(layer: &Layer, kind: &str) -> Bare {
    let known = |problem: &&Problem| problem.kind != ProblemKind::Unsupported;
    let reason = format!("the {kind} partition table lists no partition");
    match (layer.problems.iter().find(known), layer.also.first()) {
        (Some(problem), _) => Bare::Unknown(problem.detail.clone()),
        (None, Some(other)) => Bare::Unknown(format!("{reason}, but a signature is left: {other}")),
        (None, None) => Bare::Empty(reason),
    }
}

fn untabled(layer: &Layer, is_blank: impl FnOnce() -> Result<bool, device::ReadError>) -> Bare {
    if is_encrypted(layer) {
        return Bare::Unknown("encrypted: what is inside cannot be read".to_owned());
    }
    if let Some(reason) = unread_layout(layer) {
        return Bare::Unknown(reason.clone());
    }
    if layer.length() == Some(0) {
        return Bare::Unknown("0 bytes long".to_owned());
    }
    match is_blank() {
        Ok(true) => Bare::Empty(
            "blank where straddle read it: no partition table, nothing recognized".to_owned(),
        ),
        Ok(false) => Bare::Unknown(
            "nothing recognized: no partition table, member, file system or image format"
                .to_owned(),
        ),
        Err(device::ReadError::Failed { reason, .. }) => {
            Bare::Unknown(format!("its content could not be read: {reason}"))
        }
        Err(error) => Bare::Unknown(format!("its content could not be read: {error}")),
    }
}
