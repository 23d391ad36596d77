//! A served drive as a file of FUSE, for who may not make block devices, and under a loop device.
//!
//! The directory holds `disk` and `counts.json`. Requests that are not whole sectors, as a page
//! cache never sends but programs may, cost the drive the sectors that they touch.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use drive::CommandKind;
use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    Session, SessionACL, TimeOrNow, WriteFlags,
};

use crate::{ServeFault, ServedDrive};

/// Name of the file that is the drive.
pub const DISK_NAME: &str = "disk";
/// Name of the file with the counts.
pub const COUNTS_NAME: &str = "counts.json";

const DISK: INodeNo = INodeNo(2);
const COUNTS: INodeNo = INodeNo(3);
/// Attributes never change.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// Longest request, which is the most that the kernel allows by default.
const REQUEST_BYTES_MAX: u32 = 1 << 20;
/// Requests in flight: the kernel's default is 12, below what drives queue.
const BACKGROUND_MAX: u16 = 256;
const THREADS: usize = 4;
const O_DIRECT: i32 = 0o40000;
const PUNCH_HOLE: i32 = 2;
const KEEP_SIZE: i32 = 1;
const ZERO_RANGE: i32 = 16;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A function that gives the text of the counts.
pub type CountsText = Box<dyn Fn() -> Vec<u8> + Send + Sync>;

/// A drive as a file.
pub struct DriveFile {
    drive: Arc<ServedDrive>,
    counts: CountsText,
    owner: (u32, u32),
    opened: Mutex<HashMap<u64, Arc<[u8]>>>,
    next: AtomicU64,
    begun: SystemTime,
}

impl fmt::Debug for DriveFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DriveFile").field("drive", &self.drive).finish_non_exhaustive()
    }
}

impl DriveFile {
    /// `drive` as a file that belongs to the user and group `owner`, beside one with `counts`.
    #[must_use]
    pub fn new(drive: Arc<ServedDrive>, counts: CountsText, owner: (u32, u32)) -> DriveFile {
        DriveFile {
            drive,
            counts,
            owner,
            opened: Mutex::default(),
            next: AtomicU64::new(1),
            begun: SystemTime::now(),
        }
    }

    /// Mounts it on the directory `point`, by the setuid helper where this process may not.
    ///
    /// # Errors
    /// When it cannot be mounted.
    pub fn mounted(self, point: &Path) -> io::Result<Session<DriveFile>> {
        let mut config = config();
        config.mount_options = vec![
            MountOption::FSName("straddle".to_owned()),
            MountOption::Subtype("straddle".to_owned()),
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::NoExec,
        ];
        Session::new(self, point, &config)
    }

    /// Answers the connection `fd`, which belongs to a mount that exists already.
    ///
    /// # Errors
    /// When the kernel does not greet.
    pub fn attached(self, fd: OwnedFd) -> io::Result<Session<DriveFile>> {
        Session::from_fd(self, fd, SessionACL::Owner, config())
    }

    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (size, kind, perm) = match node {
            INodeNo::ROOT => (0, FileType::Directory, 0o500),
            DISK => (self.drive.capacity_bytes(), FileType::RegularFile, 0o600),
            COUNTS => (0, FileType::RegularFile, 0o400),
            _ => return None,
        };
        let held = self.drive.store().memory_bytes().filter(|_| node == DISK);
        Some(FileAttr {
            ino: node,
            size,
            blocks: held.unwrap_or(size) / 512,
            atime: self.begun,
            mtime: self.begun,
            ctime: self.begun,
            crtime: self.begun,
            kind,
            perm,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: u32::try_from(self.drive.physical_bytes()).unwrap_or(4096).max(4096),
            flags: 0,
        })
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<u64, Arc<[u8]>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whole sectors around a range.
    fn widened(&self, offset: u64, length: u64) -> (u64, u64) {
        let sector = self.drive.logical_bytes();
        let start = offset - offset % sector;
        let end = offset.saturating_add(length).next_multiple_of(sector);
        (start, end - start)
    }

    /// Refuses what does not lie on the drive.
    fn check(&self, offset: u64, length: u64) -> Result<(), ServeFault> {
        let end = offset.checked_add(length).filter(|end| *end <= self.drive.capacity_bytes());
        if end.is_none() {
            self.drive.count_refused();
            return Err(ServeFault::Bounds);
        }
        Ok(())
    }

    fn forgotten(&self, offset: u64, length: u64, mode: i32) -> Result<(u64, u64), Errno> {
        self.check(offset, length).map_err(number)?;
        let zeros = mode & !KEEP_SIZE == ZERO_RANGE || mode == PUNCH_HOLE | KEEP_SIZE;
        if !zeros || !self.drive.takes_discards() {
            return Err(Errno::EOPNOTSUPP);
        }
        self.drive.store().discard(offset, length).map_err(number)?;
        // The drive forgets whole sectors only.
        let sector = self.drive.logical_bytes();
        let start = offset.next_multiple_of(sector);
        let end = offset + length - (offset + length) % sector;
        Ok((start, end.saturating_sub(start)))
    }
}

fn config() -> Config {
    let mut config = Config::default();
    config.n_threads = Some(THREADS);
    config.clone_fd = true;
    config
}

fn number(fault: ServeFault) -> Errno {
    Errno::from_i32(fault.errno())
}

impl Filesystem for DriveFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Older kernels have less, and work without.
        let _ = config.set_max_write(REQUEST_BYTES_MAX);
        let _ = config.set_max_background(BACKGROUND_MAX);
        let _ = config.set_congestion_threshold(BACKGROUND_MAX);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let node = match name.to_str() {
            _ if parent != INodeNo::ROOT => None,
            Some(DISK_NAME) => Some(DISK),
            Some(COUNTS_NAME) => Some(COUNTS),
            _ => None,
        };
        match node.and_then(|node| self.attributes(node)) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&Duration::from_secs(1), &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Changes nothing, as a block device does when it is truncated.
    fn setattr(
        &self,
        request: &Request,
        node: INodeNo,
        _mode: Option<u32>,
        _user: Option<u32>,
        _group: Option<u32>,
        _size: Option<u64>,
        _accessed: Option<TimeOrNow>,
        _modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _touched: Option<SystemTime>,
        _backed_up: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.getattr(request, node, handle, reply);
    }

    fn open(&self, _: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if node == DISK {
            let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
            let is_direct = flags.0 & O_DIRECT != 0;
            let flags = if is_direct { direct } else { FopenFlags::empty() };
            return reply.opened(FileHandle(0), flags | FopenFlags::FOPEN_NOFLUSH);
        }
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        self.opened().insert(handle, (self.counts)().into());
        reply.opened(FileHandle(handle), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn release(
        &self,
        _: &Request,
        _node: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.opened().remove(&handle.0);
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if node == COUNTS {
            let text = self.opened().get(&handle.0).cloned().unwrap_or_default();
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
            let end = start.saturating_add(size as usize).min(text.len());
            return reply.data(&text[start..end]);
        }
        let left = self.drive.capacity_bytes().saturating_sub(offset);
        let length = left.min(size.min(REQUEST_BYTES_MAX).into());
        if length == 0 {
            return reply.data(&[]);
        }
        let (start, whole) = self.widened(offset, length);
        let drive = Arc::clone(&self.drive);
        self.drive.submit(CommandKind::Read, start, whole, move |done| {
            BUFFER.with_borrow_mut(|buffer| {
                buffer.resize(usize::try_from(length).unwrap_or(0), 0);
                match done.and_then(|()| drive.store().read(offset, buffer)) {
                    Ok(()) => reply.data(buffer),
                    Err(fault) => reply.error(number(fault)),
                }
            });
        });
    }

    fn write(
        &self,
        _: &Request,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if node != DISK {
            return reply.error(Errno::EACCES);
        }
        let length = data.len() as u64;
        let stored =
            self.check(offset, length).and_then(|()| self.drive.store().write(offset, data));
        if let Err(fault) = stored {
            return reply.error(number(fault));
        }
        let (start, whole) = self.widened(offset, length);
        let written = u32::try_from(length).unwrap_or(0);
        let write = CommandKind::Write { fua: false };
        self.drive.submit(write, start, whole, move |done| match done {
            Ok(()) => reply.written(written),
            Err(fault) => reply.error(number(fault)),
        });
    }

    /// The last close of a file says nothing to a drive.
    fn flush(
        &self,
        _: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsync(
        &self,
        _: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        _data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.drive.submit(CommandKind::Flush, 0, 0, move |done| match done {
            Ok(()) => reply.ok(),
            Err(fault) => reply.error(number(fault)),
        });
    }

    fn fallocate(
        &self,
        _: &Request,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if node != DISK {
            return reply.error(Errno::EACCES);
        }
        // Room is promised, as on any disk.
        if mode & !KEEP_SIZE == 0 {
            return match self.check(offset, length) {
                Ok(()) => reply.ok(),
                Err(fault) => reply.error(number(fault)),
            };
        }
        match self.forgotten(offset, length, mode) {
            Err(errno) => reply.error(errno),
            Ok((_, 0)) => reply.ok(),
            Ok((start, whole)) => {
                self.drive.submit(CommandKind::Discard, start, whole, move |done| match done {
                    Ok(()) => reply.ok(),
                    Err(fault) => reply.error(number(fault)),
                });
            }
        }
    }

    fn readdir(
        &self,
        _: &Request,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if node != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DISK, FileType::RegularFile, DISK_NAME),
            (COUNTS, FileType::RegularFile, COUNTS_NAME),
        ];
        for (place, (node, kind, name)) in (1..).zip(entries) {
            if place > offset && reply.add(node, place, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _node: INodeNo, reply: ReplyStatfs) {
        let blocks = self.drive.capacity_bytes() / 4096;
        reply.statfs(blocks, 0, 0, 2, 0, 4096, 255, 4096);
    }
}
