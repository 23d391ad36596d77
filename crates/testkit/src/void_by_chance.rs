//! Claims of a test about an experiment that was measured on a machine in use.

use serde_json::Value;

/// Words of the reason of an experiment that is void because its control differed.
const CONTROL_DIFFERS: &str = " must take as long as ";

/// True if `table`, as straddle prints it, has an experiment that is void because its control took
/// another time than the baseline: see [`is_void_by_chance`].
#[must_use]
pub fn says_void_by_chance(table: &str) -> bool {
    let flat: Vec<&str> = table.split_whitespace().collect();
    flat.join(" ").contains(CONTROL_DIFFERS)
}

/// Returns whether an experiment of `straddle bench --json` is void because its control took
/// another time than the baseline. The intervals are of 95 %, so chance alone voids up to 1 run in
/// 20: no test may take that for a fault.
#[must_use]
pub fn is_void_by_chance(experiment: &Value) -> bool {
    experiment["verdict"] == "void"
        && experiment["reason"].as_str().is_some_and(|text| text.contains(CONTROL_DIFFERS))
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
