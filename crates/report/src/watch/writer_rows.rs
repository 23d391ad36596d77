//! Rows of writers: processes of one name that write to one kind of place are one row.

use std::collections::BTreeSet;

use measure::live::{OffWriter, Region, WriterIdentity};

use crate::quantity_words::{ViewWords, percent};
use crate::text::shorten_middle;

/// Most columns of a control group's name.
const GROUP_MAX: usize = 20;
/// Most columns of a file's path.
const FILE_MAX: usize = 34;

/// Writers of one name, group, layer and region.
pub(super) struct WriterRow<'a> {
    /// The one of them with the most writes.
    first: &'a OffWriter<WriterIdentity>,
    share: f64,
    processes: BTreeSet<u32>,
    files: BTreeSet<&'a str>,
}

/// The rows, those with the most writes first.
pub(super) fn rows(writers: &[OffWriter<WriterIdentity>]) -> Vec<WriterRow<'_>> {
    let mut rows: Vec<WriterRow<'_>> = Vec::new();
    for writer in writers {
        let found = rows.iter_mut().find(|row| is_alike(&row.first.writer, &writer.writer));
        let row = match found {
            Some(row) => row,
            None => {
                let (processes, files) = (BTreeSet::new(), BTreeSet::new());
                rows.push(WriterRow { first: writer, share: 0.0, processes, files });
                rows.last_mut().expect("one was put there just now")
            }
        };
        row.share += writer.share;
        row.processes.extend(writer.writer.process_id);
        row.files.extend(writer.writer.file.as_deref());
    }
    rows.sort_by(|one, other| other.share.total_cmp(&one.share));
    rows
}

fn is_alike(one: &WriterIdentity, other: &WriterIdentity) -> bool {
    let of = |it: &WriterIdentity| {
        (it.process.clone(), it.is_kernel, it.control_group.clone(), it.layer.clone(), it.region)
    };
    of(one) == of(other)
}

impl WriterRow<'_> {
    /// Its cells: who, share, usual length, place.
    pub(super) fn cells(&self, words: ViewWords<'_>) -> [String; 4] {
        let length = words.exact(self.first.usual_length_bytes);
        let length = match self.first.usual_length_share {
            share if share >= 0.995 => length,
            share => format!("{length} ({})", percent(share * 100.0)),
        };
        [self.who(words), percent(self.share * 100.0), length, self.place(words)]
    }

    fn who(&self, words: ViewWords<'_>) -> String {
        let identity = &self.first.writer;
        let mut name = identity.process.as_ref().map_or("unknown".to_owned(), |it| words.text(it));
        let processes: Vec<&u32> = self.processes.iter().collect();
        match processes[..] {
            [] => {}
            [number] => name += &format!(" ({number})"),
            _ => name += &format!(" ({} processes)", processes.len()),
        }
        if let Some(group) = identity.control_group.as_ref().filter(|group| *group != "/") {
            let group = words.text(last_part(group));
            name += " in ";
            name += &shorten_middle(&group, GROUP_MAX, words.glyphs().ellipsis);
        }
        name
    }

    fn place(&self, words: ViewWords<'_>) -> String {
        let identity = &self.first.writer;
        let layer = identity.layer.as_ref().map(|layer| words.text(layer));
        let on = |what: &str, alone: &str| match &layer {
            Some(layer) => format!("{what} {layer}"),
            None => alone.to_owned(),
        };
        let file = |file: &String| {
            let more = self.files.len().saturating_sub(1);
            let shown = path_end(&words.text(file), words.glyphs().ellipsis);
            if more == 0 { shown } else { format!("{shown} and {more} more") }
        };
        match (&identity.region, &identity.file) {
            (Region::File, Some(path)) => file(path),
            (Region::File, None) => on("a file on", "a file"),
            (Region::Swap, Some(path)) => format!("swap file {}", file(path)),
            (Region::Swap, None) => on("swap on", "swap"),
            (Region::Journal, _) => on("journal of", "a journal"),
            (Region::FileSystem, _) => on("somewhere in", "a file system"),
            (Region::Raw, _) => on("directly to", "directly to a device"),
            (Region::Unknown, _) => "unknown".to_owned(),
        }
    }
}

/// The end of a path, whose last parts say the most: `…/pg_wal/000000010000000000000005`.
fn path_end(path: &str, ellipsis: &str) -> String {
    let length = path.chars().count();
    if length <= FILE_MAX {
        return path.to_owned();
    }
    let kept: String = path.chars().skip(length + ellipsis.chars().count() - FILE_MAX).collect();
    let end = kept.find('/').map_or(kept.as_str(), |at| &kept[at..]);
    format!("{ellipsis}{end}")
}

/// The last part of a control group's path, which names the unit or container.
fn last_part(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}
