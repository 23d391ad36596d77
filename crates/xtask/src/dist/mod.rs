//! `cargo xtask dist`: what people install who have no cargo.
//!
//! A static binary (musl), an archive and a Debian package around it, with manual pages,
//! completions and systemd units; `install.sh` and the checksums of all. Times in archives are that
//! of the commit, and no path of this machine is in the binary: a second run gives the same bytes.
//!
//! | file | what it makes |
//! |---|---|
//! | `packaged_file` | the list of files that a package puts in place |
//! | `archive` | a tar archive of such files, compressed |
//! | `debian` | a Debian package |

mod archive;
mod debian;
mod packaged_file;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

use crate::cargo;
use crate::options::Options;

/// The target of the binary: it needs no library of the machine.
const TARGET: &str = "x86_64-unknown-linux-musl";
/// The directory of packages, within cargo's.
const DIRECTORY: &str = "packages";

/// Makes all packages as `words` say: `--program PATH` takes that instead of building straddle.
/// Always `true`.
///
/// # Errors
/// When straddle cannot be built or run, or a file cannot be written.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--program"])?;
    let target = target_directory()?;
    let program = match options.path("--program")? {
        Some(program) => program,
        None => built(&target)?,
    };
    let directory = target.join(DIRECTORY);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory)?;
    let time = commit_time();
    let version = env!("CARGO_PKG_VERSION");
    let files = packaged_file::all(&program, &debian::changelog(version, time)?)?;
    let packages = [
        (format!("straddle-{version}-{TARGET}.tar.gz"), archive::compressed(&files, time)?),
        (format!("straddle_{version}_amd64.deb"), debian::package(&files, version, time)?),
    ];
    let mut sums = String::new();
    for (name, bytes) in &packages {
        std::fs::write(directory.join(name), bytes)?;
        let _ = writeln!(sums, "{}  {name}", sum(bytes));
        println!("{:>12} bytes  {name}", bytes.len());
    }
    std::fs::write(directory.join("SHA256SUMS"), &sums)?;
    let script = cargo::root().join("crates/xtask/packaging/install.sh");
    std::fs::copy(&script, directory.join("install.sh"))?;
    print!("{sums}");
    println!("in {}; nothing was installed", directory.display());
    Ok(true)
}

/// Cargo's directory.
fn target_directory() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let target = here.ancestors().nth(2).context("this program lies in cargo's directory")?;
    Ok(target.to_owned())
}

/// Builds the static binary; its path.
fn built(target: &Path) -> anyhow::Result<PathBuf> {
    let words = ["build", "--profile", "dist", "--locked", "--package", "straddle"];
    let mut build = cargo::cargo(&words);
    let remapped = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut flags = vec![remapped(&cargo::root(), "straddle"), "-Cstrip=symbols".to_owned()];
    flags.extend(home.map(|home| remapped(&home, "cargo")));
    build.args(["--target", TARGET]).arg("--target-dir").arg(target);
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let status = build.status().context("cannot start cargo")?;
    ensure!(
        status.success(),
        "cannot build straddle for {TARGET}; hint: rustup target add {TARGET}"
    );
    Ok(target.join(TARGET).join("dist/straddle"))
}

/// The time of the commit, in seconds since 1970; 0 outside of git.
fn commit_time() -> u64 {
    let output =
        Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(cargo::root()).output();
    let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
