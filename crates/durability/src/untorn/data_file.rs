//! Data files: each page in one extent, and written past the page cache.

use std::collections::BTreeSet;

use stack::LayerId;
use stack::file_extents::{FileRun, RunState};
use units::Known;
use units::prefix::Exact;
use units::text::shell_word;

use super::page_layer::PageFate;

/// A data file of an engine.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Its name, harmless to print.
    pub name: String,
    /// Its path as it was given, harmless to print.
    pub path: String,
    /// Its page in bytes.
    pub page_bytes: u64,
    /// The layer of the file system in whose addresses its extents are specified.
    pub system: Option<LayerId>,
    /// Its extents and holes.
    pub runs: Vec<FileRun>,
    /// Unit of offset and length of direct I/O to it in bytes; 0 where there is none.
    pub direct_bytes: Known<u64>,
    /// The longest write to it with RWF_ATOMIC in bytes; 0 where there is none.
    pub atomic_bytes: Known<u64>,
}

impl DataFile {
    /// Returns why a page of it is not sure to be one write of its file system's addresses, or
    /// `None`.
    pub(super) fn fault(&self) -> Option<(PageFate, String)> {
        let (page, name) = (self.page_bytes, &self.name);
        if let Some(run) = self
            .runs
            .iter()
            .find(|run| !matches!(run.state, RunState::Data | RunState::Unwritten | RunState::Hole))
        {
            let at = Exact(run.range.start_bytes());
            let hint = match run.state {
                RunState::Delayed => format!("; to write it: sync {}", shell_word(&self.path)),
                _ => String::new(),
            };
            let reason = run.state.reason();
            return Some((
                PageFate::Unknown,
                format!("{name} at {at} has no fixed address: {reason}{hint}"),
            ));
        }
        let ends =
            self.runs.iter().flat_map(|run| [run.range.start_bytes(), run.range.end_bytes()]);
        if let Some(cut) = ends.into_iter().find(|end| !end.is_multiple_of(page)) {
            let at = Exact(cut - cut % page);
            let reason = format!("the page at {at} of {name} is in more than one extent");
            return Some((PageFate::Torn, reason));
        }
        match &self.direct_bytes {
            Known::Yes(fact) if fact.value == 0 || !page.is_multiple_of(fact.value) => Some((
                PageFate::Torn,
                format!("{name} does not take direct I/O of {}", Exact(page)),
            )),
            Known::Yes(_) => None,
            Known::No(reason) => {
                Some((PageFate::Unknown, format!("direct I/O to {name} is not known: {reason}")))
            }
        }
    }

    /// Distances of its pages from the multiples of a page in the file system's addresses, in
    /// bytes.
    pub(super) fn shifts(&self) -> BTreeSet<u64> {
        let page = self.page_bytes;
        let placed = self.runs.iter().filter(|run| run.state.has_place());
        let shift = |run: &FileRun| {
            let start = run.range.start_bytes() % page;
            run.physical_bytes.map(|at| (at % page + page - start) % page)
        };
        placed.filter_map(shift).collect()
    }
}
