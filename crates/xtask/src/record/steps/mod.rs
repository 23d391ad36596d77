//! Steps that a file system goes through while the tape runs.

use std::path::Path;

use anyhow::Context as _;
use host::{FileLoad, FileStep, Interrupt, MountPlan, PrivateMounts, SeededTree, seeded_bytes};
use testkit::fuse::FuseBehavior;
use units::random::Random;
use workload::trace::TraceEntry;

use super::disk::{self, ArticleDisk};
use super::recipe::RecordRecipe;
use super::tape::Tape;

/// The name of the step that makes the file system.
pub(super) const MAKE: &str = "mkfs";

/// The other steps in their order, each as its traces are called, mount by mount. As in the
/// article, what is only read is not unmounted: the tree is deleted while the kernel still caches
/// what was read.
pub(super) const MOUNTS: [&[(&str, FileStep)]; 3] = [
    &[("unpack", FileStep::Unpack)],
    &[("write", FileStep::Copy)],
    &[("read", FileStep::Read), ("delete", FileStep::DeleteTree)],
];

/// Amount of work in the steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The length of the disk.
    pub(super) device_bytes: u64,
    /// The files of the tree.
    pub(super) files: u64,
    /// The length of the large file.
    pub(super) large_bytes: usize,
}

/// Seed of the tree and the bytes.
const SEED: u64 = 2010;

impl Scale {
    /// The article's disk of 1 TB, less 4 MiB for the places at which its partition may begin, and
    /// its tree and its large file of 365 MB each.
    pub(super) const ARTICLE: Scale = Scale {
        device_bytes: (1_000_204_886_016 >> 20 << 20) - (4 << 20),
        files: 30_000,
        large_bytes: 365_000_000,
    };

    /// The tree and the large file.
    pub(super) fn load(self) -> FileLoad {
        let mut random = Random::new(SEED);
        let tree = SeededTree::made(self.files, &mut random);
        FileLoad { tree, large: seeded_bytes(self.large_bytes, &mut random) }
    }
}

/// A file system, about to go through the steps.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    pub(super) recipe: &'a RecordRecipe,
    pub(super) load: &'a FileLoad,
    pub(super) mounts: &'a PrivateMounts,
    pub(super) interrupt: &'a Interrupt,
}

impl Steps<'_> {
    /// Goes through all steps on a disk of its own; what each asked of it.
    ///
    /// # Errors
    /// When one fails, or the process is asked to end.
    pub(super) fn run(&self, scale: Scale) -> anyhow::Result<Vec<(&'static str, Vec<TraceEntry>)>> {
        let tape = Tape::new();
        let watched = FuseBehavior { watch: tape.watch(), discards: false };
        let (disk, _bytes) = ArticleDisk::new(scale.device_bytes, watched)?;
        drop(tape.take());
        self.make(disk.node()).with_context(|| self.failed(MAKE))?;
        let mut taped = vec![(MAKE, tape.take())];
        for steps in MOUNTS {
            self.mount(disk.node(), steps, |ended| {
                let entries = tape.take();
                taped.extend(ended.map(|name| (name, entries)));
            })?;
        }
        Ok(taped)
    }

    fn failed(&self, step: &str) -> String {
        format!("cannot record {step} of {}", self.recipe.name)
    }

    /// Makes the file system.
    ///
    /// # Errors
    /// When its tool fails, or the process is asked to end.
    pub(super) fn make(&self, node: &Path) -> anyhow::Result<()> {
        self.recipe.make(node, self.interrupt)?;
        disk::settle(node)
    }

    /// Does `steps` between a mount and its unmount; calls `told` with nothing once it is mounted,
    /// and with each step at its end: the last step ends with the unmount.
    ///
    /// # Errors
    /// When one fails, or the process is asked to end.
    pub(super) fn mount(
        &self,
        node: &Path,
        steps: &[(&'static str, FileStep)],
        mut told: impl FnMut(Option<&'static str>),
    ) -> anyhow::Result<()> {
        anyhow::ensure!(!self.interrupt.is_raised(), "it was interrupted");
        let RecordRecipe { name: file_system, mount: options, .. } = *self.recipe;
        let plan = MountPlan { device: node, file_system, options };
        let mut mounted = self.mounts.mount(plan)?;
        told(None);
        for (place, (name, step)) in steps.iter().enumerate() {
            let done = self.load.act(*step, mounted.path(), &mut Vec::new());
            let is_last = place + 1 == steps.len();
            if is_last {
                mounted.unmount()?;
            }
            done.with_context(|| self.failed(name))?;
            if is_last {
                disk::settle(node)?;
            }
            told(Some(name));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
