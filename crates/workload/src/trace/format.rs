//! Kind of trace that a file is, by its beginning.

use super::blkparse;
use super::blktrace::{self, Magic};
use super::refusal::{compressed, nothing, of_file, shown};
use crate::InputError;

/// Bytes of a file's beginning that [`TraceFormat::of`] wants to see.
pub const HEAD_BYTES: usize = 4096;

/// The kinds of traces that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// fio's iolog of version 2: no times but those of its `wait`s.
    Iolog2,
    /// fio's iolog of version 3 (since fio 3.31).
    Iolog3,
    /// Text of blkparse, in its default format.
    Blkparse,
    /// Records of blktrace, one file for each CPU, or of blkparse with `-d`.
    Blktrace,
}

impl TraceFormat {
    /// The kind of the trace that begins with `head`: the first [`HEAD_BYTES`] of it, or all.
    ///
    /// # Errors
    /// When it is empty, compressed, of a version that is not read, or no trace.
    pub fn of(head: &[u8]) -> Result<TraceFormat, InputError> {
        kind(head).map_err(of_file)
    }

    /// Its name, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            TraceFormat::Iolog2 => "fio iolog version 2",
            TraceFormat::Iolog3 => "fio iolog version 3",
            TraceFormat::Blkparse => "blkparse text",
            TraceFormat::Blktrace => "blktrace records",
        }
    }
}

fn kind(head: &[u8]) -> Result<TraceFormat, InputError> {
    if head.trim_ascii().is_empty() {
        return Err(nothing());
    }
    if let Some(refused) = compressed(head) {
        return Err(refused);
    }
    if let Some(magic) = head.first_chunk().and_then(Magic::of) {
        return blktrace::check_version(magic.version).map(|()| TraceFormat::Blktrace);
    }
    let mut lines = head.split(|&byte| byte == b'\n');
    let first = lines.clone().next().unwrap_or_default();
    if is_iolog_head(first) {
        return iolog_version(first).ok_or_else(|| other_version(first));
    }
    let before = |line: &[u8]| line.trim_ascii().is_empty() || blkparse::is_input_line(line);
    match lines.find(|line| !before(line)) {
        Some(line) if blkparse::is_event(line) => Ok(TraceFormat::Blkparse),
        _ => {
            let problem = format!(
                "the file begins with `{}`: not an iolog, blkparse text or blktrace records",
                shown(first_text(head))
            );
            let hint = "use a file written by fio --write_iolog, blkparse or blktrace";
            Err(InputError::new(problem, hint))
        }
    }
}

/// The first line with anything on it, without blanks around.
fn first_text(head: &[u8]) -> &[u8] {
    let line = head.trim_ascii_start().split(|&byte| byte == b'\n').next();
    line.unwrap_or_default().trim_ascii_end()
}

/// Beginning of the first line in each version that is read.
const VERSIONS: [(&[u8], TraceFormat); 2] =
    [(b"fio version 2 iolog", TraceFormat::Iolog2), (b"fio version 3 iolog", TraceFormat::Iolog3)];

/// The format whose first line `line` is, as fio finds it: by how it begins.
pub(super) fn iolog_version(line: &[u8]) -> Option<TraceFormat> {
    VERSIONS.iter().find(|(head, _)| line.starts_with(head)).map(|(_, format)| *format)
}

/// The first line of a log of `format`; that of version 3 for what is no iolog.
pub(super) fn iolog_head(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Iolog2 => "fio version 2 iolog",
        _ => "fio version 3 iolog",
    }
}

/// Returns whether `line` is the first one of any version.
pub(super) fn is_iolog_head(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.starts_with(b"fio version ") && line.ends_with(b" iolog")
}

/// The error of an iolog of a version that is not read, whose first line is `line`.
pub(super) fn other_version(line: &[u8]) -> InputError {
    let found = shown(line);
    let problem =
        format!("the file begins with `{found}`; only iolog versions 2 and 3 can be read");
    InputError::new(problem, "record again with a fio that writes version 2 or 3")
}
