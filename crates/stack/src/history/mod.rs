//! Partitioners' defaults, so that an old disk's layout is explained.
//!
//! [`defaults()`] are what the text beside this file lists; [`made_by`] recognizes a layout by
//! where its partitions start.

mod defaults;

pub use defaults::{Default, defaults};

/// Sectors for each track, as a BIOS with LBA support counts them.
const TRACK: u64 = 63;
/// Heads that BIOSes counted with; the last is that of every disk above 8 GB.
const HEADS: [u64; 6] = [16, 32, 64, 128, 240, 255];
/// The most defaults that one sentence names.
const NAMED_MAX: usize = 3;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A way to lay out partitions that can be told from their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartitionerLayout {
    /// Sector 63, then cylinders: multiples of 63 times the heads, logical partitions 63 behind.
    Cylinders,
    /// One partition at the second cylinder of 255 x 63 sectors.
    SecondCylinder,
    /// A reserved partition at sector 34, data at 129 MiB and at further multiples of 1 MiB.
    Reserved128,
    /// A reserved partition at sector 34, data at 16 MiB and at further multiples of 1 MiB.
    Reserved16,
    /// A reserved partition at sector 34 and data right behind its 128 MiB.
    ReservedPacked,
    /// The first sector that a GPT leaves free, the rest wherever the one in front ends.
    FirstFree,
    /// An EFI system partition at sector 40 and data behind its 200 MiB.
    Sector40Efi,
    /// Multiples of 8 sectors, from 40 on.
    EightSectors,
    /// Multiples of 256 sectors of 512 bytes, from 256 on.
    Sector256,
    /// A label's first partition 16 sectors into its slice.
    Label16,
    /// Multiples of 64 KiB on a disk below 4 GiB.
    Small64K,
    /// Multiples of 65535 sectors, an optimal I/O size that USB bridges report.
    Bogus65535,
    /// Multiples of 1 MiB; an extended partition may be 2 sectors in front of one.
    Mebibyte,
}

impl PartitionerLayout {
    /// Every layout, the more particular ones first.
    pub const ALL: [PartitionerLayout; 13] = [
        PartitionerLayout::SecondCylinder,
        PartitionerLayout::Cylinders,
        PartitionerLayout::Reserved128,
        PartitionerLayout::Reserved16,
        PartitionerLayout::ReservedPacked,
        PartitionerLayout::FirstFree,
        PartitionerLayout::Sector40Efi,
        PartitionerLayout::EightSectors,
        PartitionerLayout::Label16,
        PartitionerLayout::Bogus65535,
        PartitionerLayout::Small64K,
        PartitionerLayout::Mebibyte,
        PartitionerLayout::Sector256,
    ];

    /// Returns the pattern of the starts, as the beginning of a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            PartitionerLayout::Cylinders => {
                "the first partition starts at sector 63, later ones on cylinder boundaries"
            }
            PartitionerLayout::SecondCylinder => {
                "the only partition starts at the second cylinder, sector 16065"
            }
            PartitionerLayout::Reserved128 => {
                "a reserved partition starts at sector 34, the first data \
                 partition at 129 MiB"
            }
            PartitionerLayout::Reserved16 => {
                "a reserved partition starts at sector 34, the first data \
                 partition at 16 MiB"
            }
            PartitionerLayout::ReservedPacked => {
                "a reserved partition starts at sector 34, and a data partition \
                 follows it directly"
            }
            PartitionerLayout::FirstFree => {
                "the first partition starts in the first free sector after the \
                 GPT, and no start is rounded"
            }
            PartitionerLayout::Sector40Efi => {
                "the first two partitions start at sectors 40 and 409640"
            }
            PartitionerLayout::EightSectors => {
                "the first partition starts at sector 40, later ones at multiples \
                 of 8 sectors"
            }
            PartitionerLayout::Sector256 => "partitions start at multiples of 256 sectors",
            PartitionerLayout::Label16 => "the first partition starts 16 sectors into its slice",
            PartitionerLayout::Small64K => {
                "on a disk below 4 GiB, partitions start at multiples of 64 KiB"
            }
            PartitionerLayout::Bogus65535 => "partitions start at multiples of 65535 sectors",
            PartitionerLayout::Mebibyte => "partitions start at multiples of 1 MiB",
        }
    }

    fn fits(self, seen: &SeenTable<'_>) -> bool {
        let short = seen.sector == 512;
        let first = seen.starts.first().copied().unwrap_or(0);
        let rest = seen.starts.get(1..).unwrap_or_default();
        let mebibytes =
            |starts: &[u64]| starts.iter().all(|start| (start * seen.sector).is_multiple_of(MIB));
        match self {
            PartitionerLayout::Cylinders => short && first == TRACK && heads(rest).is_some(),
            PartitionerLayout::SecondCylinder => short && seen.starts == [TRACK * 255],
            PartitionerLayout::Reserved128 => {
                short && first == 34 && rest.first() == Some(&264_192) && mebibytes(rest)
            }
            PartitionerLayout::Reserved16 => {
                short && first == 34 && rest.first() == Some(&32_768) && mebibytes(rest)
            }
            PartitionerLayout::ReservedPacked => {
                short && seen.starts.starts_with(&[34, 34 + 262_144])
            }
            // Header and 16 KiB of entries behind the protective MBR.
            PartitionerLayout::FirstFree => first == 2 + 16_384 / seen.sector && !mebibytes(rest),
            PartitionerLayout::Sector40Efi => short && seen.starts.starts_with(&[40, 409_640]),
            PartitionerLayout::EightSectors => {
                short && first == 40 && rest.iter().all(|start| start % 8 == 0)
            }
            PartitionerLayout::Sector256 => {
                short && first == 256 && rest.iter().all(|start| start % 256 == 0)
            }
            PartitionerLayout::Label16 => short && seen.starts == [16],
            PartitionerLayout::Small64K => {
                short
                    && first == 128
                    && seen.disk < 4 * GIB
                    && rest.iter().all(|start| start % 128 == 0)
            }
            PartitionerLayout::Bogus65535 => {
                short && first == 65_535 && rest.iter().all(|start| start % 65_535 == 0)
            }
            PartitionerLayout::Mebibyte => {
                let rounded =
                    |start: &u64| mebibytes(&[*start]) || (short && mebibytes(&[start + 2]));
                first * seen.sector >= MIB - 1024 && seen.starts.iter().all(rounded)
            }
        }
    }
}

/// A table, in its own sectors.
struct SeenTable<'a> {
    starts: &'a [u64],
    sector: u64,
    disk: u64,
}

/// The heads for which every start is on a cylinder, or a track behind one; the most for none.
fn heads(starts: &[u64]) -> Option<u64> {
    let on = |start: &u64, heads: u64| matches!(start % (TRACK * heads), 0 | TRACK);
    HEADS.into_iter().rev().find(|&heads| starts.iter().all(|start| on(start, heads)))
}

/// A layout that was recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognizedLayout {
    /// The layout.
    pub layout: PartitionerLayout,
    /// The defaults that make it on a disk of this size; never empty.
    pub defaults: Vec<&'static Default>,
    heads: Option<u64>,
}

impl RecognizedLayout {
    /// One sentence without its full stop: what is to be seen, and which tools made such layouts.
    #[must_use]
    pub fn sentence(&self) -> String {
        let shown = self.defaults.iter().take(NAMED_MAX);
        let mut tools: Vec<String> =
            shown.map(|made| format!("{} {}", made.tool, made.versions)).collect();
        match self.defaults.len().saturating_sub(NAMED_MAX) {
            0 => {}
            more => tools.push(format!("{more} more (straddle explain history)")),
        }
        let tools = match &tools[..] {
            [front @ .., last] if !front.is_empty() => format!("{} and {last}", front.join(", ")),
            _ => tools.concat(),
        };
        let seen = match (self.layout, self.heads) {
            (PartitionerLayout::Cylinders, None) => "the only partition starts at sector 63".into(),
            (layout, Some(heads)) => {
                format!("{} of {heads} heads x {TRACK} sectors", layout.words())
            }
            (layout, None) => layout.words().to_owned(),
        };
        format!("{seen}, as with {tools}")
    }
}

/// Returns the default that made a partition table, from the starts of its partitions (bytes from
/// where the table counts from, in any order), the logical sector in bytes and the disk's length in
/// bytes.
/// `None` when none fits, when there is no partition, or when a start is no whole sector.
#[must_use]
pub fn made_by(
    starts_bytes: &[u64],
    sector_bytes: u64,
    disk_bytes: u64,
) -> Option<RecognizedLayout> {
    let whole = |start: &u64| start.checked_rem(sector_bytes) == Some(0);
    if starts_bytes.is_empty() || !starts_bytes.iter().all(whole) {
        return None;
    }
    let mut starts: Vec<u64> = starts_bytes.iter().map(|start| start / sector_bytes).collect();
    starts.sort_unstable();
    let seen = SeenTable { starts: &starts, sector: sector_bytes, disk: disk_bytes };
    let layout = PartitionerLayout::ALL.into_iter().find(|layout| layout.fits(&seen))?;
    let made = |made: &&Default| made.layout == layout && made.disks_bytes.contains(&disk_bytes);
    let defaults: Vec<&Default> = defaults().iter().filter(made).collect();
    let rest =
        starts.get(1..).filter(|rest| layout == PartitionerLayout::Cylinders && !rest.is_empty());
    (!defaults.is_empty()).then(|| RecognizedLayout {
        layout,
        defaults,
        heads: rest.and_then(heads),
    })
}

#[cfg(test)]
mod tests;
