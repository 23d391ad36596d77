//! The directory in which a scratch file is to be made, and whether it can be.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use units::{DiskText, Known};

use super::below;
use super::direct_alignment::direct_unit;
use super::error::ScratchError;
use super::free_space::{check_below, check_room};
use super::unfit_filesystems::{self, Filesystem, Unfit};
use super::unnamed::nameless;
use super::wanted_length::ScratchPlan;
use crate::extents::facts_of;
use crate::{LiveTree, Pinned};

/// Unit of the file's length, in bytes.
const PAGE_BYTES: u64 = 4096;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Writes are placed in it: its bytes must lie still on a drive.
    Placed,
    /// Writes are synced in it: any file system will do.
    Synced,
}

/// An open directory in which a file as in a plan can be made.
pub(super) struct Site {
    pub(super) directory: OwnedFd,
    pub(super) filesystem: Filesystem,
}

impl Site {
    /// `directory`, which is called `place`.
    ///
    /// # Errors
    /// When a file as in `plan` cannot be made there, as far as that can be told beforehand.
    pub(super) fn of(
        directory: &Pinned,
        plan: ScratchPlan,
        place: &DiskText,
        purpose: Purpose,
    ) -> Result<Site, ScratchError> {
        let ScratchPlan { length_bytes, budget_bytes, .. } = plan;
        if length_bytes == 0 || length_bytes % PAGE_BYTES != 0 {
            return Err(ScratchError::Length { length_bytes });
        }
        if length_bytes > budget_bytes {
            return Err(ScratchError::Budget { length_bytes, budget_bytes });
        }
        let directory = opened(directory, place)?;
        let filesystem = unfit_filesystems::of(directory.as_fd())
            .map_err(|error| ScratchError::refused("ask for the file system of", place, &error))?;
        match purpose {
            Purpose::Placed => check(&filesystem, plan, place)?,
            Purpose::Synced => check_room(&filesystem, plan, place)?,
        }
        require_room_below(directory.as_fd(), length_bytes, place)?;
        Ok(Site { directory, filesystem })
    }
}

/// Returns whether every layer below the file system of `directory` has room for `length_bytes`
/// more, as far as that is known.
///
/// # Errors
/// [`ScratchError::Below`] when one has too little, and when `directory` cannot be opened.
pub fn room_below(directory: &Pinned, length_bytes: u64) -> Result<(), ScratchError> {
    require_room_below(directory.as_fd(), length_bytes, &directory.text())
}

fn require_room_below(
    directory: BorrowedFd<'_>,
    length_bytes: u64,
    place: &DiskText,
) -> Result<(), ScratchError> {
    let facts = facts_of(directory)
        .map_err(|error| ScratchError::refused("ask for the file system of", place, &error))?;
    let stores = below::stores(&LiveTree::new(Path::new("/")), &facts, length_bytes);
    check_below(stores, length_bytes, place)
}

/// Returns whether a file can be made in `directory`: an empty one is, and is gone at once.
///
/// # Errors
/// When `directory` cannot be opened, or no file can be made there: what was tried, and what the
/// kernel said.
pub fn takes_files(directory: &Pinned) -> Result<(), ScratchError> {
    let place = directory.text();
    let made = nameless(opened(directory, &place)?.as_fd());
    made.map(drop).map_err(|error| ScratchError::not_made(error, &place))
}

/// Returns the alignment of direct I/O on a file in `directory`: of an empty file, which is gone at
/// once. Without the kernel's word (before 6.1) it is taken to be possible.
///
/// # Errors
/// Same as [`takes_files`].
pub fn direct_unit_in(directory: &Pinned) -> Result<Known<u64>, ScratchError> {
    let place = directory.text();
    let made = nameless(opened(directory, &place)?.as_fd());
    let file = made.map_err(|error| ScratchError::not_made(error, &place))?;
    Ok(direct_unit(file.as_fd()))
}

/// `directory`, which is called `place`, opened.
fn opened(directory: &Pinned, place: &DiskText) -> Result<OwnedFd, ScratchError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, c".", flags, Mode::empty())
        .map_err(|error| ScratchError::refused("open the directory", place, &error.into()))
}

/// Returns whether a file as in `plan` can be made and measured on `filesystem`.
fn check(
    filesystem: &Filesystem,
    plan: ScratchPlan,
    directory: &DiskText,
) -> Result<(), ScratchError> {
    let (place, name) = (directory, filesystem.name.clone());
    let directory = directory.clone();
    match filesystem.unfit {
        None => {}
        Some(Unfit::Memory) => return Err(ScratchError::Memory { directory, filesystem: name }),
        Some(Unfit::Network) => return Err(ScratchError::Network { directory, filesystem: name }),
        Some(Unfit::Userspace) => {
            return Err(ScratchError::Userspace { directory, filesystem: name });
        }
        Some(Unfit::Stacked) => return Err(ScratchError::Stacked { directory, filesystem: name }),
        Some(Unfit::Moving) if plan.may_move => {}
        Some(Unfit::Moving) => return Err(ScratchError::Moving { directory, filesystem: name }),
    }
    if filesystem.encrypted {
        return Err(ScratchError::Encrypted { directory, filesystem: name });
    }
    if let Some(by) = filesystem.compressed.clone() {
        return Err(ScratchError::Compressed { directory, by });
    }
    check_room(filesystem, plan, place)
}

#[cfg(test)]
mod tests {
    use super::super::Scratch;
    use super::*;

    fn checked(filesystem: &Filesystem, plan: ScratchPlan) -> Result<(), ScratchError> {
        check(filesystem, plan, &DiskText::from_bytes(b"/data"))
    }

    fn fine() -> Filesystem {
        let (total_bytes, free_bytes) = (100 << 30, 10 << 30);
        Filesystem { name: "ext4".to_owned(), total_bytes, free_bytes, ..Filesystem::default() }
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_a_hint() {
        assert_eq!(checked(&fine(), ScratchPlan::EXAMPLE), Ok(()));
        for unfit in [Unfit::Memory, Unfit::Network, Unfit::Userspace, Unfit::Stacked] {
            let error = checked(&Filesystem { unfit: Some(unfit), ..fine() }, ScratchPlan::EXAMPLE)
                .unwrap_err();
            assert!(error.to_string().starts_with("cannot measure in /data: "), "{error}");
            assert!(error.hint(None).is_some());
        }
        let zfs = Filesystem { unfit: Some(Unfit::Moving), ..fine() };
        assert!(matches!(checked(&zfs, ScratchPlan::EXAMPLE), Err(ScratchError::Moving { .. })));
        assert_eq!(checked(&zfs, ScratchPlan { may_move: true, ..ScratchPlan::EXAMPLE }), Ok(()));
        let closed = Filesystem { encrypted: true, ..fine() };
        assert!(matches!(
            checked(&closed, ScratchPlan::EXAMPLE),
            Err(ScratchError::Encrypted { .. })
        ));
        let small = Filesystem { compressed: Some("x".to_owned()), ..fine() };
        assert!(matches!(
            checked(&small, ScratchPlan::EXAMPLE),
            Err(ScratchError::Compressed { .. })
        ));
        let fixed = Filesystem { read_only: true, ..fine() };
        assert!(matches!(
            checked(&fixed, ScratchPlan::EXAMPLE),
            Err(ScratchError::ReadOnly { .. })
        ));
    }

    #[test]
    fn a_length_over_the_budget_or_not_of_pages_is_refused_before_anything_is_opened() {
        let directory = Pinned::at(Path::new("/proc/self/fd")).unwrap();
        let nowhere = &directory;
        let over = ScratchPlan { budget_bytes: (64 << 20) - 1, ..ScratchPlan::EXAMPLE };
        let error = Scratch::create(nowhere, over).unwrap_err();
        assert!(matches!(error, ScratchError::Budget { .. }), "{error}");
        for length_bytes in [0, 4095, 4097] {
            let error =
                Scratch::create(nowhere, ScratchPlan { length_bytes, ..ScratchPlan::EXAMPLE })
                    .unwrap_err();
            assert!(matches!(error, ScratchError::Length { .. }), "{error}");
        }
        let file = Pinned::at(Path::new("/proc/version")).unwrap();
        let error = Scratch::create(&file, ScratchPlan::EXAMPLE).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open the directory /proc/version: Not a directory (os error 20)"
        );
    }
}
