//! LUKS1: one big-endian header of 592 bytes, without a checksum.
//!
//! Source: LUKS1 on-disk format 1.2.3, figures 1 and 2; cryptsetup `lib/luks1/luks.h`.

use units::DiskText;

use super::{Luks, LuksSegment, MAGIC};
use crate::bytes::{self, Block};
use crate::{Parsed, Problem, ProblemKind};

const HEADER: usize = 592;
/// cryptsetup puts this in place of the magic while it reencrypts a LUKS1 container offline.
const MAGIC_REENCRYPTING: &[u8; 6] = b"LUKS\xde\xad";
const SECTOR_BYTES: u64 = 512;

/// The first of eight key slots of 48 bytes: active, iterations, salt, offset in sectors, stripes.
const SLOTS_AT: usize = 208;
const SLOT: usize = 48;
const SLOTS: usize = 8;
const SLOT_ACTIVE: u32 = 0x00ac_71f3;
const SLOT_DISABLED: u32 = 0x0000_dead;

/// The header at the start of `head`; `None` when there is none of version 1.
pub(super) fn parse(head: &[u8]) -> Option<Parsed<Luks>> {
    let header: Block<HEADER> = bytes::block(head)?;
    let magic = header.array::<0, 6>();
    let reencrypting = magic == *MAGIC_REENCRYPTING;
    if (magic != *MAGIC && !reencrypting) || header.be16::<6>() != 1 {
        return None;
    }
    let offset_bytes = u64::from(header.be32::<104>()) * SECTOR_BYTES;
    let segment = LuksSegment {
        kind: DiskText::from("crypt"),
        offset_bytes,
        length_bytes: None,
        sector_bytes: SECTOR_BYTES,
    };
    let value = Luks {
        version: 1,
        header_at_bytes: 0,
        id: DiskText::from_padded(&header.array::<168, 40>()),
        label: None,
        subsystem: None,
        cipher: cipher(&header),
        segments: vec![segment],
        detached: false,
        reencrypting,
        integrity: None,
        allows_discards: false,
    };
    let mut problems = slot_problems(&header, offset_bytes);
    if value.cipher.is_none() {
        problems.push(Problem::new(ProblemKind::Field, 8, "no cipher name"));
    }
    Some(Parsed { value, problems })
}

/// Name and mode, joined as cryptsetup prints them.
fn cipher(header: &Block<HEADER>) -> Option<DiskText> {
    let name = super::text(&header.array::<8, 32>())?;
    let Some(mode) = super::text(&header.array::<40, 32>()) else { return Some(name) };
    Some(DiskText::from_bytes(&[name.raw(), b"-", mode.raw()].concat()))
}

/// Header and key slots must end before the data, unless that is elsewhere.
fn slot_problems(header: &Block<HEADER>, data_bytes: u64) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut overlap = |at: u64, what: &str, end: u64| {
        if data_bytes != 0 && end > data_bytes {
            let detail = format!("{what} ends at {end}, past the start of data at {data_bytes}");
            problems.push(Problem::new(ProblemKind::Overlap, at, detail));
        }
    };
    overlap(104, "the header", 592);
    let key_bytes = u64::from(header.be32::<108>());
    let mut unknown = Vec::new();
    let slots = header.0[SLOTS_AT..].chunks_exact(SLOT).take(SLOTS);
    for (number, slot) in slots.enumerate() {
        let Some(slot) = bytes::block::<SLOT>(slot) else { continue };
        let at = u64::try_from(SLOTS_AT + SLOT * number).unwrap_or(0);
        let material = u64::from(slot.be32::<40>()) * SECTOR_BYTES;
        let stripes = u64::from(slot.be32::<44>());
        match slot.be32::<0>() {
            SLOT_ACTIVE => {
                let end = material.saturating_add(stripes.saturating_mul(key_bytes));
                overlap(at, &format!("key slot {number}"), end);
            }
            SLOT_DISABLED => {}
            other => {
                let detail = format!("key slot {number} is neither used nor free: {other:#010x}");
                unknown.push(Problem::new(ProblemKind::Field, at, detail));
            }
        }
    }
    problems.extend(unknown);
    problems
}
