//! Groups of pages, each with the file of its text.

/// Pages of one kind.
#[derive(PartialEq, Eq)]
pub(crate) struct PageGroup {
    /// The word by which the group is listed alone.
    pub(crate) word: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// The text of its pages.
    pub(super) text: &'static str,
}

impl std::fmt::Debug for PageGroup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word)
    }
}

/// All groups, in the order in which they are listed.
pub(crate) const GROUPS: &[PageGroup] = &[
    PageGroup { word: "verdicts", title: "Verdicts", text: include_str!("pages/verdicts.txt") },
    PageGroup {
        word: "output",
        title: "Words of straddle's output",
        text: include_str!("pages/output.txt"),
    },
    PageGroup {
        word: "drives",
        title: "Sectors and granules: what a drive reports",
        text: include_str!("pages/drives.txt"),
    },
    PageGroup {
        word: "layers",
        title: "Layers, stripes and settings of file systems",
        text: include_str!("pages/layers.txt"),
    },
    PageGroup {
        word: "durability",
        title: "Durability and latency",
        text: include_str!("pages/durability.txt"),
    },
    PageGroup {
        word: "consensus",
        title: "Log lines: etcd, Kubernetes, ZooKeeper, Consul",
        text: include_str!("pages/consensus.txt"),
    },
    PageGroup {
        word: "databases",
        title: "Log lines: databases",
        text: include_str!("pages/databases.txt"),
    },
    PageGroup {
        word: "storage",
        title: "Log lines: the kernel, LVM, md, Ceph, ZFS",
        text: include_str!("pages/storage.txt"),
    },
    PageGroup {
        word: "tools",
        title: "Messages: partitioners, mkfs, cryptsetup, QEMU",
        text: include_str!("pages/tools.txt"),
    },
];
