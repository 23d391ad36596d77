//! From a disk's sheet to its values.

use super::fitted_value::Fit;
use crate::server::transfer_ns;

/// Bytes of the read whose latency sheets give.
const READ_BYTES: u64 = 4096;

/// Decides what the sheet of a hard disk decides.
pub(super) fn fit(fit: &mut Fit<'_>) {
    for key in ["capacity", "physical_sector", "rpm", "heads", "cache", "link", "outer_rate"] {
        fit.said(key, key);
    }
    fit.said("settle", "track_seek");
    let settle_ns = fit.amount("settle");
    if let Some(line) = fit.sheet.line("track_seek_write") {
        fit.solved("write_settle", line.amount.saturating_sub(settle_ns), line);
    }
    let skew_ns = settle_ns.saturating_mul(2).max(500_000);
    fit.assumed("skew", skew_ns, "twice a seek to the next track, so that no turn is missed");
    match fit.sheet.line("inner_rate") {
        Some(_) => fit.said("inner_rate", "inner_rate"),
        None => {
            let half = fit.amount("outer_rate") / 2;
            fit.assumed("inner_rate", half, "half as much on the innermost track");
        }
    }
    if let Some(cache) = fit.sheet.amount("cache") {
        fit.assumed("run", cache / 8, "an eighth of the cache");
    }
    seeks(fit, settle_ns);
}

/// The mean and the longest seek.
fn seeks(fit: &mut Fit<'_>, settle_ns: u64) {
    fit.said("average_seek", "average_seek");
    if let (None, Some(line)) = (fit.sheet.line("average_seek"), fit.sheet.line("read_latency")) {
        // The rest is half a turn, and the sectors that pass.
        let turn_ns = 60_000_000_000 / fit.amount("rpm").max(1);
        let rate = u64::midpoint(fit.amount("outer_rate"), fit.amount("inner_rate"));
        let pass_ns = transfer_ns(READ_BYTES, rate.max(1));
        let wire_ns = transfer_ns(READ_BYTES, fit.amount("link").max(1));
        let rest_ns = turn_ns / 2 + pass_ns + wire_ns + fit.amount("command");
        let seek_ns = line.amount.saturating_sub(rest_ns).max(settle_ns);
        fit.solved("average_seek", seek_ns, line);
    }
    match fit.sheet.line("full_stroke") {
        Some(_) => fit.said("full_stroke", "full_stroke"),
        None => {
            let beyond_ns = fit.amount("average_seek").saturating_sub(settle_ns);
            let stroke_ns = settle_ns.saturating_add(beyond_ns.saturating_mul(15) / 8);
            fit.assumed(
                "full_stroke",
                stroke_ns,
                "from the mean seek: time grows with the root of the distance",
            );
        }
    }
}
