//! Values as they are typed: sizes, and times of which a plain number is seconds.

/// The longest time of a measurement, in seconds: a day.
const SECONDS_MAX: u64 = 86_400;
/// The greatest age, in seconds: a year.
const AGE_MAX: u64 = 365 * 86_400;
/// Units, and their seconds.
const UNITS: [(&str, u64); 6] =
    [("", 1), ("s", 1), ("m", 60), ("min", 60), ("h", 3600), ("d", 86_400)];

/// The seconds of `90`, `90s`, `5m` or `1h`: from 1 to a day.
///
/// # Errors
/// When `text` is no such time; the message says what is expected.
pub(super) fn seconds(text: &str) -> Result<u32, String> {
    up_to(text, SECONDS_MAX).ok_or_else(|| {
        format!("expected a time from 1s to 24h such as 90s, 5m or 1h, got `{text}`")
    })
}

/// The seconds of `90m`, `24h` or `8d`: from 1 to a year.
///
/// # Errors
/// When `text` is no such time; the message says what is expected.
pub(super) fn age(text: &str) -> Result<u32, String> {
    up_to(text, AGE_MAX)
        .ok_or_else(|| format!("expected a time from 1s to 365d such as 24h or 8d, got `{text}`"))
}

fn up_to(text: &str, most: u64) -> Option<u32> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, each) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let seconds = number.parse::<u64>().ok()?.checked_mul(*each)?;
    u32::try_from(seconds).ok().filter(|_| (1..=most).contains(&seconds))
}

/// The bytes of a size such as `4K`.
///
/// # Errors
/// When `text` is no size; the message says what is expected.
pub(super) fn size(text: &str) -> Result<u64, String> {
    units::prefix::parse(text).map_err(|error| error.to_string())
}

/// A pace of a served drive.
///
/// # Errors
/// When `text` is none.
pub(super) fn pace(text: &str) -> Result<serve::Pace, String> {
    serve::Pace::read(text)
        .ok_or_else(|| "expected real, off, or a factor from 0.001 to 1000".to_owned())
}

/// A size that fits 32 bits.
///
/// # Errors
/// When `text` is no such size.
pub(super) fn size_u32(text: &str) -> Result<u32, String> {
    u32::try_from(size(text)?).map_err(|_| "expected less than 4 GiB".to_owned())
}

/// A size of at least one byte.
///
/// # Errors
/// When `text` is no such size.
pub(super) fn size_above_0(text: &str) -> Result<u64, String> {
    match units::prefix::parse(text) {
        Ok(0) => Err("expected at least one byte".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// A page of a database: a power of two from 512 bytes to 64 KiB.
///
/// # Errors
/// When `text` is no such size.
pub(super) fn page(text: &str) -> Result<u64, String> {
    match units::prefix::parse(text) {
        Ok(bytes) if bytes.is_power_of_two() && (512..=65536).contains(&bytes) => Ok(bytes),
        _ => Err("expected a power of two from 512 to 64K, such as 16K".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_plain_seconds_and_units_and_rejects_the_rest() {
        for (text, expected) in
            [("1", 1), ("90s", 90), ("5m", 300), ("5min", 300), ("1h", 3600), ("1d", 86_400)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
            assert_eq!(age(text), Ok(expected), "{text}");
        }
        assert_eq!(age("8d"), Ok(8 * 86_400));
        assert!(age("366d").unwrap_err().contains("24h or 8d"));
        for text in ["", "0", "-1", "1.5h", "s", "1 h", "1w", "25h", "99999999999999999999"] {
            assert!(seconds(text).unwrap_err().contains("90s, 5m or 1h"), "{text}");
        }
    }
}
