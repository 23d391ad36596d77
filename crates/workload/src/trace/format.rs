//! Which kind of trace a file is, by how it begins.

use super::blktrace::{self, Magic};
use super::error::{Problem, TraceError, shown};
use super::{blkparse, iolog};

/// How much of a file's beginning [`TraceFormat::of`] wants to see, in bytes.
pub const HEAD_BYTES: usize = 4096;

/// The kinds of traces that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// fio's iolog of version 2: no times but those of its `wait`s.
    Iolog2,
    /// fio's iolog of version 3 (since fio 3.31).
    Iolog3,
    /// What blkparse prints, in its default format.
    Blkparse,
    /// What blktrace writes, one file for each CPU, or blkparse with `-d`.
    Blktrace,
}

/// How files begin that are to be unpacked first: kind, bytes, what unpacks it.
const COMPRESSED: [(&str, &[u8], &str); 4] = [
    ("gzip", &[0x1f, 0x8b], "gunzip"),
    ("zstd", &[0x28, 0xb5, 0x2f, 0xfd], "unzstd"),
    ("xz", &[0xfd, b'7', b'z', b'X', b'Z', 0], "unxz"),
    ("bzip2", b"BZh", "bunzip2"),
];

impl TraceFormat {
    /// The kind of the trace that begins with `head`: the first [`HEAD_BYTES`] of it, or all.
    ///
    /// # Errors
    /// When it is empty, compressed, of a version that is not read, or no trace.
    pub fn of(head: &[u8]) -> Result<TraceFormat, TraceError> {
        kind(head).map_err(Problem::of_file)
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

fn kind(head: &[u8]) -> Result<TraceFormat, Problem> {
    if head.trim_ascii().is_empty() {
        return Err(Problem::Empty);
    }
    if let Some((kind, _, unpack)) = COMPRESSED.iter().find(|(_, magic, _)| head.starts_with(magic))
    {
        return Err(Problem::Compressed { kind, unpack });
    }
    if let Some(magic) = head.first_chunk().and_then(Magic::of) {
        return blktrace::check_version(magic.version).map(|()| TraceFormat::Blktrace);
    }
    let mut lines = head.split(|&byte| byte == b'\n');
    let first = lines.clone().next().unwrap_or_default();
    if iolog::is_head(first) {
        let refused = Problem::IologVersion { found: shown(first) };
        return iolog::version(first).ok_or(refused);
    }
    let before = |line: &[u8]| line.trim_ascii().is_empty() || blkparse::is_input_line(line);
    match lines.find(|line| !before(line)) {
        Some(line) if blkparse::is_event(line) => Ok(TraceFormat::Blkparse),
        _ => Err(Problem::Unknown { found: shown(first_text(head)) }),
    }
}

/// The first line with anything on it, without blanks around.
fn first_text(head: &[u8]) -> &[u8] {
    let line = head.trim_ascii_start().split(|&byte| byte == b'\n').next();
    line.unwrap_or_default().trim_ascii_end()
}
