//! The steps of the suite on one device: each is done on a file system that was just mounted, and
//! ends when it is unmounted, so that nothing of it stays in a cache uncounted.

use std::path::Path;
use std::time::Instant;

use host::{FileLoad, FileStep, PrivateMounts};

use crate::bench::file_system::Recipe;
use crate::bench::session::Session;
use crate::shared::halt::Halt;

/// The steps in their order, each as a person says it; the first makes the file system.
pub(super) const STEPS: [(Option<FileStep>, &str); 5] = [
    (None, "make the file system"),
    (Some(FileStep::Unpack), "unpack a tree"),
    (Some(FileStep::Copy), "copy a large file"),
    (Some(FileStep::Read), "read both"),
    (Some(FileStep::Delete), "delete both"),
];

/// A file system on a device, on its way through the steps.
pub(super) struct Bench<'a> {
    pub(super) load: &'a FileLoad,
    pub(super) recipe: &'static Recipe,
    pub(super) mounts: &'a PrivateMounts,
    pub(super) device: &'a Path,
    pub(super) buffer: &'a mut Vec<u8>,
}

impl Bench<'_> {
    /// Does a step after the making, called `name`; returns how long it took, in nanoseconds, the
    /// unmount included and the mount not.
    pub(super) fn step(
        &mut self,
        step: FileStep,
        name: &str,
        session: &Session<'_>,
    ) -> Result<u64, Halt> {
        let mut mounted = self.recipe.mount(self.mounts, self.device)?;
        let begun = Instant::now();
        let done = self.load.act(step, mounted.path(), self.buffer);
        let unmounted = mounted.unmount();
        let took = begun.elapsed();
        done.map_err(|error| {
            let message = format!("cannot {name} on {}: {error}", self.recipe.name);
            Halt::hinted(message, session.longer_scratch())
        })?;
        unmounted?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    }
}
