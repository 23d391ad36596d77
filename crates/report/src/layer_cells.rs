//! Words of one layer in views for people, piece by piece.

use stack::LayerType;

use crate::check_document::LayerReport;
use crate::quantity_words::ViewWords;

/// Cells of a layer's line, column by column.
pub(crate) struct Cells {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) start: String,
    pub(crate) size: String,
    pub(crate) verdict: String,
    /// Points at the first bad layer; empty for all others.
    pub(crate) marker: String,
}

impl Cells {
    /// The cells of `layer`, whose start is printed in sectors of `sector_bytes`.
    pub(crate) fn of(layer: &LayerReport, sector_bytes: u64, words: ViewWords<'_>) -> Cells {
        let ellipsis = words.glyphs().ellipsis;
        let name = words.text(&layer.name);
        let title = words.text(&layer.title);
        let marker = format!("{} first bad layer", words.glyphs().marker);
        Cells {
            title: crate::text::shorten(not_repeated(&name, &title), 160, ellipsis),
            name: crate::text::shorten_middle(&name, 40, ellipsis),
            start: match layer.start_bytes {
                None | Some(0) => String::new(),
                // Of a file system that is counted from its own start, not from the disk's.
                Some(start) if layer.kind == LayerType::FileSystem => {
                    format!("data at +{}", words.place(start, sector_bytes))
                }
                Some(start) => format!("at {}", words.place(start, sector_bytes)),
            },
            size: layer.length_bytes.map_or_else(String::new, |length| words.size(length)),
            verdict: words.verdict(layer),
            marker: if layer.first_bad { marker } else { String::new() },
        }
    }
}

/// `title` without `name` before it.
fn not_repeated<'a>(name: &str, title: &'a str) -> &'a str {
    match title.strip_prefix(name) {
        Some("") => "",
        Some(rest) => rest.strip_prefix(", ").unwrap_or(title),
        None => title,
    }
}
