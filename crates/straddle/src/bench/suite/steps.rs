//! The steps of the suite on one device: each is done on a file system that was just mounted, and
//! ends when it is unmounted, so that nothing of it stays in a cache uncounted.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use host::PrivateMounts;

use super::source::Source;
use crate::bench::halt::Halt;
use crate::bench::made::Recipe;

/// How much one call writes of the large file.
const CHUNK_BYTES: usize = 1 << 20;
/// The name of the large file.
const LARGE: &str = "large";
/// The directory that the tree is unpacked into.
const TREE: &str = "tree";

/// What is done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Make,
    Unpack,
    Copy,
    Read,
    Delete,
}

/// The steps in their order, each as a person says it.
pub(super) const STEPS: [(Step, &str); 5] = [
    (Step::Make, "make the file system"),
    (Step::Unpack, "unpack a tree"),
    (Step::Copy, "copy a large file"),
    (Step::Read, "read both"),
    (Step::Delete, "delete both"),
];

/// What all arms do the same.
pub(super) struct Load {
    pub(super) source: Source,
    pub(super) large: Vec<u8>,
}

/// A file system on a device, on its way through the steps.
pub(super) struct Bench<'a> {
    pub(super) load: &'a Load,
    pub(super) recipe: &'static Recipe,
    pub(super) mounts: &'a PrivateMounts,
    pub(super) device: &'a Path,
    pub(super) buffer: &'a mut Vec<u8>,
}

impl Bench<'_> {
    /// Does a step behind the making; how long it took, in nanoseconds, the unmount included and
    /// the mount not.
    pub(super) fn step(&mut self, step: Step) -> Result<u64, Halt> {
        let mut mounted = self.recipe.mount(self.mounts, self.device)?;
        let begun = Instant::now();
        let done = self.done(step, mounted.path());
        let unmounted = mounted.unmount();
        let took = begun.elapsed();
        let name = STEPS.iter().find(|(own, _)| *own == step).map_or("", |(_, name)| name);
        done.map_err(|error| {
            let message = format!("cannot {name} on {}: {error}", self.recipe.name);
            Halt::hinted(message, "allow more with --scratch".to_owned())
        })?;
        unmounted?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    }

    fn done(&mut self, step: Step, root: &Path) -> io::Result<()> {
        let (tree, large) = (root.join(TREE), root.join(LARGE));
        match step {
            Step::Make => Ok(()),
            Step::Unpack => {
                fs::create_dir(&tree)?;
                self.load.source.unpack(&tree)
            }
            Step::Copy => {
                let mut file = File::create_new(large)?;
                self.load.large.chunks(CHUNK_BYTES).try_for_each(|chunk| file.write_all(chunk))
            }
            Step::Read => {
                let same = self.load.source.is_read_back(&tree, self.buffer)?;
                self.buffer.clear();
                io::Read::read_to_end(&mut File::open(large)?, self.buffer)?;
                if same && *self.buffer == self.load.large {
                    return Ok(());
                }
                Err(io::Error::other("what was read is not what was written"))
            }
            Step::Delete => {
                fs::remove_dir_all(tree)?;
                fs::remove_file(large)
            }
        }
    }
}
