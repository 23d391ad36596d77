//! A block device whose reads and writes are counted or copied out.

use host::block_events::{BlockFilter, BlockLevel, BlockShape, Direction};
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
    /// True if the kernel's counters in `/sys` have each operation once. Those of md and dm have a
    /// bio that they split once for each part.
    pub(crate) is_counted_once: bool,
}

/// Names of devices without requests whose drivers count each bio once (Linux
/// `drivers/block/zram/zram_drv.c`, `drivers/nvdimm/pmem.c`: bio_start_io_acct).
const COUNTED_ONCE: [&str; 2] = ["zram", "pmem"];

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
        let has_requests = inspected.tree().list(&format!("/sys/block/{}/mq", node.name)).is_ok();
        let is_counted_once =
            has_requests || COUNTED_ONCE.iter().any(|kind| node.name.starts_with(kind));
        Some(SampledDevice {
            number: (number.major, number.minor),
            partitions: partitions.map(|number| (number.major, number.minor)).collect(),
            has_requests,
            is_counted_once,
        })
    }

    /// Returns the filter for its reads or writes of some shape at `level`.
    pub(crate) fn filter(
        &self,
        level: BlockLevel,
        direction: Direction,
        shape: BlockShape,
    ) -> BlockFilter {
        let mut devices = vec![self.number];
        if level == BlockLevel::Bios {
            devices.extend(&self.partitions);
        }
        BlockFilter { devices, level, direction, shape }
    }
}
