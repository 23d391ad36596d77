//! A watch that runs while a load does.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use testkit::running_program;

/// A `straddle watch` that runs; ended when dropped.
pub(super) struct RunningWatch {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// Figures of a watch at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WatchAnswer {
    /// Writes off the granule that it counted.
    pub(super) off_writes: u64,
    /// Writes among which it counted those.
    pub(super) counted_writes: u64,
    /// Writes of the sample.
    pub(super) sampled: u64,
    /// Events that it lost, of counts.
    pub(super) counts_lost: u64,
    /// Events that it lost, of the sample.
    pub(super) sample_lost: u64,
    /// Most memory that it had, in KiB.
    pub(super) memory_kib: u64,
}

impl RunningWatch {
    /// Starts `program` on `node` with `arguments`, and waits until it counts.
    ///
    /// # Errors
    /// When it cannot be started, or ends.
    pub(super) fn start(
        program: &Path,
        node: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<RunningWatch> {
        let mut command = running_program::by_signals(program);
        command.args(["watch", "--jsonl"]).args(arguments).arg(node);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("cannot start {}", program.display()))?;
        let lines = BufReader::new(child.stdout.take().context("it was piped")?).lines();
        let mut watch = RunningWatch { child, lines };
        let first = watch.lines.next().context("the watch ended before its first line")??;
        let first: Value = serde_json::from_str(&first)?;
        let unknown = &first["devices"][0]["off_unknown"];
        ensure!(unknown.is_null(), "the watch counts nothing: {unknown}");
        Ok(watch)
    }

    /// Ends it; what it said last.
    ///
    /// # Errors
    /// When its last line is missing or no JSON.
    pub(super) fn end(mut self) -> anyhow::Result<WatchAnswer> {
        let status = format!("/proc/{}/status", self.child.id());
        let memory_kib = peak_kib(&std::fs::read_to_string(status)?);
        running_program::signal(self.child.id(), "INT");
        let mut last = None;
        for line in &mut self.lines {
            last = Some(line?);
        }
        let last: Value = serde_json::from_str(&last.context("the watch said nothing more")?)?;
        Ok(WatchAnswer { memory_kib, ..answer(&last) })
    }
}

impl Drop for RunningWatch {
    fn drop(&mut self) {
        // It has ended mostly, or is of no use any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(document: &Value) -> WatchAnswer {
    let device = &document["devices"][0];
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let counts = device["off"].as_array().map_or(&[][..], Vec::as_slice);
    let granule = counts.iter().find(|count| count["is_granule"] == true);
    WatchAnswer {
        off_writes: granule.map_or(0, |count| number(&count["writes"])),
        counted_writes: granule.map_or(0, |count| number(&count["all_writes"])),
        sampled: number(&device["sample"]["writes"]),
        counts_lost: counts.iter().map(|count| number(&count["lost"])).sum(),
        sample_lost: number(&device["sample"]["lost"]),
        memory_kib: 0,
    }
}

/// The peak of resident memory in the text of `/proc/PID/status` (proc_pid_status(5)); 0 where it
/// is not there.
fn peak_kib(status: &str) -> u64 {
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_watch_gives_the_granules_count_and_all_losses() {
        let document = serde_json::json!({"devices": [{
            "off": [
                {"is_granule": false, "writes": 9, "lost": 1},
                {"is_granule": true, "writes": 5, "all_writes": 8, "lost": 2},
            ],
            "sample": {"writes": 4, "lost": 7},
        }]});
        let expected = WatchAnswer {
            off_writes: 5,
            counted_writes: 8,
            sampled: 4,
            counts_lost: 3,
            sample_lost: 7,
            memory_kib: 0,
        };
        assert_eq!(answer(&document), expected);
        assert_eq!(answer(&Value::Null), WatchAnswer::default());
    }

    #[test]
    fn the_peak_of_memory_is_read_from_the_status() {
        assert_eq!(peak_kib("Name:\tx\nVmHWM:\t    5120 kB\n"), 5120);
        assert_eq!(peak_kib("Name:\tx\n"), 0);
    }
}
