//! Claims and scratch files while the paths that lead to them lead elsewhere: the tests of `host`,
//! run many times. What is known is what must stay as it is.

use std::process::Command;

use anyhow::Context as _;

/// Runs `count` races, a third of each kind; whether nothing was written that was not asked for.
///
/// # Errors
/// When cargo cannot be run.
pub(super) fn run(count: u64) -> anyhow::Result<bool> {
    let each = count.div_ceil(3).to_string();
    let words = ["test", "--quiet", "-p", "host", "--test", "races", "--", "--nocapture"];
    let status = Command::new("cargo").args(words).env("STRADDLE_RACES", each).status();
    Ok(status.context("cannot run cargo")?.success())
}
