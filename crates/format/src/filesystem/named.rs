//! File systems and volumes that are known by name only: those of [`crate::named`].

use super::facts::FileSystem;
use super::found::Found;
use super::{field, xfs_log};
use crate::Parsed;
use crate::heads::Heads;
use crate::named::{self, Class};

/// The longest label in the table.
const LABEL_MAX: usize = 64;

/// The first entry whose mark, and all that must stand beside it, is on the volume; else the log of
/// an XFS, which has neither in a fixed place.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    of_table(heads).or_else(|| xfs_log::read(heads))
}

fn of_table(heads: &Heads<'_>) -> Option<Found> {
    let (entry, _) = named::find(heads, |class| class == Class::FileSystem)?;
    let label = entry.label.and_then(|(at_bytes, length)| {
        let mut bytes = [0; LABEL_MAX];
        let field = bytes.get_mut(..length)?;
        heads.read(at_bytes, field).ok()?;
        field::label(field)
    });
    let id = entry.uuid_bytes.and_then(|at_bytes| field::uuid(heads.block::<16>(at_bytes)?.0));
    Some(Parsed::sound(FileSystem { label, id, ..FileSystem::named(entry.kind) }))
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;
    use crate::named::NAMED;

    #[test]
    fn every_label_fits_what_is_read() {
        assert!(
            NAMED.iter().all(|entry| entry.label.is_none_or(|(_, length)| length <= LABEL_MAX))
        );
    }

    #[test]
    fn a_zonefs_has_its_label_and_uuid() {
        let mut disk = MemoryDisk::with_head(8192, b"SFOZ");
        disk.put(8, b"zones");
        disk.put(72, &[0x55; 16]);
        let found = read(&Heads::new(&disk)).unwrap().value;
        assert_eq!(found.label, Some("zones".into()));
        assert_eq!(found.id.as_deref(), Some("55555555-5555-5555-5555-555555555555"));
    }
}
