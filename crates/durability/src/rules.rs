//! What each piece of evidence says. One function a subject; none knows of another.

mod cache;
mod flush;
mod place;
mod process;
mod server;
mod time;

use super::evidence::Evidence;
use super::{Grade, Reason};

pub use process::{OTHERS, SYNCS, is_suppressor};

/// A subject: reasons from the evidence, in any order.
pub(super) type Rule = fn(&Evidence) -> Vec<Reason>;

/// Every subject.
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

/// A time as people read it: `47 µs`.
fn time_of(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{}.{} µs", ns.div_euclid(1000), ns.rem_euclid(1000).div_euclid(100)),
        10_000..10_000_000 => format!("{} µs", ns.div_euclid(1000)),
        _ => format!("{} ms", ns.div_euclid(1_000_000)),
    }
}
