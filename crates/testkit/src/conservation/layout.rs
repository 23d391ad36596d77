//! The layouts: partitions that begin or end off, between gaps, and the table that lists them.

use std::fmt::Write as _;

use units::random::Random;

use super::made_part::MadePart;

/// Contents, and the least MiB of each; some are more frequent than others. A conversion refuses
/// those before [`SECTOR_BOUND`] less often.
const KINDS: [(&str, u64); 18] = [
    BLANK,
    BLANK,
    BLANK,
    ("unknown", 1),
    ("ext4", 3),
    ("ext4", 3),
    ("swap", 1),
    ("swap", 1),
    ("vfat", 3),
    ("vfat", 20),
    ("fat32", 34),
    ("ntfs", 4),
    ("btrfs", 18),
    ("unknown", 1),
    ("md", 3),
    ("ext4-1k", 3),
    ("exfat", 5),
    ("xfs", 20),
];
const SECTOR_BOUND: usize = 13;
const BLANK: (&str, u64) = ("blank", 1);
/// The most sectors that partitions may reach.
const SECTORS_MAX: u64 = 80 << 11;

/// Misalignment of a disk: the places that are off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Starts and ends.
    Odd,
    /// Ends, and starts of blank partitions: no data has to move.
    Unmoved,
    /// Nothing for sectors of 4096 bytes, or the end of one partition.
    Even,
}

pub(super) struct Layout {
    style: Style,
    is_gpt: bool,
    pub(super) parts: Vec<MadePart>,
    /// Start and length of an extended partition.
    extended: Option<(u64, u64)>,
}

impl Layout {
    /// Decides where partitions are.
    pub(super) fn new(random: &mut Random) -> Layout {
        let style =
            *random.choose(&[Style::Odd, Style::Unmoved, Style::Unmoved, Style::Even, Style::Even]);
        let is_gpt = random.below(2) == 0;
        let count = 1 + random.below(5);
        let primary = if is_gpt { count } else { (1 + random.below(3)).min(count) };
        let odd = *random.choose(&[1, 1, 63, 2, 8]);
        let (kinds, first) = match style {
            Style::Even => (&KINDS[..SECTOR_BOUND], 48),
            _ => (&KINDS[..], if is_gpt { 34 } else { 1 }),
        };
        let mut layout = Layout { style, is_gpt, parts: Vec::new(), extended: None };
        let mut at = first;
        for index in 0..count {
            let is_logical = index >= primary;
            let (kind, least) = match style {
                Style::Unmoved if is_logical && random.below(2) == 0 => BLANK,
                _ => *random.choose(kinds),
            };
            let grain = match (style, kind) {
                (Style::Even, _) => 8,
                (Style::Unmoved, _) if kind != "blank" => 2048,
                _ => odd,
            };
            let gap = *random.choose(&[0, 1, 70, 3000]);
            let from = (at + random.below(gap + 1)).next_multiple_of(grain);
            let mut start = from;
            if is_logical {
                layout.extended.get_or_insert((from, 0));
                start = (from + 1 + random.below(gap + 1)).next_multiple_of(grain);
            }
            let (sectors, content) = length(random, kind, least, style);
            if start + sectors > SECTORS_MAX && index > 0 {
                break;
            }
            let number = if index < primary { index + 1 } else { index - primary + 5 };
            layout.parts.push(MadePart { number, kind, start, sectors, content });
            at = start + sectors;
        }
        let end = layout.end();
        let has_logical = !is_gpt && layout.parts.iter().any(|part| part.number > 4);
        layout.extended =
            layout.extended.filter(|_| has_logical).map(|(from, _)| (from, end - from));
        layout
    }

    /// The sector after the last partition.
    pub(super) fn end(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.start + part.sectors)
    }

    /// The number of sectors of which the disk has a multiple.
    pub(super) fn disk_grain(&self, random: &mut Random) -> u64 {
        if self.style == Style::Even { 8 } else { *random.choose(&[8, 1]) }
    }

    /// The table of a disk of so many sectors, as sfdisk's script.
    pub(super) fn table_text(&self, random: &mut Random, sectors: u64) -> String {
        let mut text = format!("label: {}\n", if self.is_gpt { "gpt" } else { "dos" });
        if self.is_gpt {
            let length = *random.choose(&[128, 128, 128, 56, 8]);
            let first = self.parts.first().map_or(34, |part| part.start);
            let first = *random.choose(&[34, first.min(2048), 34]);
            let usable = sectors - 34;
            let early = self.end() + random.below(usable - self.end() + 1);
            let last = *random.choose(&[usable, usable, early]);
            let _ = write!(text, "table-length: {length}\nfirst-lba: {first}\nlast-lba: {last}\n");
        }
        for part in &self.parts {
            if let Some((start, length)) = self.extended.filter(|_| part.number == 5) {
                let _ = writeln!(text, "{start},{length},5");
            }
            let kind = match (part.kind, self.is_gpt) {
                ("swap", _) => "S",
                ("vfat" | "fat32", true) => "U",
                ("vfat" | "fat32", false) => "c",
                ("ntfs" | "exfat", false) => "7",
                _ => "L",
            };
            let number = if self.is_gpt { String::new() } else { format!("{}:", part.number) };
            let (start, size) = (part.start, part.sectors);
            let _ = writeln!(text, "{number}start={start}, size={size}, type={kind}");
        }
        text
    }
}

/// Sectors of a partition, and of its content.
fn length(random: &mut Random, kind: &str, least: u64, style: Style) -> (u64, u64) {
    let content = least * 2048 + random.below(2048);
    let (few, many) = (random.below(9), 1 + random.below(600));
    let slack = match kind {
        "blank" | "unknown" | "md" => 0,
        _ => *random.choose(&[0, few, many]),
    };
    let is_even = style == Style::Even && random.below(8) != 0;
    let sectors = if is_even { (content + slack).next_multiple_of(8) } else { content + slack };
    let content = match kind {
        "blank" | "unknown" => 0,
        "md" => sectors,
        _ => content,
    };
    (sectors, content)
}
