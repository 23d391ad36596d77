//! A value with its source, or unknown with its reason.
//!
//! Nothing in straddle prints a number whose source it cannot name, and nothing prints 0 for what
//! could not be read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Measured on this device.
    Measured,
    /// Said by the user on the command line.
    #[serde(rename = "specified")]
    Told,
    /// Read from the kernel's `/sys`.
    Sysfs,
    /// Answered by the kernel to an ioctl.
    Ioctl,
    /// Answered by the drive in its own language: NVMe, SCSI or ATA.
    Identify,
    /// Answered by the kernel to statx(2).
    Statx,
    /// Read from the bytes of the device or image.
    OnDisk,
    /// From the kernel's `/proc`.
    Procfs,
    /// Follows from other facts.
    Derived,
    /// Measured on other drives of this model, firmware and format: the folder `drives/`.
    DriveTable,
    /// Taken for granted, because nothing confirms otherwise; always labeled.
    Assumed,
}

crate::words!(Source);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A value and where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<T> {
    /// The value, in the unit that the place where the fact stands names.
    pub value: T,
    /// Its origin.
    pub source: Source,
}

impl<T> Fact<T> {
    /// A value with its source.
    pub fn new(value: T, source: Source) -> Fact<T> {
        Fact { value, source }
    }
}

/// A fact, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// Known, with its source.
    Yes(Fact<T>),
    /// Unknown; the text says why, in lower case and without a full stop.
    No(String),
}

impl<T> Known<T> {
    /// Known from `source`.
    pub fn yes(value: T, source: Source) -> Known<T> {
        Known::Yes(Fact::new(value, source))
    }

    /// Unknown, because of `reason`.
    pub fn no(reason: impl Into<String>) -> Known<T> {
        Known::No(reason.into())
    }

    /// Known from `source` where there is a value; else unknown, because of the error.
    pub fn of<E: ToString>(value: Result<T, E>, source: Source) -> Known<T> {
        match value {
            Ok(value) => Known::yes(value, source),
            Err(error) => Known::no(error.to_string()),
        }
    }

    /// The value, or `None` when it is unknown.
    pub fn value(&self) -> Option<&T> {
        match self {
            Known::Yes(fact) => Some(&fact.value),
            Known::No(_) => None,
        }
    }

    /// Origin of the value, or `None` when it is unknown.
    pub fn source(&self) -> Option<Source> {
        match self {
            Known::Yes(fact) => Some(fact.source),
            Known::No(_) => None,
        }
    }

    /// Why the value is unknown, or `None` when it is known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Known::Yes(_) => None,
            Known::No(reason) => Some(reason),
        }
    }
}
