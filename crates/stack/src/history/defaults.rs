//! The defaults, as `defaults.txt` has them: fields of one line each, whose further lines are
//! indented, and an empty line behind each default.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::{GIB, PartitionerLayout};

/// A tool's default over a span of its versions.
#[derive(Debug, PartialEq, Eq)]
pub struct Default {
    /// The tool.
    pub tool: &'static str,
    /// The versions, as they stand behind the tool's name.
    pub versions: &'static str,
    /// When they were made.
    pub years: &'static str,
    /// Place where it put partitions.
    pub rule: &'static str,
    /// The layout by which that is recognized.
    pub layout: PartitionerLayout,
    /// The lengths of disks, in bytes, on which it did so.
    pub disks_bytes: RangeInclusive<u64>,
    /// Place where that is written.
    pub source: &'static str,
}

/// The file, a field a line.
static TEXT: LazyLock<String> = LazyLock::new(|| include_str!("defaults.txt").replace("\n  ", " "));

static DEFAULTS: LazyLock<Vec<Default>> = LazyLock::new(|| blocks().filter_map(read).collect());

/// Every default, in groups of what they look like, the likelier ones first.
#[must_use]
pub fn defaults() -> &'static [Default] {
    &DEFAULTS
}

/// The text of each default.
pub(super) fn blocks() -> impl Iterator<Item = &'static str> {
    TEXT.split("\n\n")
}

fn read(block: &'static str) -> Option<Default> {
    let field =
        |key: &str| block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    let looks = field("looks")?;
    Some(Default {
        tool: field("tool")?,
        versions: field("versions")?,
        years: field("years")?,
        rule: field("rule")?,
        layout: PartitionerLayout::ALL.into_iter().find(|layout| layout.words() == looks)?,
        disks_bytes: field("disks").map_or(Some(0..=u64::MAX), lengths)?,
        source: field("source")?,
    })
}

/// The lengths of `below N GiB` or `from N GiB`.
fn lengths(text: &str) -> Option<RangeInclusive<u64>> {
    let (word, number) = text.strip_suffix(" GiB")?.split_once(' ')?;
    let bytes = number.parse::<u64>().ok()?.checked_mul(GIB)?;
    match word {
        "below" => Some(0..=bytes.checked_sub(1)?),
        "from" => Some(bytes..=u64::MAX),
        _ => None,
    }
}
