//! Results of `straddle check`: the contract behind `--json`.
//!
//! Every number carries its unit in its key. Unknown is `null` beside a reason. Adding fields is
//! compatible; anything else raises the number in [`SCHEMA`].

use std::borrow::Cow;

use format::Problem;
use serde::{Deserialize, Serialize};
use stack::{Cost, LayerType, Misalignment, Severity, UnitFact, Verdict};
use units::Source;

use crate::envelope::Envelope;
use crate::refusal::Refusal;

/// A word out of a fixed list: a kind, a key, a code.
pub type Word = Cow<'static, str>;

/// The schema's name and version.
pub const SCHEMA: &str = "straddle.check/1";

/// Everything that one run of `straddle check` found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The targets in the order given.
    pub targets: Vec<Target>,
    /// Counts over all targets.
    pub summary: Summary,
}

/// Counts over all targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Targets, broken ones included.
    pub targets: u64,
    /// Targets that were not judged.
    pub broken_targets: u64,
    /// Drives and images.
    pub disks: u64,
    /// Partitions, containers not counted.
    pub partitions: u64,
    /// File systems and swap areas.
    pub file_systems: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity info.
    pub infos: u64,
    /// Judged targets by their verdict.
    pub verdicts: Verdicts,
    /// Layers of which the verdict is unknown.
    pub unknown_layers: u64,
    /// Wall time of the whole run in nanoseconds.
    pub elapsed_ns: u64,
}

/// Number of targets that have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdicts {
    /// Empty.
    #[serde(default)]
    pub empty: u64,
    /// Aligned.
    pub aligned: u64,
    /// On chunks only.
    pub chunk_only: u64,
    /// Misaligned.
    pub misaligned: u64,
    /// Undefined.
    pub undefined: u64,
    /// Not expressible.
    pub not_expressible: u64,
    /// Unknown, targets that were not judged among them.
    pub unknown: u64,
}

impl Verdicts {
    /// The count of one verdict.
    #[must_use]
    pub fn of(mut self, verdict: Verdict) -> u64 {
        *self.of_mut(verdict)
    }

    fn of_mut(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Empty => &mut self.empty,
            Verdict::Aligned => &mut self.aligned,
            Verdict::ChunkOnly => &mut self.chunk_only,
            Verdict::Misaligned => &mut self.misaligned,
            Verdict::Undefined => &mut self.undefined,
            Verdict::NotExpressible => &mut self.not_expressible,
            Verdict::Unknown => &mut self.unknown,
        }
    }
}

impl Summary {
    /// The counts of one target.
    #[must_use]
    pub fn of(target: &Target) -> Summary {
        let mut summary = Summary::default();
        summary.add(target);
        summary
    }

    /// Counts what `other` counted as well; the time is the longer one.
    pub fn merge(&mut self, other: &Summary) {
        self.targets += other.targets;
        self.broken_targets += other.broken_targets;
        self.disks += other.disks;
        self.partitions += other.partitions;
        self.file_systems += other.file_systems;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
        self.unknown_layers += other.unknown_layers;
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        for verdict in Verdict::ALL {
            *self.verdicts.of_mut(verdict) += other.verdicts.of(verdict);
        }
    }

    /// Counts one target more.
    pub fn add(&mut self, target: &Target) {
        self.targets += 1;
        self.broken_targets += u64::from(target.refusal.is_some());
        *self.verdicts.of_mut(target.verdict) += 1;
        for layer in &target.layers {
            match layer.kind {
                LayerType::Drive | LayerType::ImageFile => self.disks += 1,
                LayerType::Partition => self.partitions += 1,
                LayerType::FileSystem | LayerType::Swap => self.file_systems += 1,
                _ => {}
            }
            let is_unknown = layer.verdict == Verdict::Unknown && !layer.not_judged;
            self.unknown_layers += u64::from(is_unknown);
        }
        for finding in &target.findings {
            match finding.severity {
                Severity::Info => self.infos += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Error => self.errors += 1,
            }
        }
    }
}

/// One target: a stack, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// Name as given or found, escaped where it holds control characters.
    pub target: String,
    /// The names that it joins, where several targets hold one stack and are judged as one; absent
    /// for one name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<String>,
    /// Why it was not judged; `null` when it was.
    pub refusal: Option<Refusal>,
    /// The worst verdict of its layers; `unknown` when it was not judged.
    pub verdict: Verdict,
    /// Its layers; each one's `below` names layers that stand before it.
    pub layers: Vec<LayerReport>,
    /// Findings of the rules, the worst first.
    pub findings: Vec<Finding>,
}

/// One layer of a stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerReport {
    /// Its number within the target, from 0.
    pub id: u32,
    /// The layers that it lies on; empty for a drive or an image file.
    pub below: Vec<u32>,
    /// Kind.
    pub kind: LayerType,
    /// Its name, as short as users know it: `sda1`, `disk.raw#1`, `vg0/home`.
    pub name: String,
    /// The kernel's name of it, where it is a block device of a machine: `sda1`, `md0`, `dm-3`;
    /// else `null`.
    pub device: Option<String>,
    /// Place where it is mounted.
    pub mount_points: Vec<String>,
    /// A few words about it, for people: `gpt "data"`, `ext4, 4 KiB blocks`.
    pub title: String,
    /// Place where it starts on the one layer below, in bytes; `null` where there are several or
    /// none.
    pub start_bytes: Option<u64>,
    /// Its length in bytes; `null` when unknown.
    pub length_bytes: Option<u64>,
    /// Verdict on it.
    pub verdict: Verdict,
    /// Why, in a few words; may be empty when it is aligned.
    pub reason: String,
    /// True if it is unknown since nobody asked: it lies beneath the file of a loop device.
    #[serde(default)]
    pub not_judged: bool,
    /// True if the verdict rests on an assumed granule.
    pub assumed: bool,
    /// True if it is the first layer, from the leaf up, that makes things bad.
    pub first_bad: bool,
    /// True if its misalignment is only what a layer below brought.
    pub inherited: bool,
    /// Distance from the boundaries; `null` when it is not, or cannot be told.
    pub misalignment: Option<Misalignment>,
    /// The units that it must fit, from every source.
    pub units: Vec<UnitFact>,
    /// Facts, with their sources; unknown values with their reasons.
    pub facts: Vec<Fact>,
    /// Problems of its bytes.
    pub problems: Vec<Problem>,
}

impl LayerReport {
    /// Its verdict in words.
    pub(crate) fn words(&self) -> &'static str {
        if self.not_judged { "not judged" } else { self.verdict.words() }
    }
}

/// One fact of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Its key, in kebab case with the unit last: `block-size-bytes`.
    pub key: Word,
    /// Its value; `null` when unknown.
    pub value: Option<String>,
    /// Place where it came from; `null` when unknown.
    pub source: Option<Source>,
    /// Why it is unknown; `null` when it is known.
    pub reason: Option<String>,
}

/// A rule that fired.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule's stable code: `ST101`.
    pub code: Word,
    /// Severity here.
    pub severity: Severity,
    /// The rule in one line.
    pub title: Word,
    /// The layer that it is about.
    pub layer: u32,
    /// The values that made it fire, one per line.
    pub evidence: Vec<String>,
    /// Cost; `null` when it costs no I/O or that is unknown.
    pub cost: Option<Cost>,
    /// Remedies, in the words of the tools that the user will type. A line that begins with `or` is
    /// another way; others go on with the line before.
    pub remedies: Vec<String>,
}
