//! Operations of a device and of the layers above it, from the kernel's own counters: everybody may
//! read them.

use std::collections::BTreeMap;
use std::path::Path;

use device::{Counters as _, DiskCounts};
use host::DiskStats;
use report::watch::LayerTraffic;
use stack::kernel::{Machine, NodeId, NodeKind};
use units::number::real;
use units::text;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::path_mount::PathMount;

/// Most layers above a device that are listed.
const LAYERS_MAX: usize = 64;

/// Counters of a device and of what lies above it.
pub(super) struct LayerCounters {
    layers: Vec<CountedLayer>,
}

struct CountedLayer {
    node: NodeId,
    name: String,
    kind: &'static str,
    /// Places in the list of those that lie right on it.
    above: Vec<usize>,
    /// True if files lie between it and one of those: other files are written too.
    has_files_between: bool,
    stats: DiskStats,
    before: DiskCounts,
    /// Operations since the start, by the last look.
    done: DiskCounts,
}

impl LayerCounters {
    /// Starts to count for `node`, everything above it, and the loop devices over its files.
    pub(super) fn start(
        inspected: &InspectedMachine,
        machine: &Machine,
        node: NodeId,
    ) -> LayerCounters {
        let over = loops_over(machine, inspected);
        let right_above = |id: NodeId| {
            let loops = over.get(&id).into_iter().flatten().copied();
            machine.node(id).above.iter().copied().chain(loops).collect::<Vec<_>>()
        };
        let mut order = vec![node];
        let mut done = 0;
        while let Some(&next) = order.get(done) {
            done += 1;
            for above in right_above(next) {
                if !order.contains(&above) && order.len() < LAYERS_MAX {
                    order.push(above);
                }
            }
        }
        let mut layers: Vec<CountedLayer> = Vec::new();
        for id in order {
            let of = machine.node(id);
            let Some(number) = of.number else { continue };
            let Ok(mut stats) = DiskStats::open((number.major, number.minor)) else { continue };
            let before = stats.counts().unwrap_or_default();
            let (name, kind) = (text::escape(of.name.as_bytes()), kind(&of.kind));
            let (above, has_files_between) = (Vec::new(), over.contains_key(&id));
            layers.push(CountedLayer {
                node: id,
                name,
                kind,
                above,
                has_files_between,
                stats,
                before,
                done: DiskCounts::default(),
            });
        }
        for index in 0..layers.len() {
            let above = right_above(layers[index].node);
            let is_above = |layer: &CountedLayer| above.contains(&layer.node);
            let places = layers.iter().enumerate().filter(|(_, layer)| is_above(layer));
            layers[index].above = places.map(|(place, _)| place).collect();
        }
        LayerCounters { layers }
    }

    /// The operations since the start; those of the device itself are the first. Layers that are
    /// gone keep what they had.
    pub(super) fn traffic(&mut self) -> Vec<LayerTraffic> {
        for layer in &mut self.layers {
            if let Ok(now) = layer.stats.counts() {
                layer.done = now.since(&layer.before);
            }
        }
        let of = |layer: &CountedLayer| {
            let count = &layer.done;
            let written = |place: &usize| self.layers[*place].done.written_bytes();
            let above: u64 = layer.above.iter().map(written).sum();
            let is_all = above > 0 && !layer.has_files_between;
            let ratio = is_all.then(|| real(count.written_bytes()) / real(above));
            LayerTraffic {
                name: layer.name.clone(),
                kind: layer.kind.to_owned(),
                reads: count.reads,
                read_bytes: count.read_bytes(),
                writes: count.writes,
                written_bytes: count.written_bytes(),
                flushes: count.flushes,
                above: layer.above.iter().map(|&place| self.layers[place].name.clone()).collect(),
                written_per_byte_above: ratio,
            }
        };
        self.layers.iter().map(of).collect()
    }
}

/// Loop devices by the device of the file system that their files are on.
fn loops_over(machine: &Machine, inspected: &InspectedMachine) -> BTreeMap<NodeId, Vec<NodeId>> {
    let mut over: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (id, node) in machine.iter() {
        let NodeKind::Loop { file, .. } = &node.kind else { continue };
        let Ok(file) = host::Pinned::at(Path::new(file)) else { continue };
        let mount = PathMount::of(inspected, &file);
        let below = mount.and_then(|mount| mount.devices(inspected)).unwrap_or_default();
        for below in below.into_iter().filter(|below| *below != id) {
            over.entry(below).or_default().push(id);
        }
    }
    over
}

fn kind(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Disk => "disk",
        NodeKind::Partition { .. } => "partition",
        NodeKind::Md(_) => "md",
        NodeKind::Dm { uuid, .. } if uuid.starts_with("LVM-") => "lvm",
        NodeKind::Dm { uuid, .. } if uuid.starts_with("CRYPT-") => "crypt",
        NodeKind::Dm { .. } => "dm",
        NodeKind::Loop { .. } => "loop",
        NodeKind::Bcache => "bcache",
        NodeKind::Other => "other",
    }
}
