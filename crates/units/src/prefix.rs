//! The one table of size prefixes, and sizes as text in both directions.
//!
//! Sizes are printed with IEC prefixes only. They are accepted with IEC (`KiB`), SI (`kB`) and, as
//! sfdisk and dd users expect, single letters that mean the binary prefix (`K`).
//! Source: IEC 80000-13 and the SI brochure, 9th edition, section 3.

use std::fmt;

/// One row of the table: letter, IEC factor and SI factor.
struct Prefix {
    letter: char,
    binary: u64,
    decimal: u64,
}

const PREFIXES: [Prefix; 6] = [
    Prefix { letter: 'K', binary: 1 << 10, decimal: 1_000 },
    Prefix { letter: 'M', binary: 1 << 20, decimal: 1_000_000 },
    Prefix { letter: 'G', binary: 1 << 30, decimal: 1_000_000_000 },
    Prefix { letter: 'T', binary: 1 << 40, decimal: 1_000_000_000_000 },
    Prefix { letter: 'P', binary: 1 << 50, decimal: 1_000_000_000_000_000 },
    Prefix { letter: 'E', binary: 1 << 60, decimal: 1_000_000_000_000_000_000 },
];

/// A number of bytes that prints with an IEC prefix: exactly when it can (`1.5 KiB`, `125 MiB`),
/// else rounded to three significant digits (`5.46 TiB`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = PREFIXES.iter().rposition(|prefix| self.0 >= prefix.binary) else {
            return f.pad(&format!("{} B", self.0));
        };
        // What rounds to 1024 of one prefix is 1 of the next.
        let next = PREFIXES.get(place + 1).filter(|next| hundredths(self.0, next.binary) >= 100);
        let prefix = next.unwrap_or(&PREFIXES[place]);
        let hundredths = hundredths(self.0, prefix.binary);
        let (whole, part) = (hundredths / 100, hundredths % 100);
        let digits = match (whole, part) {
            (_, 0) => whole.to_string(),
            // A half is exact: a partition that ends half a unit off is what is looked for.
            (100.., 50) if self.0.is_multiple_of(prefix.binary.div_euclid(2)) => {
                format!("{whole}.5")
            }
            (100.., _) => ((hundredths + 50) / 100).to_string(),
            (10.., _) => {
                let tenths = (hundredths + 5) / 10;
                if tenths.is_multiple_of(10) {
                    (tenths / 10).to_string()
                } else {
                    format!("{}.{}", tenths / 10, tenths % 10)
                }
            }
            _ if part.is_multiple_of(10) => format!("{whole}.{}", part / 10),
            _ => format!("{whole}.{part:02}"),
        };
        f.pad(&format!("{digits} {}iB", prefix.letter))
    }
}

/// `bytes` in hundredths of `unit`, rounded.
fn hundredths(bytes: u64, unit: u64) -> u128 {
    (u128::from(bytes) * 100 + u128::from(unit) / 2) / u128::from(unit)
}

/// A number of bytes that prints exactly, with the largest prefix that shows it with at most one
/// decimal (`125 MiB`, `1.5 KiB`, `128001.5 KiB`), else as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact(pub u64);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |prefix: &&Prefix| {
            self.0 >= prefix.binary && self.0.is_multiple_of(prefix.binary.div_euclid(2))
        };
        f.pad(&match PREFIXES.iter().rev().find(fits) {
            None => format!("{} B", self.0),
            Some(prefix) => {
                let whole = self.0.div_euclid(prefix.binary);
                let half = if self.0.is_multiple_of(prefix.binary) { "" } else { ".5" };
                format!("{whole}{half} {}iB", prefix.letter)
            }
        })
    }
}

/// Two sizes in bytes as [`Exact`] prints them, both in the unit of the one that needs the smaller:
/// `[1023.5 KiB, 1024 KiB]`. A size of 0 has the unit of the other.
#[must_use]
pub fn in_one_unit(sizes: [u64; 2]) -> [String; 2] {
    let fits = |prefix: &&Prefix| {
        sizes.iter().all(|&size| {
            (size == 0 || size >= prefix.binary) && size.is_multiple_of(prefix.binary.div_euclid(2))
        })
    };
    let any = sizes.iter().any(|&size| size > 0);
    match PREFIXES.iter().rev().filter(|_| any).find(fits) {
        None => sizes.map(|size| format!("{size} B")),
        Some(prefix) => sizes.map(|size| {
            let half = if size.is_multiple_of(prefix.binary) { "" } else { ".5" };
            format!("{}{half} {}iB", size.div_euclid(prefix.binary), prefix.letter)
        }),
    }
}

/// An address in bytes that prints with its sector: `31.5 KiB (sector 63)`. The sector is exact; a
/// size that takes more digits than are read at a glance is rounded: `sector 600063 (~293 MiB)`.
/// Sectors other than 512 bytes are named: `1 MiB (sector 256 of 4096 B)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorAddress {
    /// The address.
    pub bytes: u64,
    /// The length of a sector, in bytes; an address off its boundaries is counted in 512.
    pub sector_bytes: u64,
}

impl SectorAddress {
    /// The sector's number, and its length where that is not 512 bytes or not the one asked for;
    /// `None` for an address that is not a multiple of 512.
    #[must_use]
    pub fn sector(&self) -> Option<String> {
        let length = [self.sector_bytes, 512]
            .into_iter()
            .find(|&length| length > 0 && self.bytes.is_multiple_of(length))?;
        let number = self.bytes.div_euclid(length);
        Some(match (length, self.sector_bytes) {
            (512, 512) => format!("sector {number}"),
            _ => format!("sector {number} of {length} B"),
        })
    }
}

impl fmt::Display for SectorAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(sector) = self.sector() else { return f.pad(&Exact(self.bytes).to_string()) };
        let exact = Exact(self.bytes).to_string();
        let glance = exact.len() <= "1023.5 KiB".len();
        match glance {
            true => f.pad(&format!("{exact} ({sector})")),
            false => f.pad(&format!("{sector} (~{})", Size(self.bytes))),
        }
    }
}

/// A size that could not be read, with the text as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError {
    /// The typed text.
    pub text: String,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a size; write bytes (`4096`), IEC (`4KiB`), SI (`4kB`) or a letter that \
             means the binary prefix (`4K`)",
            self.text
        )
    }
}

impl std::error::Error for SizeError {}

/// The number of bytes that `text` names: digits, then nothing, `B`, a letter, or an IEC or SI
/// unit; letters in either case.
///
/// # Errors
/// When there are no digits, the unit is not in the table, or the value exceeds `u64::MAX`.
pub fn parse(text: &str) -> Result<u64, SizeError> {
    let fail = || SizeError { text: text.to_owned() };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    let number: u64 = digits.parse().map_err(|_| fail())?;
    let factor = factor(unit.trim()).ok_or_else(fail)?;
    number.checked_mul(factor).ok_or_else(fail)
}

fn factor(unit: &str) -> Option<u64> {
    let mut letters = unit.chars();
    let Some(first) = letters.next() else { return Some(1) };
    if unit.eq_ignore_ascii_case("b") {
        return Some(1);
    }
    let prefix = PREFIXES.iter().find(|prefix| prefix.letter == first.to_ascii_uppercase())?;
    match letters.as_str().to_ascii_lowercase().as_str() {
        "" | "ib" | "i" => Some(prefix.binary),
        "b" => Some(prefix.decimal),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_print_with_iec_prefixes_and_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (1536, "1.5 KiB"),
            (4096, "4 KiB"),
            (6_001_175_126_016, "5.46 TiB"),
            (640_140_600_832, "596 GiB"),
            (2001 << 19, "1000.5 MiB"),
            (1_048_576, "1 MiB"),
            (u64::MAX, "16 EiB"),
            ((1 << 30) - 63 * 512, "1 GiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }

    #[test]
    fn two_sizes_share_the_smaller_of_their_units() {
        for (sizes, texts) in [
            ([1_048_064, 1_048_576], ["1023.5 KiB", "1024 KiB"]),
            ([512, 1024], ["512 B", "1024 B"]),
            ([1 << 20, 2 << 20], ["1 MiB", "2 MiB"]),
            ([0, 1 << 20], ["0 MiB", "1 MiB"]),
            ([0, 0], ["0 B", "0 B"]),
        ] {
            assert_eq!(in_one_unit(sizes), texts);
        }
    }

    #[test]
    fn exact_sizes_are_one_number_and_right_to_the_byte() {
        for (bytes, text) in [
            (131_072 * 1024 + 1536, "131073.5 KiB"),
            (63 * 512, "31.5 KiB"),
            (34 * 512, "17 KiB"),
            (1 << 20, "1 MiB"),
            ((1 << 20) + 4096, "1028 KiB"),
            (1536 << 20, "1.5 GiB"),
            (1_000_000_007, "1000000007 B"),
        ] {
            assert_eq!(Exact(bytes).to_string(), text);
        }
    }

    #[test]
    fn an_address_prints_with_its_sector() {
        for (bytes, sector_bytes, text) in [
            (63 * 512, 512, "31.5 KiB (sector 63)"),
            (600_063 * 512, 512, "sector 600063 (~293 MiB)"),
            (2048 * 512, 512, "1 MiB (sector 2048)"),
            (256 * 4096, 4096, "1 MiB (sector 256 of 4096 B)"),
            (63 * 512, 4096, "31.5 KiB (sector 63 of 512 B)"),
            (1_000_001, 512, "1000001 B"),
            (512, 0, "512 B (sector 1 of 512 B)"),
        ] {
            assert_eq!(SectorAddress { bytes, sector_bytes }.to_string(), text);
        }
    }

    #[test]
    fn single_letters_are_binary_and_kb_is_decimal() {
        for (text, bytes) in [
            ("4096", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("1M", 1 << 20),
            ("3b", 3),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "4X", "-1", "99999999999999999999", "16E", "4KiBs"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
