//! Metadata areas: a header of 512 bytes, and behind it a ring of bytes that holds the text.
//!
//! The header's first location is the committed text; a second one is a text about to be committed
//! and of no interest. The text has a checksum of its own, so a damaged header may still lead to
//! it. A text with a wrong checksum is described all the same, but not when its header is damaged
//! as well: then it could start or end anywhere.
//!
//! Source: lvm2 `lib/format_text/layout.h`, `lib/format_text/format-text.c`.

use device::{Disk, disk};

use super::label::Location;
use super::label::checksum;
use super::notes::Notes;
use super::{VolumeGroup, group, text};
use crate::bytes::Block;
use crate::{Problem, ProblemKind};

const HEADER_BYTES: u64 = 512;
const MAGIC: [u8; 16] = *b" LVM2 x[5A%r0N*>";
/// LVM writes at most two areas.
const AREAS_MAX: usize = 4;
/// Longer texts are not read: LVM's whole area has 1 MiB unless asked for more, and a logical
/// volume takes about 1 KiB.
const TEXT_BYTES_MAX: u64 = 8 << 20;
/// The location's flag that its area is not in use.
const IGNORED: u32 = 1;

/// A text within a ring, as the area's header locates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ring {
    /// Place where the area starts on the device.
    area_bytes: u64,
    /// The area's length, header included.
    length_bytes: u64,
    /// Place where the text starts, from the area's start.
    text_at_bytes: u64,
    /// The text's length.
    text_bytes: u64,
    /// The text's checksum.
    checksum: u32,
    /// True if the header that says so has the right checksum.
    told_soundly: bool,
}

/// The group by the newest text among `areas`: a text with the right checksum rather than another,
/// then the higher sequence number, then the earlier area. `None` when there is no text, which is
/// no problem, or none that can be read.
pub(super) fn newest_group(
    disk: &dyn Disk,
    areas: &[Location],
    problems: &mut Vec<Problem>,
) -> Option<VolumeGroup> {
    if areas.len() > AREAS_MAX {
        let detail = format!("{} metadata areas, {AREAS_MAX} are read", areas.len());
        let at_bytes = areas[AREAS_MAX].offset_bytes;
        problems.push(Problem::new(ProblemKind::Chain, at_bytes, detail));
    }
    let mut rings: Vec<Ring> = Vec::new();
    let mut newest: Option<(bool, VolumeGroup)> = None;
    for area in areas.iter().take(AREAS_MAX) {
        let Some(ring) = header(disk, *area, problems) else { continue };
        // The same length and checksum are the same text, which need not be read again.
        let known =
            |other: &Ring| (other.text_bytes, other.checksum) == (ring.text_bytes, ring.checksum);
        if newest.as_ref().is_some_and(|(sound, _)| *sound) && rings.iter().any(known) {
            continue;
        }
        rings.push(ring);
        let Some((sound, group)) = read_group(disk, ring, problems) else { continue };
        let Some((best_sound, best)) = &newest else {
            newest = Some((sound, group));
            continue;
        };
        let (best_age, age) = (best.sequence, group.sequence);
        let detail = format!("metadata areas differ: their ages are {best_age} and {age}");
        problems.push(Problem::new(ProblemKind::Copies, ring.area_bytes, detail));
        if (sound, age) > (*best_sound, best_age) {
            newest = Some((sound, group));
        }
    }
    newest.map(|(_, group)| group)
}

/// Returns where the text is by the header of `area`; `None` when the area is not in use, or its
/// header cannot be read, which is then noted.
fn header(disk: &dyn Disk, area: Location, problems: &mut Vec<Problem>) -> Option<Ring> {
    let at_bytes = area.offset_bytes;
    let mut note = |kind, detail: String| problems.push(Problem::new(kind, at_bytes, detail));
    let header: Block<512> = match disk::read_array(disk, at_bytes) {
        Ok(header) => Block(header),
        Err(error) => {
            note(ProblemKind::Unreadable, format!("metadata area's header: {error}"));
            return None;
        }
    };
    if header.array::<4, 16>() != MAGIC {
        note(ProblemKind::Field, "metadata area's header lacks its magic".to_owned());
        return None;
    }
    let (stored, computed) = (header.le32::<0>(), checksum(&header.0[4..]));
    if stored != computed {
        let what = "metadata area's header checksum is";
        note(ProblemKind::Checksum, format!("{what} {stored:08x}, computed {computed:08x}"));
    }
    if header.le32::<0x14>() != 1 {
        let version = header.le32::<0x14>();
        note(ProblemKind::Unsupported, format!("metadata area of version {version}"));
        return None;
    }
    let (start, length_bytes) = (header.le64::<0x18>(), header.le64::<0x20>());
    if start != at_bytes {
        note(ProblemKind::Field, format!("metadata area's header says that it stands at {start}"));
    }
    if length_bytes != area.length_bytes {
        let listed = area.length_bytes;
        let detail = format!("metadata area of {length_bytes} bytes is listed with {listed}");
        note(ProblemKind::Copies, detail);
    }
    let ring = Ring {
        area_bytes: at_bytes,
        length_bytes,
        text_at_bytes: header.le64::<0x28>(),
        text_bytes: header.le64::<0x30>(),
        checksum: header.le32::<0x38>(),
        told_soundly: stored == computed,
    };
    if header.le32::<0x3c>() & IGNORED != 0 || ring.text_at_bytes == 0 {
        return None;
    }
    ring.problem().map_or(Some(ring), |(kind, detail)| {
        note(kind, detail);
        None
    })
}

/// The group that the text in `ring` describes, and whether the text's checksum is right.
fn read_group(
    disk: &dyn Disk,
    ring: Ring,
    problems: &mut Vec<Problem>,
) -> Option<(bool, VolumeGroup)> {
    let text = match ring.read(disk) {
        Ok(text) => text,
        Err(error) => {
            problems.push(Problem::unreadable("metadata text", ring.address(0), &error));
            return None;
        }
    };
    let computed = checksum(&text);
    let sound = computed == ring.checksum;
    if !sound {
        let stored = ring.checksum;
        let detail = format!("metadata text's checksum is {stored:08x}, computed {computed:08x}");
        problems.push(Problem::new(ProblemKind::Checksum, ring.address(0), detail));
        if !ring.told_soundly {
            return None;
        }
    }
    let address = |position: usize| ring.address(u64::try_from(position).unwrap_or(u64::MAX));
    let mut notes = Notes::new(&address);
    let group = match text::parse(&text) {
        Ok(root) => group::group(&root, &mut notes),
        Err(error) => {
            notes.note(ProblemKind::Field, error.at, format!("metadata text: {}", error.reason));
            None
        }
    };
    problems.append(&mut notes.into_problems());
    group.map(|group| (sound, group))
}

impl Ring {
    /// Returns what makes the text's place impossible; `None` when it is possible.
    fn problem(&self) -> Option<(ProblemKind, String)> {
        let Ring { area_bytes, length_bytes, text_at_bytes, text_bytes, .. } = *self;
        let text = format!("metadata text of {text_bytes} bytes at {text_at_bytes}");
        if area_bytes.checked_add(length_bytes).is_none() {
            return Some((ProblemKind::Outside, format!("metadata area of {length_bytes} bytes")));
        }
        let within = (HEADER_BYTES..length_bytes).contains(&text_at_bytes);
        if !within || text_bytes > length_bytes - HEADER_BYTES {
            let detail = format!("{text} does not fit its area of {length_bytes} bytes");
            return Some((ProblemKind::Outside, detail));
        }
        let long = text_bytes > TEXT_BYTES_MAX;
        long.then(|| (ProblemKind::Unsupported, format!("{text} is longer than is read")))
    }

    /// The text's bytes; where the ring ends they go on past the header.
    fn read(&self, disk: &dyn Disk) -> Result<Vec<u8>, device::ReadError> {
        let first_bytes = self.text_bytes.min(self.bytes_to_end());
        let mut text = disk::read_vec(disk, self.address(0), first_bytes)?;
        let rest_bytes = self.text_bytes - first_bytes;
        if rest_bytes > 0 {
            let rest = disk::read_vec(disk, self.area_bytes + HEADER_BYTES, rest_bytes)?;
            text.extend_from_slice(&rest);
        }
        Ok(text)
    }

    /// Bytes from the text's start to the ring's end; the text starts within the ring.
    fn bytes_to_end(&self) -> u64 {
        self.length_bytes - self.text_at_bytes
    }

    /// Returns where on the device byte `position` of the text is.
    fn address(&self, position: u64) -> u64 {
        let start = self.area_bytes + self.text_at_bytes;
        match position.checked_sub(self.bytes_to_end()) {
            None => start + position,
            Some(wrapped) => (self.area_bytes + HEADER_BYTES).saturating_add(wrapped),
        }
    }
}
