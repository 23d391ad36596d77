//! One run of `straddle bench`, watched from outside: its document, its seconds, its bytes.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};
use report::bench::{Arm, Bench, Comparison, Experiment, bench_parse};
use tempfile::NamedTempFile;

use super::apart::{Said, regimes};
use super::options::Place;
use crate::bench::tools;

/// The blocks in which the kernel counts what a process writes (getrusage(2), `ru_oublock`).
const BLOCK_BYTES: u64 = 512;
/// What straddle exits with when somebody ended it.
const INTERRUPTED: i32 = 130;

/// What one run came to.
pub(super) struct Run {
    pub(super) document: Bench,
    /// From before its start to its end.
    pub(super) seconds: f64,
    /// What the kernel counted as written by it, the scratch file included.
    pub(super) written_bytes: u64,
}

impl Place {
    /// Runs `straddle bench` here with `seed` and `options`, from the project's root, where
    /// relative paths in them begin.
    ///
    /// # Errors
    /// When it cannot be started, refuses to measure, or prints no result.
    pub(super) fn bench(&self, seed: u64, options: &[&str]) -> anyhow::Result<Run> {
        let blocks =
            NamedTempFile::new().context("a file for the answer of time cannot be made")?;
        let mut command = Command::new(tools::find("time")?);
        command.current_dir(crate::root());
        command.args(["--quiet", "--format=%O", "--output"]).arg(blocks.path());
        command.arg(&self.program).arg("bench").arg(&self.directory).args(options);
        command.args(["--json", "--seed", &seed.to_string()]);
        let begun = Instant::now();
        let output = tools::output(&mut command)?;
        let seconds = begun.elapsed().as_secs_f64();
        // Its exit status is a verdict; what went wrong leaves no document, or one that says so.
        let said = String::from_utf8_lossy(&output.stderr);
        let document = bench_parse(&String::from_utf8(output.stdout)?)
            .with_context(|| format!("straddle bench: {}: {}", output.status, said.trim()))?;
        let is_interrupted = output.status.code() == Some(INTERRUPTED);
        if document.refusal.is_some() || document.experiments.is_empty() || is_interrupted {
            bail!("straddle bench did not measure: {}: {}", output.status, said.trim());
        }
        let counted = std::fs::read_to_string(blocks.path())?;
        let counted: u64 =
            counted.trim().parse().with_context(|| format!("time says {}", counted.trim()))?;
        Ok(Run { document, seconds, written_bytes: counted.saturating_mul(BLOCK_BYTES) })
    }
}

impl Run {
    /// What was measured and with what, as one line without the directory's name.
    pub(super) fn title(&self) -> String {
        let Bench { version, run, target, .. } = &self.document;
        let kernel = run.kernel.as_deref().unwrap_or("unknown");
        let layers: Vec<&str> =
            target.layers.iter().map(String::as_str).chain(target.model.as_deref()).collect();
        let bytes = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |b| b.to_string());
        format!(
            "straddle {version}, Linux {kernel}; {}; logical sector {}, granule {}",
            layers.join("; "),
            bytes(target.logical_sector_bytes),
            bytes(target.granule_bytes),
        )
    }

    /// The only experiment, or the first.
    pub(super) fn experiment(&self) -> &Experiment {
        self.document.experiments.first().expect("a run without one is refused")
    }

    /// As other runs of its kind should agree with; `None` where nothing was compared.
    pub(super) fn said(&self, run: u64) -> Option<Said> {
        let experiment = self.experiment();
        let comparison = judged(experiment)?;
        let baseline = arm(experiment, "baseline")?;
        Some(Said {
            run,
            low: if comparison.low.is_finite() { comparison.low } else { 0.0 },
            high: comparison.high.unwrap_or(f64::INFINITY),
            median_ns: baseline.median_ns,
            regimes_ns: experiment.regimes.iter().map(|regime| regime.median_ns).collect(),
        })
    }

    /// The baseline's median in nanoseconds.
    pub(super) fn aligned_ns(&self) -> Option<u64> {
        arm(self.experiment(), "baseline").map(|arm| arm.median_ns)
    }

    /// The medians of its regimes, as text.
    pub(super) fn regimes(&self) -> String {
        let medians: Vec<u64> =
            self.experiment().regimes.iter().map(|regime| regime.median_ns).collect();
        regimes(&medians)
    }
}

/// What the verdict is on: the first shifted arm against the baseline.
pub(super) fn judged(experiment: &Experiment) -> Option<&Comparison> {
    let shifted = arm(experiment, "shifted")?;
    experiment.comparisons.iter().find(|comparison| comparison.arm == shifted.name)
}

/// The first arm in this role.
pub(super) fn arm<'a>(experiment: &'a Experiment, role: &str) -> Option<&'a Arm> {
    experiment.arms.iter().find(|arm| arm.role == role)
}

/// A comparison's interval, as text.
pub(super) fn interval(comparison: Option<&Comparison>) -> String {
    match comparison {
        Some(Comparison { low, high: Some(high), .. }) if low.is_finite() => {
            format!("{low:.3} to {high:.3}")
        }
        _ => "unknown".to_owned(),
    }
}

/// A comparison's ratio, as text.
pub(super) fn ratio(comparison: Option<&Comparison>) -> String {
    let ratio = comparison.map(|comparison| comparison.ratio).filter(|ratio| ratio.is_finite());
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"))
}
