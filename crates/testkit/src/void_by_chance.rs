//! Claims of a test about an experiment that was measured on a machine in use.

use serde_json::Value;

/// Words of the reason of an experiment that is void because its control differed.
const CONTROL_DIFFERS: &str = " must take as long as ";

/// Words of the reason of one whose arms had other numbers of operations on the drive at once: what
/// others do on it is counted, too.
const ONE_AT_A_TIME: &str = " lets one through at a time ";

/// True if `table`, as straddle prints it, has an experiment that is void because its control took
/// another time than the baseline: see [`is_void_by_chance`].
#[must_use]
pub fn says_void_by_chance(table: &str) -> bool {
    let flat: Vec<&str> = table.split_whitespace().collect();
    flat.join(" ").contains(CONTROL_DIFFERS)
}

/// Returns whether an experiment of `straddle bench --json` is void because its control took
/// another time than the baseline, or because the drive had several operations at once in some arms
/// alone. The intervals are of 95 %, so chance alone voids up to 1 run in 20, and others use the
/// drive: no test may take that for a fault.
#[must_use]
pub fn is_void_by_chance(experiment: &Value) -> bool {
    let is_chance = |text: &str| text.contains(CONTROL_DIFFERS) || text.contains(ONE_AT_A_TIME);
    experiment["verdict"] == "void" && experiment["reason"].as_str().is_some_and(is_chance)
}

/// Asserts that an experiment measured something, and that it is not void but by chance.
///
/// # Panics
/// When it is void for another reason, or has no pair.
#[track_caller]
pub fn assert_sound(experiment: &Value) {
    let is_void = experiment["verdict"] == "void" && !is_void_by_chance(experiment);
    assert!(!is_void && experiment["pairs"].as_u64() > Some(0), "{experiment:#}");
}
