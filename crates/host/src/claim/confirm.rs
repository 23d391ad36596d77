//! Words to type that say which device is meant.
//!
//! A serial number or a world-wide name fits one drive. Partitions and made devices have none, nor
//! have drives whose serial another drive shows too: there it is the path with the exact length.
//!
//! A refusal never holds the right words: they are worth something only when they were read from
//! the device that is meant.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block`; SPC-4 7.8.14 (the unit serial number
//! page); `drivers/nvme/host/sysfs.c`.

use std::fmt;
use std::path::Path;

use units::text::escape;

use super::device::{self, ClaimedDevice, number_of, serial, wwn};
use super::machine::{ClaimWorld, LiveMachine};
use super::number::Number;
use super::refusal::{ClaimRefusal, PATH_AND_BYTES};
use crate::Pinned;

const SERIAL_OR_WWN: &str = "serial number or WWN";
/// Prefixes of a world-wide name in sysfs, in udev's links and in lsblk.
const WWN_PREFIXES: [&str; 5] = ["wwn-", "naa.", "eui.", "uuid.", "0x"];
/// Words to type after `--confirm`. Shown as they are to be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityWords {
    /// The drive's serial number, which no other drive of this machine has.
    Serial(String),
    /// The drive's world-wide name, likewise.
    Wwn(String),
    /// The path as it was given, and the length in bytes.
    PathAndBytes(String),
}

impl IdentityWords {
    /// Returns their kind: `serial number or WWN`, for example.
    #[must_use]
    pub fn wanted(&self) -> &'static str {
        match self {
            IdentityWords::PathAndBytes(_) => PATH_AND_BYTES,
            IdentityWords::Serial(_) | IdentityWords::Wwn(_) => SERIAL_OR_WWN,
        }
    }
}

impl fmt::Display for IdentityWords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Serial(text) | Self::Wwn(text) | Self::PathAndBytes(text)) = self;
        formatter.write_str(&escape(text.as_bytes()))
    }
}

/// Returns the words to type after `--confirm` for the block device at `node`. To be shown where
/// the device is described, and not in answer to words that did not fit.
///
/// # Errors
/// [`ClaimRefusal`] when it is no block device, or sysfs does not show it.
pub fn identity_words(node: &Pinned) -> Result<IdentityWords, ClaimRefusal> {
    let number = number_of(node)?;
    Ok(accepted(&LiveMachine::new(), node.given(), number)?.swap_remove(0))
}

/// Rejects words that do not name the device.
///
/// # Errors
/// [`ClaimRefusal::NotConfirmed`] when it does not, with what is on the device.
pub(super) fn check(
    machine: &impl ClaimWorld,
    node: &Path,
    number: Number,
    signatures: &[String],
    typed: &str,
) -> Result<(), ClaimRefusal> {
    let accepted = accepted(machine, node, number)?;
    let fits = accepted.iter().any(|words| match words {
        IdentityWords::Serial(serial) => typed.trim() == serial,
        IdentityWords::Wwn(name) => bare(typed) == bare(name),
        IdentityWords::PathAndBytes(words) => typed == words,
    });
    if fits {
        return Ok(());
    }
    Err(ClaimRefusal::NotConfirmed {
        node: node.to_owned(),
        given: typed.to_owned(),
        wanted: accepted[0].wanted(),
        signatures: signatures.to_owned(),
    })
}

/// The words that fit, the best first; at least one.
pub(super) fn accepted(
    machine: &impl ClaimWorld,
    node: &Path,
    number: Number,
) -> Result<Vec<IdentityWords>, ClaimRefusal> {
    let own = ClaimedDevice::numbered(machine, number)?;
    let mut found = Vec::new();
    // A partition's serial would be that of its disk, and so of the other partitions.
    if !own.is_partition(machine) {
        let serial = serial(machine, &own.directory).filter(|own| is_only(machine, own, serial));
        found.extend(serial.map(IdentityWords::Serial));
        let name = wwn(machine, &own.directory).filter(|own| is_only(machine, own, wwn));
        found.extend(name.map(IdentityWords::Wwn));
    }
    if found.is_empty() {
        let length_bytes = own.length_bytes(machine)?;
        let words = format!("{}={length_bytes}", node.display());
        found.push(IdentityWords::PathAndBytes(words));
    }
    Ok(found)
}

/// Returns whether at most one disk of this machine says `own`.
fn is_only<W: ClaimWorld>(machine: &W, own: &str, read: fn(&W, &str) -> Option<String>) -> bool {
    let disks = device::disks(machine);
    let same = disks.iter().filter(|name| {
        read(machine, &format!("/sys/block/{name}")).is_some_and(|other| other == own)
    });
    same.count() <= 1
}

/// A world-wide name without what tools put before it.
fn bare(name: &str) -> String {
    let mut name = name.trim().to_ascii_lowercase();
    for prefix in WWN_PREFIXES {
        if let Some(rest) = name.strip_prefix(prefix) {
            name = rest.to_owned();
        }
    }
    name
}
