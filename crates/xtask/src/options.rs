//! Words typed after a chore: at most one directory, and options that have a value each.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};

/// Options that were typed, each with its value.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    directory: Option<&'a str>,
    values: Vec<(&'a str, &'a str)>,
}

/// Stands among the known options for a directory, which has no name.
pub(crate) const DIRECTORY: &str = "DIR";

impl<'a> Options<'a> {
    /// Reads `words`, of which only the options in `known` may be typed.
    ///
    /// # Errors
    /// When a word is not known or has no value.
    pub(crate) fn parse(mut words: &[&'a str], known: &[&str]) -> anyhow::Result<Options<'a>> {
        let mut options = Options { directory: None, values: Vec::new() };
        while let [word, rest @ ..] = words {
            words = rest;
            let is_directory = !word.starts_with('-') && options.directory.is_none();
            if is_directory && known.contains(&DIRECTORY) {
                options.directory = Some(word);
                continue;
            }
            ensure!(known.contains(word), "no such option: {word}; known are {}", known.join(", "));
            let [value, rest @ ..] = words else { bail!("{word} needs a value") };
            words = rest;
            options.values.push((word, value));
        }
        Ok(options)
    }

    /// Returns the value of the option called `name`; `None` where it was not typed.
    pub(crate) fn word(&self, name: &str) -> Option<&'a str> {
        self.values.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    /// Returns a count above 0 such as `5000` or `100M`; `default` where it was not typed.
    ///
    /// # Errors
    /// When the value is not such a number.
    pub(crate) fn count(&self, name: &str, default: u64) -> anyhow::Result<u64> {
        let Some(text) = self.word(name) else { return Ok(default) };
        let (digits, times) = match text.strip_suffix('M') {
            Some(digits) => (digits, 1_000_000),
            None => (text, 1),
        };
        let count = number(digits)?.checked_mul(times).filter(|count| *count > 0);
        count.with_context(|| format!("{name} is a number above 0, not {text}"))
    }

    /// Returns a path as an absolute one; `None` where it was not typed.
    ///
    /// # Errors
    /// When the path is empty, or the current directory is unknown.
    pub(crate) fn path(&self, name: &str) -> anyhow::Result<Option<PathBuf>> {
        let word = if name == DIRECTORY { self.directory } else { self.word(name) };
        Ok(word.map(std::path::absolute).transpose()?)
    }
}

/// Returns the number that `text` is.
///
/// # Errors
/// When it is none.
pub(crate) fn number(text: &str) -> anyhow::Result<u64> {
    text.parse().with_context(|| format!("{text} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = [DIRECTORY, "--runs", "--seed"];

    #[test]
    fn a_directory_and_options_are_read_in_any_order() {
        let options = Options::parse(&["--runs", "5", "/data", "--seed", "2M"], &KNOWN).unwrap();
        assert_eq!(options.count("--runs", 1).unwrap(), 5);
        assert_eq!(options.count("--seed", 1).unwrap(), 2_000_000);
        assert_eq!(options.path(DIRECTORY).unwrap(), Some(PathBuf::from("/data")));
        assert_eq!(Options::parse(&[], &[]).unwrap().count("--seed", 7).unwrap(), 7);
    }

    #[test]
    fn what_is_not_known_or_has_no_value_is_refused() {
        let wrong: [&[&str]; 3] = [&["--runs"], &["--fast", "1"], &["/a", "/b"]];
        for words in wrong {
            assert!(Options::parse(words, &KNOWN).is_err(), "{words:?}");
        }
        assert!(Options::parse(&["/a"], &["--runs"]).is_err());
        for value in ["0", "0M", "M", "x", "99999999999999M"] {
            let options = Options::parse(&["--runs", value], &KNOWN).unwrap();
            assert!(options.count("--runs", 1).is_err(), "{value}");
        }
    }
}
