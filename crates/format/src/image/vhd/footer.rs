//! The footer of 512 bytes that ends every VHD, and starts dynamic ones.

use units::DiskText;
use uuid::Uuid;

use crate::bytes::Block;
use crate::image::Image;
use crate::{Problem, ProblemKind};

pub(super) const FIXED: u32 = 2;
pub(super) const DYNAMIC: u32 = 3;
pub(super) const DIFFERENCING: u32 = 4;

const COOKIE: &[u8; 8] = b"conectix";
/// Windows, and the first of its versions (6.2) that keeps blocks at multiples of 4096 bytes.
const WINDOWS: (&[u8; 4], u32) = (b"win ", 0x0006_0002);
const VERSION: u32 = 0x0001_0000;
/// The largest geometry, which stands for any larger size.
const GEOMETRY_MAX_SECTORS: u64 = 65535 * 16 * 255;

/// A footer and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) block: Block<512>,
    pub(super) at_bytes: u64,
}

impl Footer {
    /// The footer in `bytes` from `at` on, which is byte `at_bytes` of the file; `None` unless its
    /// cookie is there and its checksum, or both its version and its type, are right. The last
    /// byte, which is reserved, may be missing.
    pub(super) fn read(bytes: &[u8], at: usize, at_bytes: u64) -> Option<Footer> {
        let found = bytes.get(at..)?;
        let mut block = [0; 512];
        let length = found.len().min(512);
        if length < 511 {
            return None;
        }
        block[..length].copy_from_slice(&found[..length]);
        let footer = Footer { block: Block(block), at_bytes };
        let plausible = footer.block.be32::<12>() == VERSION
            && matches!(footer.disk_type(), FIXED | DYNAMIC | DIFFERENCING);
        let known = footer.block.array::<0, 8>() == *COOKIE && (plausible || footer.sound());
        known.then_some(footer)
    }

    /// Returns whether the checksum is right.
    pub(super) fn sound(&self) -> bool {
        self.block.be32::<64>() == checksum(&self.block.0, 64)
    }

    pub(super) fn disk_type(&self) -> u32 {
        self.block.be32::<60>()
    }

    /// The guest's size in bytes.
    pub(super) fn current_bytes(&self) -> u64 {
        self.block.be64::<48>()
    }

    /// Returns whether a Windows that keeps blocks at multiples of 4096 bytes made it.
    ///
    /// Source: Microsoft, "Performance tuning guidelines for Windows Server 2012", VHD format.
    pub(super) fn writer_keeps_4k(&self) -> bool {
        let (creator, version) = WINDOWS;
        self.block.array::<28, 4>() == *creator && self.block.be32::<32>() >= version
    }

    /// Returns where the dynamic header stands.
    pub(super) fn data_offset(&self) -> u64 {
        self.block.be64::<16>()
    }

    pub(super) fn version(&self) -> String {
        let version = self.block.be32::<12>();
        format!("{}.{}", version >> 16, version & 0xffff)
    }

    pub(super) fn check(&self, problems: &mut Vec<Problem>) {
        let mut problem = |kind, field, detail| {
            problems.push(Problem::new(kind, self.at_bytes.saturating_add(field), detail));
        };
        let (stored, computed) = (self.block.be32::<64>(), checksum(&self.block.0, 64));
        if stored != computed {
            let detail =
                format!("the footer's checksum is {stored:#010x}, computed {computed:#010x}");
            problem(ProblemKind::Checksum, 64, detail);
        }
        if self.block.be32::<12>() != VERSION {
            let detail = format!("footer version {}; 1.0 is expected", self.version());
            problem(ProblemKind::Field, 12, detail);
        }
        let size = self.current_bytes();
        if !size.is_multiple_of(512) {
            let detail = format!("a size of {size} bytes, which is not a multiple of 512");
            problem(ProblemKind::Field, 48, detail);
        }
    }

    /// Other facts: who made it, and the size that its geometry stands for, when that is another
    /// one.
    pub(super) fn describe(&self, image: &mut Image) {
        let kind = match self.disk_type() {
            FIXED => "fixed".to_owned(),
            DYNAMIC => "dynamic".to_owned(),
            DIFFERENCING => "differencing".to_owned(),
            other => format!("type {other}"),
        };
        image.details.push(("type", kind));
        let creator = DiskText::from_padded(&self.block.array::<28, 4>());
        image.details.push(("creator", creator.to_string()));
        let uuid = Uuid::from_bytes(self.block.array::<68, 16>());
        image.details.push(("UUID", uuid.to_string()));
        let cylinders = u64::from(self.block.be16::<56>());
        let (heads, sectors) = (self.block.byte::<58>(), self.block.byte::<59>());
        let total = cylinders * u64::from(heads) * u64::from(sectors);
        if total != GEOMETRY_MAX_SECTORS && total * 512 != self.current_bytes() {
            let text = format!("{} ({cylinders}/{heads}/{sectors})", total * 512);
            image.details.push(("bytes by geometry", text));
        }
    }
}

/// The checksum over `bytes` without the 32-bit field at `field`: the ones' complement of their
/// sum.
pub(super) fn checksum(bytes: &[u8], field: usize) -> u32 {
    let others = bytes.iter().enumerate().filter(|(at, _)| !(field..field + 4).contains(at));
    !others.fold(0_u32, |sum, (_, &byte)| sum.wrapping_add(u32::from(byte)))
}
