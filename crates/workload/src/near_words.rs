//! Names that a misspelt word may mean. Only letters and digits count, in either case: `io_depth`
//! is `iodepth`.

use strsim::osa_distance;

/// The most names that are suggested.
const NEAR_MAX: usize = 4;
/// Of longer words the rest is ignored.
const LETTERS_MAX: usize = 80;

/// Returns how many letters must be added, left out, changed or swapped to make one word the other.
#[must_use]
pub fn distance(one: &str, other: &str) -> usize {
    osa_distance(&letters(one), &letters(other))
}

/// Returns up to four of `names`, the nearest first: those that hold `word` or are part of it, and
/// those with less than half of their letters changed. Where none is near, the first four.
#[must_use]
pub fn near_words<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let word = letters(word);
    let all: Vec<&str> = names.collect();
    let mut near: Vec<(bool, usize, &str)> = Vec::new();
    for name in &all {
        let own = letters(name);
        let is_part = !word.is_empty() && (own.contains(&word) || word.contains(&own));
        let edits = osa_distance(&word, &own);
        if is_part || edits * 2 < own.len() {
            near.push((!is_part, edits, name));
        }
    }
    near.sort_unstable();
    let near: Vec<&str> = near.into_iter().map(|(.., name)| name).collect();
    let shown = if near.is_empty() { all } else { near };
    shown.into_iter().take(NEAR_MAX).collect()
}

fn letters(word: &str) -> String {
    let kept = word.chars().filter(|letter| letter.is_alphanumeric()).take(LETTERS_MAX);
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVES: [&str; 5] = ["m4-256", "950-pro", "990-pro", "970-evo-500", "samsung-980-pro"];

    #[test]
    fn finds_a_drive_in_any_spelling_of_its_name() {
        for word in ["990pro", "990-Pro", "samsung 990 pro", "990 PRO", "909-pro", "990"] {
            assert_eq!(near_words(word, DRIVES.into_iter()).first(), Some(&"990-pro"), "{word}");
        }
        assert_eq!(near_words("980pro", DRIVES.into_iter()).first(), Some(&"samsung-980-pro"));
    }

    #[test]
    fn suggests_the_first_names_where_none_is_near() {
        for word in ["", "--", "a word unlike all names", &"x".repeat(1 << 20)] {
            assert_eq!(near_words(word, DRIVES.into_iter()), DRIVES[..4], "{}", word.len());
        }
    }

    #[test]
    fn counts_a_swap_as_one_and_punctuation_and_case_as_none() {
        assert_eq!(distance("io_Depth", "iodepth"), 0);
        assert_eq!(distance("iodpeth", "iodepth"), 1);
        assert_eq!(distance("rw", "bs"), 2);
    }
}
