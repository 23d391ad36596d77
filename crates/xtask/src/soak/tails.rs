//! `cargo xtask soak tails`: intervals of quantiles on series whose true quantile is known; a slice
//! of it is among the tests.

use measure::model::tails::{HEAD, ROWS};

/// The rows with seeds 1 to `seeds`; whether every promise held.
///
/// # Errors
/// When the chores cannot be built for release.
pub(super) fn run(seeds: u64) -> anyhow::Result<bool> {
    if cfg!(debug_assertions) {
        return super::models::released(&["soak", "tails", "--seeds", &seeds.to_string()]);
    }
    println!(
        "Intervals of quantiles, nominal 95 %, on series of known quantiles: seeds 1 to {seeds}.\n\
         covered: intervals that hold the true quantile, an end that is not known included;\n\
         ends low: those that end below it; open: those without an upper end;\n\
         width: upper end / lower end, the mean of those that have both.\n\n{HEAD}"
    );
    let mut missed = 0_u64;
    for row in ROWS {
        let tally = row.tally(1..=seeds);
        println!("{}", row.line(&tally));
        missed += u64::from(!row.is_kept(&tally));
    }
    println!("soak tails: {} rows, {missed} promises missed", ROWS.len());
    Ok(missed == 0)
}
