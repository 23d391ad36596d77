//! Words after `cargo xtask test`.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};

use super::lane::Lane;
use crate::options::number;

/// File of the runs that were repeated, from the project's root.
const LEDGER: &str = "target/test-runs.tsv";

/// Tests that a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// True if missing tools are installed.
    pub(super) is_installing: bool,
    pub(super) lanes: Vec<Lane>,
    /// True if the slowest tests are listed.
    pub(super) is_slowest: bool,
    /// Seed of the order of tests of logic.
    pub(super) seed: Option<u64>,
    /// Number of times that each executable has run in the end, by the ledger.
    pub(super) runs: Option<u64>,
    /// True if other work runs beside the repeated runs.
    pub(super) is_loaded: bool,
    pub(super) ledger: PathBuf,
    /// Words to `cargo test`, where they ask for tests of their own.
    pub(super) cargo: Vec<String>,
    pub(super) harness: Vec<String>,
}

impl Asked {
    /// Reads the words of a command line: options of this chore, else words to `cargo test`.
    pub(super) fn read(words: &[&str]) -> anyhow::Result<Asked> {
        let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        let (own, harness) = words.split_at(end);
        let mut asked = Asked {
            is_installing: true,
            lanes: vec![Lane::Logic, Lane::System],
            is_slowest: false,
            seed: None,
            runs: None,
            is_loaded: false,
            ledger: crate::root().join(LEDGER),
            cargo: Vec::new(),
            harness: harness.iter().skip(1).map(|word| (*word).to_owned()).collect(),
        };
        let mut own = own.iter().copied();
        let mut is_own = false;
        while let Some(word) = own.next() {
            match asked.option(word, &mut own)? {
                true => is_own |= word != "--no-install",
                false => asked.cargo.push(word.to_owned()),
            }
        }
        let is_cargo = !asked.cargo.is_empty() || !asked.harness.is_empty();
        ensure!(!is_own || !is_cargo, "words to cargo test go with no option but --no-install");
        ensure!(!asked.is_loaded || asked.runs.is_some(), "--beside-load goes with --runs");
        Ok(asked)
    }

    /// Takes one option, and the value after it; returns false where `word` is none.
    fn option<'a>(
        &mut self,
        word: &str,
        rest: &mut impl Iterator<Item = &'a str>,
    ) -> anyhow::Result<bool> {
        let mut value = || rest.next().with_context(|| format!("{word} needs a value"));
        match word {
            "--no-install" => self.is_installing = false,
            "--all" => self.lanes = Lane::ALL.to_vec(),
            "--rest" => self.lanes = vec![Lane::Guest, Lane::Machine],
            "--slowest" => self.is_slowest = true,
            "--seed" => self.seed = Some(number(value()?)?),
            "--runs" => self.runs = Some(number(value()?)?),
            "--beside-load" => self.is_loaded = true,
            "--ledger" => self.ledger = value()?.into(),
            "--lane" => {
                let name = value()?;
                let Some(lane) = Lane::named(name) else {
                    bail!("expected logic, system, guest or machine, got {name}");
                };
                self.lanes = vec![lane];
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// True if the words are for `cargo test`.
    pub(super) fn is_cargo(&self) -> bool {
        !self.cargo.is_empty() || !self.harness.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> anyhow::Result<Asked> {
        Asked::read(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn without_words_logic_and_system_run() {
        let asked = read("").unwrap();
        assert_eq!(asked.lanes, [Lane::Logic, Lane::System]);
        assert!(asked.is_installing && !asked.is_cargo() && asked.runs.is_none());
        assert_eq!(read("--all").unwrap().lanes, Lane::ALL);
        assert_eq!(read("--rest --slowest").unwrap().lanes, [Lane::Guest, Lane::Machine]);
        let asked = read("--runs 20 --beside-load --lane system --seed 7 --ledger a").unwrap();
        assert_eq!((asked.runs, asked.is_loaded, asked.seed), (Some(20), true, Some(7)));
        assert_eq!((asked.lanes, asked.ledger), (vec![Lane::System], PathBuf::from("a")));
    }

    #[test]
    fn other_words_go_to_cargo_and_mix_with_no_option() {
        let asked = read("--no-install --test fixes a::b -- --nocapture --all").unwrap();
        assert!(asked.is_cargo() && !asked.is_installing);
        assert_eq!(asked.cargo, ["--test", "fixes", "a::b"]);
        assert_eq!(asked.harness, ["--nocapture", "--all"]);
        for line in
            ["--all --test fixes", "--slowest -- a", "--lane all", "--runs", "--beside-load"]
        {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
