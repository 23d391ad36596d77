//! `cargo xtask dist`: what people install who have no cargo.
//!
//! A static binary (musl) for each architecture, and around it an archive, a Debian package and an
//! rpm package with manual pages, completions and systemd units, and an image for containers;
//! recipes, `install.sh` and the checksums of all. Times in archives are that of the commit, and no
//! path of this machine is in the binary: a second run gives the same bytes.
//!
//! | file | what it makes |
//! |---|---|
//! | `project` | words about the project that every package has |
//! | `architecture` | processors that packages are made for |
//! | `packaged_file` | the list of files that a package puts in place |
//! | `archive` | a tar archive of such files |
//! | `debian`, `rpm` | a package of that format |
//! | `image` | an image for containers |
//! | `recipes` | recipes for Nix and Homebrew, which fetch an archive |
//! | `rehearsal`, `root` | nothing: it tries the packages in roots of their own |

mod architecture;
mod archive;
mod debian;
mod image;
mod packaged_file;
mod project;
mod recipes;
mod rehearsal;
mod root;
mod rpm;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

use crate::cargo;
use crate::options::Options;
use architecture::Architecture;
use packaged_file::compressed;
use project::VERSION;

/// The directory of packages, within cargo's.
const DIRECTORY: &str = "packages";

/// A package's name and bytes.
type Package = (String, Vec<u8>);

/// Makes all packages, or those that `words` say: `--target NAME` for that architecture alone,
/// `--program PATH` around that program of this machine's architecture, without building straddle.
/// `rehearse` makes nothing and tries what was made. True unless a rehearsal failed.
///
/// # Errors
/// When straddle cannot be built or run, or a file cannot be written.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let target = target_directory()?;
    if words == ["rehearse"] {
        return rehearsal::run(&target.join(DIRECTORY));
    }
    let options = Options::parse(words, &["--program", "--target"])?;
    let host = architecture::named(std::env::consts::ARCH)?;
    let program = options.path("--program")?;
    let wanted = match options.word("--target") {
        Some(name) => vec![architecture::named(name)?],
        None if program.is_some() => vec![host],
        None => architecture::ALL.to_vec(),
    };
    let is_foreign = program.is_some() && wanted != [host];
    ensure!(!is_foreign, "--program takes a program of this machine's architecture");
    if program.is_none() {
        build(&target, &[&[host], &wanted[..]].concat())?;
    }
    let of = |one: Architecture| target.join(one.target).join("dist/straddle");
    let speaker = program.unwrap_or_else(|| of(host));
    let (time, mut packages) = (commit_time(), Vec::new());
    for one in wanted {
        let program = if one == host { speaker.clone() } else { of(one) };
        packages.extend(around(&program, &speaker, one, time)?);
    }
    packages.extend(recipes(&packages)?);
    write(&target.join(DIRECTORY), &packages)?;
    Ok(true)
}

/// Makes the packages around `program`.
fn around(
    program: &Path,
    speaker: &Path,
    architecture: Architecture,
    time: u64,
) -> anyhow::Result<[Package; 4]> {
    let files = packaged_file::all(program, speaker)?;
    let for_debian = debian::files(&files, VERSION, time)?;
    let debian = debian::package(&for_debian, architecture, VERSION, time)?;
    let rpm = rpm::package(&files, architecture, VERSION, time)?;
    let image = image::package(&files, architecture, VERSION, time)?;
    Ok([
        (architecture.archive(), compressed(&archive::of(&files, time)?)?),
        (architecture.debian_package(), debian),
        (architecture.rpm_package(), rpm),
        (architecture.image(), image),
    ])
}

/// The recipes that fetch the archives among `packages`; none unless all archives are there.
fn recipes(packages: &[Package]) -> anyhow::Result<Vec<Package>> {
    let mut sums = Vec::new();
    for one in architecture::ALL {
        let archive = packages.iter().find(|(name, _)| *name == one.archive());
        let Some((_, bytes)) = archive else { return Ok(Vec::new()) };
        sums.push((one.name, sum(bytes)));
    }
    let filled = |name: &str| Ok((name.to_owned(), recipes::filled(name, VERSION, &sums)?.into()));
    recipes::NAMES.into_iter().map(filled).collect()
}

/// Writes `packages` and their checksums to `directory` in place of what is there.
fn write(directory: &Path, packages: &[Package]) -> anyhow::Result<()> {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory)?;
    let mut sums = String::new();
    for (name, bytes) in packages {
        std::fs::write(directory.join(name), bytes)?;
        let _ = writeln!(sums, "{}  {name}", sum(bytes));
        println!("{:>12} bytes  {name}", bytes.len());
    }
    std::fs::write(directory.join("SHA256SUMS"), &sums)?;
    std::fs::write(directory.join("install.sh"), packaged_file::own("install.sh")?)?;
    print!("{sums}");
    println!("in {}; nothing was installed", directory.display());
    Ok(())
}

/// Cargo's directory.
fn target_directory() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(2).context("this program lies in cargo's directory")?;
    Ok(target.to_owned())
}

/// Builds the static binaries for `architectures`, below `directory`.
fn build(directory: &Path, architectures: &[Architecture]) -> anyhow::Result<()> {
    let words = ["build", "--profile", "dist", "--locked", "--package", "straddle"];
    let mut build = cargo::cargo(&words);
    let remapped = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut flags = vec![remapped(&cargo::root(), "straddle"), "-Cstrip=symbols".to_owned()];
    flags.extend(home.map(|home| remapped(&home, "cargo")));
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    build.arg("--target-dir").arg(directory);
    let mut targets = Vec::new();
    for one in architectures.iter().filter(|one| one.name != std::env::consts::ARCH) {
        // Nothing of straddle is C, so Rust's own linker does for every processor.
        let name = one.target.to_uppercase().replace('-', "_");
        build.env(format!("CARGO_TARGET_{name}_LINKER"), "rust-lld");
    }
    for target in architectures.iter().map(|one| one.target) {
        if !targets.contains(&target) {
            targets.push(target);
            build.args(["--target", target]);
        }
    }
    let status = build.status().context("cannot start cargo")?;
    let targets = targets.join(" ");
    ensure!(
        status.success(),
        "cannot build straddle for {targets}; hint: rustup target add {targets}"
    );
    Ok(())
}

/// The time of the packages, in seconds since 1970: what `SOURCE_DATE_EPOCH` says, else that of the
/// commit; 0 outside of git.
fn commit_time() -> u64 {
    let told = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = |text: String| text.trim().parse().ok();
    told.and_then(seconds)
        .or_else(|| {
            let words = ["log", "-1", "--format=%ct"];
            let output = Command::new("git").args(words).current_dir(cargo::root()).output();
            output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).and_then(seconds)
        })
        .unwrap_or(0)
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
