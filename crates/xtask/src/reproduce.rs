//! `cargo xtask reproduce`: procedures of articles that need md or a file system that this kernel
//! lacks, in the guest, whose disks are drives that straddle serves.

use std::process::Command;

use anyhow::{Context as _, bail};

use crate::cargo::{program, root};
use crate::options::Options;
use crate::record::in_guest;

/// Each scenario, and the article whose numbers it measures.
const SCENARIOS: [(&str, &str); 2] =
    [("raid0", "file-system-blocks-alignment"), ("suite", "linux-on-4kb-sector-disks")];

/// Types the procedures that `words` name, or all, and prints what the guest measured beside what
/// was published and simulated.
///
/// # Errors
/// When a word is not known, or the guest cannot be built or booted.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let is_name = |word: &&&str| SCENARIOS.iter().any(|(name, _)| name == *word);
    let names: Vec<&&str> = words.iter().take_while(is_name).collect();
    let options = Options::parse(&words[names.len()..], &["--program"])?;
    let straddle = program(&options)?;
    let wanted = |name: &str| names.is_empty() || names.iter().any(|own| **own == name);
    for (name, article) in SCENARIOS.into_iter().filter(|(name, _)| wanted(name)) {
        println!("load of this machine: {}", std::fs::read_to_string("/proc/loadavg")?.trim());
        let out = in_guest(name, &[straddle.as_os_str()])?.join(name);
        // Not every scenario measures the guest itself.
        print!("{}", std::fs::read_to_string(out.join("timing-off")).unwrap_or_default());
        let numbers = out.join("numbers");
        print!("{}", std::fs::read_to_string(&numbers).context("the guest left no numbers")?);
        let mut compare = Command::new(&straddle);
        compare.args(["drive", "reproduce", article, "--measured"]).arg(&numbers);
        let status = compare.current_dir(root()).status().context("cannot start straddle")?;
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("straddle drive reproduce ended with {status}");
        }
    }
    println!("load of this machine: {}", std::fs::read_to_string("/proc/loadavg")?.trim());
    Ok(true)
}
