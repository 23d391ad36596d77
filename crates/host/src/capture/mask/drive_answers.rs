//! Identifiers within what drives answer.
//!
//! Source: NVM Express Base Specification (Identify Controller and Namespace), OCP Datacenter NVMe
//! SSD Specification (log page C0h), ATA8-ACS (IDENTIFY DEVICE), SPC-5 (INQUIRY, VPD pages 80h,
//! 83h), SAT-4 (VPD page 89h).

use std::ops::Range;

use device::answer::{self, Question};

use super::replacements::Secrets;

/// Kind of a field of bytes.
#[derive(Clone, Copy)]
enum Field {
    /// Text that blanks follow.
    Text,
    /// Text whose bytes are swapped in pairs, as ATA has it.
    Swapped,
    /// A number.
    Number,
    /// Anything: only its length stays.
    Any,
}

type Fields = &'static [(Range<usize>, Field)];

/// Serial; FRU GUID; NVM subsystem's name.
const NVME_CONTROLLER: Fields =
    &[(4..24, Field::Text), (112..128, Field::Number), (768..1024, Field::Text)];
/// NGUID; EUI64.
const NVME_NAMESPACE: Fields = &[(104..120, Field::Number), (120..128, Field::Number)];
/// Words 10 to 19, the serial; words 108 to 111, the world wide name; words 176 to 205, the
/// medium's serial.
const ATA: Fields =
    &[(20..40, Field::Swapped), (216..224, Field::Number), (352..412, Field::Swapped)];
/// The same, at offset 60 of the page.
const ATA_PAGE: Fields =
    &[(80..100, Field::Swapped), (276..284, Field::Number), (412..472, Field::Swapped)];
/// Bytes that the specification reserves.
const NVME_HEALTH: Fields = &[(232..512, Field::Any)];
/// The build of the firmware and its label; bytes that the specification reserves.
const NVME_OCP_HEALTH: Fields = &[(278..494, Field::Any)];
const SERIAL_PAGE: Fields = &[(4..usize::MAX, Field::Text)];
/// Bytes of vendors after the revision, often a serial.
const INQUIRY: Fields = &[(36..56, Field::Text), (96..usize::MAX, Field::Text)];

/// An answer's text with its identifiers masked.
pub(super) fn answer(secrets: &mut Secrets, question: Question, content: &[u8]) -> Vec<u8> {
    let fields: Fields = match question {
        Question::NvmeController => NVME_CONTROLLER,
        Question::NvmeNamespace => NVME_NAMESPACE,
        Question::AtaIdentify => ATA,
        Question::NvmeHealth => NVME_HEALTH,
        Question::NvmeOcpHealth => NVME_OCP_HEALTH,
        _ => &[],
    };
    let bytes = std::str::from_utf8(content).ok().and_then(answer::to_bytes);
    // What cannot be understood cannot be masked.
    let Some(mut bytes) = bytes else { return Vec::new() };
    mask(secrets, &mut bytes, fields);
    if matches!(question, Question::AtaIdentify) {
        checksum(&mut bytes);
    }
    answer::to_text(&bytes).into_bytes()
}

/// A file of a SCSI device that holds bytes, masked; `None` when `name` is no such file.
pub(super) fn page(secrets: &mut Secrets, name: &str, content: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = content.to_owned();
    match name {
        "vpd_pg80" => mask(secrets, &mut bytes, SERIAL_PAGE),
        "vpd_pg83" => designators(secrets, &mut bytes),
        "vpd_pg89" => {
            mask(secrets, &mut bytes, ATA_PAGE);
            if let Some(identify) = bytes.get_mut(60..572) {
                checksum(identify);
            }
        }
        "inquiry" => mask(secrets, &mut bytes, INQUIRY),
        name if name.starts_with("vpd_pg") => {}
        _ => return None,
    }
    Some(bytes)
}

fn mask(secrets: &mut Secrets, bytes: &mut [u8], fields: Fields) {
    for (range, field) in fields {
        let end = range.end.min(bytes.len());
        let Some(bytes) = bytes.get_mut(range.start..end) else { continue };
        match field {
            Field::Text => text(secrets, bytes),
            Field::Number => number(secrets, bytes),
            Field::Any => bytes.fill(0),
            Field::Swapped => {
                swap(bytes);
                text(secrets, bytes);
                swap(bytes);
            }
        }
    }
}

/// Masks the text in `bytes`; what is around it stays.
fn text(secrets: &mut Secrets, bytes: &mut [u8]) {
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let Some(start) = bytes.iter().position(|byte| !is_padding(byte)) else { return };
    let end = bytes.iter().rposition(|byte| !is_padding(byte)).map_or(start, |last| last + 1);
    let inner = &mut bytes[start..end];
    match std::str::from_utf8(inner) {
        // A mask has as many bytes as what it stands for.
        Ok(secret) => {
            let masked = secrets.whole(secret).into_bytes();
            if masked.len() == inner.len() {
                inner.copy_from_slice(&masked)
            } else {
                inner.fill(b'0')
            }
        }
        Err(_) => inner.fill(b'0'),
    }
}

/// Masks a number as the text of its digits is masked elsewhere.
fn number(secrets: &mut Secrets, bytes: &mut [u8]) {
    if bytes.iter().all(|&byte| byte == 0) {
        return;
    }
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let masked = answer::to_bytes(&secrets.mask(&digits));
    match masked.filter(|masked| masked.len() == bytes.len()) {
        Some(masked) => bytes.copy_from_slice(&masked),
        None => bytes.fill(0),
    }
}

/// Masks what each designator of VPD page 83h says, and leaves how long it is and of what kind.
fn designators(secrets: &mut Secrets, page: &mut [u8]) {
    let mut rest = page.get_mut(4..).unwrap_or_default();
    while rest.len() > 4 {
        let (head, behind) = rest.split_at_mut(4);
        let length = usize::from(head[3]).min(behind.len());
        let (designator, next) = behind.split_at_mut(length);
        // Code set 1 is binary; others are text.
        if head[0] & 0xf == 1 {
            number(secrets, designator)
        } else {
            text(secrets, designator)
        }
        rest = next;
    }
}

fn swap(bytes: &mut [u8]) {
    bytes.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
}

/// Sets the last byte of IDENTIFY DEVICE so that all add up to 0, where A5h announces that.
fn checksum(identify: &mut [u8]) {
    if identify.len() == 512 && identify[510] == 0xa5 {
        let sum = identify[..511].iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        identify[511] = sum.wrapping_neg();
    }
}
