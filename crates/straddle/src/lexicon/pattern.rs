//! Log lines by their fixed parts: what varies (times, numbers, paths) is left out.

/// Fragments that stand in a log line in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogPattern {
    /// Parts as [`normal`] text; none is empty.
    fragments: Vec<String>,
    /// The line as people know it, with `...` for what varies.
    pub(crate) text: &'static str,
}

impl LogPattern {
    /// From text in which ` ... ` stands for what varies.
    pub(super) fn new(text: &'static str) -> LogPattern {
        let fragments = text.split("...").map(normal).filter(|part| !part.is_empty()).collect();
        LogPattern { fragments, text }
    }

    /// Returns how many bytes of [`normal`] `line` it accounts for; `None` when it does not fit.
    pub(super) fn fit(&self, line: &str) -> Option<usize> {
        let mut rest = line;
        for (index, fragment) in self.fragments.iter().enumerate() {
            let at = rest.find(fragment.as_str())?;
            if index == 0 && is_negated(&rest[..at]) {
                return None;
            }
            rest = &rest[at + fragment.len()..];
        }
        Some(self.fragments.iter().map(String::len).sum())
    }

    /// Returns whether [`normal`] text is a part of one of its fragments, from the start of a word
    /// on, and without a negation before it that the text leaves out.
    pub(super) fn holds(&self, part: &str) -> bool {
        let is_part =
            |before: &str| !before.ends_with(char::is_alphanumeric) && !is_negated(before);
        let mut fragments = self.fragments.iter();
        fragments.any(|all| all.match_indices(part).any(|(at, _)| is_part(&all[..at])))
    }
}

/// Returns whether what follows `before` means its opposite.
fn is_negated(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '-']);
    let word = before.rsplit([' ', '"', '(', '[']).next().unwrap_or_default();
    matches!(word, "no" | "not" | "never" | "non" | "without") || word.ends_with("n't")
}

/// Text as it is compared: lower case, single blanks, quotes without the escapes of JSON.
pub(super) fn normal(text: &str) -> String {
    let lower = text.replace("\\\"", "\"").to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ")
}

/// A name as it is compared: as [`normal`], and hyphens, underscores and blanks are one.
pub(super) fn name(text: &str) -> String {
    let spaced = text.replace(['-', '_'], " ");
    let trimmed =
        spaced.trim_matches(|mark: char| mark.is_whitespace() || ":.,;?!\"'`".contains(mark));
    normal(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_fit_in_their_order_only() {
        let pattern = LogPattern::new("sync duration of ... expected less than");
        let line = normal("etcd[1]: sync duration of 2.1s,  expected less than 1s");
        assert_eq!(pattern.fit(&line), Some(16 + 18));
        assert_eq!(pattern.fit("expected less than sync duration of"), None);
    }

    #[test]
    fn what_follows_a_negation_does_not_fit() {
        let pattern = LogPattern::new("slow fdatasync");
        for line in ["no slow fdatasync", "it isn't slow fdatasync", "non-slow fdatasync"] {
            assert_eq!(pattern.fit(line), None, "{line}");
        }
        assert_eq!(pattern.fit("notes: slow fdatasync"), Some(14));
        let pattern = LogPattern::new("device is not properly aligned");
        assert!(pattern.holds("not properly") && !pattern.holds("properly aligned"));
        assert!(!pattern.holds("operly aligned"));
    }

    #[test]
    fn letter_case_blanks_and_escaped_quotes_do_not_matter() {
        assert_eq!(normal("A \\\"B\\\"\n\tc"), "a \"b\" c");
        assert_eq!(name(" Full-stripe?"), "full stripe");
        assert_eq!(name("min_alloc_size:"), "min alloc size");
    }
}
