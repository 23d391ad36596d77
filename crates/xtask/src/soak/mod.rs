//! `cargo xtask soak`: what is promised, many times, against what is known to be true.
//!
//! | chore | what is known |
//! |---|---|
//! | `models` | the true ratio of arms whose times are computed |
//! | `probe` | the geometry of exact drives, which is given |
//! | `drives` | what the built-in profiles say of their drives |
//! | `tails` | the quantiles of series that are computed |
//! | `plan` | the content of disks that are made, which no plan may change |
//! | `conservation` | every byte of disks that are made, which no change of a table may lose |
//! | `names` | how much memory and time a name of a megabyte may take |
//! | `races` | what is on a device, and which file system a directory is on |
//! | `bench` | identical arms of this machine's disk do not differ |
//!
//! Everything printed comes from the one run that prints it.

mod conservation;
mod drives;
mod identical_arms;
mod models;
mod names;
mod plan;
mod races;
mod soak_directory;
mod tails;

use anyhow::{Context as _, bail};

use crate::cargo::cargo;
use crate::options::{DIRECTORY, Options};

/// A soak: what may be typed, and what is run.
struct Soak {
    name: &'static str,
    /// The option that says how many trials there are, and how many without it.
    count: (&'static str, u64),
    /// Other options.
    options: &'static [&'static str],
    /// True if only these chores built for release are quick enough.
    is_released: bool,
    /// Gives back how many bounds were missed.
    run: SoakFunction,
}

type SoakFunction = fn(&Options<'_>, u64) -> anyhow::Result<usize>;

/// Options of those that write on this machine's disk.
const PLACE: &[&str] = &[DIRECTORY, "--seed", "--program"];

const SOAKS: [Soak; 9] = [
    soak(COMPUTED, "models", ("--seeds", 200), &[], models::run),
    soak(COMPUTED, "probe", ("--seeds", 200), &["--drive"], drives::run_exact),
    soak(COMPUTED, "drives", ("--seeds", 200), &["--drive"], drives::run),
    soak(COMPUTED, "tails", ("--seeds", 1000), &[], tails::run),
    soak(OF_PRODUCT, "plan", ("--disks", 1000), PLACE, plan::run),
    soak(OF_PRODUCT, "conservation", ("--disks", 200), PLACE, conservation::run),
    soak(OF_PRODUCT, "names", ("--disks", 100_000), PLACE, names::run),
    soak(OF_PRODUCT, "races", ("--count", 10_000), &[], races::run),
    soak(OF_PRODUCT, "bench", ("--runs", 200), PLACE, identical_arms::run),
];

/// A soak of what these chores compute themselves.
const COMPUTED: bool = true;
/// A soak of programs that are built for it.
const OF_PRODUCT: bool = false;

const fn soak(
    is_released: bool,
    name: &'static str,
    count: (&'static str, u64),
    options: &'static [&'static str],
    run: SoakFunction,
) -> Soak {
    Soak { name, count, options, is_released, run }
}

/// Runs the soak that the first of `words` names; whether every bound held.
///
/// # Errors
/// When the words are not known, or something cannot be built or run.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let named = words.first().and_then(|name| SOAKS.iter().find(|soak| soak.name == *name));
    let Some(Soak { name, count: (counted, default), options, is_released, run }) = named else {
        let all: Vec<String> =
            SOAKS.iter().map(|soak| format!("{} [{} N]", soak.name, soak.count.0)).collect();
        bail!("no such soak; there are {}", all.join(", "));
    };
    let options = Options::parse(&words[1..], &[&[*counted], *options].concat())?;
    let count = options.count(counted, *default)?;
    if *is_released && cfg!(debug_assertions) {
        return released(words);
    }
    let missed = run(&options, count)?;
    let unit = counted.trim_start_matches('-');
    let held = if missed == 0 { "held".to_owned() } else { format!("MISSED: {missed}") };
    println!("soak {name}: {count} {unit}, {held}");
    Ok(missed == 0)
}

/// Runs this soak again, built for release.
fn released(words: &[&str]) -> anyhow::Result<bool> {
    let run = ["run", "--quiet", "--release", "--package", "xtask", "--", "soak"];
    let status = cargo(&run).args(words).status().context("cannot start cargo")?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("the chores built for release failed: {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_that_is_not_known_is_refused() {
        let wrong: [&[&str]; 6] = [
            &[],
            &["bonch"],
            &["models", "--seeds", "x"],
            &["tails", "--seeds", "0"],
            &["bench", "--pairs", "3"],
            &["bench", "--runs", "0"],
        ];
        for words in wrong {
            assert!(run(words).is_err(), "{words:?}");
        }
    }
}
