//! Tracepoints of the kernel, counted in the kernel or copied out one by one.
//!
//! A counter copies nothing: the kernel evaluates a filter for each event and adds one, so none is
//! lost at any rate. A stream copies each event that its filter passes into a bounded ring, and
//! says how many found no room. Both are files of this process: whatever ends it ends them, and
//! nothing is left in tracefs.
//!
//! Source: perf_event_open(2), Linux `Documentation/trace/events.rst`,
//! `kernel/trace/trace_event_perf.c`.

#![expect(clippy::host_endian_bytes, reason = "the kernel answers in its own byte order")]

mod counter;
mod error;
mod event_format;
mod perf_event;
mod processors;
mod ring;
mod stream;
mod tracefs;

pub use counter::TracepointCounter;
pub use error::TracepointError;
pub use event_format::EventFormat;
pub use perf_event::CountedScope;
pub use stream::TracepointStream;
pub use tracefs::Tracefs;
