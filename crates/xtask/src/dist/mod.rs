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

/// Makes all packages, or those that `words` say: `--target NAME` for that architecture alone,
/// `--program PATH` around that program of this machine's architecture, without building straddle.
/// `rehearse` makes nothing and tries what was made. True unless a rehearsal failed.
///
/// # Errors
/// When straddle cannot be built or run, or a file cannot be written.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    if words == ["rehearse"] {
        return rehearsal::run(&target_directory()?.join(DIRECTORY));
    }
    let options = Options::parse(words, &["--program", "--target"])?;
    let target = target_directory()?;
    let host = architecture::named(std::env::consts::ARCH)?;
    let program = options.path("--program")?;
    let wanted = match options.word("--target") {
        Some(name) => vec![architecture::named(name)?],
        None if program.is_some() => vec![host],
        None => architecture::ALL.to_vec(),
    };
    let foreign = program.is_some() && wanted != [host];
    ensure!(!foreign, "--program takes a program of this machine's architecture");
    let speaker = match program {
        Some(program) => program,
        None => built(&target, host)?,
    };
    let time = commit_time();
    let mut packages = Vec::new();
    for &architecture in &wanted {
        let is_host = architecture == host;
        let program = if is_host { speaker.clone() } else { built(&target, architecture)? };
        packages.extend(around(&program, &speaker, architecture, time)?);
    }
    let directory = target.join(DIRECTORY);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory)?;
    let is_all = wanted.len() == architecture::ALL.len();
    if is_all {
        let sums = architecture::ALL.map(|one| (one.name, sum_of_archive(&packages, one)));
        for name in recipes::NAMES {
            let text = recipes::filled(name, VERSION, &sums)?;
            packages.push((name.to_owned(), text.into_bytes()));
        }
    }
    let mut sums = String::new();
    for (name, bytes) in &packages {
        std::fs::write(directory.join(name), bytes)?;
        let _ = writeln!(sums, "{}  {name}", sum(bytes));
        println!("{:>12} bytes  {name}", bytes.len());
    }
    std::fs::write(directory.join("SHA256SUMS"), &sums)?;
    std::fs::write(directory.join("install.sh"), packaged_file::own("install.sh")?)?;
    print!("{sums}");
    println!("in {}; nothing was installed", directory.display());
    Ok(true)
}

/// The name of the archive for `architecture`.
fn archive_name(architecture: Architecture) -> String {
    format!("straddle-{VERSION}-{}.tar.gz", architecture.target)
}

/// The checksum of the archive for `architecture` among `packages`.
fn sum_of_archive(packages: &[(String, Vec<u8>)], architecture: Architecture) -> String {
    let name = archive_name(architecture);
    packages.iter().find(|(own, _)| *own == name).map_or(String::new(), |(_, bytes)| sum(bytes))
}

/// Makes the packages around `program`: the name and the bytes of each.
fn around(
    program: &Path,
    speaker: &Path,
    architecture: Architecture,
    time: u64,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let files = packaged_file::all(program, speaker)?;
    let for_debian = debian::files(&files, VERSION, time)?;
    let Architecture { name, debian, .. } = architecture;
    Ok(vec![
        (archive_name(architecture), compressed(&archive::of(&files, time)?)?),
        (
            format!("straddle_{VERSION}_{debian}.deb"),
            debian::package(&for_debian, architecture, VERSION, time)?,
        ),
        (
            format!("straddle-{VERSION}-{}.{name}.rpm", rpm::RELEASE),
            rpm::package(&files, architecture, VERSION, time)?,
        ),
        (
            format!("straddle-{VERSION}-{name}.oci.tar"),
            image::package(&files, architecture, VERSION, time)?,
        ),
    ])
}

/// Cargo's directory.
fn target_directory() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(2).context("this program lies in cargo's directory")?;
    Ok(target.to_owned())
}

/// Builds the static binary for `architecture`; its path.
fn built(directory: &Path, architecture: Architecture) -> anyhow::Result<PathBuf> {
    let words = ["build", "--profile", "dist", "--locked", "--package", "straddle"];
    let mut build = cargo::cargo(&words);
    let remapped = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut flags = vec![remapped(&cargo::root(), "straddle"), "-Cstrip=symbols".to_owned()];
    flags.extend(home.map(|home| remapped(&home, "cargo")));
    if architecture.name != std::env::consts::ARCH {
        // Nothing of straddle is C, so Rust's own linker does for every processor.
        flags.push("-Clinker=rust-lld".to_owned());
    }
    let target = architecture.target;
    build.args(["--target", target]).arg("--target-dir").arg(directory);
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let status = build.status().context("cannot start cargo")?;
    ensure!(
        status.success(),
        "cannot build straddle for {target}; hint: rustup target add {target}"
    );
    Ok(directory.join(target).join("dist/straddle"))
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
