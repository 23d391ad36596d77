//! Final places of the bytes of every block device: so that two devices that share some are known
//! to, whatever leads from one to the other.
//!
//! | a device | its bytes are |
//! |---|---|
//! | partition | a range of its disk |
//! | loop | a range of a file, or of a device |
//! | device-mapper `linear`, `crypt`, `delay`, `flakey` | a range of a device |
//! | device-mapper `striped` | a range of each of several devices |
//! | device-mapper `thin` | its own in its pool, which shares none of them with another volume |
//! | everything else that sysfs names `slaves` of | anywhere in these |
//! | everything else | itself: a leaf. Two disks of one world-wide name and length are one leaf |
//!
//! An unknown range is taken to be all there is: a refusal too many costs a question.
//!
//! Source: Linux `Documentation/admin-guide/device-mapper`, `Documentation/ABI/stable/sysfs-block`.

use std::collections::{BTreeMap, BTreeSet};

use device::answer;
use units::ByteRange;

use super::device::{ClaimedDevice, SECTOR_BYTES, wwn};
use super::loop_backing;
use super::machine::ClaimWorld;
use super::number::{Number, parsed};
use super::refusal::ClaimRefusal;
use crate::PathIdentity;

/// Largest number of devices that may stand on each other; the kernel's own bounds are lower.
const DEPTH_MAX: usize = 64;
/// Greatest number of runs in which one device's bytes are followed.
const RUNS_MAX: usize = 1 << 16;

/// The bytes of which nothing is known but that they are somewhere.
fn everywhere() -> ByteRange {
    bytes_from(0, u64::MAX)
}

/// So many bytes from `start` on, up to the greatest address.
fn bytes_from(start: u64, length: u64) -> ByteRange {
    ByteRange::new(start, length.min(u64::MAX - start)).expect("its end is an address")
}

/// The device or file that a part of a device lies on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LiesOn {
    Device(Number),
    File(PathIdentity),
    /// A volume of a thin pool, by the pool and the volume's number there.
    Volume(Number, String),
}

/// Bytes of a device, and where they are.
#[derive(Clone, Debug)]
struct MappedBytes {
    own: ByteRange,
    ground: LiesOn,
    below: ByteRange,
    /// True if each byte is as far from the beginning of the one range as of the other; else it may
    /// be anywhere in the range below.
    is_linear: bool,
}

/// A device, what it is made of, and what it is built of.
#[derive(Clone, Debug)]
struct MappedDevice {
    device: ClaimedDevice,
    length_bytes: u64,
    /// The number of its disk, where it is a partition.
    disk: Option<Number>,
    /// True if it is a loop device that shows something.
    is_loop: bool,
    parts: Vec<MappedBytes>,
}

/// Bytes on a leaf.
#[derive(Clone, Debug)]
struct LeafRun {
    leaf: LiesOn,
    range: ByteRange,
}

/// The runs on leaves that hold all bytes of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceBytes {
    runs: Vec<LeafRun>,
    /// The devices that were passed on the way down, itself among them.
    passed: BTreeSet<Number>,
}

impl DeviceBytes {
    /// Returns whether one byte at least is in both.
    pub(super) fn overlaps(&self, other: &DeviceBytes) -> bool {
        let meet = |one: &LeafRun, other: &LeafRun| {
            one.leaf == other.leaf && one.range.overlaps(other.range)
        };
        self.runs.iter().any(|one| other.runs.iter().any(|two| meet(one, two)))
    }

    /// Returns whether the way down from it passes device `number`.
    pub(super) fn passes(&self, number: Number) -> bool {
        self.passed.contains(&number)
    }

    /// Returns how many devices were passed.
    pub(super) fn depth(&self) -> usize {
        self.passed.len()
    }

    /// The files in which bytes of it are.
    pub(super) fn files(&self) -> impl Iterator<Item = PathIdentity> {
        self.runs.iter().filter_map(|run| match run.leaf {
            LiesOn::File(file) => Some(file),
            LiesOn::Device(_) | LiesOn::Volume(..) => None,
        })
    }
}

/// Every block device of the machine.
#[derive(Debug)]
pub(super) struct DeviceMap {
    entries: BTreeMap<Number, MappedDevice>,
    /// The leaf of which a disk is another way to the same bytes.
    same: BTreeMap<Number, Number>,
}

impl DeviceMap {
    /// The devices of `machine`.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when that cannot be told.
    pub(super) fn of(machine: &impl ClaimWorld) -> Result<DeviceMap, ClaimRefusal> {
        let names = machine.tree().list("/sys/class/block").map_err(|error| {
            let device = "any device".to_owned();
            ClaimRefusal::Unknown { device, reason: error.to_string() }
        })?;
        let tables = DmTables::of(machine);
        let mut entries = BTreeMap::new();
        for name in names {
            // One that goes meanwhile, or has no number, has no bytes either.
            let Ok(device) = ClaimedDevice::named(machine, &name) else { continue };
            if let Some(entry) = entry(machine, &tables, device)? {
                entries.insert(entry.device.number, entry);
            }
        }
        let same = same(machine, &entries);
        Ok(DeviceMap { entries, same })
    }

    pub(super) fn devices(&self) -> impl Iterator<Item = &ClaimedDevice> {
        self.entries.values().map(|entry| &entry.device)
    }

    pub(super) fn device(&self, number: Number) -> Option<&ClaimedDevice> {
        self.entries.get(&number).map(|entry| &entry.device)
    }

    /// The number of the disk of which device `number` is a partition.
    pub(super) fn disk(&self, number: Number) -> Option<Number> {
        self.entries.get(&number)?.disk
    }

    /// Returns whether the device is made of others, and is no partition.
    pub(super) fn is_built(&self, number: Number) -> bool {
        let entry = self.entries.get(&number);
        entry.is_some_and(|entry| entry.disk.is_none() && !entry.parts.is_empty())
    }

    /// Returns whether it is a loop device that shows something.
    pub(super) fn is_loop(&self, number: Number) -> bool {
        self.entries.get(&number).is_some_and(|entry| entry.is_loop)
    }

    /// The file that the device shows, where it is a loop device over one.
    pub(super) fn file(&self, number: Number) -> Option<PathIdentity> {
        let parts = &self.entries.get(&number)?.parts;
        parts.iter().find_map(|part| match part.ground {
            LiesOn::File(file) => Some(file),
            LiesOn::Device(_) | LiesOn::Volume(..) => None,
        })
    }

    /// The devices that the device is directly made of.
    pub(super) fn below(&self, number: Number) -> impl Iterator<Item = Number> {
        let parts = self.entries.get(&number).map_or(&[][..], |entry| &entry.parts);
        parts.iter().filter_map(|part| match part.ground {
            LiesOn::Device(below) => Some(below),
            LiesOn::File(_) | LiesOn::Volume(..) => None,
        })
    }

    /// Returns the final places of the bytes of device `number`.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when they are followed for too long.
    pub(super) fn bytes(&self, number: Number) -> Result<DeviceBytes, ClaimRefusal> {
        let length = self.entries.get(&number).map_or(u64::MAX, |entry| entry.length_bytes);
        let mut bytes = DeviceBytes::default();
        match self.follow(number, bytes_from(0, length), &mut bytes, 0) {
            true => Ok(bytes),
            false => Err(ClaimRefusal::Unknown {
                device: self.device(number).map_or_else(String::new, ClaimedDevice::node),
                reason: "it stands on too many others".to_owned(),
            }),
        }
    }

    /// Adds where `range` of a device is; `false` where that leads on for too long.
    fn follow(
        &self,
        number: Number,
        range: ByteRange,
        bytes: &mut DeviceBytes,
        depth: usize,
    ) -> bool {
        if depth > DEPTH_MAX || bytes.runs.len() > RUNS_MAX {
            return false;
        }
        bytes.passed.insert(number);
        let parts = self.entries.get(&number).map_or(&[][..], |entry| &entry.parts);
        if parts.is_empty() && range.length_bytes() > 0 {
            let leaf = LiesOn::Device(self.same.get(&number).copied().unwrap_or(number));
            bytes.runs.push(LeafRun { leaf, range });
        }
        parts.iter().all(|part| {
            let Some(own) = part.own.intersection(range) else { return true };
            let below = match part.is_linear {
                true => bytes_from(
                    part.below
                        .start_bytes()
                        .saturating_add(own.start_bytes() - part.own.start_bytes()),
                    own.length_bytes(),
                ),
                false => part.below,
            };
            match &part.ground {
                LiesOn::Device(number) => self.follow(*number, below, bytes, depth + 1),
                leaf => {
                    bytes.runs.push(LeafRun { leaf: leaf.clone(), range: below });
                    let LiesOn::Volume(pool, _) = leaf else { return true };
                    // The volume has no byte of the pool for itself that could be named.
                    let mut under = DeviceBytes::default();
                    let is_known = self.follow(*pool, everywhere(), &mut under, depth + 1);
                    bytes.passed.append(&mut under.passed);
                    is_known
                }
            }
        })
    }
}

fn entry(
    machine: &impl ClaimWorld,
    tables: &DmTables,
    device: ClaimedDevice,
) -> Result<Option<MappedDevice>, ClaimRefusal> {
    let Ok(length_bytes) = device.length_bytes(machine) else { return Ok(None) };
    let disk = device.disk(machine)?;
    let parts = match &disk {
        Some(disk) => {
            // Where its beginning is not told it may be anywhere.
            let start = device.bytes(machine, "start").ok();
            let below = start.map_or(everywhere(), |start| bytes_from(start, length_bytes));
            let own = bytes_from(0, length_bytes);
            let ground = LiesOn::Device(disk.number);
            vec![MappedBytes { own, ground, below, is_linear: start.is_some() }]
        }
        None => parts(machine, tables, &device, length_bytes)?,
    };
    let disk = disk.map(|disk| disk.number);
    let is_loop = disk.is_none() && !parts.is_empty() && loop_backing::is_loop(&device);
    Ok(Some(MappedDevice { device, length_bytes, disk, is_loop, parts }))
}

/// Returns the parts of a device that is no partition; none where it is a leaf.
fn parts(
    machine: &impl ClaimWorld,
    tables: &DmTables,
    device: &ClaimedDevice,
    length_bytes: u64,
) -> Result<Vec<MappedBytes>, ClaimRefusal> {
    if let Some(shown) = loop_backing::shown(machine, device)? {
        let ground = match shown.what {
            PathIdentity::Block { major, minor } => LiesOn::Device((major, minor)),
            file @ PathIdentity::File { .. } => LiesOn::File(file),
        };
        let length = shown.limit_bytes.unwrap_or(u64::MAX);
        let below = bytes_from(shown.from_bytes, length);
        return Ok(vec![MappedBytes { own: everywhere(), ground, below, is_linear: true }]);
    }
    let slaves = device.linked(machine, "slaves")?;
    let anywhere = |own: ByteRange| {
        slaves.iter().map(move |slave| MappedBytes {
            own,
            ground: LiesOn::Device(slave.number),
            below: everywhere(),
            is_linear: false,
        })
    };
    let name = machine.tree().read(&format!("{}/dm/name", device.directory)).ok();
    let lines = name.and_then(|name| tables.lines.get(name.trim()));
    let Some(lines) = lines else {
        return Ok(anywhere(bytes_from(0, length_bytes)).collect());
    };
    let parts = lines.iter().flat_map(|line| match line.parts() {
        Some(parts) => parts,
        None => anywhere(line.own).collect(),
    });
    Ok(parts.collect())
}

/// The tables of device-mapper, by the devices' names.
struct DmTables {
    lines: BTreeMap<String, Vec<TargetLine>>,
}

/// A target of one.
struct TargetLine {
    own: ByteRange,
    kind: String,
    words: Vec<String>,
}

impl DmTables {
    /// Those that the kernel tells; none where it tells none.
    fn of(machine: &impl ClaimWorld) -> DmTables {
        let text = machine.tree().read(answer::DM_TABLES).unwrap_or_default();
        let mut lines: BTreeMap<String, Vec<TargetLine>> = BTreeMap::new();
        for line in text.lines() {
            let Some((name, target)) = line.split_once(": ") else { continue };
            if let Some(line) = TargetLine::parsed(target) {
                lines.entry(name.to_owned()).or_default().push(line);
            }
        }
        DmTables { lines }
    }
}

impl TargetLine {
    fn parsed(target: &str) -> Option<TargetLine> {
        let mut words = target.split_ascii_whitespace();
        let mut bytes = || words.next()?.parse::<u64>().ok()?.checked_mul(SECTOR_BYTES);
        let own = bytes_from(bytes()?, bytes()?);
        let kind = words.next()?.to_owned();
        Some(TargetLine { own, kind, words: words.map(str::to_owned).collect() })
    }

    /// Returns the parts of the target; `None` where they are not known.
    fn parts(&self) -> Option<Vec<MappedBytes>> {
        let length = self.own.length_bytes();
        let at = |word: usize, length: u64, is_linear: bool| {
            let ground = LiesOn::Device(parsed(self.words.get(word)?)?);
            let from = self.words.get(word + 1)?.parse::<u64>().ok()?.checked_mul(SECTOR_BYTES)?;
            Some(MappedBytes { own: self.own, ground, below: bytes_from(from, length), is_linear })
        };
        match self.kind.as_str() {
            "zero" | "error" => Some(Vec::new()),
            "linear" | "delay" | "flakey" => {
                // Delay may name another device for writes, and a third for flushes.
                let others = (self.kind == "delay").then_some([3, 6]).into_iter().flatten();
                let others = others.filter_map(|word| at(word, length, true));
                Some(at(0, length, true).into_iter().chain(others).collect())
                    .filter(|parts: &Vec<MappedBytes>| !parts.is_empty())
            }
            "crypt" => Some(vec![at(3, length, true)?]),
            "striped" => {
                let stripes = self.words.first()?.parse::<u64>().ok().filter(|&many| many > 0)?;
                let each = length.div_ceil(stripes);
                let words = (0..usize::try_from(stripes).ok()?).map(|stripe| 2 + 2 * stripe);
                words.map(|word| at(word, each, false)).collect()
            }
            "thin" => {
                let (pool, number) = (parsed(self.words.first()?)?, self.words.get(1)?.clone());
                // What it shows of a device outside of the pool is read from there alone.
                let ground = LiesOn::Volume(pool, number);
                let below = bytes_from(0, length);
                Some(vec![MappedBytes { own: self.own, ground, below, is_linear: true }])
            }
            _ => None,
        }
    }
}

/// Disks that are another way to the same bytes: their world-wide names and their lengths are the
/// same. Each leads to the first of them.
fn same(
    machine: &impl ClaimWorld,
    entries: &BTreeMap<Number, MappedDevice>,
) -> BTreeMap<Number, Number> {
    let leaves = entries.values().filter(|entry| entry.parts.is_empty() && entry.length_bytes > 0);
    let mut first: BTreeMap<(String, u64), Number> = BTreeMap::new();
    let mut same = BTreeMap::new();
    for entry in leaves {
        let Some(name) = wwn(machine, &entry.device.directory) else { continue };
        let number = entry.device.number;
        let known = first.entry((name, entry.length_bytes)).or_insert(number);
        if *known != number {
            same.insert(number, *known);
        }
    }
    same
}
