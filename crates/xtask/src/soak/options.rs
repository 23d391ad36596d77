//! What may be typed behind `cargo xtask soak CHORE`.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};

use crate::bench;

/// What was asked for; what was not is the chore's own choice.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Place where scratch files are made; without it beside the build.
    directory: Option<PathBuf>,
    /// What is measured in place of straddle as it is now.
    program: Option<PathBuf>,
    /// The first run's seed; the next runs have the next ones.
    seed: Option<u64>,
    /// Number of runs of each kind.
    pub(super) runs: Option<u64>,
    /// Number of disks made.
    pub(super) disks: Option<u64>,
}

impl Options {
    /// Returns what `words` say; of `own`, those options that not every soak has, only these are
    /// known.
    ///
    /// # Errors
    /// When a word is not known, has no value, or one that is no number above 0.
    pub(super) fn parse(mut words: &[&str], own: &[&str]) -> anyhow::Result<Options> {
        let mut options = Options::default();
        while let [word, rest @ ..] = words {
            words = rest;
            if !word.starts_with('-') {
                ensure!(options.directory.is_none(), "{word}: there is one directory");
                options.directory = Some(std::path::absolute(word)?);
                continue;
            }
            let known = own.contains(word) || ["--seed", "--program"].contains(word);
            ensure!(known, "{word} is not known; known are --seed, --program, {}", own.join(", "));
            let [value, rest @ ..] = words else { bail!("{word} needs a value") };
            words = rest;
            let count = || {
                let count = crate::number(value)?;
                ensure!(count > 0, "{word} is a number above 0");
                Ok(Some(count))
            };
            match *word {
                "--program" => options.program = Some(std::path::absolute(value)?),
                "--runs" => options.runs = count()?,
                "--disks" => options.disks = count()?,
                _ => options.seed = Some(crate::number(value)?),
            }
        }
        Ok(options)
    }

    /// The first run's seed.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The program that is measured, built now unless one was named, and where it writes.
    ///
    /// # Errors
    /// When it cannot be built, or the directory is none.
    pub(super) fn place(&self) -> anyhow::Result<Place> {
        let built = match &self.program {
            Some(program) => program.parent().unwrap_or(program).to_owned(),
            None => bench::build()?,
        };
        let directory = self.directory.clone().unwrap_or_else(|| built.clone());
        let kind = std::fs::metadata(&directory);
        let kind = kind.with_context(|| format!("cannot look at {}", directory.display()))?;
        ensure!(kind.is_dir(), "{} is no directory", directory.display());
        let program = self.program.clone().unwrap_or_else(|| built.join("straddle"));
        Ok(Place { program, directory })
    }
}

/// What runs, and where.
pub(super) struct Place {
    pub(super) program: PathBuf,
    pub(super) directory: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_and_the_options_of_the_soak_are_read_in_any_order() {
        let options = Options::parse(&["--runs", "5", "/data", "--seed", "9"], &["--runs"]);
        let options = options.unwrap();
        assert_eq!((options.runs, options.seed()), (Some(5), 9));
        assert_eq!(options.directory.as_deref(), Some(std::path::Path::new("/data")));
        assert_eq!(Options::parse(&[], &[]).unwrap().seed(), 1);
    }

    #[test]
    fn what_is_not_known_or_has_no_value_is_refused() {
        let wrong: [&[&str]; 5] =
            [&["--runs"], &["--runs", "0"], &["--runs", "x"], &["--fast", "1"], &["/a", "/b"]];
        for words in wrong {
            assert!(Options::parse(words, &["--runs"]).is_err(), "{words:?}");
        }
        assert!(Options::parse(&["--seconds", "5"], &["--runs"]).is_err());
    }
}
