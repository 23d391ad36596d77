//! From what a cloud says of a volume to its values.

use super::fitted_value::Fit;

/// Decides what is said of a network volume.
pub(super) fn fit(fit: &mut Fit<'_>) {
    for key in ["capacity", "counted", "rate", "credits"] {
        fit.said(key, key);
    }
    fit.said("baseline", "iops");
    match fit.sheet.line("burst_iops") {
        Some(_) => fit.said("burst", "burst_iops"),
        None => fit.said("burst", "iops"),
    }
    if fit.sheet.line("credits").is_none() {
        fit.assumed("credits", 1, "none are published: it does not burst");
    }
    let Some(line) = fit.sheet.line("read_latency") else { return };
    // A response is later by up to the jitter, in the mean by half of it.
    fit.solved("request", line.amount.saturating_mul(3) / 8, line);
    fit.solved("response", line.amount.saturating_mul(3) / 8, line);
    fit.solved("jitter", line.amount / 2, line);
}
