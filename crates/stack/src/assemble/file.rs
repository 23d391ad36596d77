//! Regular files: raw images, image formats, and the files that those name.

use std::rc::Rc;

use device::{Disk, FileIdentity};
use units::{Known, SectorSize, Source};

use super::{Assembler, LookedAt};
use crate::drive;
use crate::id::LayerId;
use crate::layer::{Bare, Layer, LayerKind};
use crate::mapping::Mapping;

impl Assembler<'_> {
    pub(super) fn start_file(
        &mut self,
        name: String,
        path: &[u8],
        identity: FileIdentity,
        bytes: Result<Rc<dyn Disk>, String>,
    ) -> LayerId {
        let id = self.file_layer(name, identity, &bytes);
        self.stack.layer_mut(id).path = Some(units::text::escape(path));
        let Ok(disk) = bytes else { return id };
        match format::image::read(disk.as_ref()) {
            Some(found) => self.start_image(id, path, identity, &disk, found),
            None => {
                let sector = self.told.and_then(|told| told.sector).unwrap_or(SectorSize::B512);
                self.jobs.push_back(LookedAt::whole(id, disk, sector, 0));
            }
        }
        id
    }

    /// A leaf for a regular file.
    pub(super) fn file_layer(
        &mut self,
        name: String,
        identity: FileIdentity,
        bytes: &Result<Rc<dyn Disk>, String>,
    ) -> LayerId {
        let length = Known::of(bytes.as_ref().map(|disk| disk.length_bytes()), Source::Ioctl);
        let mut layer = Layer::new(LayerKind::ImageFile, name, length, Mapping::Leaf);
        layer.file = Some(identity);
        layer.units = drive::image_units(self.told);
        layer.told_parity = self.told_parity();
        layer.bare = bytes.as_ref().err().cloned().map(Bare::Unknown);
        let id = self.stack.add(layer);
        if let Ok(disk) = bytes {
            self.stack.give_bytes(id, Rc::clone(disk));
        }
        id
    }
}
