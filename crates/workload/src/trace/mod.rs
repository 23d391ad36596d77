//! Recorded I/O: what a machine once did, as a stream of entries of one type.
//!
//! Read are fio's iolog of versions 2 and 3, blkparse's text in its default format, and blktrace's
//! binary records of either byte order. Traces are gigabytes: a [`TraceReader`] is handed pieces of
//! any length and holds one line or record at most; a [`TraceStream`] does that with a function
//! that reads.
//!
//! Sources: fio `iolog.c` and its HOWTO, "Trace file format"; blktrace `blkparse_fmt.c` and
//! blkparse(1); Linux `include/uapi/linux/blktrace_api.h` and `kernel/trace/blktrace.c`. What is
//! read of them, and what is not, stands in `docs/traces.md`.

mod blkparse;
mod blktrace;
mod entry;
mod files;
mod format;
mod iolog;
mod iolog_writer;
mod line;
mod notes;
mod reader;
mod refusal;
mod request;
mod stream;
mod words;

pub use entry::{DeviceNumber, END_BYTES_MAX, TraceAction, TraceEntry, TraceTarget};
pub use files::{FILES_MAX, NAME_BYTES_MAX};
pub use format::{HEAD_BYTES, TraceFormat};
pub use iolog_writer::{IologWriter, Unwritable};
pub use line::LINE_BYTES_MAX;
pub use notes::{DEVICES_MAX, Notes, Skipped};
pub use reader::TraceReader;
pub use request::Stage;
pub use stream::{CHUNK_BYTES, StreamError, TraceStream};

#[cfg(test)]
mod tests;
