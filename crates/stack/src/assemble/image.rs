//! Image formats: the guest's disk as a layer, with the files that the image names beneath it.

use std::rc::Rc;

use device::{Disk, FileIdentity, NotOpened};
use format::image::guest::{CHAIN_MAX, Guest};
use format::image::vmdk::{DescribedExtent, ExtentSource};
use format::image::{Image, ImageKind, ImageLayout, ReferenceRole};
use format::{Parsed, Problem, ProblemKind};
use units::{DiskText, Known, SectorSize, Source};

use super::{Assembler, LookedAt};
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::{Mapping, Unread, Why};
use crate::unit::UnitKind;

/// QEMU's name of the format of a file whose bytes are the guest's.
const RAW: &[u8] = b"raw";

/// A file that is or may be an image, on the way down a chain.
struct Link {
    id: LayerId,
    path: Vec<u8>,
    disk: Rc<dyn Disk>,
}

/// A layer and its bytes.
struct Opened {
    id: LayerId,
    disk: Rc<dyn Disk>,
}

impl Assembler<'_> {
    /// The guest's disk over the file `id`, and its bytes into the queue.
    pub(super) fn start_image(
        &mut self,
        id: LayerId,
        path: &[u8],
        identity: FileIdentity,
        disk: &Rc<dyn Disk>,
        found: Parsed<Image>,
    ) {
        let link = Link { id, path: path.to_vec(), disk: Rc::clone(disk) };
        let sector = found.value.logical_sector_bytes.and_then(SectorSize::new);
        let told = self.told.and_then(|told| told.sector);
        let sector = told.or(sector).unwrap_or(SectorSize::B512);
        let readable =
            !found.value.encrypted && !matches!(found.value.layout, ImageLayout::Unknown(_));
        let opened = self.image(&link, found, &mut vec![identity]);
        if readable {
            self.jobs.push_back(LookedAt::whole(opened.id, opened.disk, sector, 1));
        }
    }

    /// The layer of an image. `seen` holds the files above it in the chain, so that the depth is at
    /// most [`CHAIN_MAX`].
    fn image(&mut self, link: &Link, found: Parsed<Image>, seen: &mut Vec<FileIdentity>) -> Opened {
        let Parsed { value: image, mut problems } = found;
        let mut layers = Vec::new();
        let mut disks = Vec::new();
        for reference in &image.references {
            let format = reference.format.as_ref().map(DiskText::raw);
            let format = format.filter(|format| !format.is_empty());
            let format = if reference.role == ReferenceRole::Data { Some(RAW) } else { format };
            let name = reference.path.to_string();
            let index = layers.len();
            let opened = match reference.path.is_cut() {
                true => Err(Why::Failed("no path is so long".to_owned())),
                false => self.reference(link, reference.path.raw(), format, seen),
            };
            match opened {
                Ok(opened) => {
                    layers.push(match short(&image, index, opened.disk.length_bytes()) {
                        Some(why) => Err(Unread { name, why }),
                        None => Ok(opened.id),
                    });
                    disks.push(Some(opened.disk));
                }
                Err(why) => {
                    let unread = Unread { name, why };
                    if unread.why == Why::Circle {
                        problems.push(Problem::new(ProblemKind::Chain, 0, unread.to_string()));
                    }
                    layers.push(Err(unread));
                    disks.push(None);
                }
            }
        }
        let image = Rc::new(image);
        let mapping = match &image.layout {
            ImageLayout::Unknown(reason) => {
                Mapping::Unknown { on: vec![link.id], reason: reason.clone() }
            }
            _ => Mapping::Image { image: Rc::clone(&image), file: link.id, references: layers },
        };
        let guest = Guest::new(Rc::clone(&image), Rc::clone(&link.disk), disks);
        let disk: Rc<dyn Disk> = Rc::new(guest);
        let id = self.stack.add(self.image_layer(&image, mapping, problems));
        self.stack.give_bytes(id, Rc::clone(&disk));
        Opened { id, disk }
    }

    fn image_layer(&self, image: &Rc<Image>, mapping: Mapping, problems: Vec<Problem>) -> Layer {
        let length = match image.virtual_bytes {
            0 => Known::no("the header does not tell the guest's size"),
            bytes => Known::yes(bytes, Source::OnDisk),
        };
        let kind = LayerKind::ImageFormat(Rc::clone(image));
        let mut layer = Layer::new(kind, kind_word(image.kind).to_owned(), length, mapping);
        layer.problems = problems;
        if let Some(sector) = image.logical_sector_bytes {
            let note = "the image says so";
            layer.units.put_used(UnitKind::LogicalSector, sector, Source::OnDisk, note);
        }
        if let Some(sector) = self.told.and_then(|told| told.sector) {
            layer.units.put_used(UnitKind::LogicalSector, sector.bytes(), Source::Told, "--on");
        }
        layer
    }

    fn reference(
        &mut self,
        link: &Link,
        path: &[u8],
        format: Option<&[u8]>,
        seen: &mut Vec<FileIdentity>,
    ) -> Result<Opened, Why> {
        let file = self.files.open_beside(&link.path, path).map_err(|error| match error {
            NotOpened::Outside => Why::Outside,
            NotOpened::Failed(reason) => Why::Failed(reason),
        })?;
        if seen.contains(&file.identity) {
            return Err(Why::Circle);
        }
        if seen.len() >= CHAIN_MAX {
            let reason = format!("the chain is longer than {CHAIN_MAX} files");
            return Err(Why::Failed(reason));
        }
        let name =
            units::text::escape(file.path.rsplit(|&byte| byte == b'/').next().unwrap_or(b""));
        let id = self.file_layer(name, file.identity, &Ok(Rc::clone(&file.disk)));
        let is_raw = format == Some(RAW);
        let found = if is_raw { None } else { format::image::read(file.disk.as_ref()) };
        match (found, format) {
            // What QEMU decodes, or a protocol: the guest's bytes are not those of the file.
            (None, Some(format)) if !is_raw => {
                let format = units::text::escape(format);
                Err(Why::Failed(format!("its format is {format}, which is not read")))
            }
            (None, _) => Ok(Opened { id, disk: file.disk }),
            (Some(found), _) => {
                seen.push(file.identity);
                let next = Link { id, path: file.path, disk: file.disk };
                let opened = self.image(&next, found, seen);
                seen.pop();
                Ok(opened)
            }
        }
    }
}

/// Returns whether reference `index` of an image, of so many bytes, ends before the extents that
/// the image has in it.
fn short(image: &Image, index: usize, length_bytes: u64) -> Option<Why> {
    let ImageLayout::VmdkExtents(extents) = &image.layout else { return None };
    let end = |extent: &DescribedExtent| match extent.source {
        ExtentSource::Flat { reference, offset_bytes } if reference == index => {
            Some(offset_bytes.saturating_add(extent.guest.length_bytes()))
        }
        ExtentSource::Sparse(reference) if reference == index => Some(extent.guest.length_bytes()),
        _ => None,
    };
    let wanted_bytes = extents.iter().filter_map(end).max()?;
    (length_bytes < wanted_bytes).then_some(Why::Short { length_bytes, wanted_bytes })
}

/// The word for a format, as `qemu-img info` names it where it does.
pub(super) fn kind_word(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Qcow2 => "qcow2",
        ImageKind::VhdFixed | ImageKind::VhdDynamic => "vhd",
        ImageKind::Vdi => "vdi",
        ImageKind::VmdkSparse | ImageKind::VmdkStream | ImageKind::VmdkDescriptor => "vmdk",
        ImageKind::Vhdx => "vhdx",
        ImageKind::Other(entry) => entry.what,
    }
}
