//! The machine that is looked at: this one, or a captured one.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use device::{Disk, KernelTree};
use host::{FileDisk, HeadCache, ImageFiles, Inquiry, LiveTree};
use stack::Condition;
use stack::assemble::{Devices, Start, StartKind, World};
use stack::drive::{Answers, KernelDrive};
use stack::kernel::{Listed, Machine, NodeId, PartitionedDisk};
use units::text;

use crate::shared::drive_table::DriveTable;
use crate::shared::parallel;
use crate::shared::probe_store::Store;

/// A machine and how to ask it.
pub(crate) struct InspectedMachine {
    tree: host::sysroot::Tree,
    /// Its block devices, or why they are not known; read when they are first asked for, since
    /// images need none.
    machine: OnceLock<Result<Machine, String>>,
    /// True if it is another one's capture, so that no device of this machine may be opened for it.
    pub(crate) is_captured: bool,
    /// Earlier measurements of drives; `None` where they are to be left out.
    measured: Option<Store>,
    /// Measurements of models; `None` where they are to be left out.
    table: Option<DriveTable>,
    /// True if a loop device is the disk that the user specified, whatever lies beneath it here.
    pub(crate) ends_at_loops: bool,
}

impl InspectedMachine {
    /// This machine.
    pub(crate) fn live() -> InspectedMachine {
        InspectedMachine::of(Box::new(LiveTree::new(Path::new("/"))), false)
    }

    /// The captured machine at `path`, or this one where none is named.
    ///
    /// # Errors
    /// When the capture cannot be read.
    pub(crate) fn at(path: Option<&Path>) -> anyhow::Result<InspectedMachine> {
        Ok(match path {
            Some(path) => InspectedMachine::of(host::sysroot::open(path)?, true),
            None => InspectedMachine::live(),
        })
    }

    /// The captured machine that `tree` describes, of whose drives nobody measured anything.
    #[cfg(test)]
    pub(crate) fn unmeasured(tree: host::sysroot::Tree) -> InspectedMachine {
        InspectedMachine::of(tree, true).ignoring_measured(true)
    }

    /// The machine that `tree` describes.
    fn of(tree: host::sysroot::Tree, is_captured: bool) -> InspectedMachine {
        let measured = Store::of_environment();
        let table = Some(DriveTable::built_in());
        let machine = OnceLock::new();
        InspectedMachine { tree, machine, is_captured, measured, table, ends_at_loops: false }
    }

    /// The same, where what was measured of drives and their models before is left out if `ignores`
    /// says so.
    pub(crate) fn ignoring_measured(self, ignores: bool) -> InspectedMachine {
        if ignores { InspectedMachine { measured: None, table: None, ..self } } else { self }
    }

    /// The same, whose loop devices are disks of their own where the user specified a disk with
    /// `--on`: a loop device is then judged like the image file behind it.
    pub(crate) fn specified(self, on: Option<&Condition>) -> InspectedMachine {
        InspectedMachine { ends_at_loops: on.is_some(), ..self }
    }

    /// Its block devices, as they were when they were first asked for; `Err` says why they are not
    /// known.
    pub(crate) fn machine(&self) -> Result<&Machine, &String> {
        let read = || {
            let machine = machine(self.tree.as_ref())?;
            Ok(if self.ends_at_loops { machine.ending_at_loops() } else { machine })
        };
        self.machine.get_or_init(read).as_ref()
    }

    /// The files of its kernel.
    pub(crate) fn tree(&self) -> &dyn KernelTree {
        self.tree.as_ref()
    }

    /// The stack of some of its devices, as [`stack::assemble::assemble_machine`] gives it.
    pub(crate) fn assemble(
        &self,
        machine: &Machine,
        nodes: &[NodeId],
        told: Option<&Condition>,
    ) -> stack::assemble::Assembled {
        let world =
            World { machine, tree: self.tree(), devices: self, files: &ImageFiles::Directory };
        stack::assemble::assemble_machine(&world, nodes, told)
    }
}

/// The machine that `tree` describes; its disks are read on all processors.
fn machine(tree: &(dyn KernelTree + Send + Sync)) -> Result<Machine, String> {
    let disks = Listed::all(tree)?;
    let mut parts = Vec::with_capacity(disks.len());
    let read = |index: usize| PartitionedDisk::read(tree, &disks[index]);
    let taken = parallel::in_order(disks.len(), read, |_, part| {
        parts.push(part);
        Ok(())
    });
    taken.map_err(|error| {
        let error = parallel::named(error, |index| format!("read {}", disks[index].name()));
        error.to_string().replace('\n', "; ")
    })?;
    Ok(Machine::joined_from(tree, parts))
}

impl Devices for InspectedMachine {
    fn disk(&self, name: &str) -> Start {
        let mut drive = KernelDrive::read(self.tree(), name);
        let bytes = (!self.is_captured).then(|| {
            let disk = open(name)?;
            if let Some(inquiry) = disk.inquiry() {
                drive.take_answers(answers(&inquiry));
            }
            Ok(Rc::new(HeadCache::new(disk)) as Rc<dyn Disk>)
        });
        drive.table = self.table.as_ref().and_then(|table| table.of_drive(&drive));
        drive.measured = self.measured.as_ref().and_then(|store| store.of(&drive));
        let name = text::escape(name.as_bytes());
        Start { kind: StartKind::Drive(Box::new(drive)), name, bytes }
    }

    fn open(&self, name: &str) -> Option<Result<Rc<dyn Disk>, String>> {
        let opened = || open(name).map(|disk| Rc::new(HeadCache::new(disk)) as Rc<dyn Disk>);
        (!self.is_captured).then(opened)
    }
}

fn open(name: &str) -> Result<FileDisk, String> {
    FileDisk::open(&node(name)).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// The node of a device by the kernel's name, which has `!` where the node has a directory:
/// cciss!c0d0.
fn node(name: &str) -> PathBuf {
    Path::new("/dev").join(name.replace('!', "/"))
}

/// Ioctls' answers, as the stack takes them.
fn answers(inquiry: &Inquiry) -> Answers {
    Answers {
        logical_bytes: inquiry.logical_sector_bytes.clone(),
        physical_bytes: inquiry.physical_sector_bytes.clone(),
        minimum_io_bytes: inquiry.minimum_io_bytes.clone(),
        optimal_io_bytes: inquiry.optimal_io_bytes.clone(),
        alignment_offset_bytes: inquiry.alignment_offset_bytes.clone(),
    }
}
