//! A file of FUSE that passes everything through to a file in memory, and does nothing else: the
//! peer of a served drive.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, Request, Session, WriteFlags,
};

const DISK: INodeNo = INodeNo(2);
const BYTES: u64 = 256 << 20;
const REQUEST_BYTES_MAX: u32 = 1 << 20;
const REQUESTS_MAX: u16 = 256;
const FOREVER: Duration = Duration::from_secs(3600);

struct Passthrough(File);

/// Serves it on the directory `point`, with as many threads as a served drive has, until it is
/// unmounted or a signal comes. Always `true`.
///
/// # Errors
/// When it cannot be mounted.
pub(crate) fn run(point: &Path) -> anyhow::Result<bool> {
    let file = tempfile::tempfile_in("/dev/shm").context("cannot make a file in /dev/shm")?;
    file.set_len(BYTES)?;
    let interrupt = host::Interrupt::install()?;
    let mut config = Config::default();
    config.n_threads = Some(4);
    config.clone_fd = true;
    let session = Session::new(Passthrough(file), point, &config)?.spawn()?;
    while !interrupt.is_raised() {
        std::thread::sleep(Duration::from_millis(50));
    }
    session.umount_and_join()?;
    Ok(true)
}

fn attributes(node: INodeNo) -> FileAttr {
    let now = SystemTime::UNIX_EPOCH;
    let is_disk = node == DISK;
    FileAttr {
        ino: node,
        size: if is_disk { BYTES } else { 0 },
        blocks: 0,
        atime: now,
        mtime: now,
        ctime: now,
        crtime: now,
        kind: if is_disk { FileType::RegularFile } else { FileType::Directory },
        perm: 0o700,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

impl Filesystem for Passthrough {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // As a served drive asks.
        let _ = config.set_max_write(REQUEST_BYTES_MAX);
        let _ = config.set_max_background(REQUESTS_MAX);
        let _ = config.set_congestion_threshold(REQUESTS_MAX);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == "disk" {
            reply.entry(&FOREVER, &attributes(DISK), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &attributes(node));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut data = vec![0; size as usize];
        match self.0.read_at(&mut data, offset) {
            Ok(length) => reply.data(&data[..length]),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.0.write_all_at(data, offset) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(0)),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}
