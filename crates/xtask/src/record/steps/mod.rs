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

/// The steps in their order, each as its traces are called; the first makes the file system.
pub(super) const STEPS: [(&str, Option<FileStep>); 5] = [
    ("mkfs", None),
    ("unpack", Some(FileStep::Unpack)),
    ("write", Some(FileStep::Copy)),
    ("read", Some(FileStep::Read)),
    ("delete", Some(FileStep::DeleteTree)),
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
        let mut taped = Vec::new();
        for (name, step) in STEPS {
            self.step(disk.node(), step, || drop(tape.take()))
                .with_context(|| format!("cannot record {} of {}", name, self.recipe.name))?;
            taped.push((name, tape.take()));
        }
        Ok(taped)
    }

    /// Does one step to its end; `begun` is called when it begins: when the file system is mounted,
    /// where it is.
    pub(super) fn step(
        &self,
        node: &Path,
        step: Option<FileStep>,
        begun: impl FnOnce(),
    ) -> anyhow::Result<()> {
        let Some(step) = step else {
            begun();
            self.recipe.make(node, self.interrupt)?;
            return disk::settle(node);
        };
        anyhow::ensure!(!self.interrupt.is_raised(), "it was interrupted");
        let RecordRecipe { name: file_system, mount: options, .. } = *self.recipe;
        let plan = MountPlan { device: node, file_system, options };
        let mut mounted = self.mounts.mount(plan)?;
        begun();
        let done = self.load.act(step, mounted.path(), &mut Vec::new());
        mounted.unmount()?;
        done?;
        disk::settle(node)
    }
}

#[cfg(test)]
mod tests;
