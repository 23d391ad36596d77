//! One page for a browser, made of any result files: self-contained, without a script, the same
//! bytes for the same files.
//!
//! [`read`] takes what files hold, which may be anything. [`Draft`] draws it, file by file. Markup
//! is made by a template library that escapes every text, all texts are cut to a length, and what
//! could reorder a line is taken out of the whole page at its end, so that no label of a disk gets
//! to be markup. Every list has a bound, and so has the page: [`PAGE_BYTES_MAX`].

mod bench;
mod chart;
mod check;
mod compare;
mod copies;
mod elements;
mod engine_verdict;
mod finding;
mod fsync;
mod headline;
mod honesty;
mod latency;
mod page;
mod peers;
mod probe;
mod published;
mod result_parts;
mod run_facts;
mod short_answer;
mod simulation;
mod source;
mod stack;
mod table;
mod torture;
mod trace;

pub use copies::FileCopy;
pub use page::{Draft, PAGE_BYTES_MAX, PAGE_MARK, Report, page};
pub use peers::{Odd, Outlier, SharedCause, outliers};
pub use source::{FileContent, ResultFile, Unread, read};
