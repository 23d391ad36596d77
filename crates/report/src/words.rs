//! Numbers and verdicts in words, as one [`Look`] wants them.

use units::prefix::{Exact, SectorAddress, Size};

use crate::document::LayerReport;
use crate::look::{Glyphs, Look};
use crate::text;
use stack::{Misalignment, Severity, UnitKind, Verdict};

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

    /// Returns how a layer lies, short enough for a column.
    pub(crate) fn verdict(self, layer: &LayerReport) -> String {
        let bad = matches!(layer.verdict, Verdict::Misaligned | Verdict::ChunkOnly);
        if layer.inherited && bad {
            return "inherits it".to_owned();
        }
        let words = layer.words();
        match &layer.misalignment {
            Some(by) if bad => format!("{words}{}", self.distance(layer, by)),
            _ => words.to_owned(),
        }
    }

    /// ` by 1.5 KiB of a 512 KiB chunk in 25 % of it (assumed 512 KiB)`: only what is not plain
    /// from the rest.
    pub(crate) fn distance(self, layer: &LayerReport, by: &Misalignment) -> String {
        let mut words = match by.offset_bytes {
            Some(offset) => format!(" by {}", self.exact(offset)),
            None => " at several offsets".to_owned(),
        };
        if by.unit != UnitKind::Granule {
            words += &format!(" of a {} {}", self.exact(by.unit_bytes), by.unit.words());
        }
        if by.share_percent < 100.0 {
            words += &format!(" in {} of it", percent(by.share_percent));
        }
        // A stripe is never assumed.
        if layer.assumed && by.unit == UnitKind::Granule {
            words += &format!(" (assumed {})", self.exact(by.unit_bytes));
        }
        words
    }

    /// A time to two digits or more.
    pub(crate) fn time(self, nanoseconds: u64) -> String {
        match nanoseconds {
            0..1_000 => format!("{nanoseconds} ns"),
            1_000..1_000_000 => {
                format!("{} {}s", nanoseconds.div_euclid(1_000), self.glyphs().micro)
            }
            1_000_000..1_000_000_000 => format!("{} ms", nanoseconds.div_euclid(1_000_000)),
            _ => {
                let tenths = nanoseconds.div_euclid(100_000_000);
                format!("{}.{} s", tenths.div_euclid(10), tenths.rem_euclid(10))
            }
        }
    }
}

/// `1 partition`, `2 partitions`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
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

/// A share that is never rounded to nothing or to all.
fn percent(share: f64) -> String {
    match share {
        ..0.1 => "under 0.1 %".to_owned(),
        10.0..=99.0 => format!("{share:.0} %"),
        ..=99.9 => format!("{share:.1} %"),
        _ => "over 99.9 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_counts_read_as_people_say_them() {
        let look = Look::default();
        let words = ViewWords { look: &look };
        for (nanoseconds, text) in [
            (0, "0 ns"),
            (1_500, "1 µs"),
            (3_400_000, "3 ms"),
            (1_450_000_000, "1.4 s"),
            (61_000_000_000, "61.0 s"),
        ] {
            assert_eq!(words.time(nanoseconds), text);
        }
        assert_eq!(count(0, "disk"), "0 disks");
        assert_eq!(count(1, "file system"), "1 file system");
        assert_eq!(severities(1, 0, 2), ["1 error", "2 info"]);
    }

    #[test]
    fn a_share_is_never_rounded_to_nothing_or_to_all() {
        assert_eq!(percent(0.0001), "under 0.1 %");
        assert_eq!(percent(99.99), "over 99.9 %");
        assert_eq!(percent(2.25), "2.2 %");
        assert_eq!(percent(25.0), "25 %");
    }
}
