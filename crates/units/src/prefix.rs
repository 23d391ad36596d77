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

/// A number of bytes that prints exactly, as a sum of at most two IEC terms where that is possible
/// (`125 MiB + 1.5 KiB`), else as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact(pub u64);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&exact(self.0))
    }
}

fn exact(bytes: u64) -> String {
    if let Some(text) = single_term(bytes) {
        return text;
    }
    for prefix in PREFIXES.iter().rev() {
        let rest = bytes % prefix.binary;
        let whole = bytes / prefix.binary;
        if (1..1024).contains(&whole)
            && let Some(tail) = single_term(rest)
        {
            return format!("{whole} {}iB + {tail}", prefix.letter);
        }
    }
    format!("{bytes} B")
}

/// A value that one term shows exactly with at most one decimal, and a whole part below 1024.
fn single_term(bytes: u64) -> Option<String> {
    if bytes < 1024 {
        return Some(format!("{bytes} B"));
    }
    let prefix = PREFIXES.iter().rev().find(|prefix| bytes >= prefix.binary)?;
    let half = prefix.binary / 2;
    match (bytes % prefix.binary, bytes % half) {
        (0, _) => Some(format!("{} {}iB", bytes / prefix.binary, prefix.letter)),
        (_, 0) => Some(format!("{}.5 {}iB", bytes / prefix.binary, prefix.letter)),
        _ => None,
    }
}

/// A size that could not be read, with the text as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError {
    /// What was typed.
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
            (1_048_576, "1 MiB"),
            (u64::MAX, "16 EiB"),
            ((1 << 30) - 63 * 512, "1 GiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }

    #[test]
    fn exact_sizes_add_up_to_the_byte() {
        for (bytes, text) in [
            (131_072 * 1024 + 1536, "128 MiB + 1.5 KiB"),
            (63 * 512, "31.5 KiB"),
            (34 * 512, "17 KiB"),
            (1 << 20, "1 MiB"),
            ((1 << 40) + 4096, "1 TiB + 4 KiB"),
            (1_000_000_007, "1000000007 B"),
        ] {
            assert_eq!(Exact(bytes).to_string(), text);
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
