//! Peak of memory of a program, and its growth with the number of targets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::tools;
use crate::options::number;

/// Number of targets, and the most bytes that were resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peak {
    pub(super) targets: u64,
    pub(super) peak_bytes: u64,
}

/// Returns how many bytes each target more takes, from the first to the last of `peaks`; negative
/// when less is taken.
pub(super) fn growth_bytes(peaks: &[Peak]) -> f64 {
    let ([first, ..], [.., last]) = (peaks, peaks) else { return 0.0 };
    let difference = |last: u64, first: u64| last as f64 - first as f64;
    let targets = difference(last.targets, first.targets);
    difference(last.peak_bytes, first.peak_bytes) / targets.max(1.0)
}

/// A directory below `workshop` with `count` names, which are hard links to `images`.
///
/// # Errors
/// When it cannot be made, or there are no images.
pub(super) fn links(workshop: &Path, images: &[PathBuf], count: u64) -> anyhow::Result<PathBuf> {
    anyhow::ensure!(!images.is_empty(), "there are no images");
    let directory = workshop.join(format!("targets-{count}"));
    std::fs::create_dir(&directory)?;
    for (number, image) in (0..count).zip(images.iter().cycle()) {
        std::fs::hard_link(image, directory.join(format!("target-{number:05}.img")))?;
    }
    Ok(directory)
}

/// A run of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredRun {
    pub(crate) code: i32,
    /// The most bytes that were resident.
    pub(crate) peak_bytes: u64,
    pub(crate) time: Duration,
}

/// Runs `program`, whose output goes nowhere; `workshop` is for a file that comes and goes.
///
/// # Errors
/// When `time` is missing, or the program ends by a signal.
pub(crate) fn run(
    program: &Path,
    arguments: &[&str],
    workshop: &Path,
) -> anyhow::Result<MeasuredRun> {
    let answer = workshop.join("peak");
    let mut command = Command::new(tools::find("time")?);
    command.args(["--quiet", "--format=%M", "--output"]).arg(&answer).arg(program).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status().context("cannot start time")?;
    let time = begun.elapsed();
    let code = status.code().with_context(|| format!("{} got a signal", program.display()))?;
    let kib = std::fs::read_to_string(&answer)?;
    Ok(MeasuredRun { code, peak_bytes: number(kib.trim())? << 10, time })
}

/// The median peak of `program` with `arguments` over a few runs, in bytes.
///
/// # Errors
/// When `time` is missing, or the program fails.
pub(super) fn peak_bytes(
    program: &Path,
    arguments: &[&str],
    workshop: &Path,
) -> anyhow::Result<u64> {
    let mut peaks = Vec::new();
    for _ in 0..RUNS {
        let MeasuredRun { code, peak_bytes, .. } = run(program, arguments, workshop)?;
        anyhow::ensure!(matches!(code, 0 | 1), "{} ended with {code}", program.display());
        peaks.push(peak_bytes);
    }
    peaks.sort_unstable();
    Ok(peaks[peaks.len().div_euclid(2)])
}

/// An odd number, so that there is one in the middle.
const RUNS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_what_one_target_more_takes() {
        let peak = |targets, peak_bytes| Peak { targets, peak_bytes };
        let growth = growth_bytes(&[peak(100, 5000), peak(150, 0), peak(1100, 7000)]);
        assert!((growth - 2.0).abs() < 1e-9);
        assert!((growth_bytes(&[peak(1, 10), peak(2, 8)]) + 2.0).abs() < 1e-9);
        assert!(growth_bytes(&[]).abs() < 1e-9);
    }
}
