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
    let by = match cause {
        Consequence::SmallPages { process, .. } | Consequence::SmallWrites { process, .. } => {
            process.as_deref()
        }
        _ => None,
    };
    let by = by.map_or(String::new(), |process| format!(" by {process}"));
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
        Consequence::SmallPages { page_bytes, .. } => (
            format!(
                "{share} are pages of {}{by}, smaller than the {granule}: larger pages would fit",
                Exact(*page_bytes)
            ),
            None,
        ),
        Consequence::SmallBlocks { layer, block_bytes, .. } => {
            // No file system is mounted everywhere with blocks above a page of memory.
            let remedy = match device.granule_bytes {
                Some(bytes @ ..=4096) => {
                    format!("; with blocks of {} only direct I/O could be off", Exact(bytes))
                }
                _ => String::new(),
            };
            let block = Exact(*block_bytes);
            let whose = layer.as_deref().unwrap_or("the file system");
            let text = format!("in blocks of {block} of {whose}, smaller than the {granule}");
            (format!("{share} are writes {text}{remedy}"), None)
        }
        Consequence::SmallWrites { piece_bytes, .. } => (
            format!(
                "{share} are writes{by} in multiples of {}, smaller than the {granule}",
                Exact(*piece_bytes)
            ),
            None,
        ),
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
