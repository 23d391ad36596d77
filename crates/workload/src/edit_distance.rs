//! Likeness of two words, for suggestions.

/// The longest word for which a near one is looked for, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// Returns how many letters must be put in, left out or changed to make one word the other; of long
/// words only that they are far.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    match one.len().max(other.len()) > WORD_BYTES_MAX {
        true => usize::MAX,
        false => strsim::levenshtein(one, other),
    }
}
