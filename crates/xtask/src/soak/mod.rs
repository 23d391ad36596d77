//! `cargo xtask soak`: the experiment, many times, against what is known to be true.
//!
//! | chore | what is known |
//! |---|---|
//! | `models` | the truth of model drives, which is computed |
//! | `probe` | the geometry of model drives, which is given |
//! | `drives` | what the built-in profiles say of their drives |
//! | `drive` | the memory of drive models, which does not grow |
//! | `tails` | the quantiles of series that are computed |
//! | `plan` | the content of disks that are made, which no plan may change |
//! | `names` | how much memory and time a name of a megabyte may take |
//! | `races` | what is on a device, and which file system a directory is on |
//! | `bench` | identical arms of this machine's disk do not differ |
//!
//! Everything printed comes from the one run that prints it.

mod drives;
mod identical;
mod model_memory;
mod models;
mod names;
mod options;
mod plan;
mod probe;
mod races;
mod tails;

use anyhow::bail;

use self::options::Options;

/// Runs the soak that the first of `words` names; whether every bound held.
///
/// # Errors
/// When the words are not known, or something cannot be built or run.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    match words {
        ["models"] => models::run(200),
        ["models", "--seeds", seeds] => models::run(crate::number(seeds)?.max(1)),
        ["probe"] => probe::run(200),
        ["probe", "--seeds", seeds] => probe::run(crate::number(seeds)?.max(1)),
        ["drive"] => model_memory::run(100_000_000),
        ["drive", "--commands", count] => model_memory::run(model_memory::count(count)?),
        ["drive", "--commands", count, "--model", name] => {
            model_memory::run_one(name, model_memory::count(count)?)
        }
        ["drives"] => drives::run(200, None),
        ["drives", "--seeds", seeds] => drives::run(crate::number(seeds)?.max(1), None),
        ["drives", "--seeds", seeds, "--drive", name] => {
            drives::run(crate::number(seeds)?.max(1), Some(name))
        }
        ["races"] => races::run(10_000),
        ["races", "--count", count] => races::run(crate::number(count)?.max(1)),
        ["tails"] => tails::run(1000),
        ["tails", "--seeds", seeds] => tails::run(crate::number(seeds)?.max(1)),
        ["bench", rest @ ..] => identical::run(&Options::parse(rest, &["--runs"])?),
        ["plan", rest @ ..] => plan::run(&Options::parse(rest, &["--disks"])?),
        ["names", rest @ ..] => names::run(&Options::parse(rest, &["--disks"])?),
        _ => bail!(
            "soak is told what: models [--seeds N], probe [--seeds N], drives [--seeds N \
             [--drive NAME]], drive [--commands N], tails [--seeds N], plan [--disks N], \
             races [--count N], names [--disks N], bench"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_that_is_not_known_is_refused() {
        let wrong: [&[&str]; 7] = [
            &[],
            &["bonch"],
            &["models", "--seeds", "x"],
            &["drive", "--commands", "0"],
            &["drive", "--commands", "1", "--model", "no-such"],
            &["bench", "--pairs", "3"],
            &["bench", "--runs", "0"],
        ];
        for words in wrong {
            assert!(run(words).is_err(), "{words:?}");
        }
    }
}
