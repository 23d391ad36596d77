//! Steps that show today what is on a partitioned image: `sfdisk` for the table, then
//! `blkid` for each partition.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::tools;

/// A partition as `sfdisk` says, in sectors of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) start_sectors: u64,
    pub(super) length_sectors: u64,
}

/// The partitions of the image at `path`.
///
/// # Errors
/// When `sfdisk` is missing or fails.
pub(super) fn partitions(path: &Path) -> anyhow::Result<Vec<Partition>> {
    parse(&tools::answer(Command::new(tools::find("sfdisk")?).arg("--json").arg(path))?)
}

/// The partitions in what `sfdisk --json` prints. Each begins with its node.
fn parse(answer: &str) -> anyhow::Result<Vec<Partition>> {
    let parts = answer.split("\"node\"").skip(1);
    parts
        .map(|part| {
            Ok(Partition {
                start_sectors: number(part, "\"start\":")?,
                length_sectors: number(part, "\"size\":")?,
            })
        })
        .collect()
}

/// The number after the first `key` in `text`.
fn number(text: &str, key: &str) -> anyhow::Result<u64> {
    let (_, behind) = text.split_once(key).with_context(|| format!("no {key} in: {text}"))?;
    let behind = behind.trim_start();
    let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
    behind[..end].parse().with_context(|| format!("no number behind {key} in: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_read_from_json_with_one_value_or_one_partition_a_line() {
        let expected = [
            Partition { start_sectors: 34, length_sectors: 2048 },
            Partition { start_sectors: 4096, length_sectors: 7 },
        ];
        let short = "\"size\": 9, {\"node\": \"a1\", \"start\": 34, \"size\": 2048},\n\
                     {\"node\": \"a2\", \"start\": 4096, \"size\": 7}";
        assert_eq!(parse(short).unwrap(), expected);
        assert_eq!(parse(&short.replace(", ", ",\n   ")).unwrap(), expected);
        assert!(parse("{}").unwrap().is_empty());
    }
}
