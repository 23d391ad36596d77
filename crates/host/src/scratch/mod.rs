//! The one thing that measuring writes: a file without a name, which is gone when its last
//! descriptor is, whatever ends the process.
//!
//! It is written in full with random bytes before anything is measured, so that its blocks exist,
//! and that neither a drive nor a file system can make less of them; where they lie is asked then,
//! and again behind the measurement.
//!
//! | step | what a cut here leaves |
//! |---|---|
//! | length, budget, file system and free space are checked | nothing was written |
//! | `O_TMPFILE` makes the file | nothing |
//! | where there is no `O_TMPFILE`: a name, and its unlink at once | an empty file, perhaps |
//! | its space is taken, it is written and synced | nothing: the kernel frees what has no name |
//!
//! Source: open(2) on `O_TMPFILE`; `Documentation/filesystems/fiemap.rst` of Linux.

mod error;
mod filesystem;
mod name;
mod place;
mod settle;

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use device::{ExtentList, Extents, ExtentsError};
use rustix::fs::{Advice, AtFlags, FallocateFlags, IFlags, Mode, OFlags};
use rustix::io::Errno;
use units::random::Random;
use units::{ByteRange, DiskText, Known, Source};

use crate::engine::{Access, Buffers, EngineError, now_ns, open_measured};
use crate::extents::{extents_of, facts_of};

use self::filesystem::{Filesystem, Unfit};
pub(crate) use self::name::Name;

pub use error::ScratchError;
pub use place::{Unusable, Usable, same_places, usable};

/// How much one call writes.
const CHUNK_BYTES: u32 = 1 << 20;
/// What the file's length is a multiple of.
const PAGE_BYTES: u64 = 4096;
/// Enough of a file system stays free when this does, or a twentieth of it.
const KEEP_BYTES: u64 = 64 << 20;
const KEEP_SHARE: u64 = 20;
/// How many names are tried where a file without one cannot be made.
const NAMES: u64 = 16;

/// What is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchPlan {
    /// How long it is to be: a multiple of 4096.
    pub length_bytes: u64,
    /// What decides its bytes.
    pub seed: u64,
    /// How many bytes may be written at most. A longer file is refused, not made shorter.
    pub budget_bytes: u64,
    /// On btrfs, whether the file is written in place (`chattr +C`), as it must be where writes are
    /// placed. Elsewhere it has no meaning.
    pub nocow_on_btrfs: bool,
    /// Whether a file system that writes elsewhere each time (ZFS, bcachefs, f2fs, nilfs2) will do:
    /// where no write is to be placed.
    pub may_move: bool,
}

/// What memory and offsets of direct I/O on the file must be multiples of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectUnits {
    /// The address in memory, in bytes; 0 where direct I/O is not possible.
    pub memory_bytes: Known<u64>,
    /// The offset and the length, in bytes; 0 as above. From [`Source::Statx`] where the kernel
    /// answers (6.1), else the drive's logical sector, from [`Source::Sysfs`].
    pub offset_bytes: Known<u64>,
}

/// A file without a name, full of random bytes.
#[derive(Debug)]
pub struct Scratch {
    file: OwnedFd,
    /// Where it must have one: see [`Scratch::create_anywhere_while`].
    name: Option<Name>,
    directory: DiskText,
    filesystem: String,
    length_bytes: u64,
    filled_direct: bool,
    direct: DirectUnits,
    places: Result<ExtentList, ExtentsError>,
}

impl Scratch {
    /// A new scratch file in `directory`, written and synced.
    ///
    /// # Errors
    /// When the plan is over its budget, when the directory's file system cannot be measured, when
    /// it has too little room, and when a call fails. Nothing remains.
    pub fn create(directory: &Path, plan: ScratchPlan) -> Result<Scratch, ScratchError> {
        Scratch::create_while(directory, plan, |_| true)
    }

    /// As [`Scratch::create`], as long as `goes_on` says so, which is told every MiB how many bytes
    /// were written.
    ///
    /// # Errors
    /// As [`Scratch::create`]; [`ScratchError::Stopped`] when it is to stop.
    pub fn create_while(
        directory: &Path,
        plan: ScratchPlan,
        goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        Scratch::made(directory, plan, Purpose::Placed, goes_on)
    }

    /// As [`Scratch::create_while`], on any file system on which a file can be made: where it is
    /// asked what the path does as it is, and where bytes lie does not matter.
    ///
    /// On file systems that do not sync a file without a name as others, it has one
    /// ([`Scratch::has_name`]), which a process beside this one removes at the end, whatever that
    /// is. Where that process cannot be started it has none.
    ///
    /// # Errors
    /// As [`Scratch::create_while`], but for what a kind of file system alone decides.
    pub fn create_anywhere_while(
        directory: &Path,
        plan: ScratchPlan,
        goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        Scratch::made(directory, plan, Purpose::Synced, goes_on)
    }

    fn made(
        directory: &Path,
        plan: ScratchPlan,
        purpose: Purpose,
        goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Scratch, ScratchError> {
        let place = DiskText::from_bytes(directory.as_os_str().as_encoded_bytes());
        let refused = |attempted, error: std::io::Error| ScratchError::Refused {
            attempted,
            directory: place.clone(),
            reason: error.to_string(),
        };
        let (opened, filesystem) = looked_at(directory, plan, &place, purpose)?;
        let wants_name = purpose == Purpose::Synced && name::is_needed(&filesystem.name);
        let named = || Name::create(&opened, now_ns()).ok().map(|(file, name)| (file, Some(name)));
        let made = match wants_name.then(named).flatten() {
            Some(made) => Ok(made),
            None => nameless(opened.as_fd()).map(|file| (file, None)),
        };
        let (file, name) = made.map_err(|error| match error {
            Errno::NOSPC | Errno::DQUOT | Errno::ROFS => ScratchError::of(error, "open", &place, 0),
            error => refused("make a file in", error.into()),
        })?;
        if filesystem.name == "btrfs" && plan.nocow_on_btrfs {
            write_in_place(file.as_fd())
                .map_err(|error| refused("turn copy-on-write off in", error.into()))?;
        }
        let direct = direct_units(file.as_fd());
        let filled_direct = fill(file.as_fd(), plan, &place, goes_on)?;
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

    /// Whether such a file could be made, as far as that can be told without making it.
    ///
    /// # Errors
    /// As [`Scratch::create`], but for what only a write meets.
    pub fn possible(directory: &Path, plan: ScratchPlan) -> Result<(), ScratchError> {
        let place = DiskText::from_bytes(directory.as_os_str().as_encoded_bytes());
        looked_at(directory, plan, &place, Purpose::Placed).map(|_| ())
    }

    /// As [`Scratch::possible`], for [`Scratch::create_anywhere_while`].
    ///
    /// # Errors
    /// As there.
    pub fn possible_anywhere(directory: &Path, plan: ScratchPlan) -> Result<(), ScratchError> {
        let place = DiskText::from_bytes(directory.as_os_str().as_encoded_bytes());
        looked_at(directory, plan, &place, Purpose::Synced).map(|_| ())
    }

    /// Whether it has a name meanwhile.
    #[must_use]
    pub fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// Whether its file system does not sync a file without a name as it does others.
    #[must_use]
    pub fn needs_name(&self) -> bool {
        name::is_needed(&self.filesystem)
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

    /// Whether it was written past the page cache.
    #[must_use]
    pub fn was_filled_direct(&self) -> bool {
        self.filled_direct
    }

    /// What direct I/O on it must be aligned to.
    #[must_use]
    pub fn direct_units(&self) -> &DirectUnits {
        &self.direct
    }

    /// Where its bytes lay when it was made.
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

    /// Whether its bytes lie elsewhere than when it was made.
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

/// What a scratch file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Writes are placed in it: its bytes must lie still on a drive.
    Placed,
    /// Writes are synced in it: any file system will do.
    Synced,
}

/// The open directory and its file system, on which a file as in `plan` can be made.
fn looked_at(
    directory: &Path,
    plan: ScratchPlan,
    place: &DiskText,
    purpose: Purpose,
) -> Result<(OwnedFd, Filesystem), ScratchError> {
    let ScratchPlan { length_bytes, budget_bytes, .. } = plan;
    if length_bytes == 0 || length_bytes % PAGE_BYTES != 0 {
        return Err(ScratchError::Length { length_bytes });
    }
    if length_bytes > budget_bytes {
        return Err(ScratchError::Budget { length_bytes, budget_bytes });
    }
    let refused = |attempted, error: std::io::Error| ScratchError::Refused {
        attempted,
        directory: place.clone(),
        reason: error.to_string(),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty())
        .map_err(|error| refused("open the directory", error.into()))?;
    let filesystem = filesystem::of(opened.as_fd())
        .map_err(|error| refused("ask for the file system of", error))?;
    match purpose {
        Purpose::Placed => check(&filesystem, plan, place)?,
        Purpose::Synced => check_room(&filesystem, plan, place)?,
    }
    Ok((opened, filesystem))
}

fn whole(length_bytes: u64) -> ByteRange {
    ByteRange::new(0, length_bytes).expect("it starts at 0")
}

/// Whether a file as in `plan` can be made and measured on `filesystem`.
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

/// Whether there is room for a file as in `plan`, and it can be written.
fn check_room(
    filesystem: &Filesystem,
    plan: ScratchPlan,
    directory: &DiskText,
) -> Result<(), ScratchError> {
    let directory = directory.clone();
    if filesystem.read_only {
        return Err(ScratchError::ReadOnly { directory });
    }
    let free_bytes = filesystem.free_bytes;
    let keep_bytes = filesystem.total_bytes.div_euclid(KEEP_SHARE).min(KEEP_BYTES);
    let length_bytes = plan.length_bytes;
    match free_bytes.checked_sub(length_bytes) {
        Some(left) if left >= keep_bytes => Ok(()),
        // Some file systems do not say how long they are.
        _ if filesystem.total_bytes == 0 => Ok(()),
        _ => Err(ScratchError::Space { directory, length_bytes, free_bytes, keep_bytes }),
    }
}

/// An empty file in `directory`, on which syncs are what they are on others: without a name, or,
/// where its file system asks for one, with a name that goes when the process does.
///
/// # Errors
/// When the file system cannot be asked for, or the file cannot be made so.
pub(crate) fn synced_file(directory: &OwnedFd) -> Result<(OwnedFd, Option<Name>), Errno> {
    let filesystem = filesystem::of(directory.as_fd());
    let filesystem =
        filesystem.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if name::is_needed(&filesystem.name) {
        return Name::create(directory, now_ns()).map(|(file, name)| (file, Some(name)));
    }
    nameless(directory.as_fd()).map(|file| (file, None))
}

/// An empty file in `directory` that has no name.
fn nameless(directory: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    let common = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
    match rustix::fs::openat(directory, c".", common | OFlags::TMPFILE, mode) {
        // What kernels and file systems without O_TMPFILE answer (open(2)).
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
        made => return made,
    }
    for attempt in 0..NAMES {
        let name = format!(".straddle-scratch-{}-{}", std::process::id(), now_ns() ^ attempt);
        match rustix::fs::openat(directory, &*name, common | OFlags::CREATE, mode) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
            Ok(file) => {
                rustix::fs::unlinkat(directory, &*name, AtFlags::empty())?;
                return Ok(file);
            }
        }
    }
    Err(Errno::EXIST)
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

/// What direct I/O must be aligned to: as statx says, or else by the drive's logical sector.
fn direct_units(file: BorrowedFd<'_>) -> DirectUnits {
    let facts = match facts_of(file) {
        Ok(facts) => facts,
        Err(error) => {
            let unknown = Known::no(format!("statx failed: {error}"));
            return DirectUnits { memory_bytes: unknown.clone(), offset_bytes: unknown };
        }
    };
    if facts.direct_offset_bytes.value().is_some() {
        let (memory_bytes, offset_bytes) = (facts.direct_memory_bytes, facts.direct_offset_bytes);
        return DirectUnits { memory_bytes, offset_bytes };
    }
    let sector = match logical_sector(facts.device) {
        Some(bytes) => Known::yes(bytes, Source::Sysfs),
        None => facts.direct_offset_bytes,
    };
    DirectUnits { memory_bytes: sector.clone(), offset_bytes: sector }
}

/// The logical sector of a block device, or of the disk that a partition is on.
fn logical_sector((major, minor): (u32, u32)) -> Option<u64> {
    ["", "../"].into_iter().find_map(|up| {
        let path = format!("/sys/dev/block/{major}:{minor}/{up}queue/logical_block_size");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}

/// Writes all of `file` and syncs it; whether it was written past the page cache.
fn fill(
    file: BorrowedFd<'_>,
    plan: ScratchPlan,
    directory: &DiskText,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<bool, ScratchError> {
    let failed =
        |attempted, at_bytes| move |error| ScratchError::of(error, attempted, directory, at_bytes);
    // Asked for at once it lies in fewer pieces, and too little space is met before the first byte.
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, plan.length_bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
        Err(error) => return Err(failed("fallocate", 0)(error)),
    }
    let mut direct = rustix::fs::fcntl_setfl(file, OFlags::DIRECT).is_ok();
    let mut buffers = Buffers::new(1, CHUNK_BYTES).map_err(|error| ScratchError::Refused {
        attempted: "get memory to fill a file in",
        directory: directory.clone(),
        reason: error.to_string(),
    })?;
    let mut random = Random::new(plan.seed);
    let mut at_bytes = 0;
    while at_bytes < plan.length_bytes {
        if !goes_on(at_bytes) {
            let directory = directory.clone();
            return Err(ScratchError::Stopped { directory, written_bytes: at_bytes });
        }
        let length_bytes = u64::from(CHUNK_BYTES).min(plan.length_bytes - at_bytes);
        let length = usize::try_from(length_bytes).expect("at most a chunk");
        let chunk = &mut buffers.slot(0)[..length];
        crate::engine::fill(chunk, &mut random);
        if let Err((attempted, error)) = write_all(file, chunk, at_bytes) {
            // Some file systems take the flag, and refuse only the first write.
            if !(direct && error == Errno::INVAL && at_bytes == 0) {
                return Err(failed(attempted, at_bytes)(error));
            }
            direct = false;
            rustix::fs::fcntl_setfl(file, OFlags::empty()).map_err(failed("fcntl", 0))?;
            write_all(file, chunk, at_bytes).map_err(|(what, error)| failed(what, 0)(error))?;
        }
        at_bytes += length_bytes;
    }
    rustix::fs::fcntl_setfl(file, OFlags::empty()).map_err(failed("fcntl", at_bytes))?;
    rustix::fs::fsync(file).map_err(failed("fsync", 0))?;
    if !direct {
        // It is a courtesy to the page cache; what fails here harms nothing.
        let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    }
    Ok(direct)
}

/// Writes all of `bytes`, by several calls where one writes less.
fn write_all(
    file: BorrowedFd<'_>,
    mut bytes: &[u8],
    mut at_bytes: u64,
) -> Result<(), (&'static str, Errno)> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, at_bytes) {
            Ok(0) => return Err(("pwrite, which wrote nothing,", Errno::IO)),
            Ok(count) => {
                bytes = &bytes[count..];
                at_bytes += u64::try_from(count).expect("at most a chunk");
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(("pwrite", error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: ScratchPlan = ScratchPlan {
        length_bytes: 64 << 20,
        seed: 1,
        budget_bytes: 256 << 20,
        nocow_on_btrfs: true,
        may_move: false,
    };

    fn checked(filesystem: &Filesystem, plan: ScratchPlan) -> Result<(), ScratchError> {
        check(filesystem, plan, &DiskText::from_bytes(b"/data"))
    }

    fn fine() -> Filesystem {
        let (total_bytes, free_bytes) = (100 << 30, 10 << 30);
        Filesystem { name: "ext4".to_owned(), total_bytes, free_bytes, ..Filesystem::default() }
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_a_hint() {
        assert_eq!(checked(&fine(), PLAN), Ok(()));
        for unfit in [Unfit::Memory, Unfit::Network, Unfit::Userspace, Unfit::Stacked] {
            let error = checked(&Filesystem { unfit: Some(unfit), ..fine() }, PLAN).unwrap_err();
            assert!(error.to_string().starts_with("/data is on ext4"), "{error}");
            assert!(error.hint().is_some());
        }
        let zfs = Filesystem { unfit: Some(Unfit::Moving), ..fine() };
        assert!(matches!(checked(&zfs, PLAN), Err(ScratchError::Moving { .. })));
        assert_eq!(checked(&zfs, ScratchPlan { may_move: true, ..PLAN }), Ok(()));
        let closed = Filesystem { encrypted: true, ..fine() };
        assert!(matches!(checked(&closed, PLAN), Err(ScratchError::Encrypted { .. })));
        let small = Filesystem { compressed: Some("x".to_owned()), ..fine() };
        assert!(matches!(checked(&small, PLAN), Err(ScratchError::Compressed { .. })));
        let fixed = Filesystem { read_only: true, ..fine() };
        assert!(matches!(checked(&fixed, PLAN), Err(ScratchError::ReadOnly { .. })));
    }

    #[test]
    fn a_twentieth_or_64_mib_stay_free() {
        let room = |total_bytes, free_bytes| {
            let filesystem = Filesystem { total_bytes, free_bytes, ..fine() };
            checked(&filesystem, PLAN).is_ok()
        };
        assert!(room(100 << 30, 128 << 20));
        assert!(!room(100 << 30, (128 << 20) - 1));
        assert!(room(100 << 20, 69 << 20));
        assert!(!room(100 << 20, (69 << 20) - 1));
        assert!(!room(100 << 20, 1 << 20));
    }

    #[test]
    fn a_length_over_the_budget_or_not_of_pages_is_refused_before_anything_is_opened() {
        let nowhere = Path::new("/nonexistent");
        let over = ScratchPlan { budget_bytes: (64 << 20) - 1, ..PLAN };
        let error = Scratch::create(nowhere, over).unwrap_err();
        assert!(matches!(error, ScratchError::Budget { .. }), "{error}");
        for length_bytes in [0, 4095, 4097] {
            let error = Scratch::create(nowhere, ScratchPlan { length_bytes, ..PLAN }).unwrap_err();
            assert!(matches!(error, ScratchError::Length { .. }), "{error}");
        }
        let error = Scratch::create(nowhere, PLAN).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot open the directory /nonexistent: No such file or directory (os error 2)"
        );
    }
}
