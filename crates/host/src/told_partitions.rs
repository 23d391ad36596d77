//! Tells the kernel which partitions of a disk changed, one by one, and keeps each answer.
//!
//! `BLKRRPART` would read the table again, and refuses as a whole where one partition is in use;
//! `BLKPG` adds, removes and resizes single ones.
//!
//! Source: Linux `include/uapi/linux/blkpg.h`, `block/ioctl.c` (`blkpg_do_ioctl`).

use std::os::fd::AsRawFd as _;

use rustix::io::Errno;

use crate::claim::Claim;
use crate::errno::words_of;

/// `_IO(0x12, 105)`.
const BLKPG: libc::Ioctl = 0x1269;

/// A partition as the kernel shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldPartition {
    /// Its number.
    pub number: u32,
    /// Its first byte on the disk.
    pub start_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
}

/// An answer of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelAnswer {
    /// The partition's number.
    pub number: u32,
    /// The request: added, removed or resized.
    pub asked: &'static str,
    /// The kernel's words where it refused.
    pub answer: Result<(), String>,
}

#[derive(Clone, Copy)]
enum Request {
    Add = 1,
    Delete = 2,
    Resize = 3,
}

/// `struct blkpg_partition`.
#[repr(C)]
struct Described {
    start: i64,
    length: i64,
    number: libc::c_int,
    names: [u8; 128],
}

/// `struct blkpg_ioctl_arg`.
#[repr(C)]
struct Argument {
    op: libc::c_int,
    flags: libc::c_int,
    length: libc::c_int,
    data: *mut Described,
}

/// Partitions of the claimed disk that the kernel shows, in order of number.
#[must_use]
pub fn told_partitions(claim: &Claim) -> Vec<ToldPartition> {
    let (major, minor) = claim.number();
    let Ok(entries) = std::fs::read_dir(format!("/sys/dev/block/{major}:{minor}")) else {
        return Vec::new();
    };
    let mut found: Vec<ToldPartition> = (entries.flatten())
        .filter_map(|entry| {
            let number = |name: &str| -> Option<u64> {
                std::fs::read_to_string(entry.path().join(name)).ok()?.trim().parse().ok()
            };
            // Whatever the disk's sector, both count in 512 bytes.
            Some(ToldPartition {
                number: number("partition")?.try_into().ok()?,
                start_bytes: number("start")?.checked_mul(512)?,
                length_bytes: number("size")?.checked_mul(512)?,
            })
        })
        .collect();
    found.sort_by_key(|one| one.number);
    found
}

/// Tells the kernel that the claimed disk has the partitions `wanted`, and returns its answers;
/// none where it shows them already.
#[must_use]
pub fn tell_partitions(claim: &mut Claim, wanted: &[ToldPartition]) -> Vec<KernelAnswer> {
    let now = told_partitions(claim);
    claim.release_partitions();
    let claim = &*claim;
    let mut answers = Vec::new();
    let mut ask = |request, asked, one: &ToldPartition| {
        let answer = told(claim, request, one).map_err(words_of);
        answers.push(KernelAnswer { number: one.number, asked, answer });
    };
    let same_place = |one: &&ToldPartition, other: &ToldPartition| {
        one.number == other.number && one.start_bytes == other.start_bytes
    };
    let goes = |one: &&ToldPartition| !wanted.iter().any(|other| same_place(one, other));
    now.iter().filter(goes).for_each(|one| ask(Request::Delete, "removed", one));
    // A partition grows into the place of another only when that has shrunk.
    let shrinks = |one: &&ToldPartition| {
        now.iter().any(|old| same_place(&old, one) && old.length_bytes > one.length_bytes)
    };
    let grows = |one: &&ToldPartition| {
        now.iter().any(|old| same_place(&old, one) && old.length_bytes < one.length_bytes)
    };
    wanted.iter().filter(shrinks).for_each(|one| ask(Request::Resize, "resized", one));
    wanted.iter().filter(grows).for_each(|one| ask(Request::Resize, "resized", one));
    let comes = |one: &&ToldPartition| !now.iter().any(|old| same_place(one, old));
    wanted.iter().filter(comes).for_each(|one| ask(Request::Add, "added", one));
    answers
}

#[expect(unsafe_code, reason = "BLKPG takes a pointer to a description that points to another")]
fn told(claim: &Claim, request: Request, one: &ToldPartition) -> Result<(), Errno> {
    let number = |bytes: u64| i64::try_from(bytes).map_err(|_| Errno::OVERFLOW);
    let mut described = Described {
        start: number(one.start_bytes)?,
        length: number(one.length_bytes)?,
        number: libc::c_int::try_from(one.number).map_err(|_| Errno::OVERFLOW)?,
        names: [0; 128],
    };
    let length = libc::c_int::try_from(size_of::<Described>()).map_err(|_| Errno::OVERFLOW)?;
    let mut argument =
        Argument { op: request as libc::c_int, flags: 0, length, data: &raw mut described };
    // SAFETY: the argument and what it points to are laid out as blkpg.h says and outlive the call,
    // which only reads them.
    let answer = unsafe { libc::ioctl(claim.fd().as_raw_fd(), BLKPG, &raw mut argument) };
    match answer {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}
