//! Writes that a running server issued to its data files: are they whole pages?
//!
//! A sample proves a torn page, and never that none will come: so whole writes leave the verdict as
//! the layers have it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use units::ByteRange;
use units::prefix::Exact;

use super::data_file::DataFile;
use super::page_layer::{PageFate, PageLayer, PageRole};

/// A second, in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;

/// Sampled writes to data files, added up.
#[derive(Clone, Debug)]
pub struct LiveTally<'a> {
    files: &'a [DataFile],
    writes: u64,
    off: u64,
    by_writer: BTreeMap<(usize, Option<String>), Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    writes: u64,
    off: u64,
}

/// Sampled writes to data files while a server ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveWrites {
    /// Time for which writes were watched, in nanoseconds.
    pub watched_ns: u64,
    /// Sampled writes that reached a data file, as requests to the drives.
    pub writes: u64,
    /// Those of them that start or end off the page of a data file.
    pub off_writes: u64,
    /// Number of data files that were written.
    pub files: u64,
    /// Events that found no room; `null` where the kernel does not count them.
    pub lost: Option<u64>,
    /// Writers with writes off the page, those with the most first.
    pub off: Vec<OffPageWriter>,
}

/// A process and a data file, with writes off the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffPageWriter {
    /// Name of the process, harmless to print; `null` where nobody was seen to hand the writes in.
    pub process: Option<String>,
    /// Name of the data file, harmless to print.
    pub file: String,
    /// Page of the data file, in bytes.
    pub page_bytes: u64,
    /// Its sampled writes to the file.
    pub writes: u64,
    /// Those of them that start or end off the page.
    pub off_writes: u64,
}

impl<'a> LiveTally<'a> {
    /// Returns an empty tally of writes to `files`.
    #[must_use]
    pub fn new(files: &'a [DataFile]) -> LiveTally<'a> {
        LiveTally { files, writes: 0, off: 0, by_writer: BTreeMap::new() }
    }

    /// Adds a write of `process` that a drive got as one request: the bytes of each data file that
    /// it holds, a file by its place in the list. A write that holds none is left out.
    pub fn add(&mut self, process: Option<&str>, parts: &[(usize, ByteRange)]) {
        let mut reached: BTreeMap<usize, bool> = BTreeMap::new();
        for (number, range) in parts {
            let Some(file) = self.files.get(*number) else { continue };
            let page = file.page_bytes;
            let is_off = !(range.start_bytes().is_multiple_of(page)
                && range.end_bytes().is_multiple_of(page));
            *reached.entry(*number).or_default() |= is_off;
        }
        self.writes += u64::from(!reached.is_empty());
        self.off += u64::from(reached.values().any(|is_off| *is_off));
        for (number, is_off) in reached {
            let counts = self.by_writer.entry((number, process.map(str::to_owned))).or_default();
            counts.writes += 1;
            counts.off += u64::from(is_off);
        }
    }

    /// Returns what was seen in `watched_ns`, with the events that were `lost`; `None` where the
    /// kernel does not count them.
    #[must_use]
    pub fn finish(self, watched_ns: u64, lost: Option<u64>) -> LiveWrites {
        let files: BTreeSet<usize> = self.by_writer.keys().map(|(number, _)| *number).collect();
        let off = self.by_writer.iter().filter(|(_, counts)| counts.off > 0);
        let mut off: Vec<OffPageWriter> = off
            .filter_map(|((number, process), counts)| {
                let file = self.files.get(*number)?;
                Some(OffPageWriter {
                    process: process.clone(),
                    file: file.name.clone(),
                    page_bytes: file.page_bytes,
                    writes: counts.writes,
                    off_writes: counts.off,
                })
            })
            .collect();
        off.sort_by_key(|writer| std::cmp::Reverse(writer.off_writes));
        LiveWrites {
            watched_ns,
            writes: self.writes,
            off_writes: self.off,
            files: u64::try_from(files.len()).unwrap_or(u64::MAX),
            lost,
            off,
        }
    }
}

/// Returns the line of what was seen, or of why nothing could be seen. A write off the page is torn
/// whatever was missed; all else that was missed leaves the question open.
pub(super) fn line(seen: &Result<LiveWrites, String>) -> PageLayer {
    let unknown = |reason: String| (PageFate::Unknown, format!("not known: {reason}"));
    let fate = match seen {
        Err(reason) => unknown(reason.clone()),
        Ok(seen) => match (seen.off.first(), seen.lost) {
            (Some(worst), _) => (PageFate::Torn, evidence(worst, seen.off.len() - 1)),
            (None, None) => {
                unknown("before Linux 6.0 the kernel does not say if events were lost".to_owned())
            }
            (None, Some(lost)) if lost > 0 => {
                unknown(format!("{lost} events were lost, so some writes were not seen"))
            }
            (None, Some(_)) if seen.writes == 0 => unknown(format!(
                "no write to a data file was seen in {} s; make the server write meanwhile",
                seconds(seen.watched_ns)
            )),
            (None, Some(_)) => (PageFate::Whole, whole(seen)),
        },
    };
    PageLayer::new(PageRole::Live, "live", fate)
}

fn evidence(worst: &OffPageWriter, others: usize) -> String {
    let OffPageWriter { process, file, page_bytes, writes, off_writes } = worst;
    let process = process.as_deref().unwrap_or("an unknown process");
    let page = Exact(*page_bytes);
    let text =
        format!("{process} wrote {off_writes} of {writes} sampled writes to {file} off {page}");
    match others {
        0 => text,
        1 => format!("{text}; 1 other process or file likewise"),
        _ => format!("{text}; {others} other processes or files likewise"),
    }
}

fn whole(seen: &LiveWrites) -> String {
    let LiveWrites { writes, files, watched_ns, .. } = seen;
    let seconds = seconds(*watched_ns);
    let files = if *files == 1 { "1 data file".to_owned() } else { format!("{files} data files") };
    match writes {
        1 => format!("the only sampled write to {files} in {seconds} s was of whole pages"),
        _ => format!("all {writes} sampled writes to {files} in {seconds} s were of whole pages"),
    }
}

/// The time in whole seconds, rounded; at least 1.
fn seconds(watched_ns: u64) -> u64 {
    (watched_ns.saturating_add(SECOND_NS / 2) / SECOND_NS).max(1)
}
