//! Files of `/proc`: reading them, and what `/proc/PID/stat` and `status` say.

use std::fs::File;
use std::io::{self, Read as _};

use units::text;

/// The most bytes that are read of one file.
pub(super) const FILE_BYTES_MAX: u64 = 4 << 20;
/// The most libraries, threads, files and words that are listed.
pub(super) const COUNT_MAX: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) name: Vec<u8>,
    /// It, or its first thread, has ended: a zombie.
    pub(crate) has_ended: bool,
    /// It is one of the kernel's own.
    pub(crate) is_kernel: bool,
    /// The number of the process that started it, or took it over.
    pub(crate) parent: u32,
    /// The number of its process group.
    pub(crate) group: u32,
    /// When it was started, in ticks since the machine was: no two of one number have the same.
    pub(crate) started: u64,
}

impl Stat {
    /// Names may hold anything, so what follows them is found from the end (proc_pid_stat(5)).
    pub(crate) fn parse(stat: &[u8]) -> Option<Stat> {
        /// `PF_KTHREAD`, Linux `include/linux/sched.h`.
        const KERNEL: u64 = 0x0020_0000;
        let open = stat.iter().position(|&byte| byte == b'(')?;
        let close = stat.iter().rposition(|&byte| byte == b')')?;
        let name = stat.get(open + 1..close)?.to_vec();
        let behind = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        // From field 3, the state, on.
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            name,
            has_ended: matches!(*fields.first()?, "Z" | "X" | "x"),
            is_kernel: number(9)? & KERNEL != 0,
            parent: u32::try_from(number(4)?).ok()?,
            group: u32::try_from(number(5)?).ok()?,
            started: number(22)?,
        })
    }
}

/// The number after `name` in `status`.
pub(crate) fn field(status: &[u8], name: &[u8]) -> Option<u64> {
    let mut lines = status.split(|&byte| byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(name))?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// Reads the first 4 MiB of a file.
pub(super) fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut content)?;
    Ok(content)
}

/// The process that traces the one of this `status`, by number and name.
pub(super) fn tracer(status: &[u8]) -> Option<(u32, String)> {
    let number = field(status, b"TracerPid:").filter(|&number| number != 0)?;
    let number = u32::try_from(number).ok()?;
    let name = read(&format!("/proc/{number}/comm")).unwrap_or_default();
    Some((number, text::escape(name.trim_ascii_end())))
}

/// True if this process runs under a seccomp filter.
#[must_use]
pub fn is_filtered() -> bool {
    let status = read("/proc/thread-self/status");
    status.is_ok_and(|status| field(&status, b"Seccomp:") == Some(2))
}

/// The bits of this thread after `name` in `status`; none where they cannot be read.
pub(crate) fn own_mask(name: &[u8]) -> u64 {
    let status = read("/proc/thread-self/status").unwrap_or_default();
    let mask = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name));
    let mask = mask.and_then(|mask| std::str::from_utf8(mask).ok());
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_anything() {
        let line = b"7 (a) S (b) Z 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9\n";
        let stat = Stat::parse(line).unwrap();
        assert_eq!(stat.name, b"a) S (b");
        assert_eq!((stat.has_ended, stat.is_kernel, stat.started), (true, false, 4711));
        let kernel = b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n";
        assert!(Stat::parse(kernel).unwrap().is_kernel);
        for short in [&b""[..], b"7 (a", b"7 )a( S", b"7 (a) S 1 2"] {
            assert_eq!(Stat::parse(short), None);
        }
    }
}
