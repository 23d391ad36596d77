//! Devices that share bytes with a device.

use super::device::{ClaimedDevice, unknown};
use super::leaf_ranges::{DeviceBytes, DeviceMap};
use super::machine::ClaimWorld;
use super::number::Number;
use super::refusal::{ClaimRefusal, Relation};
use crate::PathIdentity;

/// A device that shares bytes with the one that is wanted, or is that one.
#[derive(Clone, Debug)]
pub(super) struct Relative {
    pub(super) device: ClaimedDevice,
    pub(super) relation: Relation,
    /// The device and its relation on which this one is built, or of which it shows bytes too.
    pub(super) under: (String, Relation),
    /// True if it is a loop device over a file or a device.
    pub(super) is_loop: bool,
}

/// Devices and files that share bytes with a device.
#[derive(Debug)]
pub(super) struct Relatives {
    /// The device that is wanted first, those that stand on it next, the lowest of them first.
    pub(super) all: Vec<Relative>,
    /// The files in which bytes of it are.
    pub(super) files: Vec<PathIdentity>,
}

/// All devices that share bytes with `own`. Other partitions of its disk share none, unless they
/// overlap.
///
/// # Errors
/// [`ClaimRefusal::Unknown`] when that cannot be told.
pub(super) fn all(
    machine: &impl ClaimWorld,
    own: &ClaimedDevice,
) -> Result<Relatives, ClaimRefusal> {
    let devices = DeviceMap::of(machine)?;
    let bytes = devices.bytes(own.number)?;
    let family = Family { devices: &devices, own, bytes: &bytes };
    let mut found: Vec<(usize, Relative)> = Vec::new();
    for device in devices.devices() {
        let other = devices.bytes(device.number)?;
        if let Some(relation) = family.relation(device.number, &other) {
            found.push((other.depth(), family.relative(device, relation)));
        }
    }
    let mut held = vec![own];
    held.extend(
        found
            .iter()
            .filter(|(_, one)| one.relation == Relation::Partition)
            .map(|(_, one)| &one.device),
    );
    let mut unlisted = Vec::new();
    for under in held {
        let relation =
            if under.number == own.number { Relation::Itself } else { Relation::Partition };
        for holder in under.linked(machine, "holders")? {
            // The devices were listed before: one that came since is known by its holding alone.
            if !found.iter().any(|(_, one)| one.device.number == holder.number) {
                let under = (under.node(), relation);
                let (relation, is_loop) = (Relation::Above, false);
                unlisted.push((usize::MAX, Relative { device: holder, relation, under, is_loop }));
            }
        }
    }
    found.append(&mut unlisted);
    found.sort_by_key(|(depth, one)| (one.relation != Relation::Itself, *depth));
    let all: Vec<Relative> = found.into_iter().map(|(_, one)| one).collect();
    if all.is_empty() {
        let error = device::TreeError::Missing { path: own.directory.clone() };
        return Err(unknown(&own.name, &error));
    }
    Ok(Relatives { all, files: bytes.files().collect() })
}

/// The device that is wanted, and where its bytes are.
struct Family<'a> {
    devices: &'a DeviceMap,
    own: &'a ClaimedDevice,
    bytes: &'a DeviceBytes,
}

impl Family<'_> {
    /// Returns how device `number`, whose bytes are at `bytes`, shares some with the one that is
    /// wanted;
    /// `None` where it shares none.
    fn relation(&self, number: Number, bytes: &DeviceBytes) -> Option<Relation> {
        let own = self.own.number;
        if number == own {
            return Some(Relation::Itself);
        }
        if self.bytes.passes(number) {
            return Some(self.below(number));
        }
        if bytes.passes(own) {
            let is_partition = self.devices.disk(number) == Some(own);
            return Some(if is_partition { Relation::Partition } else { Relation::Above });
        }
        if !self.bytes.overlaps(bytes) {
            return None;
        }
        let is_same_file = self.devices.file(number).is_some()
            && self.devices.file(number) == self.devices.file(own);
        Some(match () {
            () if is_same_file => Relation::Beside,
            // What is made of others shows their bytes for as long as it is there.
            () if self.devices.is_built(number) => Relation::Above,
            () => Relation::Overlapping,
        })
    }

    /// The relation of a device on the way down.
    fn below(&self, number: Number) -> Relation {
        let own = self.own.number;
        let is_disk = |of: Number| self.devices.disk(of) == Some(number);
        let loops = |of: Number| self.devices.is_loop(of);
        let is_behind = |of: Number| loops(of) && self.devices.below(of).any(|it| it == number);
        match () {
            () if is_disk(own) => Relation::Disk,
            () if is_behind(own) => Relation::Backing,
            () => Relation::Below,
        }
    }

    fn relative(&self, device: &ClaimedDevice, relation: Relation) -> Relative {
        let own = self.own;
        // The nearest of those that it stands on.
        let mut below: Vec<(Number, Relation)> = self
            .devices
            .below(device.number)
            .filter_map(|it| {
                let bytes = self.devices.bytes(it).ok()?;
                Some((it, self.relation(it, &bytes)?))
            })
            .collect();
        below.sort_by_key(|&(number, relation)| (number != own.number, relation));
        let under = below
            .first()
            .and_then(|&(number, relation)| Some((self.devices.device(number)?.node(), relation)));
        Relative {
            device: device.clone(),
            relation,
            under: under.unwrap_or_else(|| (own.node(), Relation::Itself)),
            is_loop: self.devices.is_loop(device.number),
        }
    }
}

/// The devices whose nodes are locked by who works on device `number`: it, what it is made of and
/// its partitions.
///
/// # Errors
/// [`ClaimRefusal::Unknown`] when that cannot be told.
pub(super) fn nodes(
    machine: &impl ClaimWorld,
    number: Number,
) -> Result<Vec<ClaimedDevice>, ClaimRefusal> {
    let own = ClaimedDevice::numbered(machine, number)?;
    let all = all(machine, &own)?.all.into_iter();
    Ok(all.filter(|one| one.relation != Relation::Above).map(|one| one.device).collect())
}
