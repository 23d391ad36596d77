//! A file system in user space: one file, whose writes fail from a moment on, and of which can be
//! told what is asked of it. The server is a thread of whoever mounts it. Source: Linux
//! `include/uapi/linux/fuse.h`, protocol 7.31.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{FallocateFlags, fallocate};

use crate::scratch::text;
use crate::tool;

/// The name of its one file.
const NAME: &[u8] = b"disk";
const DIRECTORY: u64 = 1;
const FILE: u64 = 2;
const HEAD_BYTES: usize = 40;
const REQUEST_BYTES: usize = (1 << 20) + 4096;
const ENOENT: i32 = 2;
const EIO: i32 = 5;
const ENOSYS: i32 = 38;
const EOPNOTSUPP: i32 = 95;
/// Largest request, in pages: the kernel allows no more.
const PAGES_MAX: u32 = 256;
const IO_BYTES_MAX: u32 = 1 << 20;
/// `FUSE_MAX_PAGES`.
const SETS_PAGES: u32 = 1 << 22;
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// A request to the file.
#[derive(Debug)]
pub enum FuseRequest<'a> {
    /// To read.
    Read {
        /// From which byte.
        offset_bytes: u64,
        /// Its length in bytes.
        length_bytes: u64,
    },
    /// To write.
    Write {
        /// From which byte.
        offset_bytes: u64,
        /// What.
        data: &'a [u8],
    },
    /// To put all that was written where it lasts.
    Sync,
    /// To forget bytes: a hole is punched.
    Discard {
        /// From which byte.
        offset_bytes: u64,
        /// Its length in bytes.
        length_bytes: u64,
    },
}

/// A closure that is called with every request to the file, in the order in which they are done.
pub type FuseWatch = Box<dyn FnMut(FuseRequest<'_>) + Send>;

/// The behavior of a file beside keeping bytes.
pub struct FuseBehavior {
    /// Receiver of all requests.
    pub watch: FuseWatch,
    /// True if it takes discards; where it does not, a loop device over it writes the zeros that
    /// others get by punching holes.
    pub discards: bool,
}

/// A mounted one, gone when dropped.
#[derive(Debug)]
pub struct Fuse {
    point: PathBuf,
    failing: Arc<AtomicBool>,
    writes: Arc<AtomicU64>,
    server: Option<JoinHandle<()>>,
}

impl Fuse {
    /// One whose file holds the bytes of `back`; `None` where this machine has no such thing.
    ///
    /// # Panics
    /// When `back` cannot be opened, or `point` cannot be made.
    #[must_use]
    pub fn over(back: &Path, point: &Path) -> Option<Fuse> {
        let back = File::options().read(true).write(true).open(back).expect("the file is there");
        let watched = FuseBehavior { watch: Box::new(|_| ()), discards: false };
        Fuse::watched(back, point, watched)
    }

    /// One whose file is `back`, which `watched` is told of; `None` where this machine has no such
    /// thing. Zeros that are written become holes.
    ///
    /// # Panics
    /// When `point` cannot be made.
    #[must_use]
    pub fn watched(back: File, point: &Path, watched: FuseBehavior) -> Option<Fuse> {
        let device = File::options().read(true).write(true).open("/dev/fuse").ok()?;
        std::fs::create_dir_all(point).expect("a mount point can be made");
        let (failing, writes) = (Arc::default(), Arc::default());
        let served = Served {
            device: device.try_clone().expect("a descriptor can be cloned"),
            back,
            watched,
            failing: Arc::clone(&failing),
            writes: Arc::clone(&writes),
        };
        // The descriptor that is mounted is mount's standard input.
        let options = "fd=0,rootmode=40000,user_id=0,group_id=0,allow_other";
        let mut mount = Command::new(tool::find("mount")?);
        mount.args(["-i", "-t", "fuse", "-o", options, "straddle", text(point)]);
        let mounted = mount.stdin(Stdio::from(device)).stderr(Stdio::null()).status();
        if !mounted.is_ok_and(|status| status.success()) {
            return None;
        }
        let server = Some(std::thread::spawn(move || served.serve()));
        Some(Fuse { point: point.to_owned(), failing, writes, server })
    }

    /// The directory where it is mounted. A file that is made there is its one file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// Its file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.point.join("disk")
    }

    /// From now on every write fails.
    pub fn fail(&self) {
        self.failing.store(true, Ordering::SeqCst);
    }

    /// Returns how many writes came.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        let _ = tool::output("umount", &["--lazy", text(&self.point)]);
        // The device ends the server's reading when it is unmounted.
        let _ = self.server.take().map(JoinHandle::join);
    }
}

struct Served {
    device: File,
    back: File,
    watched: FuseBehavior,
    failing: Arc<AtomicBool>,
    writes: Arc<AtomicU64>,
}

/// A request, after its head.
struct RawRequest<'a> {
    kind: u32,
    node: u64,
    body: &'a [u8],
}

impl Served {
    /// Answers requests until it is unmounted.
    fn serve(mut self) {
        let mut bytes = vec![0; REQUEST_BYTES];
        loop {
            let length = match (&self.device).read(&mut bytes) {
                Ok(length) if length >= HEAD_BYTES => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                _ => return,
            };
            let (head, body) = bytes[..length].split_at(HEAD_BYTES);
            let request = RawRequest { kind: word(head, 4), node: long(head, 16), body };
            let Some(answer) = self.answer(&request) else { continue };
            let (error, data) = answer.map_or_else(|error| (-error, Vec::new()), |data| (0, data));
            let whole = u32::try_from(16 + data.len()).expect("answers are short");
            let head = [&whole.to_le_bytes()[..], &error.to_le_bytes(), &head[8..16]];
            // A request that was given up meanwhile takes no answer.
            let _ = (&self.device).write(&[&head.concat()[..], &data].concat());
        }
    }

    /// Returns the answer: bytes or an error; `None` where there is none.
    fn answer(&mut self, request: &RawRequest<'_>) -> Option<Result<Vec<u8>, i32>> {
        let node = request.node;
        Some(match request.kind {
            // FUSE_LOOKUP
            1 if request.body.strip_suffix(&[0]) == Some(NAME) => {
                let entry = [FILE, 1, 3600, 3600, 0].map(u64::to_le_bytes).concat();
                Ok([entry, self.attributes(FILE)].concat())
            }
            1 => Err(ENOENT),
            // FUSE_FORGET, FUSE_BATCH_FORGET
            2 | 42 => return None,
            // FUSE_GETATTR, FUSE_SETATTR
            3 | 4 => Ok([3600, 0].map(u64::to_le_bytes).concat())
                .map(|valid| [valid, self.attributes(node)].concat()),
            // FUSE_UNLINK: a name that was made leads to the one file, and goes again.
            10 => Ok(Vec::new()),
            // FUSE_CREATE
            35 => {
                let entry = [FILE, 1, 3600, 3600, 0].map(u64::to_le_bytes).concat();
                let opened = [2, 0].map(u64::to_le_bytes).concat();
                Ok([entry, self.attributes(FILE), opened].concat())
            }
            // FUSE_OPEN, FUSE_OPENDIR
            14 | 27 => Ok([1, 0].map(u64::to_le_bytes).concat()),
            // FUSE_READ
            15 => {
                let (offset_bytes, length) = (long(request.body, 8), word(request.body, 16));
                (self.watched.watch)(FuseRequest::Read {
                    offset_bytes,
                    length_bytes: length.into(),
                });
                let mut data = vec![0; usize::try_from(length).expect("it fits")];
                let read = self.back.read_at(&mut data, offset_bytes);
                read.map(|read| data[..read].to_vec()).map_err(|_| EIO)
            }
            // FUSE_WRITE
            16 => self.write(request.body),
            // FUSE_STATFS
            17 => {
                let longs = [1 << 20, 1 << 20, 1 << 20, 9, 9].map(u64::to_le_bytes).concat();
                let words = [4096, 255, 4096, 0].map(u32::to_le_bytes).concat();
                Ok([longs, words, vec![0; 24]].concat())
            }
            // FUSE_FSYNC
            20 => {
                (self.watched.watch)(FuseRequest::Sync);
                Ok(Vec::new())
            }
            // FUSE_RELEASE, FUSE_FLUSH, FUSE_RELEASEDIR
            18 | 25 | 29 => Ok(Vec::new()),
            // FUSE_INIT
            26 => {
                let words = [7, 31, 1 << 17, SETS_PAGES, 0, IO_BYTES_MAX, 1, PAGES_MAX];
                Ok([words.map(u32::to_le_bytes).concat(), vec![0; 32]].concat())
            }
            // FUSE_FALLOCATE
            43 if self.watched.discards => self.punch(request.body),
            _ => Err(ENOSYS),
        })
    }

    fn write(&mut self, body: &[u8]) -> Result<Vec<u8>, i32> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        if self.failing.load(Ordering::SeqCst) {
            return Err(EIO);
        }
        let length = word(body, 16);
        let data = &body[40..40 + usize::try_from(length).expect("it fits")];
        let offset_bytes = long(body, 8);
        (self.watched.watch)(FuseRequest::Write { offset_bytes, data });
        if !(is_zero(data) && self.hole(offset_bytes, length.into())) {
            self.back.write_all_at(data, offset_bytes).map_err(|_| EIO)?;
        }
        Ok([length, 0].map(u32::to_le_bytes).concat())
    }

    /// `FALLOC_FL_PUNCH_HOLE` with `FALLOC_FL_KEEP_SIZE`, and nothing else.
    fn punch(&mut self, body: &[u8]) -> Result<Vec<u8>, i32> {
        let (offset_bytes, length_bytes) = (long(body, 8), long(body, 16));
        if word(body, 24) != 3 {
            return Err(EOPNOTSUPP);
        }
        (self.watched.watch)(FuseRequest::Discard { offset_bytes, length_bytes });
        if self.hole(offset_bytes, length_bytes) { Ok(Vec::new()) } else { Err(EIO) }
    }

    /// Returns whether these bytes are a hole now.
    fn hole(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.back, flags, offset_bytes, length_bytes).is_ok()
    }

    /// `struct fuse_attr`.
    fn attributes(&self, node: u64) -> Vec<u8> {
        let length = self.back.metadata().map_or(0, |data| data.len());
        let (mode, length) = if node == DIRECTORY { (0o40_755, 0) } else { (0o100_600, length) };
        let longs = [node, length, length / 512, 0, 0, 0].map(u64::to_le_bytes).concat();
        let words = [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0].map(u32::to_le_bytes).concat();
        [longs, words].concat()
    }
}

fn is_zero(data: &[u8]) -> bool {
    data == &ZEROS[..data.len()]
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
