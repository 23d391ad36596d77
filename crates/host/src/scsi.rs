//! SCSI commands by SG_IO, which block devices of the sd driver take.
//!
//! Source: Linux `include/scsi/sg.h`, `drivers/scsi/scsi_ioctl.c`; SPC-5 (INQUIRY, sense data),
//! SBC-4 (READ CAPACITY (16)), SAT-4 (ATA PASS-THROUGH (16)).

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::io::Errno;
use rustix::ioctl::{self, Opcode};

use crate::passthrough::StructIoctl;

/// A number of its own, older than the scheme of the others.
const SG_IO: Opcode = 0x2285;
const SG_DXFER_FROM_DEV: i32 = -3;
const TIMEOUT_MS: u32 = 5000;
/// Number of times that a drive with news to tell first (a unit attention) is asked.
const TRIES: usize = 3;
const SENSE_BYTES: u8 = 64;
const UNIT_ATTENTION: u8 = 6;

const CAPACITY_BYTES: u8 = 32;
const PAGE_BYTES: u8 = 64;
/// Every answer of ATA, and a page of a log, is this long.
const ATA_BYTES: usize = 512;
/// The address of the Device Statistics log.
const STATISTICS_LOG: u8 = 4;

/// `struct sg_io_hdr`.
#[repr(C)]
struct SgIoHeader {
    interface: i32,
    direction: i32,
    command_bytes: u8,
    sense_bytes: u8,
    vectors: u16,
    data_bytes: u32,
    data: *mut c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: i32,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written_bytes: u8,
    host_status: u16,
    driver_status: u16,
    residue_bytes: i32,
    duration_ms: u32,
    information: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<SgIoHeader>() == 88, "the layout of sg.h");
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<Header>() == 64, "the layout of sg.h");

/// READ CAPACITY (16).
///
/// # Errors
/// When the kernel or the drive refuses; the text says why.
pub(crate) fn capacity(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    let command = [0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, CAPACITY_BYTES, 0, 0];
    asked(device, "READ CAPACITY (16)", &command, usize::from(CAPACITY_BYTES))
}

/// The VPD page `page`: its first 64 bytes.
///
/// # Errors
/// Same as [`capacity`].
pub(crate) fn vital_page(device: BorrowedFd<'_>, page: u8) -> Result<Vec<u8>, String> {
    let command = [0x12, 1, page, 0, PAGE_BYTES, 0];
    asked(device, &format!("INQUIRY of VPD page {page:02X}h"), &command, usize::from(PAGE_BYTES))
}

/// ATA IDENTIFY DEVICE, through whatever translates SCSI to ATA: the kernel's libata, a host
/// adapter or a USB bridge.
///
/// # Errors
/// Same as [`capacity`]; a drive that is not ATA refuses.
pub(crate) fn ata_identify(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    // PIO data-in; from the device, in blocks, as many as the sector count says: 1.
    let command = [0x85, 4 << 1, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0];
    ata_answer(device, "ATA IDENTIFY DEVICE", &command)
}

/// ATA SMART READ DATA, through the same.
///
/// # Errors
/// Same as [`ata_identify`]; so does a drive that has SMART switched off.
pub(crate) fn ata_health(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    // As above; feature D0h, and in LBA mid and high the signature C24Fh.
    let command = [0x85, 4 << 1, 0x0e, 0, 0xd0, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0];
    ata_answer(device, "ATA SMART READ DATA", &command)
}

/// ATA's Device Statistics log, pages 01h and 07h one after the other: 1024 bytes, zeros for a page
/// that the drive does not have.
///
/// # Errors
/// Same as [`ata_identify`]; and where the drive is not known to be solid state, does not offer
/// logs, or lists no such log: it is then not asked.
pub(crate) fn ata_statistics(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    let identity = ata_identify(device)?;
    if word(&identity, 217) != Some(1) {
        return Err("not asked: only solid state drives are, since disks may spin up".to_owned());
    }
    // Word 87 is valid where bit 14 is set and bit 15 is not; bit 5 says that there are logs.
    if word(&identity, 87).is_none_or(|word| word & 0xc020 != 0x4020) {
        return Err("the drive offers no logs".to_owned());
    }
    // Word N of log 0 is the number of pages that log N has.
    let logs = ata_log(device, 0, 0)?;
    if word(&logs, usize::from(STATISTICS_LOG)).is_none_or(|pages| pages == 0) {
        return Err("the drive lists no Device Statistics log".to_owned());
    }
    let listed = ata_log(device, STATISTICS_LOG, 0)?;
    let count = listed.get(8).copied().map_or(0, usize::from);
    let pages = listed.get(9..).unwrap_or_default();
    let pages = &pages[..count.min(pages.len())];
    let mut answer = Vec::with_capacity(2 * ATA_BYTES);
    for page in [1, 7] {
        match pages.contains(&page) {
            true => answer.extend(ata_log(device, STATISTICS_LOG, page)?),
            false => answer.extend([0; ATA_BYTES]),
        }
    }
    Ok(answer)
}

/// One page of a log by READ LOG EXT. Source: ACS-4, "READ LOG EXT".
fn ata_log(device: BorrowedFd<'_>, log: u8, page: u8) -> Result<Vec<u8>, String> {
    // PIO data-in with fields of 16 bits; one block; LBA low is the log, LBA mid the page.
    let command = [0x85, 4 << 1 | 1, 0x0e, 0, 0, 0, 1, 0, log, 0, page, 0, 0, 0, 0x2f, 0];
    ata_answer(device, "ATA READ LOG EXT", &command)
}

/// The little-endian word `number` of an answer of ATA.
fn word(answer: &[u8], number: usize) -> Option<u16> {
    let bytes = answer.get(2 * number..2 * number + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn ata_answer(device: BorrowedFd<'_>, name: &str, command: &[u8]) -> Result<Vec<u8>, String> {
    let answer = asked(device, "ATA PASS-THROUGH (16)", command, ATA_BYTES)?;
    match answer.len() {
        ATA_BYTES => Ok(answer),
        bytes => Err(format!("{name} gave {bytes} of 512 bytes")),
    }
}

/// Returns the answer of `device` to `command`, at most `length` bytes.
fn asked(
    device: BorrowedFd<'_>,
    name: &str,
    command: &[u8],
    length: usize,
) -> Result<Vec<u8>, String> {
    for _ in 1..TRIES {
        match sent(device, name, command, length) {
            Err(Refusal::Attention) => {}
            Err(Refusal::Because(reason)) => return Err(reason),
            Ok(answer) => return Ok(answer),
        }
    }
    sent(device, name, command, length).map_err(|refusal| match refusal {
        Refusal::Attention => format!("{name}: the drive has other news again and again"),
        Refusal::Because(reason) => reason,
    })
}

/// Why a command gave nothing.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// The drive reports an event first; it may be asked again.
    Attention,
    Because(String),
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn sent(
    device: BorrowedFd<'_>,
    name: &str,
    command: &[u8],
    length: usize,
) -> Result<Vec<u8>, Refusal> {
    let because = |error: std::num::TryFromIntError| Refusal::Because(error.to_string());
    let mut answer = vec![0_u8; length];
    let mut sense = [0_u8; SENSE_BYTES as usize];
    let mut header = SgIoHeader {
        interface: i32::from(b'S'),
        direction: SG_DXFER_FROM_DEV,
        command_bytes: u8::try_from(command.len()).map_err(because)?,
        sense_bytes: SENSE_BYTES,
        vectors: 0,
        data_bytes: u32::try_from(length).map_err(because)?,
        data: answer.as_mut_ptr().cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        pack: 0,
        user: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written_bytes: 0,
        host_status: 0,
        driver_status: 0,
        residue_bytes: 0,
        duration_ms: 0,
        information: 0,
    };
    // SAFETY: the kernel reads and writes one struct sg_io_hdr, which `Header` is; reads
    // `command_bytes` bytes at `command`; and writes at most `data_bytes` bytes at `data` and
    // `sense_bytes` at `sense`. All three are as long as that and outlive the call.
    let passed = unsafe { ioctl::ioctl(device, StructIoctl::<SG_IO, SgIoHeader>(&mut header)) };
    passed.map_err(|error| Refusal::Because(explained(name, error)))?;
    let written = usize::from(header.sense_written_bytes.min(SENSE_BYTES));
    judged(name, &header, &sense[..written])?;
    let missing = usize::try_from(header.residue_bytes).unwrap_or(0);
    answer.truncate(length.saturating_sub(missing));
    Ok(answer)
}

/// Returns whether the command went well, by all that the kernel and the drive say of it.
fn judged(name: &str, header: &SgIoHeader, sense: &[u8]) -> Result<(), Refusal> {
    if header.host_status != 0 {
        let status = header.host_status;
        return Err(Refusal::Because(format!("{name} did not arrive: host status {status:#04x}")));
    }
    if header.status == 0 {
        return Ok(());
    }
    Err(match sense_of(sense) {
        Some((UNIT_ATTENTION, _, _)) => Refusal::Attention,
        Some((key, code, qualifier)) => Refusal::Because(format!(
            "the drive refuses {name}: sense key {key:X}h, {code:02X}h/{qualifier:02X}h"
        )),
        None => {
            Refusal::Because(format!("the drive refuses {name}: status {:#04x}", header.status))
        }
    })
}

/// Sense key, additional code and its qualifier, of either format.
fn sense_of(sense: &[u8]) -> Option<(u8, u8, u8)> {
    let at = |at: usize| sense.get(at).copied().unwrap_or(0);
    match sense.first()? & 0x7f {
        0x70 | 0x71 => Some((at(2) & 0xf, at(12), at(13))),
        0x72 | 0x73 => Some((at(1) & 0xf, at(2), at(3))),
        _ => None,
    }
}

fn explained(name: &str, error: Errno) -> String {
    match error {
        Errno::ACCESS | Errno::PERM => format!("{name} by SG_IO needs root: {error}"),
        Errno::NOTTY | Errno::INVAL | Errno::NOSYS => {
            format!("this device takes no SCSI commands (SG_IO): {error}")
        }
        _ => format!("{name} by SG_IO failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn what_is_no_disk_takes_no_commands() {
        let file = std::fs::File::open("/dev/null").unwrap();
        for error in [
            capacity(file.as_fd()).unwrap_err(),
            vital_page(file.as_fd(), 0xb0).unwrap_err(),
            ata_identify(file.as_fd()).unwrap_err(),
            ata_health(file.as_fd()).unwrap_err(),
        ] {
            assert!(error.starts_with("this device takes no SCSI commands"), "{error}");
        }
    }

    #[test]
    fn sense_is_read_in_both_formats() {
        let mut fixed = [0; 18];
        fixed[0] = 0xf0;
        fixed[2] = 0x05;
        fixed[12] = 0x20;
        assert_eq!(sense_of(&fixed), Some((5, 0x20, 0)));
        assert_eq!(sense_of(&[0x72, 6, 0x29, 1]), Some((UNIT_ATTENTION, 0x29, 1)));
        assert_eq!(sense_of(&[]), None);
        assert_eq!(sense_of(&[0x72]), Some((0, 0, 0)));
    }
}
