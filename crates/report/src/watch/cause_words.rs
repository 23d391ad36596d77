//! Causes in sentences.

use measure::live::Consequence;
use units::prefix::Exact;

use super::WatchedDevice;
use crate::quantity_words::percent;

/// The sentence for `cause` on `device`, and a command that shows more.
pub(super) fn sentence(cause: &Consequence, device: &WatchedDevice) -> (String, Option<String>) {
    let share = percent(cause.share() * 100.0);
    let granule = device
        .granule_bytes
        .map_or("granule".to_owned(), |bytes| format!("granule of {}", Exact(bytes)));
    let of = |layer: &Option<String>| {
        layer.as_ref().map_or(String::new(), |layer| format!(" to {layer}"))
    };
    match cause {
        Consequence::Shifted { layer, offset_bytes, .. } => (
            format!(
                "{share} are whole granules written{} that start {} off one: a layer is \
                 misaligned",
                of(layer),
                Exact(*offset_bytes)
            ),
            Some(format!("straddle check /dev/{}", device.name)),
        ),
        Consequence::SmallPages { process, page_bytes, .. } => {
            let whose = process.as_ref().map_or("", |_| " of ");
            let process = process.as_deref().unwrap_or_default();
            let page = Exact(*page_bytes);
            (
                format!(
                    "{share} are pages of {page}{whose}{process}, or several of them: a page is \
                     smaller than the {granule}. No layer below can mend that; larger pages would"
                ),
                None,
            )
        }
        Consequence::JournalBlocks { layer, .. } => (
            format!(
                "{share} are journal writes{} in blocks smaller than the {granule}: a file system \
                 made with larger blocks would not have them",
                of(layer)
            ),
            None,
        ),
    }
}
