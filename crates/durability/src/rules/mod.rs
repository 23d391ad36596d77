//! The reasons that each piece of evidence gives. One file a subject.

mod bottom_layers;
mod cache;
mod flush;
mod mount_options;
mod process;
mod server;
mod sync_suppressors;
mod time;

use crate::evidence::Evidence;
use crate::reason::Reason;

pub use sync_suppressors::{OTHERS, SYNCS, is_suppressor};

/// A subject: reasons from the evidence, in any order.
pub(super) type Rule = fn(&Evidence) -> Vec<Reason>;

pub(super) const RULES: &[Rule] = &[
    process::here,
    process::asked,
    time::untried,
    bottom_layers::memory,
    mount_options::left_out,
    bottom_layers::opaque,
    bottom_layers::lost,
    mount_options::barriers,
    flush::counted,
    cache::write_through,
    cache::drives,
    time::turns,
    time::flash,
    time::methods,
];

/// The codes of reasons that saw flushes missing, and not why.
pub(super) const SYMPTOMS: [&str; 2] = ["nothing-written", "no-flush"];
