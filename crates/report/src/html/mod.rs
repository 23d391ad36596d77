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
mod facts;
mod finding;
mod fsync;
mod gist;
mod honesty;
mod kinds;
mod latency;
mod page;
mod peers;
mod phrase;
mod probe;
mod published;
mod simulation;
mod source;
mod stack;
mod table;
mod trace;
mod twins;
mod verdict;

pub use page::{Draft, PAGE_BYTES_MAX, PAGE_MARK, Report, page};
pub use peers::{Odd, Outlier, outliers};
pub use source::{FileContent, ResultFile, Unread, read};
pub use twins::Twin;
