//! The kinds of drive.

use super::field::{Field, Form};
use super::{array, cloud, flash, hard_disk, memory};

/// A kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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

impl Kind {
    /// All kinds.
    pub(super) const ALL: [Kind; 6] =
        [Kind::HardDisk, Kind::Flash, Kind::Memory, Kind::Cloud, Kind::Array, Kind::Controller];

    /// The word for it: `hard-disk`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::HardDisk => "hard-disk",
            Kind::Flash => "flash",
            Kind::Memory => "memory",
            Kind::Cloud => "cloud",
            Kind::Array => "array",
            Kind::Controller => "controller",
        }
    }

    /// The word with its article: `an array`.
    pub(super) fn with_article(self) -> String {
        format!("{} {}", if self == Kind::Array { "an" } else { "a" }, self.word())
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
            Kind::Controller => 2,
            Kind::Array => 1,
            _ => 0,
        }
    }

    /// The values that its profiles have, in order.
    pub(super) fn forms(self) -> Vec<Form> {
        fn forms<P>(fields: &[Field<P>]) -> Vec<Form> {
            fields.iter().map(|field| field.form).collect()
        }
        match self {
            Kind::HardDisk => forms(hard_disk::FIELDS),
            Kind::Flash => forms(flash::FIELDS),
            Kind::Memory => forms(memory::FIELDS),
            Kind::Cloud => forms(cloud::FIELDS),
            Kind::Array => forms(array::FIELDS),
            Kind::Controller => forms(array::CONTROLLER_FIELDS),
        }
    }
}
