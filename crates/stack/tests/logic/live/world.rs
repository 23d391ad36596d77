//! A machine in memory: its kernel's files and the bytes of its devices.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Disk, MemoryDisk, MemoryTree, NoFiles};
use stack::assemble::{Assembled, Devices, Start, StartKind, World, assemble_machine};
use stack::drive::KernelDrive;
use stack::judge::{self, Judgment};
use stack::kernel::Machine;
use stack::rule::{self, Finding, RuleInput};
use stack::{Layer, LayerId};

/// A machine in memory.
pub(crate) struct Sample {
    tree: MemoryTree,
    bytes: BTreeMap<String, Result<Rc<dyn Disk>, String>>,
}

impl Sample {
    pub(crate) fn new() -> Sample {
        Sample { tree: MemoryTree::new(), bytes: BTreeMap::new() }
    }

    /// Files of `/sys`, `/proc` and the answers.
    pub(crate) fn files(mut self, files: &[(&str, &str)]) -> Sample {
        for (path, text) in files {
            self.tree = self.tree.with_file(path, text);
        }
        self
    }

    /// A disk with a size, a number and 512e sectors; `extra` files below its directory.
    pub(crate) fn disk(
        self,
        name: &str,
        number: &str,
        bytes: u64,
        extra: &[(&str, &str)],
    ) -> Sample {
        let size = (bytes / 512).to_string();
        let own = [
            ("size", size.as_str()),
            ("dev", number),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("alignment_offset", "0"),
        ];
        let rows: Vec<(String, &str)> = own
            .iter()
            .chain(extra)
            .map(|(file, text)| (format!("/sys/block/{name}/{file}"), *text))
            .collect();
        let rows: Vec<(&str, &str)> =
            rows.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        self.files(&rows)
    }

    /// A partition of a disk, in 512-byte units.
    pub(crate) fn partition(
        self,
        disk: &str,
        name: &str,
        number: &str,
        start: u64,
        size: u64,
    ) -> Sample {
        let base = format!("/sys/block/{disk}/{name}");
        let place = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        self.files(&[
            (&format!("{base}/start"), &start.to_string()),
            (&format!("{base}/size"), &size.to_string()),
            (&format!("{base}/partition"), place),
            (&format!("{base}/dev"), number),
        ])
    }

    /// A device-mapper device on `slaves`.
    pub(crate) fn mapped(
        self,
        node: &str,
        number: &str,
        (name, uuid): (&str, &str),
        bytes: u64,
        slaves: &[&str],
    ) -> Sample {
        let base = format!("/sys/block/{node}");
        let mut sample = self.disk(node, number, bytes, &[("dm/name", name), ("dm/uuid", uuid)]);
        for slave in slaves {
            sample = sample.files(&[(&format!("{base}/slaves/{slave}/dev"), "0:0")]);
        }
        sample
    }

    pub(crate) fn bytes(mut self, name: &str, disk: MemoryDisk) -> Sample {
        self.bytes.insert(name.to_owned(), Ok(Rc::new(disk)));
        self
    }

    pub(crate) fn refused(mut self, name: &str, reason: &str) -> Sample {
        self.bytes.insert(name.to_owned(), Err(reason.to_owned()));
        self
    }

    /// Everything that is joined to `name`, assembled and judged.
    pub(crate) fn look(&self, name: &str) -> Seen {
        let machine = Machine::read(&self.tree).expect("the tree lists disks");
        let nodes = machine.joined(machine.named(name).expect("it is there"));
        let world = World { machine: &machine, tree: &self.tree, devices: self, files: &NoFiles };
        let assembled = assemble_machine(&world, &nodes, None);
        let judgments = judge::judge_all(&assembled.stack);
        Seen { assembled, judgments }
    }
}

impl Devices for Sample {
    fn disk(&self, name: &str) -> Start {
        let kind = StartKind::Drive(Box::new(KernelDrive::read(&self.tree, name)));
        Start { kind, name: name.to_owned(), bytes: self.open(name) }
    }

    fn open(&self, name: &str) -> Option<Result<Rc<dyn Disk>, String>> {
        self.bytes.get(name).cloned()
    }
}

/// The layers that were made of it.
pub(crate) struct Seen {
    pub(crate) assembled: Assembled,
    pub(crate) judgments: Vec<Judgment>,
}

impl Seen {
    /// The layer of the device that the kernel calls `name`.
    pub(crate) fn device(&self, name: &str) -> (LayerId, &Layer, &Judgment) {
        let mut found =
            self.assembled.stack.iter().filter(|(_, layer)| layer.device.as_deref() == Some(name));
        let (id, layer) = found.next().unwrap_or_else(|| panic!("{name} has no layer"));
        assert!(found.next().is_none(), "{name} has two layers");
        (id, layer, &self.judgments[id.0])
    }

    /// The kinds of all layers, in order.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        self.assembled.stack.iter().map(|(_, layer)| layer.kind.word()).collect()
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        let stack = &self.assembled.stack;
        rule::findings(&RuleInput { stack, judgments: &self.judgments, told: None })
    }

    pub(crate) fn codes(&self) -> Vec<&'static str> {
        self.findings().iter().map(|finding| finding.rule.code).collect()
    }
}

/// An MBR with Linux partitions at these sectors, this many sectors long.
pub(crate) fn partitioned(bytes: u64, entries: &[(u32, u32)]) -> MemoryDisk {
    let mut sector = [0_u8; 512];
    for (number, (start, size)) in entries.iter().enumerate() {
        let at = 446 + 16 * number;
        sector[at + 4] = 0x83;
        sector[at + 8..at + 12].copy_from_slice(&start.to_le_bytes());
        sector[at + 12..at + 16].copy_from_slice(&size.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    MemoryDisk::with_head(bytes, &sector)
}
