//! What a person may have meant.

use super::pattern::name;
use super::search::Entry;
use crate::rule::RULES;

/// The most that are offered.
pub(super) const NEAR_MAX: usize = 5;
/// Longer text is no misspelt word.
const WORD_MAX: usize = 40;

/// The entries whose names stand in `text`, hold it or are spelt nearly so, best first.
pub(super) fn pages(text: &str) -> Vec<Entry> {
    if text.is_empty() {
        return Vec::new();
    }
    let pages = super::pages().iter().filter_map(|page| {
        let score = page.words().filter_map(|own| score(text, &name(own))).min()?;
        Some((score, Entry::Page(page)))
    });
    let rules = RULES
        .iter()
        .filter_map(|rule| Some((score(text, &rule.code.to_lowercase())?, Entry::Rule(rule))));
    let history = score(text, "history").map(|score| (score, Entry::History));
    let mut scored: Vec<(usize, Entry)> = pages.chain(rules).chain(history).collect();
    scored.sort_by_key(|(score, _)| *score);
    scored.into_iter().take(NEAR_MAX).map(|(_, entry)| entry).collect()
}

/// How far `own` is from what was typed, in letters; `None` when it is too far.
fn score(text: &str, own: &str) -> Option<usize> {
    let padded = |text: &str| format!(" {text} ");
    if padded(text).contains(&padded(own)) {
        return Some(1);
    }
    if text.len() >= 3 && padded(own).contains(&padded(text)) {
        return Some(2);
    }
    if text.len() > WORD_MAX || own.len() > WORD_MAX {
        return None;
    }
    let distance = distance(text, own);
    let allowed = (text.chars().count().max(own.chars().count()) / 3).max(1);
    (distance <= allowed).then_some(distance)
}

/// The least number of letters to put in, leave out, change or swap with the next.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, left) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, right) in other.iter().enumerate() {
            let change = last[column] + usize::from(left != right);
            let mut best = change.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped = row > 0 && column > 0;
            if swapped && one[row - 1] == *right && *left == other[column - 1] {
                best = best.min(before[column - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_counts_letters_put_in_left_out_changed_and_swapped() {
        for (one, other, expected) in [
            ("ashift", "ashift", 0),
            ("ashfit", "ashift", 1),
            ("ashif", "ashift", 1),
            ("aschift", "ashift", 1),
            ("bshift", "ashift", 1),
            ("", "plp", 3),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}
