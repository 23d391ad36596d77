//! Bytes of files that a program reads, told by `strace`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::bare_program::{FileRange, ReadPlan};
use super::tools;

/// The files below `within` that `program` with `arguments` opens, in order of their paths, and
/// what it reads of each, in order. A file that is opened twice is listed once.
///
/// # Errors
/// When `strace` is missing or may not trace, or when the program reads such a file in a way that
/// is not understood here.
pub(super) fn reads(
    program: &Path,
    arguments: &[&str],
    within: &Path,
    spare: &Path,
) -> anyhow::Result<Vec<ReadPlan>> {
    std::fs::create_dir(spare)?;
    let mut command = Command::new(tools::find("strace")?);
    // One file for each thread, so that no call is cut in two by another thread's; a descriptor
    // with its path; no bytes of what was read.
    command.args(["-ff", "-y", "--string-limit=0", "--signal=none", "--quiet=all"]);
    command.arg("--trace=openat,pread64,preadv,preadv2,read,readv,mmap,io_uring_setup");
    command.arg("-o").arg(spare.join("trace")).arg(program).args(arguments);
    let output = tools::output(&mut command)?;
    anyhow::ensure!(
        output.status.code().is_some_and(|code| code <= 1),
        "{} traced: {}: {}",
        program.display(),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let mut files: BTreeMap<PathBuf, Vec<FileRange>> = BTreeMap::new();
    for entry in std::fs::read_dir(spare)? {
        for line in std::fs::read_to_string(entry?.path())?.lines() {
            let Some(call) = TracedCall::parse(line) else { continue };
            let path = Path::new(call.path);
            if !path.starts_with(within) || path == within {
                continue;
            }
            let ranges = files.entry(path.to_owned()).or_default();
            if call.name != "openat" {
                ranges.push(call.range().with_context(|| format!("not understood: {line}"))?);
            }
        }
    }
    Ok(files.into_iter().map(|(path, ranges)| ReadPlan { path, ranges }).collect())
}

/// A line of a trace.
struct TracedCall<'a> {
    name: &'a str,
    /// The file that it opened or read.
    path: &'a str,
    arguments: &'a str,
}

impl<'a> TracedCall<'a> {
    /// `None` for what is no successful call on a file.
    fn parse(line: &'a str) -> Option<TracedCall<'a>> {
        let (name, rest) = line.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(") = ")?;
        if result.starts_with('-') {
            return None;
        }
        // openat says the path after its result, the others after their descriptor.
        let said = if name == "openat" { result } else { arguments };
        let (_, behind) = said.split_once('<')?;
        let (path, _) = behind.split_once('>')?;
        Some(TracedCall { name, path, arguments })
    }

    /// Returns what a `pread64` read; `None` for other ways of reading.
    fn range(&self) -> Option<FileRange> {
        if self.name != "pread64" {
            return None;
        }
        let mut words = self.arguments.rsplit(", ");
        let offset_bytes = words.next()?.parse().ok()?;
        let length_bytes = words.next()?.parse().ok()?;
        Some(FileRange { offset_bytes, length_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_and_reads_are_understood_and_failures_and_other_calls_left_out() {
        let open = "openat(AT_FDCWD</x>, \"\"..., O_RDONLY|O_CLOEXEC) = 4</x/a, b.img>";
        assert_eq!(TracedCall::parse(open).unwrap().path, "/x/a, b.img");
        let read =
            TracedCall::parse("pread64(4</x/a, b.img>, \"\"..., 65536, 4096) = 512").unwrap();
        assert_eq!(read.path, "/x/a, b.img");
        assert_eq!(read.range(), Some(FileRange { offset_bytes: 4096, length_bytes: 65536 }));
        assert!(TracedCall::parse("read(4</x/a>, \"\"..., 10) = 10").unwrap().range().is_none());
        assert!(
            TracedCall::parse("openat(AT_FDCWD, \"\"..., O_RDONLY) = -1 ENOENT (No)").is_none()
        );
        assert!(TracedCall::parse("+++ exited with 0 +++").is_none());
    }
}
