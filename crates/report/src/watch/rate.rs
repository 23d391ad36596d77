//! Counts of some time as rates.

use units::number::{real, whole};
use units::prefix::Size;

const SECOND_NS: f64 = 1e9;

/// Operations a second: whole numbers from 10 on, else with as many digits as say something; `-`
/// where no time was watched.
pub(super) fn per_second(count: u64, watched_ns: u64) -> String {
    if watched_ns == 0 {
        return "-".to_owned();
    }
    let rate = real(count) * SECOND_NS / real(watched_ns);
    match rate {
        _ if count == 0 => "0".to_owned(),
        _ if rate >= 9.95 => grouped(whole(rate.round())),
        _ if rate >= 0.095 => format!("{rate:.1}"),
        _ if rate >= 0.0095 => format!("{rate:.2}"),
        _ => "<0.01".to_owned(),
    }
}

/// Bytes a second, as a size.
pub(super) fn bytes_per_second(bytes: u64, watched_ns: u64) -> String {
    if watched_ns == 0 {
        return "-".to_owned();
    }
    Size(whole((real(bytes) * SECOND_NS / real(watched_ns)).round())).to_string()
}

/// `12,345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_as_many_digits_as_say_something() {
        const TEN: u64 = 10_000_000_000;
        let rates = [(0, "0"), (1, "0.1"), (99, "9.9"), (100, "10"), (123_456_789, "12,345,679")];
        for (count, expected) in rates {
            assert_eq!(per_second(count, TEN), expected);
        }
        assert_eq!(per_second(1, 3600 * TEN / 10), "<0.01");
        assert_eq!(per_second(1, 0), "-");
        assert_eq!(bytes_per_second(40 << 20, TEN), "4 MiB");
        assert_eq!(grouped(1000), "1,000");
    }
}
