//! Mutations: lines that judge, each changed to a wrong one, and the test that must then fail.
//!
//! A test that passes beside a wrong line proves nothing. Each mutation is made in a copy of the
//! checkout, so that nothing here changes, and its test runs there.
//!
//! | file | holds |
//! |---|---|
//! | `mutation` | one mutation: the line, the wrong one, the test |
//! | `rows` | all of them, by crate |
//! | `tree_copy` | the copy of the checkout |
//! | `trial` | the order of a crate's tests: first without a mutation, then with each |
//! | `mutant_outcome` | what the output of a test says |
//! | `cargo_tests` | cargo, which builds and runs the tests |

mod cargo_tests;
mod mutant_outcome;
mod mutation;
mod rows;
mod tree_copy;
mod trial;

use std::fs::File;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use self::cargo_tests::CargoTests;
use self::mutant_outcome::MutantOutcome;
use self::mutation::{MutatedCrate, Mutation};
use crate::cargo::root;

/// Lists mutations, or tries them and prints what became of each; whether all were found.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let (is_list, only) = match words {
        [] => (false, None),
        ["--list"] => (true, None),
        ["--only", word] => (false, Some(*word)),
        ["--list", "--only", word] | ["--only", word, "--list"] => (true, Some(*word)),
        _ => bail!("mutants takes --list, and --only with the name of a mutation or crate"),
    };
    let chosen = chosen(rows::CRATES, only);
    ensure!(!chosen.is_empty(), "no such mutation or crate: {}", only.unwrap_or_default());
    if is_list {
        for (package, mutations) in &chosen {
            mutations.iter().for_each(|mutation| println!("{}", mutation.text(package)));
        }
        return Ok(true);
    }
    tried(&chosen)
}

/// The mutations of each crate that `only` names: all without it, those of a crate, or one.
fn chosen<'a>(crates: &'a [MutatedCrate], only: Option<&str>) -> Vec<(&'a str, Vec<&'a Mutation>)> {
    let of = |one: &'a MutatedCrate| {
        let is_chosen = |mutation: &&Mutation| {
            only.is_none_or(|only| only == one.package || only == mutation.name)
        };
        (one.package, one.mutations.iter().filter(is_chosen).collect::<Vec<_>>())
    };
    crates.iter().map(of).filter(|(_, mutations)| !mutations.is_empty()).collect()
}

fn tried(chosen: &[(&str, Vec<&Mutation>)]) -> anyhow::Result<bool> {
    let directory = root().join("target/mutants");
    let tree = directory.join("tree");
    std::fs::create_dir_all(&tree).context("cannot make the directory for mutations")?;
    let lock = File::create(directory.join("lock")).context("cannot make a lock")?;
    lock.try_lock().context("cannot try mutations: another cargo xtask mutants runs")?;
    tree_copy::update(&root(), &tree)?;
    let mut tests = CargoTests { tree: &tree, target: directory.join("build") };
    let started = Instant::now();
    let (mut killed, mut other) = (0, 0);
    for (package, mutations) in chosen {
        trial::try_all(&mut tests, &tree, package, mutations, &mut |mutation, outcome, took| {
            println!("{}, {:.1} s", outcome.text(package, mutation), took.as_secs_f64());
            match outcome {
                MutantOutcome::Killed => killed += 1,
                _ => other += 1,
            }
        })?;
    }
    println!("mutants: {killed} killed, {other} not, {} s", started.elapsed().as_secs());
    Ok(other == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_or_one_mutation_is_chosen_by_its_name() {
        let count = |only: Option<&str>| -> usize {
            chosen(rows::CRATES, only).iter().map(|(_, all)| all.len()).sum()
        };
        let all: usize = rows::CRATES.iter().map(|one| one.mutations.len()).sum();
        let first = &rows::CRATES[0];
        assert_eq!([None, Some(first.package)].map(count), [all, first.mutations.len()]);
        assert_eq!([first.mutations[0].name, "nothing"].map(|name| count(Some(name))), [1, 0]);
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for words in [&["--only"][..], &["--only", "nothing"], &["--fast"], &["--list", "x"]] {
            assert!(run(words).is_err(), "{words:?}");
        }
    }
}
