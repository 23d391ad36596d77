//! The text that describes a VMDK: what kind it is, its extents, its parent.

use device::{Disk, disk};
use units::{ByteRange, DiskText};

use crate::image::run::GuestRun;
use crate::image::{GuestPlace, Image, ImageKind, ImageLayout, Reference, ReferenceRole};
use crate::{Parsed, Problem, ProblemKind};

const FIRST_LINE: &[u8] = b"# disk descriptorfile";
/// Bytes of a descriptor that are read: enough for some thousand extents.
pub(super) const TEXT_BYTES_MAX: u64 = 64 << 10;
const SECTOR_BYTES: u64 = 512;

/// One extent line of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedExtent {
    /// The guest bytes; not empty.
    pub guest: ByteRange,
    /// Place where they are.
    pub source: ExtentSource,
}

/// Place where the bytes of a described extent are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtentSource {
    /// In reference number `reference`, from byte `offset_bytes` on, as they are.
    Flat {
        /// The number of the reference.
        reference: usize,
        /// The byte of that file.
        offset_bytes: u64,
    },
    /// In reference number `.0`, which is itself a sparse image.
    Sparse(usize),
    /// Nowhere: they read as zeros.
    Zero,
    /// In a file of a type that is not read; the type as written.
    Unknown(DiskText),
}

/// The descriptor that `file` is; `None` when it does not start as one.
pub(super) fn read(file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    let first = head.get(..FIRST_LINE.len())?;
    if !first.eq_ignore_ascii_case(FIRST_LINE) {
        return None;
    }
    let mut problems = Vec::new();
    let length = file.length_bytes().min(TEXT_BYTES_MAX);
    let bytes = disk::read_vec(file, 0, length).unwrap_or_else(|_| head.to_vec());
    if file.length_bytes() > TEXT_BYTES_MAX {
        let detail =
            format!("the descriptor is longer than {TEXT_BYTES_MAX} bytes; the rest is not read");
        problems.push(Problem::new(ProblemKind::Unsupported, TEXT_BYTES_MAX, detail));
    }
    let text = Text::new(&bytes);
    let version = text.value("version").unwrap_or_default();
    let mut image = Image::unread(ImageKind::VmdkDescriptor, version.to_string());
    image.layout = match text.extents(&mut image, &mut problems) {
        Some(extents) if !extents.is_empty() => ImageLayout::VmdkExtents(extents),
        _ => {
            let reason = "no extents are described".to_owned();
            problems.push(Problem::new(ProblemKind::Field, 0, reason.clone()));
            ImageLayout::Unknown(reason)
        }
    };
    text.describe(&mut image);
    Some(Parsed { value: image, problems })
}

/// The run of `extents` from `guest_bytes` on.
pub(in crate::image) fn run(extents: &[DescribedExtent], guest_bytes: u64) -> GuestRun {
    let number = extents.partition_point(|extent| extent.guest.end_bytes() <= guest_bytes);
    let Some(extent) = extents.get(number) else {
        return GuestRun::failed(u64::MAX, guest_bytes, "no extent is described there");
    };
    // Extents follow each other without gaps.
    let within = guest_bytes.saturating_sub(extent.guest.start_bytes());
    let rest = extent.guest.end_bytes() - guest_bytes;
    match &extent.source {
        ExtentSource::Flat { reference, offset_bytes } => match offset_bytes.checked_add(within) {
            Some(offset) => GuestRun::new(rest, GuestPlace::In(*reference, offset)),
            None => GuestRun::failed(rest, guest_bytes, "the extent's offset exceeds 64 bits"),
        },
        ExtentSource::Sparse(reference) => GuestRun::new(rest, GuestPlace::In(*reference, within)),
        ExtentSource::Zero => GuestRun::new(rest, GuestPlace::Zero),
        ExtentSource::Unknown(kind) => {
            GuestRun::failed(rest, guest_bytes, format!("extents of type {kind} are not read"))
        }
    }
}

/// The lines of a descriptor.
pub(super) struct Text<'a> {
    lines: Vec<&'a [u8]>,
}

impl<'a> Text<'a> {
    /// The text up to its first NUL.
    pub(super) fn new(bytes: &'a [u8]) -> Text<'a> {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        let lines = bytes[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        Text { lines: lines.filter(|line| !line.is_empty() && line[0] != b'#').collect() }
    }

    /// The value of `key = value` or `key = "value"`.
    fn value(&self, key: &str) -> Option<DiskText> {
        self.lines.iter().find_map(|line| {
            let at = line.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
            let value = value.strip_prefix(b"\"").unwrap_or(value);
            let value = value.strip_suffix(b"\"").unwrap_or(value);
            name.eq_ignore_ascii_case(key.as_bytes()).then(|| DiskText::from_bytes(value))
        })
    }

    /// Adds the kind of disk and the parent to `image`.
    pub(super) fn describe(&self, image: &mut Image) {
        if let Some(kind) = self.value("createType") {
            image.details.push(("type", kind.to_string()));
        }
        let orphan = |text: &DiskText| text.raw().eq_ignore_ascii_case(b"ffffffff");
        let parent = self.value("parentCID").filter(|identifier| !orphan(identifier));
        if let Some(identifier) = parent {
            image.details.push(("parent CID", identifier.to_string()));
            image.references.push(Reference {
                role: ReferenceRole::Backing,
                path: self.value("parentFileNameHint").unwrap_or_default(),
                format: Some(DiskText::from("vmdk")),
            });
        }
    }

    /// The extents, with a reference for each file; `None` when their sizes exceed 64 bits.
    fn extents(
        &self,
        image: &mut Image,
        problems: &mut Vec<Problem>,
    ) -> Option<Vec<DescribedExtent>> {
        let mut extents = Vec::new();
        for line in &self.lines {
            let Some(words) = ExtentLine::read(line) else { continue };
            if words.sectors == 0 {
                let detail = format!("an extent of 0 sectors: {}", DiskText::from_bytes(line));
                problems.push(Problem::new(ProblemKind::Field, 0, detail));
                continue;
            }
            let length = words.sectors.checked_mul(SECTOR_BYTES)?;
            let guest = ByteRange::new(image.virtual_bytes, length)?;
            let source = words.source(image);
            if let ExtentSource::Unknown(kind) = &source {
                let detail = format!("extents of type {kind} are not read");
                problems.push(Problem::new(ProblemKind::Unsupported, 0, detail));
            }
            image.virtual_bytes = guest.end_bytes();
            extents.push(DescribedExtent { guest, source });
        }
        Some(extents)
    }
}

/// The words of an extent line: access, sectors, type, file name in quotes, first sector of the
/// file.
struct ExtentLine<'a> {
    sectors: u64,
    kind: &'a [u8],
    path: &'a [u8],
    /// `None` where it is not given, or is no number of sectors.
    offset_bytes: Option<u64>,
}

impl<'a> ExtentLine<'a> {
    fn read(line: &'a [u8]) -> Option<ExtentLine<'a>> {
        let (access, rest) = word(line);
        if ![b"RW".as_slice(), b"RDONLY", b"NOACCESS"].contains(&access) {
            return None;
        }
        let (sectors, rest) = word(rest);
        let (kind, rest) = word(rest);
        let path = rest.strip_prefix(b"\"").unwrap_or_default();
        // The name may hold anything but the quote that ends it.
        let end = path.iter().position(|&byte| byte == b'"').unwrap_or(path.len());
        let offset = path.get(end + 1..).unwrap_or_default().trim_ascii();
        let offset_bytes = match offset {
            b"" => Some(0),
            text => number(word(text).0).and_then(|sectors| sectors.checked_mul(SECTOR_BYTES)),
        };
        Some(ExtentLine { sectors: number(sectors)?, kind, path: &path[..end], offset_bytes })
    }

    fn source(&self, image: &mut Image) -> ExtentSource {
        let mut reference = |format: &str| {
            image.references.push(Reference {
                role: ReferenceRole::Extent,
                path: DiskText::from_bytes(self.path),
                format: Some(DiskText::from(format)),
            });
            image.references.len() - 1
        };
        match (self.kind, self.offset_bytes) {
            (b"FLAT" | b"VMFS", Some(offset_bytes)) => {
                ExtentSource::Flat { reference: reference("raw"), offset_bytes }
            }
            (b"SPARSE", _) => ExtentSource::Sparse(reference("vmdk")),
            (b"ZERO", _) => ExtentSource::Zero,
            (kind, _) => ExtentSource::Unknown(DiskText::from_bytes(kind)),
        }
    }
}

/// The first word of `line`, and what follows the blanks behind it.
fn word(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    (&line[..end], line[end..].trim_ascii_start())
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
