//! Groups of pages, each with the file of its text.

/// Pages of one kind.
#[derive(PartialEq, Eq)]
pub(crate) struct Group {
    /// The word by which the group is listed alone.
    pub(crate) word: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// The text of its pages.
    pub(super) text: &'static str,
}

impl std::fmt::Debug for Group {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word)
    }
}

/// All groups, in the order in which they are listed.
pub(crate) const GROUPS: &[Group] = &[
    Group { word: "verdicts", title: "Verdicts", text: include_str!("pages/verdicts.txt") },
    Group {
        word: "output",
        title: "Words of straddle's output",
        text: include_str!("pages/output.txt"),
    },
    Group {
        word: "drives",
        title: "Sectors and granules: what a drive reports",
        text: include_str!("pages/drives.txt"),
    },
    Group {
        word: "layers",
        title: "Layers, stripes and the knobs of file systems",
        text: include_str!("pages/layers.txt"),
    },
    Group {
        word: "durability",
        title: "Durability and latency",
        text: include_str!("pages/durability.txt"),
    },
    Group {
        word: "consensus",
        title: "Log lines: etcd, Kubernetes, ZooKeeper, Consul",
        text: include_str!("pages/consensus.txt"),
    },
    Group {
        word: "databases",
        title: "Log lines: databases",
        text: include_str!("pages/databases.txt"),
    },
    Group {
        word: "storage",
        title: "Log lines: the kernel, LVM, md, Ceph, ZFS",
        text: include_str!("pages/storage.txt"),
    },
    Group {
        word: "tools",
        title: "Messages: partitioners, mkfs, cryptsetup, QEMU",
        text: include_str!("pages/tools.txt"),
    },
];
