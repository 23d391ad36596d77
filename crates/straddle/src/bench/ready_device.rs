//! A shifted device that is ready for use, with a file system on it or bare.

use std::path::Path;

use host::{Interrupt, LoopDevice, Mounted, PrivateMounts};

use super::file_system::FileSystemRecipe;
use super::scratch_file::ScratchFile;
use super::shifted::{self, Region};
use crate::shared::halt::Halt;

/// The file system that is to be on it, and where it is mounted.
#[derive(Clone, Copy)]
pub(crate) struct WantedFileSystem<'a> {
    pub(crate) recipe: &'static FileSystemRecipe,
    pub(crate) mounts: &'a PrivateMounts,
    pub(crate) interrupt: &'a Interrupt,
}

/// A device for one arm. What is mounted goes before the device.
pub(crate) struct ReadyDevice<'a> {
    mounted: Option<Mounted<'a>>,
    device: LoopDevice,
}

impl<'a> ReadyDevice<'a> {
    /// Attaches a region `shift_bytes` after the boundary; with a file system that is wanted made
    /// and mounted on it.
    pub(crate) fn set(
        ground: &ScratchFile,
        region: Region,
        shift_bytes: u64,
        wanted: Option<WantedFileSystem<'a>>,
    ) -> Result<ReadyDevice<'a>, Halt> {
        let device = shifted::attach(ground, region, shift_bytes)?;
        let mounted = match wanted {
            None => None,
            Some(WantedFileSystem { recipe, mounts, interrupt }) => {
                recipe.make(device.node(), ground.place.unit.length_bytes(), interrupt)?;
                ground.settle()?;
                Some(recipe.mount(mounts, device.node())?)
            }
        };
        Ok(ReadyDevice { mounted, device })
    }

    pub(crate) fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// Returns where its file system is mounted; `None` when it has none.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.mounted.as_ref().map(Mounted::path)
    }

    /// Unmounts and detaches it.
    pub(crate) fn end(self) -> Result<(), Halt> {
        let ReadyDevice { mounted, device } = self;
        if let Some(mut mounted) = mounted {
            mounted.unmount()?;
        }
        device.detach().map_err(Halt::from)
    }
}
