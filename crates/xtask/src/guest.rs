//! A run of the guest before the tests: RAID and thin metadata fresh from a real kernel.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use testkit::tool;

/// What the guest cannot do without; `guest/README.md` says for what.
const NEEDS: [&str; 6] = ["python3", "apt-get", "depmod", "xz", "zstd", "qemu-system-x86_64"];

/// The longest that fetching, packing and two boots may take, in seconds.
const LIMIT_SECONDS: &str = "420";

/// The result that the tests take: the one that `STRADDLE_GUEST_RESULT` names already, else that of
/// a new run. `None`, with the reason printed, where the guest cannot run: tests that need it are
/// then skipped and counted.
pub(crate) fn result() -> Option<PathBuf> {
    if let Some(result) = std::env::var_os("STRADDLE_GUEST_RESULT") {
        return Some(result.into());
    }
    let lacks: Vec<&str> = NEEDS.into_iter().filter(|name| tool::find(name).is_none()).collect();
    if !lacks.is_empty() {
        println!("no guest is booted: it needs {}", lacks.join(", "));
        return None;
    }
    println!("booting the guest for metadata of a real kernel (guest/run)");
    let output = Command::new("timeout")
        .args([LIMIT_SECONDS, "python3", "guest/run", "target/guest", "lvm"])
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let result = text.lines().last().map(|line| crate::root().join(line.trim()))?;
            println!("its result is in {}", result.display());
            Some(result)
        }
        Ok(output) => {
            println!("the guest gave no result: {}", output.status);
            None
        }
        Err(error) => {
            println!("the guest cannot be started: {error}");
            None
        }
    }
}
