//! The kernel's device-mapper tables, as `dmsetup table` prints them, without secrets.
//!
//! Source: Linux `include/uapi/linux/dm-ioctl.h`, `drivers/md/dm-ioctl.c`;
//! `Documentation/admin-guide/device-mapper/` (where keys stand in tables).

use std::fmt::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd};

use device::TreeError;
use device::answer;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, Opcode};

use crate::passthrough::StructIoctl;

const CONTROL: &str = "/dev/mapper/control";
/// `_IOWR(0xfd, 2, struct dm_ioctl)`.
const DM_LIST_DEVICES: Opcode = ioctl::opcode::read_write::<DmIoctl>(0xfd, 2);
/// `_IOWR(0xfd, 12, struct dm_ioctl)`.
const DM_TABLE_STATUS: Opcode = ioctl::opcode::read_write::<DmIoctl>(0xfd, 12);
/// Asks for tables, not for states.
const DM_STATUS_TABLE_FLAG: u32 = 1 << 4;
/// Set by the kernel when the answer did not fit.
const DM_BUFFER_FULL_FLAG: u32 = 1 << 8;
/// Asks nothing to be written out before.
const DM_NOFLUSH_FLAG: u32 = 1 << 11;
/// Asks the kernel to wipe its copies: tables hold keys.
const DM_SECURE_DATA_FLAG: u32 = 1 << 15;

/// The room for an answer, in heads: 60 KiB at first, 15 MiB at most.
const ROOM_FIRST: usize = 200;
const ROOM_MAX: usize = 50_000;
const HEAD_BYTES: usize = 312;

/// `struct dm_ioctl`.
#[repr(C)]
#[derive(Clone)]
struct DmIoctl {
    version: [u32; 3],
    data_bytes: u32,
    data_start: u32,
    targets: u32,
    opened: i32,
    flags: u32,
    event: u32,
    padding: u32,
    device: u64,
    name: [u8; 128],
    uuid: [u8; 129],
    data: [u8; 7],
}

const _: () = assert!(size_of::<DmIoctl>() == HEAD_BYTES, "the layout of dm-ioctl.h");

impl DmIoctl {
    fn new(flags: u32, name: &[u8]) -> DmIoctl {
        let mut head = DmIoctl {
            version: [4, 0, 0],
            data_bytes: 0,
            data_start: 0,
            targets: 0,
            opened: 0,
            flags,
            event: 0,
            padding: 0,
            device: 0,
            name: [0; 128],
            uuid: [0; 129],
            data: [0; 7],
        };
        // The last byte stays 0.
        let length = name.len().min(head.name.len() - 1);
        head.name[..length].copy_from_slice(&name[..length]);
        head
    }
}

/// Every table, a line for each target: `NAME: START LENGTH TYPE PARAMETERS`. Keys are `-`.
///
/// # Errors
/// [`TreeError::Missing`] when this kernel has no device-mapper, and [`TreeError::Unreadable`] when
/// it may not be asked.
pub(crate) fn tables() -> Result<String, TreeError> {
    asked(answer::DM_TABLES, DM_STATUS_TABLE_FLAG)
}

/// The state of every target, in lines of the same form.
///
/// # Errors
/// Same as [`tables`].
pub(crate) fn states() -> Result<String, TreeError> {
    asked(answer::DM_STATUS, 0)
}

fn asked(path: &str, what: u32) -> Result<String, TreeError> {
    let unreadable = |reason: String| TreeError::Unreadable { path: path.to_owned(), reason };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let control = rustix::fs::open(CONTROL, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => TreeError::Missing { path: path.to_owned() },
        Errno::ACCESS | Errno::PERM => {
            unreadable(format!("{CONTROL} cannot be opened: {error}; run as root"))
        }
        _ => unreadable(format!("{CONTROL} cannot be opened: {error}")),
    })?;
    let failed = |error: Errno| match error {
        Errno::ACCESS | Errno::PERM => unreadable(format!("DM_LIST_DEVICES: {error}; run as root")),
        _ => unreadable(format!("DM_LIST_DEVICES failed: {error}")),
    };
    let listed = call::<DM_LIST_DEVICES>(control.as_fd(), 0, &[]).map_err(failed)?;
    let mut text = String::new();
    for name in names(&listed.data) {
        let flags = what | DM_NOFLUSH_FLAG | DM_SECURE_DATA_FLAG;
        match call::<DM_TABLE_STATUS>(control.as_fd(), flags, &name) {
            Ok(mut status) => {
                lines(&mut text, &name, &status.data, status.targets);
                wipe(&mut status.data);
            }
            // It went away in between.
            Err(Errno::NXIO) => {}
            Err(error) => return Err(unreadable(format!("DM_TABLE_STATUS failed: {error}"))),
        }
    }
    Ok(text)
}

/// The answer of an ioctl after its head.
struct Answered {
    targets: u32,
    data: Vec<u8>,
}

/// Asks with as much room as it takes.
fn call<const OPCODE: Opcode>(
    control: BorrowedFd<'_>,
    flags: u32,
    name: &[u8],
) -> Result<Answered, Errno> {
    let mut room = ROOM_FIRST;
    loop {
        let mut heads = vec![DmIoctl::new(flags, name); room];
        pass::<OPCODE>(control, &mut heads)?;
        let full = heads[0].flags & DM_BUFFER_FULL_FLAG != 0;
        let mut all = bytes(&heads).to_vec();
        let start = usize::try_from(heads[0].data_start).map_err(|_| Errno::OVERFLOW)?;
        let targets = heads[0].targets;
        for head in &mut heads {
            *head = DmIoctl::new(0, &[]);
        }
        std::hint::black_box(&mut heads);
        if !full {
            let data = all.get(start..).unwrap_or_default().to_vec();
            wipe(&mut all);
            return Ok(Answered { targets, data });
        }
        wipe(&mut all);
        if room >= ROOM_MAX {
            return Err(Errno::OVERFLOW);
        }
        room = (room * 8).min(ROOM_MAX);
    }
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn pass<const OPCODE: Opcode>(control: BorrowedFd<'_>, heads: &mut [DmIoctl]) -> Result<(), Errno> {
    const {
        assert!(matches!(OPCODE, DM_LIST_DEVICES | DM_TABLE_STATUS), "it only asks");
    };
    let room = u32::try_from(size_of_val(heads)).map_err(|_| Errno::OVERFLOW)?;
    let head = heads.first_mut().ok_or(Errno::INVAL)?;
    head.data_bytes = room;
    head.data_start = u32::try_from(HEAD_BYTES).map_err(|_| Errno::OVERFLOW)?;
    // SAFETY: the slice is not empty, so that it starts with a `Head`; the kernel reads one struct
    // dm_ioctl there, which `Head` is, and writes at most `data_bytes` bytes from there on, which
    // is the slice's length. `heads` is borrowed until the call is over, and every bit pattern is a
    // `Head`.
    unsafe { ioctl::ioctl(control, StructIoctl::<OPCODE, [DmIoctl]>(heads)) }.map(drop)
}

/// `heads` as bytes.
#[expect(unsafe_code, reason = "the kernel puts other things behind the first head")]
fn bytes(heads: &[DmIoctl]) -> &[u8] {
    // SAFETY: `Head` has no padding: its fields are 312 bytes together, which the assertion above
    // holds its size to. So all bytes of the slice are initialized, and they live as long as it.
    unsafe { std::slice::from_raw_parts(heads.as_ptr().cast(), size_of_val(heads)) }
}

/// Overwrites what may hold keys.
fn wipe(data: &mut [u8]) {
    data.fill(0);
    std::hint::black_box(data);
}

/// The names of a list of `struct dm_name_list`: u64 device, u32 distance to the next or 0, name.
fn names(data: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = data;
    while let (Some(device), Some(next)) = (native64(rest, 0), native32(rest, 8)) {
        let name = text(rest.get(12..).unwrap_or_default());
        // No devices at all are told by one entry of zeros.
        if device != 0 && !name.is_empty() {
            found.push(name.to_vec());
        }
        match usize::try_from(next).ok().filter(|&next| next > 0).and_then(|next| rest.get(next..))
        {
            Some(after) => rest = after,
            None => break,
        }
    }
    found
}

/// Appends the lines of a list of `struct dm_target_spec`: u64 start, u64 length, i32 status, u32
/// distance to the next from the start of the data, 16 bytes of type, parameters.
fn lines(out: &mut String, name: &[u8], data: &[u8], targets: u32) {
    let mut rest = data;
    for _ in 0..targets {
        let (Some(start), Some(length), Some(next)) =
            (native64(rest, 0), native64(rest, 8), native32(rest, 20))
        else {
            return;
        };
        let kind = text(rest.get(24..40).unwrap_or_default());
        let parameters = text(rest.get(40..).unwrap_or_default());
        let (name, kind) = (line_of(name), line_of(kind));
        let parameters = {
            let keyed = line_of(parameters);
            let shown = without_keys(&kind, &keyed);
            wipe(&mut keyed.into_bytes());
            shown
        };
        let line = format!("{name}: {start} {length} {kind} {parameters}");
        let _ = writeln!(out, "{}", line.trim_end());
        let Some(after) = usize::try_from(next).ok().and_then(|next| data.get(next..)) else {
            return;
        };
        rest = after;
    }
}

/// The parameters of a target of type `kind` with `-` in place of each key.
///
/// Keys are the second word of targets that encrypt (crypt, default-key, inlinecrypt), and the part
/// after the second colon in some options of integrity.
fn without_keys(kind: &str, parameters: &str) -> String {
    let encrypts = kind.contains("crypt") || kind.contains("key");
    let hidden = |(number, word): (usize, &str)| {
        if encrypts && number == 1 {
            return "-".to_owned();
        }
        let mut parts = word.splitn(3, ':');
        match (parts.next(), parts.next(), parts.next()) {
            (
                Some(option @ ("internal_hash" | "journal_crypt" | "journal_mac")),
                Some(how),
                Some(_),
            ) if kind == "integrity" => {
                format!("{option}:{how}:-")
            }
            _ => word.to_owned(),
        }
    };
    let words: Vec<String> = parameters.split(' ').enumerate().map(hidden).collect();
    words.join(" ")
}

/// The bytes up to the first NUL.
fn text(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

/// Text that stays on its line.
fn line_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(char::is_control, "?")
}

#[expect(clippy::host_endian_bytes, reason = "the kernel writes its own numbers")]
fn native32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|field| u32::from_ne_bytes(*field))
}

#[expect(clippy::host_endian_bytes, reason = "the kernel writes its own numbers")]
fn native64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|field| u64::from_ne_bytes(*field))
}

#[cfg(test)]
#[expect(clippy::host_endian_bytes, reason = "the kernel writes its own numbers")]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_the_numbers_that_the_kernel_compiles() {
        if cfg!(target_arch = "x86_64") {
            assert_eq!(DM_LIST_DEVICES, 0xc138_fd02);
            assert_eq!(DM_TABLE_STATUS, 0xc138_fd0c);
        }
    }

    fn target(start: u64, length: u64, next: u32, kind: &str, parameters: &str) -> Vec<u8> {
        let mut bytes = start.to_ne_bytes().to_vec();
        bytes.extend(length.to_ne_bytes());
        bytes.extend(0_i32.to_ne_bytes());
        bytes.extend(next.to_ne_bytes());
        let mut kind = kind.as_bytes().to_vec();
        kind.resize(16, 0);
        bytes.extend(kind);
        bytes.extend(parameters.as_bytes());
        bytes.push(0);
        bytes
    }

    #[test]
    fn tables_are_lines_as_dmsetup_prints_them() {
        let mut data = target(0, 2048, 64, "linear", "8:16 2048");
        data.resize(64, 0);
        data.extend(target(2048, 4096, 128, "zero", ""));
        let mut out = String::new();
        lines(&mut out, b"vg-lv", &data, 2);
        assert_eq!(out, "vg-lv: 0 2048 linear 8:16 2048\nvg-lv: 2048 4096 zero\n");
    }

    #[test]
    fn a_table_that_ends_early_gives_what_is_there() {
        let data = target(0, 2048, 1 << 30, "linear", "8:16 0");
        for length in 0..data.len() {
            let mut out = String::new();
            lines(&mut out, b"x", &data[..length], u32::MAX);
            assert!(out.lines().count() <= 1);
        }
    }

    #[test]
    fn keys_never_appear() {
        let shown = |kind, parameters| without_keys(kind, parameters);
        assert_eq!(
            shown("crypt", "aes-xts-plain64 0123456789abcdef 0 8:2 4096 1 sector_size:4096"),
            "aes-xts-plain64 - 0 8:2 4096 1 sector_size:4096"
        );
        assert_eq!(
            shown("crypt", "aes-xts-plain64 :64:logon:cryptsetup:uuid 0 8:2 4096"),
            "aes-xts-plain64 - 0 8:2 4096"
        );
        assert_eq!(shown("default-key", "aes feed 0 8:2 0"), "aes - 0 8:2 0");
        assert_eq!(
            shown("integrity", "8:2 0 32 J 2 internal_hash:hmac(sha256):c0ffee journal_mac:crc32c"),
            "8:2 0 32 J 2 internal_hash:hmac(sha256):- journal_mac:crc32c"
        );
        assert_eq!(shown("linear", "8:2 4096"), "8:2 4096");
    }

    fn entry(device: u64, next: u32, name: &str) -> Vec<u8> {
        let mut bytes = device.to_ne_bytes().to_vec();
        bytes.extend(next.to_ne_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(0);
        bytes
    }

    #[test]
    fn names_follow_each_other_and_nothing_is_none() {
        let mut data = entry(1, 32, "a-b");
        data.resize(32, 0);
        data.extend(entry(2, 0, "c"));
        assert_eq!(names(&data), [b"a-b".to_vec(), b"c".to_vec()]);
        assert_eq!(names(&[0; 64]), Vec::<Vec<u8>>::new());
        assert_eq!(names(&[]), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_machine_without_device_mapper_or_rights_says_so() {
        match tables() {
            Ok(text) => assert!(text.lines().all(|line| line.contains(": ")), "{text}"),
            Err(TreeError::Missing { path }) => assert_eq!(path, answer::DM_TABLES),
            Err(TreeError::Unreadable { reason, .. }) => assert!(!reason.is_empty()),
        }
    }
}
