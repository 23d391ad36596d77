//! A qcow2 image whose guest's disk is written in place.

use std::path::Path;
use std::rc::Rc;

use device::Disk;
use format::image::ImageKind;
use host::ImageFiles;
use layout::{NoPlan, Qcow2Disk, TableChange};
use stack::assemble;
use stack::{LayerId, LayerKind, Mapping, Stack};
use units::ByteRange;
use units::text::shell_word;

use crate::shared::target;

/// The format's name in a plan.
pub(crate) const QCOW2: &str = "qcow2";

/// The file of an image, and the guest's disk of its backing file.
pub(crate) struct Qcow2Image {
    file: Rc<dyn Disk>,
    backing: Option<Rc<dyn Disk>>,
}

impl Qcow2Image {
    /// The image whose guest is layer `disk`; `None` where it is of another format, or not in
    /// a regular file.
    pub(crate) fn of(stack: &Stack, disk: LayerId) -> Option<Qcow2Image> {
        let Mapping::Image { image, file, references } = &stack.layer(disk).mapping else {
            return None;
        };
        let is_file = matches!(stack.layer(*file).kind, LayerKind::ImageFile);
        if image.kind != ImageKind::Qcow2 || !is_file {
            return None;
        }
        let backing = references.first().and_then(|one| one.as_ref().ok());
        let backing = backing.and_then(|&id| stack.bytes(id).cloned());
        Some(Qcow2Image { file: Rc::clone(stack.bytes(*file)?), backing })
    }

    /// The image at `path`. Its file stays open as long as this lives.
    ///
    /// # Errors
    /// The reason, where it is none or cannot be opened.
    pub(crate) fn at(path: &Path) -> Result<Qcow2Image, String> {
        let start = target::start_file(path).map_err(|refusal| refusal.message)?;
        let stack = assemble::assemble(vec![start], &ImageFiles::Directory, None).stack;
        let is_image = |id: &LayerId| matches!(stack.layer(*id).mapping, Mapping::Image { .. });
        let found = stack.iter().map(|(id, _)| id).filter(is_image);
        // Backing files come before the image that names them.
        let image = found.last().and_then(|id| Qcow2Image::of(&stack, id));
        image.ok_or_else(|| "not a qcow2 image any more".to_owned())
    }

    /// The guest's disk, for reading.
    ///
    /// # Errors
    /// Why it is not written.
    pub(crate) fn disk(&self) -> Result<Qcow2Disk<Rc<dyn Disk>>, NoPlan> {
        self.disk_in(Rc::clone(&self.file))
    }

    /// The guest's disk in `file`, which is the same file.
    ///
    /// # Errors
    /// Why it is not written.
    pub(crate) fn disk_in<F: Disk>(&self, file: F) -> Result<Qcow2Disk<F>, NoPlan> {
        Qcow2Disk::open(file, self.backing.clone())
    }

    /// Rejects a change that the image at `path` cannot take.
    ///
    /// # Errors
    /// The reason, and what to do instead.
    pub(crate) fn takes(&self, change: &TableChange, path: &str) -> Result<(), NoPlan> {
        let taken = self.disk().and_then(|disk| disk.takes(&ranges(change)));
        taken.map_err(|none| NoPlan { hint: hint(&none, path), ..none })
    }
}

/// Ranges of the disk that a change writes.
pub(crate) fn ranges(change: &TableChange) -> Vec<ByteRange> {
    let range = |write: &layout::TableWrite| {
        ByteRange::new(write.at_bytes, device::disk::length_of(&write.new))
    };
    change.writes.iter().filter_map(range).collect()
}

/// Advice about the image at `path`.
pub(crate) fn hint(none: &NoPlan, path: &str) -> Option<String> {
    none.hint.as_ref().map(|hint| hint.replace("TARGET", &shell_word(path)))
}
