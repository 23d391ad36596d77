//! LUKS2: two headers, each 4096 big-endian bytes with an area of JSON behind them, the second at
//! an offset that equals the header's size.
//!
//! Source: LUKS2 on-disk format 1.1.1, section 2; cryptsetup `lib/luks2/luks2_disk_metadata.c`.

use device::{Disk, disk};
use sha2::{Digest as _, Sha256};
use units::DiskText;

use super::{Luks, MAGIC, luks2_json};
use crate::bytes::{self, Block};
use crate::{Parsed, Problem, ProblemKind};

const HEADER: usize = 4096;
const MAGIC_SECOND: &[u8; 6] = b"SKUL\xba\xbe";
/// The sizes that a header with its JSON may have, and so the places of the second one.
const SIZES: [u64; 9] =
    [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];
const CHECKSUM_AT: usize = 448;

/// One of the two headers.
struct Copy {
    at_bytes: u64,
    /// Header and JSON together; `None` when it is no size that the format allows.
    size_bytes: Option<u64>,
    sequence: u64,
    header: Box<Block<HEADER>>,
    json: Vec<u8>,
    trust: Trust,
    problems: Vec<Problem>,
}

/// Trust in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    /// The checksum or the place is wrong.
    Damaged,
    /// The checksum is of a kind that cannot be computed here.
    Unchecked,
    /// Everything holds.
    Sound,
}

/// The newer of the sound headers; without any, what the damaged first one says. `head` holds the
/// first bytes of `disk`, as many as could be read, at most 4096.
pub(super) fn parse(disk: &dyn Disk, head: &[u8]) -> Option<Parsed<Luks>> {
    let first = bytes::block(head).and_then(|header| copy(disk, 0, header, MAGIC));
    let first = match first {
        Some(first) if first.header.be16::<6>() != 2 => return Some(unknown_version(first)),
        first => first,
    };
    let second = second(disk, first.as_ref());
    let (chosen, other) = match (first, second) {
        (Some(first), Some(second)) if newer(&second, &first) => (second, Some(first)),
        (Some(first), second) => (first, second),
        // Without the first one, nothing but a checksum tells a second header from old remains.
        (None, Some(second)) if second.trust == Trust::Sound => (second, None),
        (None, _) => return None,
    };
    Some(joined(chosen, other))
}

/// Returns whether `second` is to be believed rather than `first`.
fn newer(second: &Copy, first: &Copy) -> bool {
    (second.trust, second.sequence) > (first.trust, first.sequence)
}

/// The second header: where the sound first one says, else at any of the places where one can be.
fn second(disk: &dyn Disk, first: Option<&Copy>) -> Option<Copy> {
    let said =
        first.filter(|first| first.trust != Trust::Damaged).and_then(|first| first.size_bytes);
    let places = said.map_or_else(|| SIZES.to_vec(), |size| vec![size]);
    let mut best: Option<Copy> = None;
    for at in places {
        let Ok(magic) = disk::read_array::<6>(disk, at) else { continue };
        if magic != *MAGIC_SECOND {
            continue;
        }
        let header = disk::read_array::<HEADER>(disk, at).map(Block);
        let found = header.ok().and_then(|header| copy(disk, at, header, MAGIC_SECOND));
        if let Some(found) = found
            && best.as_ref().is_none_or(|best| newer(&found, best))
        {
            best = Some(found);
        }
    }
    best
}

fn copy(disk: &dyn Disk, at_bytes: u64, header: Block<HEADER>, magic: &[u8; 6]) -> Option<Copy> {
    if header.array::<0, 6>() != *magic {
        return None;
    }
    let size = header.be64::<8>();
    let mut copy = Copy {
        at_bytes,
        size_bytes: Some(size).filter(|size| SIZES.contains(size)),
        sequence: header.be64::<16>(),
        header: Box::new(header),
        json: Vec::new(),
        trust: Trust::Damaged,
        problems: Vec::new(),
    };
    let Some(size) = copy.size_bytes else {
        copy.problem(ProblemKind::Field, 8, format!("a header of {size} bytes"));
        return Some(copy);
    };
    let length = size - 4096;
    match disk::read_vec(disk, at_bytes.saturating_add(4096), length) {
        Ok(json) => copy.json = json,
        Err(error) => {
            let problem = Problem::unreadable("JSON area", at_bytes.saturating_add(4096), &error);
            copy.problems.push(problem);
            return Some(copy);
        }
    }
    copy.trust = copy.checked_place().min(copy.checked_sum());
    Some(copy)
}

impl Copy {
    fn problem(&mut self, kind: ProblemKind, field: u64, detail: String) {
        self.problems.push(Problem::new(kind, self.at_bytes.saturating_add(field), detail));
    }

    /// A header names its own place, so that one that was copied elsewhere is known.
    fn checked_place(&mut self) -> Trust {
        let (said, at) = (self.header.be64::<256>(), self.at_bytes);
        let second_at = (at == 0).then_some(self.size_bytes).flatten().or(Some(at));
        if said != at {
            self.problem(
                ProblemKind::Field,
                256,
                format!("the header at {at} says it is at {said}"),
            );
            return Trust::Damaged;
        }
        if self.size_bytes != second_at {
            let detail = format!("a second header at {at} of another size than its place");
            self.problem(ProblemKind::Field, 8, detail);
            return Trust::Damaged;
        }
        Trust::Sound
    }

    fn checked_sum(&mut self) -> Trust {
        let algorithm = DiskText::from_padded(&self.header.array::<72, 32>());
        if algorithm.raw() != b"sha256" {
            let detail = format!("checksum algorithm {algorithm} is not known here");
            self.problem(ProblemKind::Unsupported, 72, detail);
            return Trust::Unchecked;
        }
        let mut digest = Sha256::new();
        digest.update(&self.header.0[..CHECKSUM_AT]);
        digest.update([0; 64]);
        digest.update(&self.header.0[CHECKSUM_AT + 64..]);
        digest.update(&self.json);
        if digest.finalize()[..] == self.header.array::<CHECKSUM_AT, 32>() {
            return Trust::Sound;
        }
        let field = u64::try_from(CHECKSUM_AT).unwrap_or(0);
        self.problem(ProblemKind::Checksum, field, "the SHA-256 checksum does not hold".to_owned());
        Trust::Damaged
    }
}

/// Returns what `chosen` says, with what is wrong about both headers.
fn joined(chosen: Copy, other: Option<Copy>) -> Parsed<Luks> {
    let json_at = chosen.at_bytes.saturating_add(4096);
    let (luks, json_problems) = described(&chosen);
    let mut problems = chosen.problems;
    problems.extend(json_problems);
    let place = if chosen.at_bytes == 0 { chosen.size_bytes.unwrap_or(0) } else { 0 };
    match other {
        None => {
            let which = if chosen.at_bytes == 0 { "second" } else { "first" };
            let detail = format!("the {which} header is missing");
            problems.push(Problem::new(ProblemKind::Copies, place, detail));
        }
        Some(other) => {
            let sound = other.trust != Trust::Damaged;
            if sound && (other.sequence != chosen.sequence || other.json != chosen.json) {
                let detail = format!(
                    "the headers differ: sequence {} here, {} in the other",
                    chosen.sequence, other.sequence
                );
                problems.push(Problem::new(ProblemKind::Copies, json_at, detail));
            }
            problems.extend(other.problems);
        }
    }
    Parsed { value: luks, problems }
}

fn described(copy: &Copy) -> (Luks, Vec<Problem>) {
    let header = &copy.header;
    let mut luks = Luks {
        version: header.be16::<6>(),
        header_at_bytes: copy.at_bytes,
        id: DiskText::from_padded(&header.array::<168, 40>()),
        label: super::text(&header.array::<24, 48>()),
        subsystem: super::text(&header.array::<208, 48>()),
        cipher: None,
        segments: Vec::new(),
        detached: false,
        reencrypting: false,
        integrity: None,
        allows_discards: false,
    };
    if copy.json.is_empty() {
        return (luks, Vec::new());
    }
    let json_at = copy.at_bytes.saturating_add(4096);
    let areas_end = copy.size_bytes.unwrap_or(0).saturating_mul(2);
    let problems = luks2_json::fill(&mut luks, &copy.json, json_at, areas_end);
    (luks, problems)
}

/// The magic is right, the version is one that is not known: nothing else is sure.
fn unknown_version(mut copy: Copy) -> Parsed<Luks> {
    copy.json.clear();
    let (value, _) = described(&copy);
    let detail = format!("LUKS version {} is not known", value.version);
    Parsed { value, problems: vec![Problem::new(ProblemKind::Unsupported, 6, detail)] }
}
