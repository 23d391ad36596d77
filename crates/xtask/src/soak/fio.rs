//! One arm as the articles measured it: fio, writing 4 KiB after 4 KiB to a file that is there.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use units::random::Random;

use crate::bench::tools;

/// The region that one arm goes over, again and again.
const REGION_BYTES: u64 = 64 << 20;
/// How far the shifted arm is off: the smallest logical sector.
pub(super) const SHIFT_BYTES: u64 = 512;

/// A file of random bytes without a name, so that it is gone however this program ends.
pub(super) struct Ground {
    file: File,
}

/// What fio says of one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arm {
    /// Writes a second, each with its fdatasync.
    pub(super) iops: f64,
    /// The mean latency of a write and of its fdatasync together, in microseconds.
    pub(super) latency_us: f64,
}

impl Ground {
    /// A new one in `directory`, written in full.
    ///
    /// # Errors
    /// When it cannot be made or written there.
    pub(super) fn new(directory: &Path, seed: u64) -> anyhow::Result<Ground> {
        let made = || -> std::io::Result<File> {
            let mut file = tempfile::tempfile_in(directory)?;
            let mut random = Random::new(seed);
            let mut chunk = Vec::with_capacity(1 << 20);
            // One MiB more, for the shifted arm ends behind the region.
            for _ in 0..(REGION_BYTES >> 20) + 1 {
                chunk.clear();
                chunk.resize_with(1 << 17, || random.next_u64());
                file.write_all(
                    &chunk.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>(),
                )?;
            }
            file.sync_all()?;
            Ok(file)
        };
        let file = made();
        let file =
            file.with_context(|| format!("cannot fill a file in {}", directory.display()))?;
        Ok(Ground { file })
    }

    /// Runs fio for `seconds`, `offset_bytes` off, in the workload that `straddle bench` has by
    /// default: O_DIRECT, 4 KiB, one after the other, fdatasync after each.
    ///
    /// # Errors
    /// When fio is missing, fails, or writes nothing.
    pub(super) fn arm(&self, offset_bytes: u64, seconds: u64) -> anyhow::Result<Arm> {
        let path = format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd());
        let mut command = Command::new(tools::find("fio")?);
        command.args(["--name=arm", "--rw=write", "--bs=4k", "--direct=1", "--fdatasync=1"]);
        command.args(["--ioengine=psync", "--time_based", "--allow_file_create=0"]);
        command.arg("--output-format=json").arg(format!("--filename={path}"));
        command.arg(format!("--offset={offset_bytes}")).arg(format!("--size={REGION_BYTES}"));
        command.arg(format!("--runtime={seconds}"));
        let said = tools::answer(&mut command)?;
        parse(&said).with_context(|| format!("fio says {}", said.trim()))
    }
}

/// The arm of fio's document.
fn parse(said: &str) -> anyhow::Result<Arm> {
    // Warnings may stand before it.
    let start = said.find('{').context("it prints no document")?;
    let document: Value = serde_json::from_str(&said[start..])?;
    let number = |path: &str| document.pointer(path).and_then(Value::as_f64);
    let iops = number("/jobs/0/write/iops").context("it names no writes a second")?;
    let write_ns = number("/jobs/0/write/lat_ns/mean").context("it names no latency of writes")?;
    let sync_ns = number("/jobs/0/sync/lat_ns/mean").context("it names no latency of syncs")?;
    ensure!(iops > 0.0 && write_ns > 0.0 && sync_ns > 0.0, "it wrote or synced nothing");
    Ok(Arm { iops, latency_us: (write_ns + sync_ns) / 1e3 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = r#"{"jobs": [{"write": {"iops": 250.5, "lat_ns": {"mean": 1e6}},
        "sync": {"lat_ns": {"mean": 3000000}}}]}"#;

    #[test]
    fn the_latency_is_that_of_a_write_and_its_sync() {
        let arm = parse(&format!("fio: a warning\n{SAID}")).unwrap();
        assert_eq!(arm, Arm { iops: 250.5, latency_us: 4000.0 });
    }

    #[test]
    fn an_arm_that_wrote_or_synced_nothing_is_none() {
        for (word, other) in [("250.5", "0"), ("3000000", "0"), ("iops", "ipos")] {
            assert!(parse(&SAID.replace(word, other)).is_err(), "{word}");
        }
        assert!(parse("fio: no").is_err());
    }
}
