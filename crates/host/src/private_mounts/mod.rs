//! Mounts that nobody else sees and that are gone when the process is, also by SIGKILL.
//!
//! A mount namespace of its own lives as long as what runs in it; its mounts go with it. So do the
//! directories that they are mounted on, which lie on a tmpfs that exists in there only: no file
//! system of the machine gets so much as a directory.
//!
//! A file system on a drive that this same process serves must go after the drive's connection,
//! else the kernel would wait for answers of a process that is no more. So the process holds its
//! namespace as an open file too: of a process that ends, the kernel leaves namespaces first, but
//! finishes closing files later, all of them before the mounts that go with one of them.
//!
//! Mounts and unmounts of the machine still arrive (`MS_SLAVE`, not `MS_PRIVATE`): else a disk that
//! is unmounted outside would be held in here. Nothing goes the other way.
//!
//! Source: mount_namespaces(7), unshare(2), mount(2), umount(2), Linux `fs/namespace.c`,
//! `kernel/exit.c` (`do_exit`), `kernel/task_work.c`.

mod holders;
mod options;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, mount_remount, unmount,
};
use rustix::thread::UnshareFlags;
use thiserror::Error;

use self::holders::Holder;
use crate::errno::text_of;

/// Directories for the tmpfs: it is mounted on the first of them that is empty, and so hides
/// nothing. The first three are for people, and so are not in the way of paths that a program
/// knows; those of sysfs are there for one file system each, and empty while that is not mounted.
const PLACES: [&str; 6] = [
    "/mnt",
    "/media",
    "/srv",
    "/sys/fs/fuse/connections",
    "/sys/kernel/config",
    "/sys/kernel/debug",
];
/// Source: Linux `include/uapi/linux/magic.h`.
const AUTOFS_SUPER_MAGIC: rustix::fs::FsWord = 0x0187;

/// Why something could not be mounted or unmounted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MountError {
    /// Only root may mount.
    #[error("cannot make a mount namespace: only root may (effective user {user})")]
    NeedsRoot {
        /// Number of the user who asks.
        user: u32,
    },
    /// The kernel, a container or a security policy forbids it.
    #[error("cannot make a mount namespace: {attempted}: {reason}")]
    NoNamespace {
        /// The call that failed.
        attempted: &'static str,
        /// The kernel's error text.
        reason: String,
    },
    /// Every directory that is tried holds something.
    #[error("cannot find an empty directory to mount on: tried {}", PLACES.join(", "))]
    NoPlace,
    /// The directory to mount on could not be made on the tmpfs.
    #[error("cannot make {}: {reason}", .path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
        /// The kernel's error text.
        reason: String,
    },
    /// The file system could not be mounted.
    #[error("cannot mount {} as {file_system}: {reason}", .device.display())]
    Refused {
        /// The device.
        device: PathBuf,
        /// The type that was asked for.
        file_system: String,
        /// The kernel's error text.
        reason: String,
        /// Advice; empty when there is none.
        hint: &'static str,
    },
    /// Somebody still uses it.
    #[error("cannot unmount {}: {}", .path.display(), holders::list(.holders))]
    Busy {
        /// Its mount point.
        path: PathBuf,
        /// Its users, as far as they could be found out.
        holders: Vec<Holder>,
    },
    /// Cached bytes could not be written out: the drive failed, or is full.
    #[error("cannot write out {}, so what was written there is lost: {reason}", .path.display())]
    Lost {
        /// Its mount point.
        path: PathBuf,
        /// The kernel's error text.
        reason: String,
    },
    /// The kernel would not unmount it.
    #[error("cannot unmount {}: {reason}", .path.display())]
    Stays {
        /// Its mount point.
        path: PathBuf,
        /// The kernel's error text.
        reason: String,
    },
}

impl MountError {
    /// Advice, in lower case and without a full stop; `None` when there is none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            MountError::NeedsRoot { .. } => Some("try sudo"),
            MountError::NoNamespace { .. } => {
                Some("a container needs CAP_SYS_ADMIN for it: try on the host")
            }
            MountError::NoPlace => Some("empty /mnt, or make an empty /srv"),
            MountError::Refused { hint, .. } => Some(*hint).filter(|hint| !hint.is_empty()),
            MountError::Busy { .. } => {
                Some("let the command wait for what it starts, and leave the directory")
            }
            MountError::Lost { .. } => Some("dmesg tells what the drive said"),
            MountError::NoDirectory { .. } | MountError::Stays { .. } => None,
        }
    }
}

/// A file system to be mounted.
#[derive(Clone, Copy, Debug)]
pub struct MountPlan<'a> {
    /// The block device.
    pub device: &'a Path,
    /// The file system's name in `/proc/filesystems`.
    pub file_system: &'a str,
    /// Options of mount(8) after `-o`, with commas; empty for none.
    pub options: &'a str,
}

/// A mount namespace of this thread, and of every thread and process that it starts from now on.
///
/// Threads that run already stay outside: a process enters before it starts others. The value
/// cannot be sent to another thread, where it would mount in the wrong namespace.
#[derive(Debug)]
pub struct PrivateMounts {
    place: PathBuf,
    /// The namespace, so that it ends with the files of a killed process and not before them.
    _namespace: File,
    _thread: PhantomData<*const ()>,
}

impl PrivateMounts {
    /// Enters a new mount namespace, for good.
    ///
    /// # Errors
    /// When the process may not, or no place is found to mount on.
    pub fn enter() -> Result<PrivateMounts, MountError> {
        if !crate::is_root() {
            return Err(MountError::NeedsRoot { user: rustix::process::geteuid().as_raw() });
        }
        let failed = |attempted| {
            move |error: Errno| MountError::NoNamespace { attempted, reason: text_of(error) }
        };
        separate().map_err(failed("unshare"))?;
        let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
        mount_change("/", downstream).map_err(failed("keeping mounts to itself"))?;
        let place = PLACES.into_iter().map(Path::new).find(|place| hides_nothing(place));
        let place = place.ok_or(MountError::NoPlace)?;
        let options = c"size=1m,nr_inodes=4k,mode=0755";
        mount("straddle", place, "tmpfs", MountFlags::RDONLY | guarded(), options)
            .map_err(failed("mounting a tmpfs"))?;
        mount_change(place, MountPropagationFlags::PRIVATE).map_err(failed("closing the tmpfs"))?;
        let namespace = File::open("/proc/thread-self/ns/mnt").map_err(|error| {
            let reason = error.to_string();
            MountError::NoNamespace { attempted: "opening /proc/thread-self/ns/mnt", reason }
        })?;
        Ok(PrivateMounts { place: place.to_owned(), _namespace: namespace, _thread: PhantomData })
    }

    /// The directory below which it mounts.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Mounts a file system on a new directory.
    ///
    /// # Errors
    /// When the kernel does not want to.
    pub fn mount(&self, plan: MountPlan<'_>) -> Result<Mounted<'_>, MountError> {
        let path = self.directory()?;
        let refused = |error| MountError::Refused {
            device: plan.device.to_owned(),
            file_system: plan.file_system.to_owned(),
            reason: text_of(error),
            hint: hint(error),
        };
        let (flags, data) = options::split(plan.options);
        let data = CString::new(data).map_err(|_| refused(Errno::INVAL))?;
        let begun = Instant::now();
        let mounted = mount(plan.device, &path, plan.file_system, flags | guarded(), &*data);
        let took = begun.elapsed();
        if let Err(error) = mounted {
            self.forget(&path);
            return Err(refused(error));
        }
        let device = std::fs::metadata(&path).map(|data| data.dev()).ok();
        Ok(Mounted { mounts: self, path, device, took, there: true })
    }

    /// A new directory on the tmpfs, which can be written to only here: what a command writes
    /// beside its mount fails, rather than being lost.
    fn directory(&self) -> Result<PathBuf, MountError> {
        let paths = (0_u32..).map(|number| self.place.join(number.to_string()));
        let mut result = Err(MountError::NoPlace);
        self.writable(|| {
            for path in paths {
                result = match std::fs::create_dir(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => Err(MountError::NoDirectory { path, reason: error.to_string() }),
                    Ok(()) => Ok(path),
                };
                break;
            }
        });
        result
    }

    fn forget(&self, path: &Path) {
        self.writable(|| {
            // An empty directory in memory that stays does no harm.
            let _ = std::fs::remove_dir(path);
        });
    }

    /// Makes the tmpfs writable for `action`, which meets the error where that fails.
    fn writable(&self, action: impl FnOnce()) {
        let _ = mount_remount(&self.place, guarded(), c"");
        action();
        let _ = mount_remount(&self.place, guarded() | MountFlags::RDONLY, c"");
    }
}

/// A file system that is mounted. Dropped before it was unmounted, it is taken out of sight, and
/// ends with its last user.
#[derive(Debug)]
pub struct Mounted<'a> {
    mounts: &'a PrivateMounts,
    path: PathBuf,
    /// Device of its files, by stat(2).
    device: Option<u64>,
    took: Duration,
    there: bool,
}

impl Mounted<'_> {
    /// Returns its mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how long mounting took.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Unmounts it; how long that took. What was cached is written out within that time.
    ///
    /// # Errors
    /// [`MountError::Lost`] when that failed; [`MountError::Busy`] with who uses it, after which it
    /// can be tried again; [`MountError::Stays`] when the kernel says otherwise no.
    pub fn unmount(&mut self) -> Result<Duration, MountError> {
        let begun = Instant::now();
        // An unmount writes out as well, and says nothing of what it could not.
        self.written_out().map_err(|error| {
            let path = self.path.clone();
            MountError::Lost { path, reason: text_of(error) }
        })?;
        let done = unmount(&self.path, UnmountFlags::NOFOLLOW);
        let took = begun.elapsed();
        match done {
            Ok(()) => {
                self.there = false;
                self.mounts.forget(&self.path);
                Ok(took)
            }
            Err(Errno::BUSY) => {
                let holders = holders::of(&self.path, self.device);
                Err(MountError::Busy { path: self.path.clone(), holders })
            }
            Err(error) => {
                Err(MountError::Stays { path: self.path.clone(), reason: text_of(error) })
            }
        }
    }

    /// Writes out what is cached. An error that nobody was told before is told here too: syncfs(2),
    /// since Linux 5.8.
    fn written_out(&self) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::syncfs(rustix::fs::open(&self.path, flags, Mode::empty())?)
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        if self.there {
            // Who wants to know calls `unmount`.
            let _ = unmount(&self.path, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH);
            self.mounts.forget(&self.path);
        }
    }
}

#[expect(unsafe_code, reason = "rustix fears for other threads' file descriptors")]
fn separate() -> Result<(), Errno> {
    // SAFETY: what is unsafe about unshare(2) is CLONE_FILES, after which a descriptor that another
    // thread holds may be closed here unnoticed. CLONE_NEWNS leaves descriptors as they are.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
}

/// Flags by which a mount grants nobody rights, and opens no device by a node that a disk holds.
fn guarded() -> MountFlags {
    MountFlags::NOSUID | MountFlags::NODEV
}

/// Returns whether `place` is an empty directory, and not one that somebody else fills when it is
/// looked into.
fn hides_nothing(place: &Path) -> bool {
    let real = std::fs::symlink_metadata(place).is_ok_and(|data| data.is_dir());
    let fills = || rustix::fs::statfs(place).is_ok_and(|stat| stat.f_type == AUTOFS_SUPER_MAGIC);
    real && !fills() && std::fs::read_dir(place).is_ok_and(|mut names| names.next().is_none())
}

fn hint(error: Errno) -> &'static str {
    match error {
        Errno::NODEV => {
            "this kernel lacks the file system: look in /proc/filesystems, or modprobe it"
        }
        Errno::INVAL => "dmesg tells what the file system finds wrong: its superblock or an option",
        Errno::NOTBLK => "a block device is needed",
        Errno::BUSY => "the device is in use already",
        Errno::ACCESS | Errno::ROFS => "the device is read-only: add the option ro",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
