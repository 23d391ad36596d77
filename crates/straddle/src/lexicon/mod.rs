//! The meaning of words and log lines: the pages that `straddle explain` prints.
//!
//! The text stands in `pages/*.txt`, a file for each group; [`page`] reads it, [`mod@search`] finds
//! the page of a word, of a code or of a whole log line, and `rank` those that fit other words
//! best. Rules have their own table ([`stack::rule`]), and so have the defaults of partitioners
//! ([`stack::history`]).

mod entry;
mod page;
mod pattern;
mod rank;
mod search;

use std::sync::LazyLock;

pub(crate) use entry::Entry;
pub(crate) use page::Page;
pub(crate) use search::{find, find_in_line, named, search};

/// Pages of one kind.
#[derive(PartialEq, Eq)]
pub(crate) struct Group {
    /// The word by which the group is listed alone.
    pub(crate) word: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    text: &'static str,
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

static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| GROUPS.iter().flat_map(page::read).collect());

/// Every page, group by group.
#[must_use]
pub(crate) fn pages() -> &'static [Page] {
    &PAGES
}

#[cfg(test)]
mod tests;
