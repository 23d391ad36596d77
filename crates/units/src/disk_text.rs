//! Text that came from a disk, and is therefore hostile.
//!
//! It may hold terminal escapes, bidirectional overrides or bytes that are no text at all, and be
//! megabytes long. It prints escaped and short, always; the raw bytes stay available, as many of
//! them as any name or path has.

use std::fmt::{self, Write as _};

/// The most bytes of a text that are kept and printed: Linux's longest path (`PATH_MAX`).
pub const KEPT_BYTES: usize = 4096;

/// The bytes of which [`escape`] made `escaped`, where it was no longer than [`KEPT_BYTES`].
#[must_use]
pub fn unescape(escaped: &str) -> Vec<u8> {
    let mut whole = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((plain, behind)) = rest.split_once('\\') {
        let (bytes, behind) = unescaped(behind);
        whole.extend_from_slice(plain.as_bytes());
        whole.extend(bytes);
        rest = behind;
    }
    whole.extend_from_slice(rest.as_bytes());
    whole
}

/// Returns the bytes of an escape whose backslash is before `text`, and the text after it. A
/// backslash that begins no escape stands for itself.
pub(crate) fn unescaped(text: &str) -> (Vec<u8>, &str) {
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    if let Some(rest) = text.strip_prefix('\\') {
        return (b"\\".to_vec(), rest);
    }
    if let Some((digits, rest)) = text.strip_prefix("u{").and_then(|text| text.split_once('}'))
        && let Some(character) = number(digits).and_then(char::from_u32)
    {
        return (character.to_string().into_bytes(), rest);
    }
    if let Some((digits, rest)) = text.strip_prefix('x').and_then(|text| text.split_at_checked(2))
        && let Some(byte) = number(digits).and_then(|byte| u8::try_from(byte).ok())
    {
        return (vec![byte], rest);
    }
    (b"\\".to_vec(), text)
}

/// Bytes that a disk claims to be text, at most [`KEPT_BYTES`] of them. `Display` gives a single
/// harmless line, which says how long the whole text is where its end was cut off.
#[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct DiskText {
    kept: Vec<u8>,
    /// The whole text's length in bytes.
    whole_bytes: usize,
}

impl DiskText {
    /// The bytes up to the first NUL, without trailing blanks: how fixed-width labels are stored.
    #[must_use]
    pub fn from_padded(bytes: &[u8]) -> DiskText {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        DiskText::from_bytes(bytes[..end].trim_ascii_end())
    }

    /// The bytes as they are.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> DiskText {
        DiskText { kept: start(bytes).to_vec(), whole_bytes: bytes.len() }
    }

    /// UTF-16 little-endian up to the first NUL; a lone surrogate becomes U+FFFD, an odd last byte
    /// is dropped.
    #[must_use]
    pub fn from_utf16le(bytes: &[u8]) -> DiskText {
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        DiskText::from_utf16(units)
    }

    /// UTF-16 big-endian up to the first NUL; a lone surrogate becomes U+FFFD, an odd last byte is
    /// dropped.
    #[must_use]
    pub fn from_utf16be(bytes: &[u8]) -> DiskText {
        let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        DiskText::from_utf16(units)
    }

    fn from_utf16(units: impl Iterator<Item = u16>) -> DiskText {
        let text: String = char::decode_utf16(units.take_while(|&unit| unit != 0))
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        DiskText::from(text.as_str())
    }

    /// The raw bytes, unescaped: for comparing and for opening files, never for printing. The start
    /// of the text only where it [is cut](DiskText::is_cut).
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.kept
    }

    /// Returns whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns whether the text is longer than what is kept of it, so that it names nothing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.whole_bytes > self.kept.len()
    }

    /// The same path as Linux writes it: with `/` for each `\`.
    #[must_use]
    pub fn with_slashes(mut self) -> DiskText {
        for byte in self.kept.iter_mut().filter(|byte| **byte == b'\\') {
            *byte = b'/';
        }
        self
    }
}

impl From<&str> for DiskText {
    fn from(text: &str) -> DiskText {
        DiskText::from_bytes(text.as_bytes())
    }
}

/// The start of `bytes` that is kept: no more than [`KEPT_BYTES`], and no part of a character.
fn start(bytes: &[u8]) -> &[u8] {
    let Some((head, _)) = bytes.split_at_checked(KEPT_BYTES) else { return bytes };
    if head.len() == bytes.len() {
        return bytes;
    }
    // A character of UTF-8 has at most four bytes, and all but its first are 0b10xx_xxxx.
    let is_start = |&at: &usize| bytes[at] & 0xc0 != 0x80;
    let end = (KEPT_BYTES - 3..=KEPT_BYTES).rev().find(is_start).unwrap_or(KEPT_BYTES);
    &bytes[..end]
}

/// `text` where it needs no escape: printable ASCII without a backslash, as nearly all of it is.
fn plain(text: &[u8]) -> Option<&str> {
    let is_plain = text.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'\\');
    is_plain.then(|| std::str::from_utf8(text).ok()).flatten()
}

impl fmt::Display for DiskText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_harmless(f, &self.kept)?;
        if self.is_cut() { write!(f, "... ({} bytes)", self.whole_bytes) } else { Ok(()) }
    }
}

impl fmt::Debug for DiskText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

fn write_harmless(f: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    if let Some(plain) = plain(bytes) {
        return f.write_str(plain);
    }
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            write_escaped(f, character)?;
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

/// Control characters, the backslash, and characters that reorder or hide text are written as
/// escapes. Source: Unicode Standard Annex #9, section 2 (directional formatting characters).
fn write_escaped(f: &mut impl fmt::Write, character: char) -> fmt::Result {
    let hides = matches!(character,
        '\u{00ad}' | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}');
    if character == '\\' {
        f.write_str("\\\\")
    } else if character.is_control() || hides {
        write!(f, "\\u{{{:x}}}", u32::from(character))
    } else {
        write!(f, "{character}")
    }
}

/// `text` as a single harmless line: what [`DiskText`] prints for its bytes. For names that came
/// from a directory or a kernel file.
#[must_use]
pub fn escape(text: &[u8]) -> String {
    DiskText::from_bytes(text).to_string()
}

/// `text` as a single harmless line, however long. Escapes already in it stay as they are, so that
/// what was escaped once is not escaped twice.
#[must_use]
pub fn escape_again(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        // Writing to a String cannot fail.
        let _ = match character {
            '\\' => line.write_char(character),
            _ => write_escaped(&mut line, character),
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_bidi_and_raw_bytes_never_reach_the_terminal() {
        let text = DiskText::from_bytes(b"a\x1b[31m\xe2\x80\xaeb\xff\\\n");
        assert_eq!(text.to_string(), "a\\u{1b}[31m\\u{202e}b\\xff\\\\\\u{a}");
    }

    #[test]
    fn keeps_a_path_whole_and_says_how_long_a_longer_text_is() {
        let path = DiskText::from_bytes(&[b'a'; KEPT_BYTES]);
        assert_eq!((path.to_string().len(), path.is_cut()), (KEPT_BYTES, false));
        let long = DiskText::from_bytes(&[0x1b; 1_000_000]);
        assert!(long.is_cut() && long.to_string().ends_with("\\u{1b}... (1000000 bytes)"));
        assert!(long.to_string().len() < 8 * KEPT_BYTES);
        // The cut is between characters, and what is no text is cut all the same.
        let text = escape("é".repeat(KEPT_BYTES).replacen('é', "e", 1).as_bytes());
        assert!(text.contains("éé... (8191 bytes)"), "{}", &text[4000..]);
        assert_eq!(DiskText::from_bytes(&[0x80; 5000]).raw().len(), KEPT_BYTES);
        assert_ne!(DiskText::from_bytes(&[b'a'; 5000]), DiskText::from_bytes(&[b'a'; 5001]));
    }

    #[test]
    fn labels_end_at_nul_and_drop_padding() {
        assert_eq!(DiskText::from_padded(b"data   \0junk").to_string(), "data");
        assert_eq!(DiskText::from_utf16le(b"E\0S\0P\0\0\0x\0").to_string(), "ESP");
    }
}
