//! The commit that this build is made from, for `straddle version`.

use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    println!("cargo:rustc-env=STRADDLE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    // The log of HEAD grows with each commit, checkout and rebase.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}

/// Output of git; `None` where there is no git or no repository.
#[expect(clippy::disallowed_methods, reason = "git knows the commit")]
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
