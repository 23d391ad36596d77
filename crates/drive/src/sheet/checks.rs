//! Each line of a sheet beside what the profile does.

use units::number::real;

use super::data_sheet::{DataSheet, SheetLine};
use crate::Model;
use crate::profile::{DriveKind, DriveProfile};
use crate::run::{DriveJob, OperationStream, Region, RunLimits, run};

/// A line of a sheet beside what the profile does.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetCheck {
    /// Quantity that the line is about.
    pub what: &'static str,
    /// The unit of both numbers.
    pub unit: &'static str,
    /// The sheet's number.
    pub sheet: f64,
    /// The model's number.
    pub model: f64,
    /// Name of the line: `read_iops`.
    pub key: &'static str,
    /// True if a value is this line's, or was set so that the line comes out.
    pub is_solved: bool,
    /// False where the sheet's number is not confirmed.
    pub is_confirmed: bool,
    /// Why the model does something else, where that is known; else empty.
    pub outside: &'static str,
}

/// Bytes of random reads and writes.
const PIECE_BYTES: u64 = 4096;
/// Bytes of each command in order.
const RUN_BYTES: u64 = 128 << 10;
/// Operations that are counted.
const OPERATIONS: u64 = 20_000;
/// Number of commands in flight that sheets of SATA drives have, and those of others.
const DEPTHS: (u16, u16) = (32, 256);

/// Why bursts of writes are no quicker than reads.
const ONE_HOST: &str = "the model has one time of a command (`host`), set by the reads; with a \
                        shorter one, as a burst of writes needs, this fits";

/// Operations that are done and counted.
#[derive(Clone, Copy, Debug)]
struct Load {
    reads: bool,
    bytes: u64,
    is_random: bool,
    depth: u16,
    /// Operations that are done before.
    before: u64,
}

const RANDOM_READ: Load =
    Load { reads: true, bytes: PIECE_BYTES, is_random: true, depth: 1, before: 0 };
const RANDOM_WRITE: Load = Load { reads: false, ..RANDOM_READ };
const ORDERED_READ: Load =
    Load { reads: true, bytes: RUN_BYTES, is_random: false, depth: 32, before: 1000 };
const ORDERED_WRITE: Load = Load { reads: false, ..ORDERED_READ };

/// Kind of measurement, of a quantity in its unit.
#[derive(Clone, Copy, Debug)]
enum Measure {
    Latency(Load),
    /// Operations a second.
    Rate(Load),
    /// Megabytes a second.
    Stream(Load),
    /// The mean seek of random reads.
    Seek,
}

impl DataSheet {
    /// Each line that says what the drive does beside what `profile` does, in the order of the
    /// lines; `seed` decides places. It takes some tenths of a second.
    #[must_use]
    pub fn checks(&self, profile: &DriveProfile, seed: u64) -> Vec<SheetCheck> {
        let check = |line: &SheetLine| {
            let (what, measure) = self.measure(line.key)?;
            let sheet = match measure {
                Measure::Latency(_) if line.key.ends_with("_iops_1") => 1e6 / real(line.amount),
                Measure::Latency(_) | Measure::Seek => real(line.amount) / 1e3,
                Measure::Rate(_) => real(line.amount),
                Measure::Stream(_) => real(line.amount) / 1e6,
            };
            let unit = match measure {
                Measure::Latency(_) | Measure::Seek => "us",
                Measure::Rate(_) => "IOPS",
                Measure::Stream(_) => "MB/s",
            };
            let model = measured(self, profile, (line.key, measure), seed);
            let is_solved = !matches!(line.key, "burst_iops" | "read_iops_16");
            let is_quicker =
                line.key == "burst_iops" && self.amount("read_iops") < Some(line.amount);
            let outside = if is_quicker { ONE_HOST } else { "" };
            let (key, is_confirmed) = (line.key, line.is_confirmed);
            Some(SheetCheck { what, unit, sheet, model, key, is_solved, is_confirmed, outside })
        };
        self.lines.iter().filter_map(check).collect()
    }

    /// Measurement of the line called `key`; `None` where it says what the drive is.
    fn measure(&self, key: &str) -> Option<(&'static str, Measure)> {
        let is_sata = self.amount("interface") == Some(0);
        let depth = if is_sata { DEPTHS.0 } else { DEPTHS.1 };
        let random_writes = Load {
            bytes: self.amount("write_size").unwrap_or(PIECE_BYTES),
            depth: 32,
            before: 60_000,
            ..RANDOM_WRITE
        };
        let is_cloud = self.kind() == DriveKind::Cloud;
        let stream = match is_cloud {
            true => Load { depth: 64, bytes: 256 << 10, ..ORDERED_READ },
            false => ORDERED_READ,
        };
        Some(match key {
            "read_latency" | "read_iops_1" => {
                ("random read, depth 1", Measure::Latency(RANDOM_READ))
            }
            "write_latency" | "write_iops_1" => {
                ("random write, depth 1", Measure::Latency(RANDOM_WRITE))
            }
            "read_iops_16" => {
                ("random read, depth 16", Measure::Rate(Load { depth: 16, ..RANDOM_READ }))
            }
            "read_iops" => {
                let load = Load { depth, before: 5000, ..RANDOM_READ };
                ("random read, deep", Measure::Rate(load))
            }
            "iops" => {
                let load = Load { depth: 64, ..RANDOM_READ };
                ("random read, deep", Measure::Rate(load))
            }
            "write_iops" => ("random write, steady state", Measure::Rate(random_writes)),
            "burst_iops" if !is_cloud => {
                let load = Load { depth, before: 1000, ..RANDOM_WRITE };
                ("random write, burst", Measure::Rate(load))
            }
            "outer_rate" | "read_rate" | "rate" => ("read in order", Measure::Stream(stream)),
            "inner_rate" => ("read in order, innermost", Measure::Stream(stream)),
            "write_rate" => ("write in order", Measure::Stream(ORDERED_WRITE)),
            "burst_rate" => ("write in order, burst", Measure::Stream(ORDERED_WRITE)),
            "average_seek" => ("mean seek", Measure::Seek),
            _ => return None,
        })
    }
}

/// Returns what the model of `profile` does.
fn measured(
    sheet: &DataSheet,
    profile: &DriveProfile,
    (key, measure): (&str, Measure),
    seed: u64,
) -> f64 {
    let set = |profile: DriveProfile, key: &str, value: u64| match profile.amount(key) {
        Some(_) => profile.set(key, value),
        None => profile,
    };
    let mut profile = profile.clone();
    if matches!(key, "write_rate" | "write_iops") && sheet.amount("burst_rate").is_some() {
        // Once the cells of one bit are full.
        profile = set(profile, "slc", 0);
    }
    if key == "iops" {
        profile = set(profile, "credits", 1);
    }
    if key.starts_with("read") && profile.kind == DriveKind::Flash {
        // What was never written is read without flash.
        let capacity = profile.amount("capacity").unwrap_or(0);
        profile = set(set(profile, "erased", 0), "used", capacity);
    }
    let mut model = profile.model().expect("a profile that was read can be built");
    let capacity = model.capacity_bytes();
    let start_bytes = if key == "inner_rate" { (capacity / 50 * 49) >> 20 << 20 } else { 0 };
    let place = Region { start_bytes, length_bytes: capacity - start_bytes };
    match measure {
        Measure::Latency(load) => 1e6 / of_load(&mut *model, load, place, seed),
        Measure::Rate(load) => of_load(&mut *model, load, place, seed),
        Measure::Stream(load) => of_load(&mut *model, load, place, seed) * real(load.bytes) / 1e6,
        Measure::Seek => {
            of_load(&mut *model, RANDOM_READ, place, seed);
            let tally = model.tally();
            real(tally.seek_ns) / real(tally.seeks.max(1)) / 1e3
        }
    }
}

/// Operations a second of `load`.
fn of_load(model: &mut dyn Model, load: Load, place: Region, seed: u64) -> f64 {
    let whole = Region { length_bytes: place.length_bytes / load.bytes * load.bytes, ..place };
    let stream = match load.reads {
        true => OperationStream::reads(whole, load.bytes),
        false => OperationStream::writes(whole, load.bytes),
    };
    let mut stream = if load.is_random { stream.at_random(seed) } else { stream };
    let operations = load.before + OPERATIONS;
    let mut jobs = [DriveJob { source: &mut stream, lanes: load.depth, has_barriers: false }];
    let limits = RunLimits { operations, time_ns: u64::MAX, turnaround_ns: 0 };
    let (mut ended, mut from_ns) = (0, 0);
    let end_ns = run(model, &mut jobs, limits, &mut |one| {
        assert!(one.fault.is_none(), "what is checked fits the drive");
        ended += 1;
        if ended == load.before {
            from_ns = one.to_ns;
        }
    });
    real(ended - load.before) * 1e9 / real((end_ns - from_ns).max(1))
}
