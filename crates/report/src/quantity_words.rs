//! Numbers and verdicts in words, as one [`Look`] wants them.

use units::Source;
use units::number::{whole, wide};
use units::prefix::{Exact, SectorAddress, Size, in_one_unit};

use crate::check_document::LayerReport;
use crate::text;
use crate::view_options::{Glyphs, Look};
use stack::{LayerType, Misalignment, Severity, UnitKind, Verdict};

/// The words of one view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewWords<'a> {
    pub(crate) look: &'a Look,
}

/// Suffix of the keys that hold sizes.
const BYTES: &str = "-bytes";

/// Returns `key` without its unit, which the value names.
pub(crate) fn quantity(key: &str) -> &str {
    key.strip_suffix(BYTES).unwrap_or(key)
}

impl ViewWords<'_> {
    pub(crate) fn glyphs(self) -> &'static Glyphs {
        self.look.glyphs()
    }

    /// Text from the document as one harmless line.
    pub(crate) fn text(self, text: &str) -> String {
        let line = text::one_line(text);
        if self.look.ascii { text::ascii(&line) } else { line }
    }

    /// A line to type from the document, as one line.
    pub(crate) fn command(self, text: &str) -> String {
        let line = text::one_line(text);
        if self.look.ascii { text::ascii_command(&line) } else { line }
    }

    /// A size to three digits.
    pub(crate) fn size(self, bytes: u64) -> String {
        self.with_bytes(Size(bytes).to_string(), bytes)
    }

    /// A size to the byte.
    pub(crate) fn exact(self, bytes: u64) -> String {
        self.with_bytes(Exact(bytes).to_string(), bytes)
    }

    /// Two sizes to the byte, in one unit.
    pub(crate) fn exact_pair(self, sizes: [u64; 2]) -> [String; 2] {
        let [first, second] = in_one_unit(sizes);
        [self.with_bytes(first, sizes[0]), self.with_bytes(second, sizes[1])]
    }

    /// A value as documents hold it, under `key`: a size to the byte where the key is one of bytes.
    pub(crate) fn value(self, key: &str, value: &str) -> String {
        match value.parse() {
            Ok(bytes) if key.ends_with(BYTES) => self.exact(bytes),
            _ => self.text(value),
        }
    }

    /// An address with its sector.
    pub(crate) fn place(self, bytes: u64, sector_bytes: u64) -> String {
        self.with_bytes(SectorAddress { bytes, sector_bytes }.to_string(), bytes)
    }

    fn with_bytes(self, size: String, bytes: u64) -> String {
        let raw = format!("{bytes} B");
        if self.look.bytes && size != raw { format!("{size} ({raw})") } else { size }
    }

    /// `4 KiB from 512 B on (sysfs)`: a granule, where the first one starts, and who says so.
    pub(crate) fn granule(
        self,
        bytes: Option<u64>,
        origin_bytes: Option<u64>,
        source: Option<Source>,
    ) -> String {
        let Some(bytes) = bytes else { return "not known".to_owned() };
        let origin = match origin_bytes {
            None => " from an address that is not known".to_owned(),
            Some(0) => String::new(),
            Some(origin) => format!(" from {} on", self.exact(origin)),
        };
        let source = source.map_or(String::new(), |source| format!(" ({})", source.word()));
        self.exact(bytes) + &origin + &source
    }

    /// Returns how a layer lies, short enough for a column.
    pub(crate) fn verdict(self, layer: &LayerReport) -> String {
        let bad = matches!(layer.verdict, Verdict::Misaligned | Verdict::ChunkOnly);
        if layer.inherited && bad {
            return "inherits it".to_owned();
        }
        let words = layer.words();
        match &layer.misalignment {
            Some(by) if layer.verdict == Verdict::ChunkOnly => {
                format!(
                    "on a chunk, but {}",
                    self.distance(layer, by).trim_start_matches([':', ' '])
                )
            }
            Some(by) if bad => format!("{words}{}", self.distance(layer, by)),
            _ => words.to_owned(),
        }
    }

    /// ` by 1.5 KiB in 25 % of it (assumed 4 KiB)` or `: 1 MiB off the 1.5 MiB full stripe`, with
    /// only what is not plain from the rest.
    pub(crate) fn distance(self, layer: &LayerReport, by: &Misalignment) -> String {
        let unit = || format!("the {} {}", self.exact(by.unit_bytes), by.unit.words());
        let mut words = match (by.offset_bytes, by.unit) {
            (Some(offset), UnitKind::Granule) => format!(" by {}", self.exact(offset)),
            (Some(offset), _) => format!(": {} off {}", self.exact(offset), unit()),
            (None, UnitKind::Granule) => " by differing amounts".to_owned(),
            (None, _) => format!(": off {} by differing amounts", unit()),
        };
        if by.share_percent < 100.0 {
            let whole =
                if layer.kind == LayerType::ImageFormat { "the guest's disk" } else { "it" };
            words += &format!(" in {} of {whole}", percent(by.share_percent));
        }
        // A stripe is never assumed.
        if layer.assumed && by.unit == UnitKind::Granule {
            words += &format!(" (assumed {})", self.exact(by.unit_bytes));
        }
        words
    }
}

/// `1 partition`, `2 partitions`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The same of a number of things in memory.
pub(crate) fn count_of(number: usize, noun: &str) -> String {
    count(wide(number), noun)
}

/// `2 errors, 1 warning, 3 info`, without those that do not occur.
pub(crate) fn severities(errors: u64, warnings: u64, infos: u64) -> Vec<String> {
    let mut words = Vec::new();
    if errors > 0 {
        words.push(count(errors, Severity::Error.word()));
    }
    if warnings > 0 {
        words.push(count(warnings, Severity::Warning.word()));
    }
    if infos > 0 {
        words.push(format!("{infos} {}", Severity::Info.word()));
    }
    words
}

/// Returns what share `part` is of `whole`, never rounded to nothing or to all; `-` of
/// nothing.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000).checked_div(u128::from(whole));
    match tenths {
        None => "-".to_owned(),
        Some(0) if part > 0 => "under 0.1 %".to_owned(),
        Some(tenths) if tenths.is_multiple_of(10) => format!("{} %", tenths.div_euclid(10)),
        Some(tenths) => format!("{}.{} %", tenths.div_euclid(10), tenths.rem_euclid(10)),
    }
}

/// A share in percent that is not nothing, never rounded to nothing or to all: `25 %`, `2.2 %`.
#[must_use]
pub fn percent(share_percent: f64) -> String {
    // A hair is added so that 33.3, which no binary number is, gives 33.3.
    share(whole(share_percent * 1e7 + 1e-3).max(1), 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_as_people_say_them() {
        assert_eq!(count(0, "disk"), "0 disks");
        assert_eq!(count(1, "file system"), "1 file system");
        assert_eq!(severities(1, 0, 2), ["1 error", "2 info"]);
    }

    #[test]
    fn shares_are_never_rounded_to_nothing_or_all() {
        assert_eq!(share(41, 41), "100 %");
        assert_eq!(share(1, u64::MAX), "under 0.1 %");
        assert_eq!(share(u64::MAX - 1, u64::MAX), "99.9 %");
        assert_eq!(share(0, 0), "-");
        let shares = [0.0001, 2.25, 25.0, 33.3, 99.999_999, 100.0].map(percent);
        assert_eq!(shares, ["under 0.1 %", "2.2 %", "25 %", "33.3 %", "99.9 %", "100 %"]);
    }
}
