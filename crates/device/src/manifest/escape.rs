//! Any bytes as part of one line of text, and back.

use std::borrow::Cow;

use units::text;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Writes `bytes` to `line`, so that they stay on it and hide nothing.
pub(super) fn write(line: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            write_character(line, character);
        }
        write_bytes(line, chunk.invalid());
    }
}

/// Same as [`write()`] for the last thing on a line, whose last blank would be lost on the way.
pub(super) fn write_last(line: &mut String, bytes: &[u8]) {
    match bytes.split_last() {
        Some((b' ', rest)) => {
            write(line, rest);
            line.push_str("\\x20");
        }
        _ => write(line, bytes),
    }
}

/// Same as [`write()`] for a name, in which nothing may look like the end of one: `: ` or ` -> `.
pub(super) fn write_name(line: &mut String, name: &[u8]) {
    let start = line.len();
    write_last(line, name);
    let written = &line[start..];
    if written.contains(": ") || written.contains(" -> ") || written.ends_with(':') {
        let safe = written.replace(':', "\\x3a").replace(' ', "\\x20");
        line.truncate(start);
        line.push_str(&safe);
    }
}

fn write_character(line: &mut String, character: char) {
    match character {
        '\\' => line.push_str("\\\\"),
        '\n' => line.push_str("\\n"),
        '\t' => line.push_str("\\t"),
        ' '..='~' => line.push(character),
        _ => {
            let mut room = [0; 4];
            let encoded = character.encode_utf8(&mut room);
            if text::escape(encoded.as_bytes()) == *encoded {
                line.push(character);
            } else {
                write_bytes(line, encoded.as_bytes());
            }
        }
    }
}

fn write_bytes(line: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let digits = [byte >> 4, byte & 0xf].map(|digit| char::from(DIGITS[usize::from(digit)]));
        line.extend(['\\', 'x'].into_iter().chain(digits));
    }
}

/// The bytes that `written` stands for; `None` where a backslash has no meaning.
pub(crate) fn read(written: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !written.contains(&b'\\') {
        return Some(Cow::Borrowed(written));
    }
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        bytes.extend_from_slice(&rest[..at]);
        let (byte, length) = match rest.get(at + 1)? {
            b'\\' => (b'\\', 2),
            b'n' => (b'\n', 2),
            b't' => (b'\t', 2),
            b'x' => (hexadecimal(rest.get(at + 2..at + 4)?)?, 4),
            _ => return None,
        };
        bytes.push(byte);
        rest = &rest[at + length..];
    }
    bytes.extend_from_slice(rest);
    Some(Cow::Owned(bytes))
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    let digit =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    match digits {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_come_back_from_one_line_that_hides_nothing() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in [&all[..], b"", b" ", b"a: b -> c\\x41", "ä\u{202e}\u{85}€".as_bytes()] {
            for write in [write, write_last, write_name] {
                let mut line = String::new();
                write(&mut line, bytes);
                assert_eq!(read(line.as_bytes()).as_deref(), Some(bytes), "{line}");
                assert!(!line.chars().any(|each| each.is_control() || each == '\u{202e}'));
            }
        }
    }

    #[test]
    fn a_backslash_without_a_meaning_is_refused() {
        for written in ["\\", "\\q", "\\x", "\\x4", "\\x4g", "ends\\"] {
            assert_eq!(read(written.as_bytes()), None, "{written}");
        }
    }

    #[test]
    fn a_name_never_holds_what_ends_a_name() {
        for name in ["a: b", "a -> b", "a:", "8:0", "a b", " "] {
            let mut line = String::new();
            write_name(&mut line, name.as_bytes());
            assert!(!line.contains(": ") && !line.contains(" -> ") && !line.ends_with([':', ' ']));
        }
    }
}
