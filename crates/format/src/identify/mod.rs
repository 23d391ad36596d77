//! Drives' answers in their own languages: NVMe Identify, SCSI capacity and VPD pages, ATA
//! IDENTIFY DEVICE; and the pages in which they tell of their health.
//!
//! Each parser takes the bytes of one answer and returns facts in bytes, whatever unit the drive
//! counts in, plus what cannot be right. A value that cannot be right stands as it was said, with a
//! [`Problem`]; a value that does not fit in 64 bits is left out. Which of them to believe is
//! decided elsewhere.

use thiserror::Error;

use crate::problem::{Problem, ProblemKind};

pub mod ata;
pub mod ata_health;
pub mod ata_statistics;
pub mod counter;
pub mod nvme;
pub mod nvme_health;
pub mod nvme_namespace_hints;
pub mod ocp_health;
pub mod scsi;

pub use counter::Counter;

/// Why an answer holds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoAnswer {
    /// It ends before the fields that every answer has.
    #[error("{what} has {found} bytes, and needs {least}")]
    Short {
        /// The answer that was asked for.
        what: &'static str,
        /// The bytes that there are.
        found: usize,
        /// The bytes that there must be.
        least: usize,
    },
    /// Every byte is zero: NVMe answers so for a namespace that is not there, bridges for a command
    /// that they swallow.
    #[error("{what} is all zeros")]
    Zeros {
        /// The answer that was asked for.
        what: &'static str,
    },
    /// It is the answer to another question.
    #[error("{what} was asked for, and page {found:#04x} came")]
    Other {
        /// The answer that was asked for.
        what: &'static str,
        /// The page code of the answer.
        found: u8,
    },
    /// Another maker's page has the same number: the GUID at its end differs.
    #[error("{what} was asked for, and a page without its GUID came")]
    Foreign {
        /// The answer that was asked for.
        what: &'static str,
    },
    /// The page has a version whose layout is not known.
    #[error("{what} has version {found}, whose layout is not known")]
    Version {
        /// The answer that was asked for.
        what: &'static str,
        /// The version that the page names.
        found: u16,
    },
}

/// The first `N` bytes of an answer that is neither short nor zeros.
fn head<const N: usize>(
    what: &'static str,
    bytes: &[u8],
) -> Result<crate::bytes::Block<N>, NoAnswer> {
    let found = bytes.len();
    let block = crate::bytes::block::<N>(bytes).ok_or(NoAnswer::Short { what, found, least: N })?;
    if block.0.iter().all(|&byte| byte == 0) {
        return Err(NoAnswer::Zeros { what });
    }
    Ok(block)
}

/// Returns what is wrong with a field at `at_bytes` of the answer.
fn wrong(at_bytes: u64, detail: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Field, at_bytes, detail)
}

/// `count` blocks of `block_bytes`, in bytes; `None` when either is unknown or 0, or when the bytes
/// do not fit in 64 bits.
fn blocks(count: u64, block_bytes: Option<u64>) -> Option<u64> {
    count.checked_mul(block_bytes?).filter(|&bytes| bytes > 0)
}

/// A count that is stored less one, in bytes.
fn blocks_less_one(stored: u16, block_bytes: Option<u64>) -> Option<u64> {
    blocks(u64::from(stored) + 1, block_bytes)
}

/// The medium's rotation: from SCSI's medium rotation rate and ATA's word 217, which are the same
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Nothing turns.
    None,
    /// So many turns a minute.
    PerMinute(u16),
}

/// The rotation that `stored` means; `None` when it is not reported (0) or reserved.
fn rotation(stored: u16) -> Option<Rotation> {
    match stored {
        1 => Some(Rotation::None),
        0x0401..=0xfffe => Some(Rotation::PerMinute(stored)),
        _ => None,
    }
}

/// Zones, as far as SCSI's block device characteristics and ATA's word 69 tell: both hold the same
/// two bits. Host-managed drives are of another device type and do not say it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zones {
    /// The host may write zones in order, and need not.
    HostAware,
    /// The drive keeps zones to itself.
    DriveManaged,
}

fn zones(stored: u8) -> Option<Zones> {
    match stored & 3 {
        1 => Some(Zones::HostAware),
        2 => Some(Zones::DriveManaged),
        _ => None,
    }
}
