//! A time with its unit, in both directions: `10 ms`.

use std::fmt;

/// The units, in nanoseconds, the greatest first; the first of each length is printed.
const UNITS: [(&str, u64); 5] =
    [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("µs", 1000), ("ns", 1)];

/// A time in nanoseconds, printed in the greatest unit in which it is whole: `10 ms`, `200 us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

impl Duration {
    /// The time that `text` names: a whole number and a unit, with or without a blank. `None` when
    /// it names none: a sign, a fraction, no unit, more than 2^64 ns.
    #[must_use]
    pub fn parse(text: &str) -> Option<Duration> {
        let digits = text.find(|character: char| !character.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let unit = unit.strip_prefix(' ').unwrap_or(unit);
        let (_, each_ns) = UNITS.iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(*each_ns).map(Duration)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, each_ns): &&(&str, u64)| self.0 > 0 && self.0.is_multiple_of(*each_ns);
        let (name, each_ns) = UNITS.iter().find(whole).unwrap_or(&("ns", 1));
        formatter.pad(&format!("{} {name}", self.0.div_euclid(*each_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected_ns: Option<u64>) {
        assert_eq!(Duration::parse(text).map(|time| time.0), expected_ns, "{text}");
    }

    #[test]
    fn times_are_read_with_their_unit_only() {
        check("10 ms", Some(10_000_000));
        check("200us", Some(200_000));
        check("200 µs", Some(200_000));
        check("1 s", Some(1_000_000_000));
        for text in ["", "10", "ms", "-1 ms", "1.5 ms", "10 m", "10  ms", "10 MS", "1 s "] {
            check(text, None);
        }
        check("18446744073709551615 ns", Some(u64::MAX));
        check("18446744073709551615 s", None);
        check("99999999999999999999 ns", None);
    }

    #[test]
    fn times_are_printed_as_they_are_read() {
        for text in ["10 ms", "200 us", "1 s", "1500 us", "7 ns", "0 ns"] {
            assert_eq!(Duration::parse(text).unwrap().to_string(), text);
        }
    }
}
