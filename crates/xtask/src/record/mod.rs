//! `cargo xtask record`: what file systems ask of a disk, as traces.
//!
//! The disk is a sparse file in memory behind a file system in user space, which writes down all
//! that it is asked for, with a loop device over it. Each file system goes through the steps of an
//! article (make, unpack, write, read, delete), each step but the first on a fresh mount and to the
//! end of its unmount. Mounting is not recorded, as it is not timed either.
//!
//! Nothing stays behind: the file has no name, the loop device and the mounts go with the process.
//! File systems that this kernel lacks are recorded in the guest, by this same program.

mod disk;
mod guest;
mod recipe;
mod steps;
mod tape;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use host::{Interrupt, PrivateMounts};

pub(crate) use self::guest::in_guest;
use self::recipe::{RECIPES, RecordRecipe};
use self::steps::{MAKE, MOUNTS, Scale, Steps};

/// Place where the traces are to go, and of what.
#[derive(Debug)]
struct RecordRequest {
    directory: PathBuf,
    recipes: Vec<&'static RecordRecipe>,
    /// True if the guest may help out.
    guest: bool,
}

/// Records what `words` ask for: a directory, `--here`, and names of file systems.
///
/// # Errors
/// When the words are not known, the machine has no loop devices or no FUSE, a file system does not
/// want to, or the guest gives nothing.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let asked = RecordRequest::of(words)?;
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        asked.recipes.iter().partition(|recipe| !asked.guest || recipe.missing().is_none());
    let directory = &asked.directory;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    record(directory, &here)?;
    if !elsewhere.is_empty() {
        for recipe in &elsewhere {
            println!(
                "{}: in the guest, since {}",
                recipe.name,
                recipe.missing().unwrap_or_default()
            );
        }
        guest::record(directory, &elsewhere)?;
    }
    Ok(true)
}

/// Goes through the steps of each file system of `names` on the device `node`, and prints how many
/// seconds each took, with `place` in its name: the guest runs this on served disks.
///
/// # Errors
/// When a name is not known, or a step fails.
pub(crate) fn time(node: &Path, place: &str, names: &[&str]) -> anyhow::Result<bool> {
    let interrupt = Interrupt::install().context("cannot handle signals")?;
    let mounts = PrivateMounts::enter()?;
    let load = Scale::ARTICLE.load();
    for name in names {
        let recipe = recipe::called(name)?;
        let steps = Steps { recipe, load: &load, mounts: &mounts, interrupt: &interrupt };
        let mut since = Instant::now();
        let mut told = |step: Option<&str>| {
            if let Some(step) = step {
                let seconds = since.elapsed().as_secs_f64();
                println!("{}, {}, {place}: {seconds:.2}", title(step), recipe.title);
            }
            since = Instant::now();
        };
        steps.make(node)?;
        told(Some(MAKE));
        MOUNTS.iter().try_for_each(|of_mount| steps.mount(node, of_mount, &mut told))?;
    }
    Ok(true)
}

/// The name of a step among the published numbers.
fn title(step: &str) -> &str {
    match step {
        "unpack" => "untar",
        "write" => "large write",
        step => step,
    }
}

/// Records file systems that this machine has.
fn record(directory: &Path, recipes: &[&RecordRecipe]) -> anyhow::Result<()> {
    if recipes.is_empty() {
        return Ok(());
    }
    let interrupt = Interrupt::install().context("cannot handle signals")?;
    let mounts = PrivateMounts::enter()?;
    let load = Scale::ARTICLE.load();
    for recipe in recipes {
        if let Some(reason) = recipe.missing() {
            bail!("cannot record {}: {reason}", recipe.name);
        }
        let steps = Steps { recipe, load: &load, mounts: &mounts, interrupt: &interrupt };
        for (step, tape) in steps.run(Scale::ARTICLE)? {
            let name = format!("{}-{step}.iolog.gz", recipe.name);
            let packed = tape::packed(&tape)?;
            std::fs::write(directory.join(&name), &packed)
                .with_context(|| format!("cannot write {name}"))?;
            println!("{name}: {} operations, {} bytes", tape.len(), packed.len());
        }
        let versions = format!("{}\n", recipe.versions());
        std::fs::write(directory.join(format!("{}.txt", recipe.name)), &versions)?;
        print!("{versions}");
    }
    Ok(())
}

impl RecordRequest {
    fn of(words: &[&str]) -> anyhow::Result<RecordRequest> {
        let (options, names): (Vec<&str>, Vec<&str>) =
            words.iter().partition(|word| word.starts_with('-'));
        if let Some(other) = options.iter().find(|option| **option != "--here") {
            bail!("no such option: {other}; record has --here");
        }
        let Some((directory, names)) = names.split_first() else {
            bail!("cannot record: no directory was named; hint: cargo xtask record traces");
        };
        let recipes = match names {
            [] => RECIPES.iter().collect(),
            names => {
                names.iter().map(|name| recipe::called(name)).collect::<anyhow::Result<_>>()?
            }
        };
        Ok(RecordRequest { directory: directory.into(), recipes, guest: options.is_empty() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_a_directory_and_names_that_are_known() {
        let asked = RecordRequest::of(&["out", "--here", "jfs"]).unwrap();
        assert_eq!((asked.directory, asked.guest), (PathBuf::from("out"), false));
        assert_eq!(asked.recipes[0].name, "jfs");
        assert_eq!(RecordRequest::of(&["out"]).unwrap().recipes.len(), RECIPES.len());
        for (words, said) in [
            (&[][..], "no directory was named"),
            (&["out", "ntfs"][..], "no such trace: ntfs; there are ext3"),
            (&["out", "--fast"][..], "no such option: --fast"),
        ] {
            let error = RecordRequest::of(words).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
