//! Files that a process has open for writing.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::claim::forbidden_uses::{NodeFacts, Sought, Used, has_gone};

/// The bit of a link in `fd` whose file may be written: as the owner's right to write.
const WRITES: u32 = 0o200;
/// Target of the link of an io_uring.
const RING: &str = "anon_inode:[io_uring]";

/// The first of `sought` that process `pid` has open for writing.
///
/// # Errors
/// When its descriptors cannot be looked at, or it has gone.
pub(super) fn first(pid: u32, sought: &Sought) -> io::Result<Option<Used>> {
    // Its first thread may have ended before it, or have files of its own.
    let mut shared = None;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let thread = thread?.file_name();
        let Some(number) = thread.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if shared.is_some_and(|one| share_files(one, number)) {
            continue;
        }
        shared.get_or_insert(number);
        match of_thread(&format!("/proc/{pid}/task/{number}"), sought) {
            Err(error) if has_gone(&error) => {}
            Ok(None) => {}
            other => return other,
        }
    }
    Ok(None)
}

/// Returns whether two threads have one table of files; `false` where the kernel does not say.
#[expect(unsafe_code, reason = "neither rustix nor libc has kcmp(2)")]
fn share_files(one: u32, other: u32) -> bool {
    /// `KCMP_FILES` of Linux `include/uapi/linux/kcmp.h`.
    const KCMP_FILES: libc::c_long = 2;
    // SAFETY: kcmp(2) takes five numbers, and reads no memory for this question.
    let order = unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            libc::c_long::from(one),
            libc::c_long::from(other),
            KCMP_FILES,
            0_i64,
            0_i64,
        )
    };
    order == 0
}

fn of_thread(base: &str, sought: &Sought) -> io::Result<Option<Used>> {
    for entry in std::fs::read_dir(format!("{base}/fd"))? {
        let name = entry?.file_name();
        let link = Path::new(base).join("fd").join(&name);
        match of_descriptor(base, &link, sought) {
            Err(error) if has_gone(&error) => {}
            Ok(None) => {}
            other => return other,
        }
    }
    Ok(None)
}

fn of_descriptor(base: &str, link: &Path, sought: &Sought) -> io::Result<Option<Used>> {
    // Most are decided by this: what is only read, and what is but a place (`O_PATH`).
    if !may_write(&std::fs::symlink_metadata(link)?) {
        return Ok(None);
    }
    let facts = NodeFacts::of(link)?;
    if let Some(found) = sought.has(&facts) {
        return Ok(Some(found));
    }
    match std::fs::read_link(link)?.as_os_str() == RING {
        true => {
            let name = link.file_name().unwrap_or_default();
            let told = std::fs::read(Path::new(base).join("fdinfo").join(name))?;
            Ok(registered(&told, base, sought))
        }
        false => Ok(None),
    }
}

fn may_write(link: &Metadata) -> bool {
    link.mode() & WRITES != 0
}

/// The first of `sought` among the files that a ring keeps, by their paths as the process sees them
/// (Linux `io_uring/fdinfo.c`: after `UserFiles:` a line `NUMBER: PATH` each).
fn registered(told: &[u8], base: &str, sought: &Sought) -> Option<Used> {
    let text = String::from_utf8_lossy(told);
    let lines = text.lines().skip_while(|line| !line.starts_with("UserFiles:")).skip(1);
    let files = lines.map_while(|line| {
        let (number, path) = line.trim_start().split_once(": ")?;
        number.parse::<u32>().ok().map(|_| path)
    });
    files
        .filter(|path| path.starts_with('/'))
        .find_map(|path| sought.at(&Path::new(base).join("root").join(&path[1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_ring_keeps_are_known_by_their_paths() {
        let scratch = testkit::Scratch::new();
        let file = scratch.file("disk", b"");
        let mut sought = Sought::default();
        sought.files.insert(crate::identity(&file).unwrap());
        let told = |path: &str| {
            format!("SqMask:\t0x7\nUserFiles:\t2\n    0: /dev/null\n    1: {path}\nUserBufs:\t0\n")
        };
        let found = |path: &str| registered(told(path).as_bytes(), "/proc/self", &sought);
        assert!(found(file.to_str().unwrap()).is_some());
        assert_eq!(found("/dev/zero"), None);
        assert_eq!(found("anon_inode:[eventfd]"), None);
    }
}
