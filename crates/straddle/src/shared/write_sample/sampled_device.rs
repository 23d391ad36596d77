//! A block device whose reads and writes are counted or copied out.

use host::block_events::{BlockFilter, BlockLevel, Direction};
use stack::kernel::{Machine, NodeId, NodeKind};

use crate::shared::inspected_machine::InspectedMachine;

/// A block device whose reads and writes are counted or copied out.
#[derive(Clone, Debug)]
pub(crate) struct SampledDevice {
    /// Its number, major and minor.
    pub(crate) number: (u32, u32),
    /// Numbers of its partitions.
    pub(crate) partitions: Vec<(u32, u32)>,
    /// True if requests are seen; a device without a queue of them has bios alone.
    pub(crate) has_requests: bool,
}

impl SampledDevice {
    /// Returns the device `id`; `None` where the kernel gives it no number.
    pub(crate) fn of(
        inspected: &InspectedMachine,
        machine: &Machine,
        id: NodeId,
    ) -> Option<SampledDevice> {
        let node = machine.node(id);
        let number = node.number?;
        let above = node.above.iter().map(|&above| machine.node(above));
        let partitions = above.filter(|above| matches!(above.kind, NodeKind::Partition { .. }));
        let partitions = partitions.filter_map(|above| above.number);
        Some(SampledDevice {
            number: (number.major, number.minor),
            partitions: partitions.map(|number| (number.major, number.minor)).collect(),
            has_requests: inspected.tree().list(&format!("/sys/block/{}/mq", node.name)).is_ok(),
        })
    }

    /// Returns the filter for its reads or writes at `level`: all of them, or those that start or
    /// end off multiples of `off_bytes`.
    pub(crate) fn filter(
        &self,
        level: BlockLevel,
        direction: Direction,
        off_bytes: Option<u64>,
    ) -> BlockFilter {
        let mut devices = vec![self.number];
        if level == BlockLevel::Bios {
            devices.extend(&self.partitions);
        }
        BlockFilter { devices, level, direction, off_bytes, starts_only: false }
    }
}
