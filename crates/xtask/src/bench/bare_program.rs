//! The bare program: opens each file, reads the bytes it is told to, and does nothing else. No
//! program that looks at the same bytes can do less.

use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;

/// No range is longer, so that a list cannot ask for any amount of memory.
const RANGE_BYTES_MAX: usize = 64 << 20;

/// A file, and the ranges of it to read, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadPlan {
    pub(crate) path: PathBuf,
    pub(crate) ranges: Vec<FileRange>,
}

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRange {
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: usize,
}

/// Reads what the list at `path` says, once, and prints the nanoseconds that the list itself took.
/// Always `true`.
///
/// # Errors
/// When the list or a file cannot be read.
pub(crate) fn run(path: &Path) -> anyhow::Result<bool> {
    let begun = Instant::now();
    let list =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let plans = parse(&list)?;
    let list_ns = begun.elapsed().as_nanos();
    let longest = plans.iter().flat_map(|plan| &plan.ranges).map(|range| range.length_bytes).max();
    let mut buffer = vec![0; longest.unwrap_or(0)];
    for plan in &plans {
        let file = File::open(&plan.path)
            .with_context(|| format!("cannot open {}", plan.path.display()))?;
        for range in &plan.ranges {
            file.read_at(&mut buffer[..range.length_bytes], range.offset_bytes)
                .with_context(|| format!("cannot read {}", plan.path.display()))?;
        }
    }
    println!("{list_ns}");
    Ok(true)
}

/// `plans` as a list: one file a line, its ranges as numbers after it.
pub(crate) fn list(plans: &[ReadPlan]) -> String {
    let mut list = String::new();
    for plan in plans {
        list += &plan.path.to_string_lossy();
        for range in &plan.ranges {
            let _ = write!(list, "\t{} {}", range.offset_bytes, range.length_bytes);
        }
        list.push('\n');
    }
    list
}

fn parse(list: &str) -> anyhow::Result<Vec<ReadPlan>> {
    list.lines()
        .map(|line| {
            let mut words = line.split('\t');
            let path = PathBuf::from(words.next().unwrap_or_default());
            let ranges = words.map(range).collect::<anyhow::Result<_>>()?;
            Ok(ReadPlan { path, ranges })
        })
        .collect()
}

fn range(words: &str) -> anyhow::Result<FileRange> {
    let (offset, length) = words.split_once(' ').context("a range is an offset and a length")?;
    let (offset_bytes, length_bytes) = (offset.parse()?, length.parse()?);
    anyhow::ensure!(length_bytes <= RANGE_BYTES_MAX, "a range of {length_bytes} bytes is too long");
    Ok(FileRange { offset_bytes, length_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back_as_it_was_written() {
        let plans = [
            ReadPlan {
                path: "/a b/disk".into(),
                ranges: vec![
                    FileRange { offset_bytes: 0, length_bytes: 65536 },
                    FileRange { offset_bytes: 1 << 40, length_bytes: 512 },
                ],
            },
            ReadPlan { path: "/empty".into(), ranges: Vec::new() },
        ];
        assert_eq!(parse(&list(&plans)).unwrap(), plans);
        assert!(parse("/a\t1").is_err());
        assert!(parse("/a\t1 99999999999").is_err());
    }
}
