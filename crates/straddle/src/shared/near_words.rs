//! Names that a misspelt word may mean.

use strsim::osa_distance;

/// The most names that are suggested.
const NEAR_MAX: usize = 4;

/// Returns up to four of `names` in words, each in backticks, those with the least edits from
/// `word` first; empty where there are no names.
pub(crate) fn near_words<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    // Longer ones are no names.
    let word: String = word.chars().take(80).collect();
    let mut names: Vec<&str> = names.collect();
    names.sort_by_cached_key(|name| osa_distance(&word, name));
    let near: Vec<String> = names.iter().take(NEAR_MAX).map(|name| format!("`{name}`")).collect();
    near.join(", ")
}
