//! The reasons that each piece of evidence gives. One file a subject.

mod cache;
mod flush;
mod place;
mod process;
mod server;
mod time;

use crate::evidence::Evidence;
use crate::reason::Reason;

pub use process::{OTHERS, SYNCS, is_suppressor};

/// A subject: reasons from the evidence, in any order.
pub(super) type Rule = fn(&Evidence) -> Vec<Reason>;

pub(super) const RULES: &[Rule] = &[
    process::here,
    process::asked,
    time::untried,
    place::memory,
    place::left_out,
    place::opaque,
    place::lost,
    flush::barriers,
    flush::counted,
    cache::write_through,
    cache::drives,
    time::turns,
    time::flash,
    time::methods,
];
