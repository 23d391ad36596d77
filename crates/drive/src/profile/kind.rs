//! The kinds of drive.

use super::field::{Field, Form};
use super::{array, cloud, flash, hard_disk, memory};
use serde::Serialize;

/// A kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriveKind {
    /// A platter that turns.
    HardDisk,
    /// Flash behind a controller.
    Flash,
    /// Persistent memory behind a block interface.
    Memory,
    /// A volume over a network.
    Cloud,
    /// An array of one kind of drive.
    Array,
    /// A controller with a cache that does not forget, over another drive.
    Controller,
}

units::words!(DriveKind);

impl DriveKind {
    /// All kinds.
    pub(super) const ALL: [DriveKind; 6] = [
        DriveKind::HardDisk,
        DriveKind::Flash,
        DriveKind::Memory,
        DriveKind::Cloud,
        DriveKind::Array,
        DriveKind::Controller,
    ];

    /// The word with its article: `an array`.
    pub(super) fn with_article(self) -> String {
        format!("{} {}", if self == DriveKind::Array { "an" } else { "a" }, self.word())
    }

    /// True if it is made of another drive.
    #[must_use]
    pub fn has_member(self) -> bool {
        self.depth() > 0
    }

    /// Number of drives that may stand in each other below it: a drive, an array of it, a
    /// controller over that.
    pub(super) fn depth(self) -> u8 {
        match self {
            DriveKind::Controller => 2,
            DriveKind::Array => 1,
            _ => 0,
        }
    }

    /// The values that its profiles have, in order.
    pub(super) fn forms(self) -> Vec<Form> {
        fn forms<P>(fields: &[Field<P>]) -> Vec<Form> {
            fields.iter().map(|field| field.form).collect()
        }
        match self {
            DriveKind::HardDisk => forms(hard_disk::FIELDS),
            DriveKind::Flash => forms(flash::FIELDS),
            DriveKind::Memory => forms(memory::FIELDS),
            DriveKind::Cloud => forms(cloud::FIELDS),
            DriveKind::Array => forms(array::FIELDS),
            DriveKind::Controller => forms(array::CONTROLLER_FIELDS),
        }
    }
}
