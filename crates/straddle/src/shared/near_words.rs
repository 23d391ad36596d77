//! Names that a misspelt word may mean.

use strsim::osa_distance;

/// The most names that are suggested.
const NEAR_MAX: usize = 4;
/// Longer words are no names.
const WORD_CHARS_MAX: usize = 80;

/// Returns up to four of `names`, each in backticks: those that hold `word` and those with less
/// than half of their letters changed, the nearest first, or else the first of all.
pub(crate) fn near_words<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let word: String = word.chars().take(WORD_CHARS_MAX).collect::<String>().to_lowercase();
    let far = |name: &str| {
        let name = name.to_lowercase();
        let edits = osa_distance(&word, &name);
        (!name.contains(&word), edits, edits * 2 < name.len())
    };
    let all: Vec<&str> = names.collect();
    let mut near: Vec<_> = all.iter().map(|name| (far(name), *name)).collect();
    near.retain(|((is_other, _, is_like), _)| !is_other || *is_like);
    near.sort();
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).collect();
    let shown = if near.is_empty() { all } else { near };
    let shown: Vec<String> = shown.iter().take(NEAR_MAX).map(|name| format!("`{name}`")).collect();
    shown.join(", ")
}
