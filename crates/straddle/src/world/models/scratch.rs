//! The scratch file of the world: the first bytes of its drive.

use host::Pinned;
use host::engine::{Access, EngineError};
use host::scratch::{ScratchError, ScratchPlan};
use units::{DiskText, Known, Source};

use super::files::OneOperation;
use super::{DriveFacts, SharedDrive, SharedFile};
use crate::world::ScratchSpace;

/// Bytes of each write that fills it.
const FILL_BYTES: u32 = 1 << 20;

/// The first bytes of the drive.
pub(crate) struct ModelScratch {
    drive: SharedDrive,
    directory: DiskText,
    filesystem: &'static str,
    length_bytes: u64,
    direct_unit: Known<u64>,
}

impl ModelScratch {
    /// Writes it, while `goes_on` with the bytes so far.
    pub(super) fn made(
        drive: &SharedDrive,
        facts: &DriveFacts,
        (directory, plan): (&Pinned, ScratchPlan),
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<ModelScratch, ScratchError> {
        let text = directory.text();
        let mut queue = OneOperation::new(drive, FILL_BYTES);
        let mut written_bytes = 0;
        while written_bytes < plan.length_bytes {
            if !goes_on(written_bytes) {
                return Err(ScratchError::Stopped { directory: text, written_bytes });
            }
            let written = queue.write(written_bytes, FILL_BYTES);
            written.map_err(|number| ScratchError::Refused {
                attempted: "write the scratch file in",
                directory: text.clone(),
                reason: std::io::Error::from_raw_os_error(number).to_string(),
            })?;
            written_bytes += u64::from(FILL_BYTES);
        }
        Ok(ModelScratch {
            drive: drive.clone(),
            directory: text,
            filesystem: facts.filesystem,
            length_bytes: plan.length_bytes,
            direct_unit: Known::yes(facts.logical_bytes, Source::Sysfs),
        })
    }
}

impl ScratchSpace for ModelScratch {
    type File = SharedFile;

    fn directory(&self) -> &DiskText {
        &self.directory
    }

    fn filesystem(&self) -> &str {
        self.filesystem
    }

    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn direct_unit(&self) -> &Known<u64> {
        &self.direct_unit
    }

    fn unusable(&self) -> Option<String> {
        None
    }

    fn open(&self, _access: Access) -> Result<SharedFile, EngineError> {
        Ok(SharedFile(self.drive.clone()))
    }

    fn moved(&self) -> Option<String> {
        None
    }
}
