//! `--trace`: a recorded workload, read within bounds.

use std::cell::RefCell;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{anyhow, bail};
use drive::run::TraceLayout;
use workload::trace::{
    Notes, Stage, StreamError, TraceAction, TraceEntry, TraceFormat, TraceStream,
};

use crate::shared::printer::shown;

/// A recorded workload in a file, that was read once as a whole.
pub(super) struct RecordedTrace {
    path: PathBuf,
    stage: Stage,
    format: TraceFormat,
    /// Place where its files and devices lie.
    pub(super) layout: TraceLayout,
    /// Distance after a multiple of 4 KiB at which more than half of its writes begin; 0 where that
    /// is not the same for so many. Of reads, where it has no writes.
    pub(super) behind_bytes: u64,
    /// All bits that stand in a place or a length of what it reads, writes and discards.
    pub(super) bits: u64,
    /// Number of operations it has.
    pub(super) operations: u64,
    /// Notes on what was not read of it.
    pub(super) notes: Vec<String>,
}

type Feed = Box<dyn FnMut(&mut [u8]) -> Result<usize, std::io::Error>>;
/// A trace as it is read.
type Trace = TraceStream<Feed>;

impl RecordedTrace {
    /// The workload in the file at `path`: what was given to the driver, else what was queued.
    ///
    /// # Errors
    /// When it cannot be read, is no sound trace, or has no operations.
    pub(super) fn of(path: &Path) -> anyhow::Result<RecordedTrace> {
        let first = RecordedTrace::scanned(path, Stage::Issued)?;
        let found = match first.operations {
            0 => RecordedTrace::scanned(path, Stage::Queued)?,
            _ => first,
        };
        if found.operations == 0 {
            bail!(
                "cannot replay {}: it has no operations\n\
                 hint: record reads and writes with blktrace, or with fio --write_iolog",
                shown(path)
            );
        }
        Ok(found)
    }

    /// Returns what it is, in words, and how much of it `most` operations are.
    pub(super) fn title(&self, most: u64) -> String {
        let RecordedTrace { operations, layout, format, .. } = self;
        let places = match layout.count() {
            1 => String::new(),
            count => format!(" on {count} files or devices"),
        };
        let name = shown(&self.path);
        let part = match most < *operations {
            true => format!("the first {most} of "),
            false => String::new(),
        };
        format!("{part}{operations} operations{places} of {name} ({})", format.title())
    }

    /// Its operations, again. What goes wrong now ends it early: the file was changed meanwhile.
    pub(super) fn entries(&self) -> anyhow::Result<impl Iterator<Item = TraceEntry>> {
        Ok(open(&self.path, self.stage)?.map_while(Result::ok))
    }

    fn scanned(path: &Path, stage: Stage) -> anyhow::Result<RecordedTrace> {
        let mut trace = open(path, stage)?;
        let format = trace.format();
        let fault = Rc::new(RefCell::new(None));
        let (mut operations, mut bits) = (0, 0);
        let (mut writes, mut reads) = ([0_u64; 8], [0_u64; 8]);
        let entries = std::iter::from_fn(|| match trace.next()? {
            Ok(entry) => {
                operations += 1;
                if entry.length_bytes > 0 {
                    bits |= entry.offset_bytes | u64::from(entry.length_bytes);
                }
                let sector = usize::try_from(entry.offset_bytes % 4096 / 512).unwrap_or(0);
                match entry.action {
                    TraceAction::Write { .. } => writes[sector] += 1,
                    TraceAction::Read => reads[sector] += 1,
                    _ => {}
                }
                Some(entry)
            }
            Err(error) => {
                *fault.borrow_mut() = Some(error);
                None
            }
        });
        let layout = TraceLayout::of(entries);
        if let Some(error) = fault.take() {
            let is_cut = trace.reader().notes().cut;
            return Err(if is_cut { cut(path, &error) } else { failed(path, &error) });
        }
        let notes = said(trace.reader().notes());
        let counted = if writes == [0; 8] { reads } else { writes };
        let all: u64 = counted.iter().sum();
        let most = (0_u64..).zip(counted).find(|&(_, count)| count > all / 2);
        let behind_bytes = most.map_or(0, |(sector, _)| sector * 512);
        Ok(RecordedTrace {
            path: path.to_owned(),
            stage,
            format,
            layout,
            behind_bytes,
            bits,
            operations,
            notes,
        })
    }
}

/// Returns what a reader should know of a trace.
fn said(notes: &Notes) -> Vec<String> {
    let mut said = Vec::new();
    if notes.cut {
        said.push("the trace's last line is cut, and was read as it is".to_owned());
    }
    if notes.unsorted > 0 {
        said.push(format!(
            "operations of the trace that are earlier than one before them: {}; all are done in \
             the order of the file",
            notes.unsorted
        ));
    }
    if notes.lost > 0 {
        said.push(format!("the trace lost {} events while it was recorded", notes.lost));
    }
    said
}

fn open(path: &Path, stage: Stage) -> anyhow::Result<Trace> {
    // It is read twice, piece by piece.
    let mut file = host::open_input(path).map_err(|error| {
        anyhow!("cannot read the trace {}: {error}\nhint: check the path", shown(path))
    })?;
    let feed: Feed = Box::new(move |buffer| file.read(buffer));
    TraceStream::open(feed, stage).map_err(|error| failed(path, &error))
}

/// The last line has no end, and says nothing that can be read.
fn cut(path: &Path, error: &StreamError<std::io::Error>) -> anyhow::Error {
    anyhow!(
        "cannot replay {name}: its last line is cut: {error}\nhint: copy it again, or drop the \
         last line: head --lines=-1 {name} > whole.trace",
        name = shown(path)
    )
}

fn failed(path: &Path, error: &StreamError<std::io::Error>) -> anyhow::Error {
    let hint = match error {
        StreamError::Feed(_) => "check the file, or record it again".to_owned(),
        StreamError::Trace(trace) => trace.hint().to_owned(),
    };
    anyhow!("cannot replay {}: {error}\nhint: {hint}", shown(path))
}
