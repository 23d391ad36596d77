//! fio on the same file, with the same operations.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::measuring_loop::LoopResult;
use crate::bench::tools;

const COMMON: [&str; 7] = [
    "--name=harness",
    "--thread",
    "--bs=4k",
    "--size=16m",
    "--time_based",
    "--allow_file_create=0",
    "--output-format=json",
];

/// pwrite, one after the other.
pub(super) const SYNC: &[&str] = &["--ioengine=psync", "--rw=write"];
/// Timed by clock_gettime(2).
pub(super) const GETTIME: &[&str] = &["--clocksource=clock_gettime"];
/// Timed by the processor's counter.
pub(super) const CPU: &[&str] = &["--clocksource=cpu"];
/// A ring as fio uses it when nothing is said of batches.
pub(super) const RING: &[&str] = &[
    "--ioengine=io_uring",
    "--registerfiles=1",
    "--fixedbufs=1",
    "--direct=1",
    "--rw=randread",
    "--norandommap",
    "--iodepth=128",
];
/// In batches of 32, as fio's own `t/io_uring` uses it.
pub(super) const BATCHED: &[&str] = &[
    "--iodepth_batch_submit=32",
    "--iodepth_batch_complete_min=1",
    "--iodepth_batch_complete_max=32",
];

/// Runs fio on `path`.
///
/// # Errors
/// When it is not installed, fails, or answers something else than its JSON.
pub(super) fn run(path: &Path, time: Duration, options: &[&[&str]]) -> anyhow::Result<LoopResult> {
    let mut command = Command::new(tools::find("fio")?);
    command.args(COMMON).args(options.iter().copied().flatten());
    command.arg(format!("--runtime={}ms", time.as_millis()));
    command.arg(format!("--filename={}", tools::text(path)?));
    let text = tools::answer(&mut command)?;
    // Notes may stand before the document.
    let start = text.find('{').context("fio answered no JSON")?;
    done(&serde_json::from_str(&text[start..])?)
}

fn done(document: &Value) -> anyhow::Result<LoopResult> {
    let job = &document["jobs"][0];
    anyhow::ensure!(job["error"] == 0, "fio failed: {}", job["error"]);
    let both = ["read", "write"];
    let ios = both.into_iter().filter_map(|way| job[way]["total_ios"].as_u64());
    let operations = ios.sum();
    // In milliseconds, of the one way that was asked for.
    let runtime_ms = both.into_iter().filter_map(|way| job[way]["runtime"].as_u64()).max();
    let runtime_ms = runtime_ms.context("fio's JSON lacks the runtime")?;
    let wall_ns = runtime_ms.saturating_mul(1_000_000);
    let share = |key: &str| {
        let percent = job[key].as_f64().with_context(|| format!("fio's JSON lacks {key}"))?;
        let time = Duration::from_nanos(wall_ns).mul_f64(percent / 100.0);
        anyhow::Ok(u64::try_from(time.as_nanos())?)
    };
    let user_ns = share("usr_cpu")?;
    Ok(LoopResult { operations, wall_ns, user_ns, busy_ns: user_ns + share("sys_cpu")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fio_did_is_read_from_its_json() {
        let document = serde_json::json!({"jobs": [{
            "error": 0,
            "usr_cpu": 12.5,
            "sys_cpu": 50.0,
            "read": {"total_ios": 0, "runtime": 0},
            "write": {"total_ios": 1000, "runtime": 200},
        }]});
        let found = done(&document).unwrap();
        assert_eq!((found.operations, found.wall_ns), (1000, 200_000_000));
        assert_eq!((found.user_ns, found.busy_ns), (25_000_000, 125_000_000));
        assert!(done(&serde_json::json!({"jobs": [{"error": 5}]})).is_err());
    }
}
