//! Layers for what only the kernel tells of.

use format::member::md::{MdMember, MdStanding};
use format::{Problem, ProblemKind};
use units::text::escape;
use units::{ByteRange, Known, Source};

use super::{Live, is_multipath};
use crate::assemble::raid;
use crate::id::LayerId;
use crate::kernel::dm::{DevicePlace, DmTarget, TargetKind};
use crate::kernel::md::{MdNode, MdPart};
use crate::kernel::{BlockDevice, NodeKind, Number};
use crate::layer::{Layer, LayerKind, LayerType, Mapped};
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::raid_layout_names;
use crate::unit::UnitKind;

impl Live<'_> {
    /// A layer for `node`, which lies on `below`, as the kernel describes it; `None` when there are
    /// too many layers.
    pub(super) fn make(&mut self, node: &BlockDevice, below: &[LayerId]) -> Option<LayerId> {
        let on = *below.first()?;
        let layer = match &node.kind {
            NodeKind::Partition { start_bytes, .. } => self.partition(node, on, *start_bytes),
            NodeKind::Md(Some(array)) => return self.array(node, array),
            NodeKind::Loop { offset_bytes, .. } => {
                let mapping = Mapping::Linear(Below { layer: on, offset_bytes: *offset_bytes });
                mapped_layer(node, LayerType::Loop, "loop device", mapping)
            }
            NodeKind::Bcache => self.bcache(node, below),
            NodeKind::Dm { name, uuid } => self.mapped(node, name, uuid, below),
            NodeKind::Md(None) => unknown(node, LayerType::MdArray, "it does not run", below),
            _ => unknown(node, LayerType::Device, "how it lies on them is not known", below),
        };
        self.assembler.add(on, layer)
    }

    fn partition(&self, node: &BlockDevice, disk: LayerId, start_bytes: u64) -> Layer {
        let mapping = Mapping::Linear(Below { layer: disk, offset_bytes: start_bytes });
        let name = escape(node.name.as_bytes());
        let mut layer =
            Layer::new(LayerKind::KernelPartition, name, node.length_bytes.clone(), mapping);
        layer.source = Source::Sysfs;
        // Of a path to a disk the table was not read, and of a disk without one nothing is missing.
        if !self.assembler.stack.layer(disk).tables.is_empty() {
            let detail = "the kernel has it and the disk's table does not: the kernel has not read \
                          the table again, or it was added by hand";
            layer.problems.push(Problem::new(ProblemKind::Copies, 0, detail));
        }
        layer
    }

    /// An array from what sysfs says of its members, laid out as from their superblocks.
    fn array(&mut self, node: &BlockDevice, array: &MdNode) -> Option<LayerId> {
        let id = escape(node.name.as_bytes());
        let mut found = Vec::new();
        for part in &array.members {
            let place = self.world.machine.named(&part.device);
            let Some(&on) = place.and_then(|place| self.places.get(&place)) else { continue };
            let member = member(&id, array, part);
            let below = Below { layer: on, offset_bytes: part.data_offset_bytes };
            let length = Known::yes(part.data_bytes, Source::Sysfs);
            let kind = LayerKind::MdMember(Box::new(member.clone()));
            let name = format!("member of {id}");
            let mut layer = Layer::new(kind, name, length, Mapping::Linear(below));
            layer.source = Source::Sysfs;
            let layer = self.assembler.add(on, layer)?;
            let sector = self.assembler.sector_of(layer);
            found.push(raid::RaidMember::new(member, layer, sector));
        }
        let array = self.assembler.build_known_array(&id, found)?;
        if node.length_bytes.value().is_some() {
            self.assembler.stack.layer_mut(array).length_bytes = node.length_bytes.clone();
        }
        Some(array)
    }

    /// The kernel does not say where a backing device's data begins, but how long it is, and the
    /// data reaches the end.
    ///
    /// Source: Linux `drivers/md/bcache/super.c` (`bcache_device_init`: capacity less
    /// `data_offset`).
    fn bcache(&self, node: &BlockDevice, below: &[LayerId]) -> Layer {
        let length = node.length_bytes.value().copied();
        let named =
            self.world.tree.read(&format!("/sys/block/{}/bcache/backing_dev_name", node.name));
        let named = named.ok().map(|name| escape(name.trim().as_bytes()));
        let fitting: Vec<Below> = (below.iter())
            .filter(|&&on| {
                let device = &self.assembler.stack.layer(on).device;
                named.is_none() || *device == named
            })
            .filter_map(|&on| {
                let bytes = self.assembler.stack.layer(on).length()?;
                let offset_bytes = bytes.checked_sub(length?)?;
                // The header takes 8 KiB at least; what is cut off more than that is small.
                let fits = (8192..=64 << 20).contains(&offset_bytes);
                fits.then_some(Below { layer: on, offset_bytes })
            })
            .collect();
        let [below] = fitting.as_slice() else {
            return unknown(node, LayerType::Bcache, "which of them backs it is not known", below);
        };
        mapped_layer(node, LayerType::Bcache, "bcache", Mapping::Linear(*below))
    }

    fn mapped(&self, node: &BlockDevice, name: &str, uuid: &str, below: &[LayerId]) -> Layer {
        let kind = match uuid {
            uuid if uuid.starts_with("LVM-") => LayerType::LvmLv,
            uuid if uuid.starts_with("CRYPT-LUKS") => LayerType::Luks,
            uuid if uuid.starts_with("CRYPT-INTEGRITY") => LayerType::DmIntegrity,
            _ => LayerType::Dm,
        };
        if is_multipath(node) {
            // Every path leads to the same bytes.
            let members = below.iter().map(|&layer| Some(Below { layer, offset_bytes: 0 })).take(1);
            let mapping = Mapping::Mirrored { members: members.collect() };
            return mapped_layer(node, LayerType::Multipath, "multipath", mapping);
        }
        let tables = match &self.world.machine.tables {
            Ok(tables) => tables,
            Err(reason) => {
                return unknown(node, kind, &format!("its table is not known: {reason}"), below);
            }
        };
        let Some(targets) = tables.get(name) else {
            return unknown(node, kind, "it has no table", below);
        };
        let what = targets.first().map_or("", |target| target.word.as_str());
        let mut segments = Vec::new();
        for target in targets {
            let Some(range) = ByteRange::new(target.start_bytes, target.length_bytes) else {
                continue;
            };
            segments.push(Segment { range, mapping: self.target(target, below) });
        }
        let mapping = match segments.as_mut_slice() {
            [only] if only.range.start_bytes() == 0 => {
                std::mem::replace(&mut only.mapping, Mapping::Leaf)
            }
            _ => Mapping::Segments(segments),
        };
        let mut layer = mapped_layer(node, kind, what, mapping);
        put_units(&mut layer, targets);
        layer
    }

    fn target(&self, target: &DmTarget, below: &[LayerId]) -> Mapping {
        let on = below.to_vec();
        let unknown = |reason: String| Mapping::Unknown { on: below.to_vec(), reason };
        let lost = || unknown("a device that its table names is not there".to_owned());
        match &target.kind {
            TargetKind::Linear(place) => self.place(place).map_or_else(lost, Mapping::Linear),
            TargetKind::Crypt { integrity: true, .. } | TargetKind::Integrity(_) => {
                Mapping::Opaque { on, reason: "dm-integrity lays tags between the data".to_owned() }
            }
            TargetKind::Crypt { place, .. } => self.place(place).map_or_else(lost, Mapping::Linear),
            TargetKind::Striped { chunk_bytes, members } => {
                let members: Vec<_> = members.iter().map(|place| self.place(place)).collect();
                let count = u64::try_from(members.len()).unwrap_or(0);
                raid_layout_names::striped(*chunk_bytes, count, Copies::Neighbors(1), members)
                    .unwrap_or_else(unknown)
            }
            TargetKind::Raid { layout: name, chunk_bytes, members } => {
                let members = members.iter().map(|member| self.at(*member.as_ref()?, 0)).collect();
                raid_layout_names::raid(name, *chunk_bytes, members).unwrap_or_else(unknown)
            }
            TargetKind::Mirror(places) => Mapping::Mirrored {
                members: places.iter().map(|place| self.place(place)).collect(),
            },
            TargetKind::Multipath(paths) => Mapping::Mirrored {
                members: paths.iter().take(1).map(|path| self.at(*path, 0)).collect(),
            },
            TargetKind::Thin { pool } => self.thin(*pool).unwrap_or_else(lost),
            TargetKind::ThinPool { data, .. } => {
                self.at(*data, 0).map_or_else(lost, Mapping::Linear)
            }
            TargetKind::Nothing => unknown(format!("a {} target lies on nothing", target.word)),
            TargetKind::Other(_) => {
                let word = escape(target.word.as_bytes());
                let reason = format!("a {word} target has no fixed offset that is known here");
                Mapping::Opaque { on, reason }
            }
        }
    }

    fn thin(&self, pool: Number) -> Option<Mapping> {
        let below = self.at(pool, 0)?;
        let tables = self.world.machine.tables.as_ref().ok()?;
        let node = self.world.machine.node(self.world.machine.numbered(pool)?);
        let NodeKind::Dm { name, .. } = &node.kind else { return None };
        // LVM puts a linear device of the same length between a pool and its volumes.
        let pool_of = |name: &str| {
            tables.get(name)?.iter().find_map(|target| match target.kind {
                TargetKind::ThinPool { chunk_bytes, .. } => Some(chunk_bytes),
                _ => None,
            })
        };
        let below_name = || match &tables.get(name)?.first()?.kind {
            TargetKind::Linear(place) => {
                let node = self.world.machine.node(self.world.machine.numbered(place.on)?);
                match &node.kind {
                    NodeKind::Dm { name, .. } => pool_of(name),
                    _ => None,
                }
            }
            _ => None,
        };
        let chunk_bytes = pool_of(name).or_else(below_name).filter(|&bytes| bytes > 0)?;
        let reason = "where a thin volume's chunks lie stands in the pool's metadata".to_owned();
        Some(Mapping::Scattered { below, chunk_bytes, reason })
    }

    fn place(&self, place: &DevicePlace) -> Option<Below> {
        self.at(place.on, place.offset_bytes)
    }

    fn at(&self, on: Number, offset_bytes: u64) -> Option<Below> {
        let layer = *self.places.get(&self.world.machine.numbered(on)?)?;
        Some(Below { layer, offset_bytes })
    }
}

fn mapped_layer(node: &BlockDevice, kind: LayerType, what: &str, mapping: Mapping) -> Layer {
    let kind = LayerKind::Mapped(Mapped { kind, what: escape(what.as_bytes()) });
    let name = match &node.kind {
        NodeKind::Dm { name, uuid } if uuid.starts_with("LVM-") => volume_name(name),
        NodeKind::Dm { name, .. } => name.clone(),
        _ => node.name.clone(),
    };
    let name = escape(name.as_bytes());
    let mut layer = Layer::new(kind, name, node.length_bytes.clone(), mapping);
    layer.source = Source::Sysfs;
    layer
}

/// `group/volume` from device-mapper's `group-volume`, where a hyphen within a name is doubled.
///
/// Source: lvm2 `libdm/libdm-string.c` (`dm_build_dm_name`).
fn volume_name(name: &str) -> String {
    const DOUBLED: &str = "\0";
    let name = name.replace("--", DOUBLED).replacen('-', "/", 1);
    name.replace(DOUBLED, "-")
}

pub(super) fn unknown(
    node: &BlockDevice,
    kind: LayerType,
    reason: &str,
    below: &[LayerId],
) -> Layer {
    let mapping = Mapping::Unknown { on: below.to_vec(), reason: reason.to_owned() };
    mapped_layer(node, kind, "", mapping)
}

/// The units that a table brings.
fn put_units(layer: &mut Layer, targets: &[DmTarget]) {
    for target in targets {
        if let TargetKind::Crypt { sector_bytes, .. } = target.kind {
            let note = "dm-crypt sector";
            layer.units.put_used(UnitKind::LogicalSector, sector_bytes, Source::Ioctl, note);
        }
    }
    if let Some(laid) = layer.mapping.stripes().first() {
        let (chunk, full) = (laid.stripe.chunk_bytes(), laid.stripe.full_bytes());
        layer.units.put_used(UnitKind::Chunk, chunk, Source::Ioctl, "device-mapper table");
        let note = "chunk x data members";
        layer.units.put_used(UnitKind::FullStripe, full, Source::Derived, note);
    }
}

/// A member as its superblock would describe it.
fn member(array_id: &str, array: &MdNode, part: &MdPart) -> MdMember {
    MdMember {
        version: array.version,
        superblock_at_bytes: 0,
        recorded_at_bytes: None,
        array_id: array_id.to_owned(),
        member_id: None,
        name: None,
        level: array.level,
        layout: array.layout,
        chunk_bytes: array.chunk_bytes,
        raid_disks: array.raid_disks,
        role: part.slot,
        gone: array.raid_disks.saturating_sub(
            u32::try_from(array.members.iter().filter(|member| member.slot.is_some()).count())
                .unwrap_or(u32::MAX),
        ),
        standing: if part.slot.is_some() { MdStanding::Active } else { MdStanding::Spare },
        data_offset_bytes: part.data_offset_bytes,
        data_bytes: part.data_bytes,
        events: 0,
        reshaping: array.reshaping,
        reshape: None,
        recovered_bytes: None,
        logical_block_bytes: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hyphen_in_a_volumes_name_stays() {
        assert_eq!(volume_name("vg0-lv0"), "vg0/lv0");
        assert_eq!(volume_name("my--vg-my--lv-x"), "my-vg/my-lv-x");
    }
}
