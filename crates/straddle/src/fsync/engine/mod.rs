//! Engines: the built-in ones and a site's own, as rows to measure and as verdicts.
//!
//! | file | what it is |
//! |---|---|
//! | `known_profiles` | the profiles that are known, a site's files among them |
//! | `row` | what an engine does, as a row to measure |
//! | `ceiling_assumptions` | round trips, batches and groups where nobody says |
//! | `verdict` | whether what was measured is fast enough for it |
//! | `full_write_buffer` | where a drive's write buffer ends |

mod ceiling_assumptions;
mod full_write_buffer;
mod known_profiles;
mod row;
mod verdict;

pub(crate) use ceiling_assumptions::Circumstances;
pub(crate) use full_write_buffer::knee;
pub(crate) use known_profiles::engines;
pub(crate) use row::{row, row_id};
pub(crate) use verdict::{held_to, verdict};
