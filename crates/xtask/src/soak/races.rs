//! Claims and scratch files while the paths that lead to them lead elsewhere: the tests of `host`,
//! run many times. What is known is what must stay as it is.

use anyhow::Context as _;

use crate::cargo::cargo;
use crate::options::Options;

/// Runs `count` races, a third of each kind; 1 where anything was written that was not asked for.
///
/// # Errors
/// When cargo cannot be run.
pub(super) fn run(_: &Options<'_>, count: u64) -> anyhow::Result<usize> {
    let each = count.div_ceil(3).to_string();
    let words = ["test", "--quiet", "-p", "host", "--test", "races", "--", "--nocapture"];
    let status = cargo(&words).env("STRADDLE_TESTS", "full").env("STRADDLE_RACES", each).status();
    Ok(usize::from(!status.context("cannot run cargo")?.success()))
}
