//! Engines: the built-in ones and a site's own, as rows to measure and as verdicts.
//!
//! | file | what it is |
//! |---|---|
//! | `files` | the profiles that are known, a site's files among them |
//! | `row` | what an engine does, as a row to measure |
//! | `verdict` | whether what was measured is fast enough for it |
//! | `full_write_buffer` | where a drive's write buffer ends |

mod files;
mod full_write_buffer;
mod row;
mod verdict;

pub(crate) use files::engines;
pub(crate) use full_write_buffer::knee;
pub(crate) use row::{row, row_id};
pub(crate) use verdict::{Circumstances, held_to, verdict};
