//! Disk image formats: what they hold, and where each guest byte lies in which file.
//!
//! [`read`] gives the header's facts; [`Image::locate`] one guest byte's place; [`Image::extents`]
//! and [`Image::shifts`] walk the tables; [`guest::Guest`] is the guest's disk, so that what lies
//! inside can be read like any other disk. All look entries up through one bounded cache of table
//! windows, so neither the size of a disk nor that of a table decides how much memory is taken.

use device::{Disk, ReadError};
use units::{ByteRange, DiskText};

use crate::named::Named;
use crate::{Parsed, Problem, ProblemKind};

pub mod guest;
mod inflate;
mod named;
pub mod qcow2;
pub(crate) mod recognize;
mod run;
pub mod shift;
mod table_windows;
pub mod vdi;
pub mod vhd;
pub mod vhdx;
pub mod vmdk;
pub mod walk;

pub use recognize::read;
pub use shift::Shifts;
pub use walk::Walked;

use run::{GuestRun, Looked};
use table_windows::Windows;

/// The format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// QEMU copy-on-write, version 2 or 3.
    Qcow2,
    /// Microsoft Virtual PC, fixed: raw bytes and a 512-byte footer.
    VhdFixed,
    /// Microsoft Virtual PC, dynamic or differencing: blocks with a bitmap before each.
    VhdDynamic,
    /// VirtualBox.
    Vdi,
    /// VMware, hosted sparse extent (monolithic or one extent of several).
    VmdkSparse,
    /// VMware, stream-optimized: compressed grains.
    VmdkStream,
    /// VMware, a text descriptor that names its extents.
    VmdkDescriptor,
    /// Microsoft Hyper-V, version 2.
    Vhdx,
    /// A format, an archive or a compressed file that is recognized, but not read.
    Other(&'static Named),
}

/// A file that an image needs besides itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its purpose.
    pub role: ReferenceRole,
    /// The path as written, with the separators of the system that wrote it; relative to the
    /// image's own directory unless absolute. Empty where the image names the file by identifier
    /// only (VDI): the identifier is then among [`Image::details`].
    pub path: DiskText,
    /// The format that the image says it has (`raw`, `qcow2`); `None` when it does not say.
    pub format: Option<DiskText>,
}

/// Purpose of a referenced file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceRole {
    /// Guest bytes that this image does not hold are in it.
    Backing,
    /// This image's guest bytes are in it (qcow2 external data file).
    Data,
    /// An extent of a VMDK descriptor.
    Extent,
}

/// Place where a run of guest bytes lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestPlace {
    /// In the image file itself, from this byte on.
    Here(u64),
    /// In reference number `.0` of [`Image::references`], from byte `.1` on: of the file where its
    /// format is raw, of its guest disk where it is an image (a sparse extent of a VMDK).
    In(usize, u64),
    /// Compressed, somewhere from this byte of the image file on: it has no alignment.
    Compressed(u64),
    /// Nowhere: it reads as zeros.
    Zero,
    /// Not in this image; the backing file has it, or it reads as zeros where there is none.
    Backing,
}

/// A run of guest bytes and where it lies, contiguous in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestExtent {
    /// The guest bytes; not empty.
    pub guest: ByteRange,
    /// Place where they lie.
    pub place: GuestPlace,
}

/// Facts of an image's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The format.
    pub kind: ImageKind,
    /// The format's version, as its tools name it: `v3`, `compat 1.1`, `1`.
    pub version: String,
    /// The guest disk's size in bytes; 0 where the header does not tell, which only a
    /// [`ImageLayout::Unknown`] may do.
    pub virtual_bytes: u64,
    /// The unit of allocation in bytes: cluster, block, grain; `None` for fixed and flat ones.
    pub block_bytes: Option<u64>,
    /// The unit below the cluster that copy-on-write moves (extended L2); `None` elsewhere.
    pub subblock_bytes: Option<u64>,
    /// The logical sector that the guest is offered, when the format says (VHDX).
    pub logical_sector_bytes: Option<u64>,
    /// The physical sector that the guest is told, when the format says (VHDX).
    pub physical_sector_bytes: Option<u64>,
    /// True if the guest's bytes are encrypted, so that nothing above can be read.
    pub encrypted: bool,
    /// Files that it needs.
    pub references: Vec<Reference>,
    /// Place where guest bytes lie.
    pub layout: ImageLayout,
    /// Other fields worth showing: term and value.
    pub details: Vec<(&'static str, String)>,
}

/// The way to find guest bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageLayout {
    /// Guest byte 0 is at this byte of the file, and the rest follows.
    Flat {
        /// The byte of the file.
        offset_bytes: u64,
    },
    /// qcow2's two levels.
    Qcow2(qcow2::Qcow2Tables),
    /// VHD's block allocation table.
    Vhd(vhd::VhdTables),
    /// VDI's block map.
    Vdi(vdi::VdiTables),
    /// VMDK's grain directory.
    Vmdk(vmdk::VmdkTables),
    /// VMDK's list of extents.
    VmdkExtents(Vec<vmdk::DescribedExtent>),
    /// VHDX's block allocation table.
    Vhdx(vhdx::VhdxTables),
    /// The header is too damaged, or has a feature that this reader does not know.
    Unknown(String),
}

impl Image {
    /// Returns where the guest byte `guest_bytes` lies, and how many bytes from it on lie
    /// contiguously: at least 1; to the end of the unit of allocation or, where nothing is
    /// allocated, further. Callers join runs, or use [`Image::extents`], which reads its tables in
    /// larger pieces.
    /// `None` at or behind [`Image::virtual_bytes`].
    ///
    /// # Errors
    /// When a table entry cannot be read, points behind the file, or the layout is unknown.
    pub fn locate(
        &self,
        file: &dyn Disk,
        guest_bytes: u64,
    ) -> Result<Option<GuestExtent>, ReadError> {
        if guest_bytes >= self.virtual_bytes {
            return Ok(None);
        }
        let run = self.run(file, &mut Windows::new(table_windows::ENTRY_BYTES), guest_bytes);
        let place = run.place?;
        Ok(ByteRange::new(guest_bytes, run.length_bytes).map(|guest| GuestExtent { guest, place }))
    }

    /// The run that starts at `guest_bytes`, which is below [`Image::virtual_bytes`]: at least one
    /// byte, none of them behind the guest's end.
    fn run(&self, file: &dyn Disk, windows: &mut Windows, guest_bytes: u64) -> GuestRun {
        let either = |looked: Looked| looked.unwrap_or_else(|troubled| troubled);
        let run = match &self.layout {
            ImageLayout::Flat { offset_bytes } => match offset_bytes.checked_add(guest_bytes) {
                Some(offset) => GuestRun::new(u64::MAX, GuestPlace::Here(offset)),
                None => GuestRun::failed(u64::MAX, guest_bytes, "the offset exceeds 64 bits"),
            },
            ImageLayout::Qcow2(tables) => either(tables.run(file, windows, guest_bytes)),
            ImageLayout::Vhd(tables) => either(tables.run(file, windows, guest_bytes)),
            ImageLayout::Vdi(tables) => either(tables.run(file, windows, guest_bytes)),
            ImageLayout::Vmdk(tables) => either(tables.run(file, windows, guest_bytes)),
            ImageLayout::VmdkExtents(extents) => vmdk::described_run(extents, guest_bytes),
            ImageLayout::Vhdx(tables) => either(tables.run(file, windows, guest_bytes)),
            ImageLayout::Unknown(reason) => GuestRun::failed(u64::MAX, guest_bytes, reason),
        };
        let rest = self.virtual_bytes.saturating_sub(guest_bytes).max(1);
        self.within_file(file, GuestRun { length_bytes: run.length_bytes.clamp(1, rest), ..run })
    }

    /// Length of the image's file: after the replay of its log, where it has one.
    #[must_use]
    pub fn file_bytes(&self, file: &dyn Disk) -> u64 {
        match &self.layout {
            ImageLayout::Vhdx(tables) => tables.file_bytes(file),
            _ => file.length_bytes(),
        }
    }

    /// The part of a run that lies within the file, or the trouble that none does.
    fn within_file(&self, file: &dyn Disk, run: GuestRun) -> GuestRun {
        match run.place {
            Ok(GuestPlace::Here(offset)) if !self.may_end_early() => {
                let file_bytes = self.file_bytes(file);
                let there = file_bytes.saturating_sub(offset);
                match run::starts_within(file_bytes, offset, run.length_bytes) {
                    Ok(()) => GuestRun { length_bytes: run.length_bytes.min(there), ..run },
                    Err(error) => GuestRun::broken(run.length_bytes, error),
                }
            }
            _ => run,
        }
    }

    /// Returns whether the file may end within its last cluster, where nothing was written yet:
    /// those bytes then read as zeros.
    fn may_end_early(&self) -> bool {
        matches!(self.layout, ImageLayout::Qcow2(_) | ImageLayout::Vmdk(_))
    }

    /// An image of `kind` of which nothing is known yet.
    fn unread(kind: ImageKind, version: impl Into<String>) -> Image {
        Image {
            kind,
            version: version.into(),
            virtual_bytes: 0,
            block_bytes: None,
            subblock_bytes: None,
            logical_sector_bytes: None,
            physical_sector_bytes: None,
            encrypted: false,
            references: Vec::new(),
            layout: ImageLayout::Unknown("the header was not read".to_owned()),
            details: Vec::new(),
        }
    }

    /// This image with its `layout`, or with the reason that there is none, which is a problem at
    /// `at_bytes`: something that is not read.
    fn laid_out(
        self,
        layout: Result<ImageLayout, String>,
        at_bytes: u64,
        problems: Vec<Problem>,
    ) -> Parsed<Image> {
        let unread = |reason| Problem::new(ProblemKind::Unsupported, at_bytes, reason);
        self.laid_out_or(layout.map_err(unread), problems)
    }

    /// This image with its `layout`, or with the problem for which there is none.
    fn laid_out_or(
        mut self,
        layout: Result<ImageLayout, Problem>,
        mut problems: Vec<Problem>,
    ) -> Parsed<Image> {
        self.layout = layout.unwrap_or_else(|problem| {
            let reason = problem.detail.clone();
            problems.push(problem);
            ImageLayout::Unknown(reason)
        });
        Parsed { value: self, problems }
    }

    /// The number of the first reference that plays `role`.
    fn reference(&self, role: ReferenceRole) -> Option<usize> {
        self.references.iter().position(|reference| reference.role == role)
    }
}
