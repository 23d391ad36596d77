//! An image file opened with all that it refers to, as the binary would.

use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use device::Disk;
use format::Problem;
use format::image::guest::Guest;
use format::image::{self, GuestExtent, Image};
use testkit::FileDisk;
use units::ByteRange;

/// An image, its file, its guest. Leaked: a test's process is short.
pub(crate) struct Opened {
    pub(crate) image: &'static Image,
    pub(crate) problems: Vec<Problem>,
    pub(crate) file: &'static dyn Disk,
    pub(crate) references: Vec<Option<&'static dyn Disk>>,
    pub(crate) guest: &'static Guest<&'static Image, &'static dyn Disk>,
}

impl Opened {
    /// The image at `path`.
    pub(crate) fn open(path: &Path) -> Opened {
        let file: &'static FileDisk = Box::leak(Box::new(FileDisk::open(path)));
        let parsed = image::read(file).expect("an image is recognized");
        let image: &'static Image = Box::leak(Box::new(parsed.value));
        let references: Vec<Option<&'static dyn Disk>> = image
            .references
            .iter()
            .map(|reference| {
                let name = Path::new(std::ffi::OsStr::from_bytes(reference.path.raw()));
                let below = path.parent().unwrap().join(name);
                let raw = reference.format.as_ref().is_some_and(|format| format.raw() == b"raw");
                Some(if raw { leak_file(&below) } else { Opened::open(&below).guest as &dyn Disk })
            })
            .collect();
        let guest = Box::leak(Box::new(Guest::new(image, file as &dyn Disk, references.clone())));
        Opened { image, problems: parsed.problems, file, references, guest }
    }
}

fn leak_file(path: &Path) -> &'static dyn Disk {
    Box::leak(Box::new(FileDisk::open(path)))
}

/// All of the guest's bytes, read in pieces of odd lengths.
pub(crate) fn bytes_of(opened: &Opened) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(opened.image.virtual_bytes).unwrap()];
    let mut at = 0;
    for piece in bytes.chunks_mut(777_777) {
        opened.guest.read_at(at, piece).expect("a sound image can be read");
        at += u64::try_from(piece.len()).unwrap();
    }
    bytes
}

/// All extents; they cover the guest without gaps, and none goes on where the last one ended.
pub(crate) fn extents_of(opened: &Opened) -> Vec<GuestExtent> {
    let mut extents: Vec<GuestExtent> = Vec::new();
    let all = ByteRange::new(0, u64::MAX).unwrap();
    let walked = opened
        .image
        .extents(opened.file, all, &mut |extent| {
            extents.push(extent);
            ControlFlow::Continue(())
        })
        .expect("a sound image can be walked");
    assert!(walked.complete);
    let mut end = 0;
    for extent in &extents {
        assert_eq!(extent.guest.start_bytes(), end);
        assert!(extent.guest.length_bytes() > 0);
        end = extent.guest.end_bytes();
    }
    assert_eq!(end, opened.image.virtual_bytes);
    extents
}
