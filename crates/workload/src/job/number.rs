//! fio's numbers: sizes, times and plain integers, read strictly.
//!
//! fio reads the leading digits and looks at the letter behind; whatever else follows is dropped
//! without a word. Here a number is read only where fio reads what it says. Source: fio 3.33's
//! `HOWTO`, "Parameter types", and `fio --debug=parse`.

/// Meaning of the letters after a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KbBase {
    /// fio's default: `k` is 1024, and `KiB`, against IEC 80000-13, is 1000.
    Swapped,
    /// `kb_base=1000`: `k` is 1000 and `KiB` is 1024.
    Standard,
}

/// Why a number cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberFault {
    /// fio refuses it.
    Refused,
    /// fio takes it for another number.
    Ambiguous,
    /// It does not fit in 64 bits.
    TooLarge,
}

/// A size in bytes, and whether its suffix was of the IEC kind (`KiB`).
pub(crate) fn size_bytes(text: &str, base: KbBase) -> Result<(u64, bool), NumberFault> {
    let (number, suffix) = split(text)?;
    let suffix = suffix.to_ascii_lowercase();
    if suffix.is_empty() || suffix == "b" {
        return Ok((number, false));
    }
    let letter = suffix.chars().next().unwrap_or_default();
    let power = "kmgtp".find(letter).ok_or(NumberFault::Ambiguous)?;
    let is_iec = match &suffix[1..] {
        "" | "b" => false,
        "ib" => true,
        _ => return Err(NumberFault::Ambiguous),
    };
    let factor: u64 = if is_iec == (base == KbBase::Standard) { 1024 } else { 1000 };
    let power = u32::try_from(power + 1).expect("it is at most 5");
    let bytes = number.checked_mul(factor.pow(power)).ok_or(NumberFault::TooLarge)?;
    Ok((bytes, is_iec))
}

/// The units of time, in nanoseconds; no unit means seconds.
const TIMES: [(&str, u64); 9] = [
    ("", 1_000_000_000),
    ("s", 1_000_000_000),
    ("us", 1_000),
    ("usec", 1_000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A time in nanoseconds.
pub(crate) fn duration_ns(text: &str) -> Result<u64, NumberFault> {
    let (number, suffix) = split(text)?;
    // fio takes a hexadecimal number for microseconds.
    if text.contains(['x', 'X']) {
        return Err(NumberFault::Ambiguous);
    }
    let suffix = suffix.to_ascii_lowercase();
    let (_, factor) =
        TIMES.iter().find(|(unit, _)| *unit == suffix).ok_or(NumberFault::Ambiguous)?;
    number.checked_mul(*factor).ok_or(NumberFault::TooLarge)
}

/// A number without a unit.
pub(crate) fn plain(text: &str) -> Result<u64, NumberFault> {
    match split(text)? {
        (number, "") => Ok(number),
        _ => Err(NumberFault::Ambiguous),
    }
}

/// A whole percentage, `%` and all. Behind a blank, fio takes it for bytes.
pub(crate) fn percent(text: &str) -> Result<u64, NumberFault> {
    let digits = text.strip_suffix('%').ok_or(NumberFault::Refused)?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { plain(digits) } else { Err(NumberFault::Ambiguous) }
}

/// Leading digits, and what follows. Blanks at the front are harmless only where nothing follows
/// the digits; `0x` begins a hexadecimal number, behind which fio drops any letter.
fn split(text: &str) -> Result<(u64, &str), NumberFault> {
    let trimmed = text.trim_start();
    let text_begins_blank = trimmed.len() < text.len();
    let unsigned = trimmed.strip_prefix('+').unwrap_or(trimmed);
    let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((unsigned, 10), |digits| (digits, 16));
    let end = digits.find(|character: char| !character.is_digit(radix));
    let (digits, suffix) = digits.split_at(end.unwrap_or(digits.len()));
    if digits.is_empty() {
        // fio reads `-5` as a huge number.
        let is_negative = trimmed.starts_with('-');
        return Err(if is_negative { NumberFault::Ambiguous } else { NumberFault::Refused });
    }
    if !suffix.is_empty() && (text_begins_blank || radix == 16) {
        return Err(NumberFault::Ambiguous);
    }
    let number = u64::from_str_radix(digits, radix).map_err(|_| NumberFault::TooLarge)?;
    Ok((number, suffix))
}
