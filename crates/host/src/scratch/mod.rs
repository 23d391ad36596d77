//! The one thing that measuring writes: a file without a name, which is gone when its last
//! descriptor is, whatever ends the process.
//!
//! It is written in full with random bytes before anything is measured, so that its blocks exist,
//! and that neither a drive nor a file system can make less of them; where they lie is asked then,
//! and again after the measurement.
//!
//! | step | what a cut here leaves |
//! |---|---|
//! | length, budget, file system and free space are checked | nothing was written |
//! | `O_TMPFILE` makes the file | nothing |
//! | where there is no `O_TMPFILE`: a name, and its unlink at once | empty: see `leftover` |
//! | its space is taken, it is written and synced | nothing: the kernel frees what has no name |
//!
//! | file | what it is |
//! |---|---|
//! | `directory` | the directory, and whether a file can be made there |
//! | `free_space` | how much must stay free, there and on every layer below |
//! | `below` | the layers below that take space for it, and their room |
//! | `full_part` | which layer is full where a write found no space |
//! | `unfit_filesystems` | which file system that is, and what is wrong with it |
//! | `unnamed`, `named` | the empty file, without a name or with one |
//! | `guard`, `lock`, `scratch_name` | what removes the name, holds it, and marks it as ours |
//! | `leftover` | what earlier runs could not remove |
//! | `wanted_length` | the wanted length and content |
//! | `fill` | its bytes |
//! | `direct_alignment` | what direct I/O on it must be aligned to |
//! | `usable_places` | where its bytes lie, and whether writes can be placed there |
//! | `unwritten_extents` | making parts real again that were set aside as zeros |
//! | `error` | why there is none, and what to do |
//!
//! Source: open(2) on `O_TMPFILE`; `Documentation/filesystems/fiemap.rst` of Linux.

mod below;
mod direct_alignment;
mod directory;
mod error;
mod fill;
mod free_space;
mod full_part;
mod guard;
mod leftover;
mod lock;
mod named;
mod scratch_name;
mod unfit_filesystems;
mod unnamed;
mod unwritten_extents;
mod usable_places;
mod wanted_length;

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use device::{ExtentList, Extents, ExtentsError};
use rustix::fs::IFlags;
use rustix::io::Errno;
use units::{ByteRange, DiskText, Known};

use crate::Pinned;
use crate::engine::{Access, EngineError, now_ns, open_measured};
use crate::extents::extents_of;

use self::direct_alignment::direct_unit;
use self::directory::{Purpose, Site};
use self::fill::fill;
pub(crate) use self::named::{Name, synced_file};
use self::unnamed::nameless;

pub use below::{Room, StoreBelow};
pub use directory::{direct_unit_in, room_below, takes_files};
pub use error::ScratchError;
pub use full_part::{FullPart, full_below};
pub use leftover::{Fate, Leftover, sweep};
pub use usable_places::{Unusable, Usable, same_places, usable};
pub use wanted_length::ScratchPlan;

/// A file without a name, full of random bytes.
#[derive(Debug)]
pub struct Scratch {
    file: OwnedFd,
    /// Its name, where it must have one: see [`Scratch::create_anywhere_while`].
    name: Option<Name>,
    directory: DiskText,
    filesystem: String,
    length_bytes: u64,
    /// True if it was written past the page cache.
    filled_direct: bool,
    direct: Known<u64>,
    places: Result<ExtentList, ExtentsError>,
}

impl Scratch {
    /// A new scratch file in `directory`, written and synced.
    ///
    /// # Errors
    /// When the plan is over its budget, when the directory's file system cannot be measured, when
    /// it has too little room, and when a call fails. Nothing remains.
    pub fn create(directory: &Pinned, plan: ScratchPlan) -> Result<Scratch, ScratchError> {
        Scratch::create_while(directory, plan, |_| true)
    }

    /// Same as [`Scratch::create`], as long as `goes_on` says so, which is told every MiB how many
    /// bytes were written.
    ///
    /// # Errors
    /// Same as [`Scratch::create`]; [`ScratchError::Stopped`] when it is to stop.
    pub fn create_while(
        directory: &Pinned,
        plan: ScratchPlan,
        goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        Scratch::made(directory, plan, Purpose::Placed, goes_on)
    }

    /// Same as [`Scratch::create_while`], on any file system on which a file can be made: for
    /// questions about the path as it is, where the places of bytes do not matter.
    ///
    /// On file systems that do not sync a file without a name as others, it has one
    /// ([`Scratch::has_name`]), which a process beside this one removes at the end, whatever that
    /// is. Where that process cannot be started it has none.
    ///
    /// # Errors
    /// Same as [`Scratch::create_while`], but for what a kind of file system alone decides.
    pub fn create_anywhere_while(
        directory: &Pinned,
        plan: ScratchPlan,
        goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        Scratch::made(directory, plan, Purpose::Synced, goes_on)
    }

    fn made(
        directory: &Pinned,
        plan: ScratchPlan,
        purpose: Purpose,
        goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        let place = directory.text();
        let Site { directory: opened, filesystem } = Site::of(directory, plan, &place, purpose)?;
        let wants_name = purpose == Purpose::Synced && named::is_needed(&filesystem.name);
        let named = || Name::create(&opened, now_ns()).ok().map(|(file, name)| (file, Some(name)));
        let made = match wants_name.then(named).flatten() {
            Some(made) => Ok(made),
            None => nameless(opened.as_fd()).map(|file| (file, None)),
        };
        let (file, name) = made.map_err(|error| ScratchError::not_made(error, &place))?;
        if filesystem.name == "btrfs" && plan.nocow_on_btrfs {
            write_in_place(file.as_fd()).map_err(|error| {
                ScratchError::refused("turn copy-on-write off in", &place, &error.into())
            })?;
        }
        let direct = direct_unit(file.as_fd());
        let filled_direct = fill(file.as_fd(), plan, &place, goes_on)
            .map_err(|error| full_part::blamed(error, opened.as_fd(), plan.length_bytes))?;
        let places = extents_of(file.as_fd(), whole(plan.length_bytes), true);
        let (directory, filesystem) = (place, filesystem.name);
        let length_bytes = plan.length_bytes;
        Ok(Scratch {
            file,
            name,
            directory,
            filesystem,
            length_bytes,
            filled_direct,
            direct,
            places,
        })
    }

    /// The kind of the file system on which such a file could be made, as far as that can be told
    /// without making it.
    ///
    /// # Errors
    /// Same as [`Scratch::create`], but for what only a write meets.
    pub fn possible(directory: &Pinned, plan: ScratchPlan) -> Result<String, ScratchError> {
        let place = directory.text();
        Site::of(directory, plan, &place, Purpose::Placed).map(|site| site.filesystem.name)
    }

    /// Same as [`Scratch::possible`], for [`Scratch::create_anywhere_while`].
    ///
    /// # Errors
    /// Same as there.
    pub(crate) fn possible_anywhere(
        directory: &Pinned,
        plan: ScratchPlan,
    ) -> Result<(), ScratchError> {
        let place = directory.text();
        Site::of(directory, plan, &place, Purpose::Synced).map(|_| ())
    }

    /// Returns whether it has a name meanwhile.
    #[must_use]
    pub fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// Returns whether its file system does not sync a file without a name as it does others.
    #[must_use]
    pub fn needs_name(&self) -> bool {
        named::is_needed(&self.filesystem)
    }

    /// The open file.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The only path that leads to it, and only in this process and its children:
    /// `/proc/self/fd/N`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// It once more, opened on its own, for a queue.
    ///
    /// # Errors
    /// When `/proc` is not there, or its file system does not do direct I/O.
    pub fn open(&self, access: Access, direct: bool) -> Result<OwnedFd, EngineError> {
        open_measured(&self.path(), access, direct)
    }

    /// The directory in which it has no name, as it was given.
    #[must_use]
    pub fn directory(&self) -> &DiskText {
        &self.directory
    }

    /// The type of its file system: `ext4`.
    #[must_use]
    pub fn filesystem(&self) -> &str {
        &self.filesystem
    }

    /// Its length in bytes, all of them written.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Unit of the offset and length of direct I/O on it, in bytes; 0 where that is not possible.
    #[must_use]
    pub fn direct_unit(&self) -> &Known<u64> {
        &self.direct
    }

    /// Returns the places of its bytes when it was made.
    ///
    /// # Errors
    /// When its file system does not tell.
    pub fn places(&self) -> Result<&ExtentList, ExtentsError> {
        self.places.as_ref().map_err(Clone::clone)
    }

    /// On which of its places writes can be placed.
    ///
    /// # Errors
    /// When its file system does not tell.
    pub fn usable(&self) -> Result<Usable, ExtentsError> {
        Ok(usable(self.places()?, self.length_bytes))
    }

    /// Returns whether its bytes lie elsewhere than when it was made.
    ///
    /// # Errors
    /// When its file system does not tell.
    pub fn has_moved(&self) -> Result<bool, ExtentsError> {
        let now = extents_of(self.fd(), whole(self.length_bytes), true)?;
        Ok(!same_places(self.places()?, &now))
    }
}

impl Extents for Scratch {
    fn extents(&self, range: ByteRange, sync: bool) -> Result<ExtentList, ExtentsError> {
        extents_of(self.fd(), range, sync)
    }
}

fn whole(length_bytes: u64) -> ByteRange {
    ByteRange::new(0, length_bytes).expect("it starts at 0")
}

/// Turns copy-on-write off, which works on an empty file only.
fn write_in_place(file: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = rustix::fs::ioctl_getflags(file)?;
    if !flags.contains(IFlags::NOCOW) {
        rustix::fs::ioctl_setflags(file, flags | IFlags::NOCOW)?;
    }
    let now = rustix::fs::ioctl_getflags(file)?;
    if now.contains(IFlags::NOCOW) { Ok(()) } else { Err(Errno::OPNOTSUPP) }
}
