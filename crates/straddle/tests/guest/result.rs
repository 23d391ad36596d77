//! The directory that a run of the guest left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::answer::Answer;

/// A result of the scenario `live`.
pub(crate) struct Run {
    directory: PathBuf,
    /// Every block device by the kernel's name.
    pub(crate) devices: BTreeMap<String, Device>,
}

/// A line of `serials.txt`: what the kernel's files said.
pub(crate) struct Device {
    /// The serial number; none for partitions and what has no disk of its own.
    pub(crate) serial: Option<String>,
    /// The name of a mapped device, which lasts as a serial number does.
    pub(crate) mapped: Option<String>,
    pub(crate) alignment_offset: Option<i64>,
    pub(crate) logical_bytes: Option<u64>,
    pub(crate) physical_bytes: Option<u64>,
    pub(crate) minimum_bytes: Option<u64>,
}

impl Run {
    /// The run that the environment names; else the test is counted as skipped.
    pub(crate) fn named() -> Option<Run> {
        let Some(directory) = std::env::var_os("STRADDLE_GUEST_LIVE").map(PathBuf::from) else {
            testkit::skip("needs STRADDLE_GUEST_LIVE, a result of guest/run … live");
            return None;
        };
        assert!(directory.join("done").exists(), "{} is no whole run", directory.display());
        let mut run = Run { directory, devices: BTreeMap::new() };
        let serials = run.text("serials.txt");
        run.devices = serials.lines().filter(|line| !line.starts_with('#')).map(device).collect();
        assert!(run.devices.len() > 50, "a machine with many devices");
        Some(run)
    }

    /// A disk, packed.
    pub(crate) fn pack(&self, serial: &str) -> Vec<u8> {
        let path = self.directory.join("disks").join(format!("{serial}.pack"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The path of a file that the scenario wrote.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join("out/live").join(name)
    }

    /// A file that the scenario wrote.
    pub(crate) fn text(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// A document that straddle wrote within the guest.
    pub(crate) fn document(&self, name: &str) -> Value {
        let text = self.text(&format!("{name}.json"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
    }

    /// The status with which straddle ended when it wrote `name.KIND`.
    pub(crate) fn status(&self, name: &str, kind: &str) -> String {
        let lines = self.text(&format!("{name}.exit"));
        let line = lines.lines().find_map(|line| line.strip_prefix(kind));
        line.expect("each answer has its status").trim().to_owned()
    }

    /// Returns what straddle said within the guest, by lasting names.
    pub(crate) fn answer(&self, name: &str) -> Answer {
        self.answer_of(&self.document(name))
    }

    /// Returns what a document with the guest's kernel names says, by lasting names.
    pub(crate) fn answer_of(&self, document: &Value) -> Answer {
        Answer::of(document, |kernel| {
            let serial = self.devices.get(kernel).and_then(|device| device.serial.clone());
            serial.unwrap_or_else(|| kernel.to_owned())
        })
    }
}

/// The binary under test with `arguments`.
pub(crate) fn straddle(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.args(arguments).env("LC_ALL", "C.UTF-8").output().expect("the binary runs")
}

/// Returns what the binary under test prints as JSON.
pub(crate) fn straddle_json(arguments: &[&str]) -> Value {
    let output = straddle(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{arguments:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr));
    })
}

/// A path as an argument.
pub(crate) fn argument(path: &Path) -> &str {
    path.to_str().expect("paths here are UTF-8")
}

fn device(line: &str) -> (String, Device) {
    let words: Vec<&str> = line.split(' ').collect();
    let [serial, kernel, _, _, offset, logical, physical, minimum, .., mapped] = words[..] else {
        panic!("a line of serials.txt has thirteen words: {line}");
    };
    let told = |word: &str| (word != "-").then(|| word.to_owned());
    let device = Device {
        serial: told(serial),
        mapped: told(mapped),
        alignment_offset: offset.parse().ok(),
        logical_bytes: logical.parse().ok(),
        physical_bytes: physical.parse().ok(),
        minimum_bytes: minimum.parse().ok(),
    };
    (kernel.to_owned(), device)
}
