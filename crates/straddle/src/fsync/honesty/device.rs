//! Role of a block device in a sync, and where its flushes are counted.

use device::KernelTree;
use durability::{LayerCounts, PathLayer, SyncLayerKind, drive_word};
use stack::kernel::{BlockDevice, DeviceLimits, NodeKind};
use units::{Known, Source, text};

/// A layer, and the files in which it counts.
#[derive(Clone, Debug)]
pub(super) struct CountedLayer {
    pub(super) layer: PathLayer,
    /// `/sys/block/vda/stat`: of several the flushes are added up.
    pub(super) counters: Vec<String>,
}

impl CountedLayer {
    /// A layer that has no queue, and so counts nothing.
    pub(super) fn without_queue(name: &str, kind: SyncLayerKind) -> CountedLayer {
        let none = "it has no queue of its own";
        let layer = PathLayer {
            name: name.to_owned(),
            kind,
            below: Vec::new(),
            write_back: Known::no(none),
            forced_unit_access: Known::no(none),
            counted: Err(none.to_owned()),
        };
        CountedLayer { layer, counters: Vec::new() }
    }

    /// Notes that a sync may rightly flush nothing here, and why; nothing where that is empty.
    pub(super) fn leaves_out(&mut self, why: &str) {
        if !why.is_empty() && self.layer.counted.is_ok() {
            self.counters.clear();
            self.layer.counted = Err(why.to_owned());
        }
    }

    /// Notes that `above` hands flushes on to this as requests, as device-mapper's multipath does.
    /// The kernel counts those at `above`, and here takes them for reads of nothing: a flush that
    /// another device made is no step of one (`blk_account_io_done`, `op_stat_group`).
    pub(super) fn counted_by(&mut self, above: &str) {
        self.counters.clear();
        self.layer.counted =
            Err(format!("{above} hands them on, and the kernel counts them there"));
    }
}

/// Disks that are memory, by how their names begin: Linux `drivers/block/{zram,brd,null_blk}`.
const MEMORY: [(&str, &str); 3] = [("zram", "zram"), ("ram", "RAM disk"), ("nullb", "null_blk")];
/// Disks that another machine or a program holds: `drivers/block/{nbd,rbd,drbd,ublk_drv}`, and
/// volumes of ZFS (`module/os/linux/zfs/zvol_os.c`), whose pool may leave syncs out.
const ELSEWHERE: [&str; 5] = ["nbd", "rbd", "drbd", "ublkb", "zd"];

/// The layer of a block device.
pub(super) fn of(tree: &dyn KernelTree, node: &BlockDevice) -> CountedLayer {
    let name = text::escape(node.name.as_bytes());
    let kind = match &node.kind {
        NodeKind::Partition { .. } => {
            // Flushes are counted for the whole disk (blk_account_io_flush in block/blk-flush.c).
            return CountedLayer::without_queue(&name, SyncLayerKind::Partition);
        }
        NodeKind::Disk => disk(tree, &node.name),
        NodeKind::Md(_) => SyncLayerKind::Mapped("md array".to_owned()),
        NodeKind::Dm { uuid, .. } => SyncLayerKind::Mapped(mapped(uuid)),
        NodeKind::Bcache => SyncLayerKind::Mapped("bcache".to_owned()),
        NodeKind::Other => SyncLayerKind::Mapped("stacked device".to_owned()),
        NodeKind::Loop { .. } => {
            let direct = tree.read(&format!("/sys/block/{}/loop/dio", node.name)).ok();
            SyncLayerKind::Loop(direct.map(|text| text.trim() == "1"))
        }
    };
    let base = format!("/sys/block/{}", node.name);
    let counters = counters(tree, &node.name);
    let counted = match counters.is_empty() {
        true => Err("the kernel counts no flushes of devices without a request queue".to_owned()),
        false => Ok(LayerCounts::default()),
    };
    let fua = tree.read(&format!("{base}/queue/fua"));
    let forced_unit_access = Known::of(fua.map(|text| text.trim() == "1"), Source::Sysfs);
    let write_back = DeviceLimits::read(tree, &base).write_back;
    let layer =
        PathLayer { name, kind, below: Vec::new(), write_back, forced_unit_access, counted };
    CountedLayer { layer, counters }
}

/// Returns what a disk that lies on nothing is.
fn disk(tree: &dyn KernelTree, name: &str) -> SyncLayerKind {
    let memory = MEMORY.iter().find(|(start, _)| name.starts_with(start));
    if let Some((_, what)) = memory {
        return SyncLayerKind::Memory((*what).to_owned());
    }
    let model = tree.read(&format!("/sys/block/{name}/device/model")).unwrap_or_default();
    if model.trim() == "scsi_debug" {
        return SyncLayerKind::Memory("scsi_debug".to_owned());
    }
    if let Some(kind) = ELSEWHERE.iter().find(|start| name.starts_with(**start)) {
        return SyncLayerKind::Opaque {
            kind: (*kind).to_owned(),
            options: Vec::new(),
            reason: String::new(),
        };
    }
    if name.starts_with("loop") {
        return SyncLayerKind::Lost("no file is behind it".to_owned());
    }
    SyncLayerKind::Drive(Box::new(drive_word(tree, name)))
}

/// `dm crypt`, `dm LVM`: by who made it.
fn mapped(uuid: &str) -> String {
    let (maker, _) = uuid.split_once('-').unwrap_or_default();
    let maker = text::escape(maker.as_bytes());
    if maker.is_empty() { "dm".to_owned() } else { format!("dm {maker}") }
}

/// Returns where the flushes of a disk are counted: with itself where it has a request queue; of an
/// NVMe head with its paths. Others are handed on, and counted below.
fn counters(tree: &dyn KernelTree, name: &str) -> Vec<String> {
    let has_queue = |name: &str| tree.list(&format!("/sys/block/{name}/mq")).is_ok();
    let stat = |name: &str| format!("/sys/block/{name}/stat");
    if has_queue(name) {
        return vec![stat(name)];
    }
    if !name.starts_with("nvme") {
        return Vec::new();
    }
    let paths = stack::drive::KernelDrive::read(tree, name).paths;
    paths.iter().filter(|path| has_queue(&path.name)).map(|path| stat(&path.name)).collect()
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;
    use stack::kernel::Machine;

    use super::*;

    fn found(name: &str, tree: MemoryTree) -> CountedLayer {
        let tree = tree.with_file(&format!("/sys/block/{name}/size"), "8");
        let machine = Machine::read(&tree).expect("it can be listed");
        of(&tree, machine.node(machine.named(name).expect("it is there")))
    }

    #[test]
    fn memory_is_told_by_the_kernels_names_for_it() {
        for (name, what) in [("zram0", "zram"), ("ram1", "RAM disk"), ("nullb0", "null_blk")] {
            let kind = found(name, MemoryTree::new()).layer.kind;
            assert_eq!(kind, SyncLayerKind::Memory(what.to_owned()), "{name}");
        }
        let model = MemoryTree::new().with_file("/sys/block/sda/device/model", "scsi_debug");
        assert!(matches!(found("sda", model).layer.kind, SyncLayerKind::Memory(_)));
        for name in ["nbd0", "ublkb0", "zd16"] {
            let kind = found(name, MemoryTree::new()).layer.kind;
            assert!(matches!(kind, SyncLayerKind::Opaque { .. }), "{name}: {kind:?}");
        }
        assert!(matches!(found("loop7", MemoryTree::new()).layer.kind, SyncLayerKind::Lost(_)));
    }

    #[test]
    fn a_path_leaves_the_counting_to_what_combines_paths() {
        let mut path =
            found("sda", MemoryTree::new().with_file("/sys/block/sda/mq/0/cpu_list", "0"));
        assert!(path.layer.counted.is_ok());
        path.counted_by("dm-0");
        assert!(path.counters.is_empty());
        assert!(path.layer.counted.unwrap_err().starts_with("dm-0 "));
    }

    #[test]
    fn flushes_are_counted_where_there_is_a_request_queue() {
        let queue = |name: &str| {
            MemoryTree::new()
                .with_file(&format!("/sys/block/{name}/mq/0/cpu_list"), "0")
                .with_file(&format!("/sys/block/{name}/queue/write_cache"), "write back")
                .with_file(&format!("/sys/block/{name}/queue/fua"), "1")
        };
        let with = found("sda", queue("sda"));
        assert_eq!(with.counters, ["/sys/block/sda/stat"]);
        assert_eq!(with.layer.write_back.value(), Some(&true));
        assert_eq!(with.layer.forced_unit_access.value(), Some(&true));
        let without = found("sdb", MemoryTree::new());
        assert!(without.counters.is_empty() && without.layer.counted.is_err());
        let head = found("nvme0n1", queue("nvme0c0n1"));
        assert_eq!(head.counters, ["/sys/block/nvme0c0n1/stat"]);
    }
}
