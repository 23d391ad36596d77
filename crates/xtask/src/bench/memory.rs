//! How much memory a program takes at most, and how that grows with the number of targets.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::tools;

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
    // Both are far below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "a rounded ratio is what is wanted")]
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

/// The median peak of `program` with `arguments` over a few runs, in bytes.
///
/// # Errors
/// When `time` is missing, or the program fails.
pub(super) fn peak_bytes(
    program: &Path,
    arguments: &[&str],
    workshop: &Path,
) -> anyhow::Result<u64> {
    let answer = workshop.join("peak");
    let mut peaks = Vec::new();
    for _ in 0..RUNS {
        let mut command = Command::new(tools::find("time")?);
        command.args(["--quiet", "--format=%M", "--output"]).arg(&answer);
        tools::timed(command.arg(program).args(arguments))?;
        let kib = std::fs::read_to_string(&answer)?;
        let kib: u64 = kib.trim().parse().with_context(|| format!("time says {}", kib.trim()))?;
        peaks.push(kib << 10);
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
