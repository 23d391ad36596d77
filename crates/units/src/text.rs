//! Text that came from a disk, and is therefore hostile.
//!
//! It may hold terminal escapes, bidirectional overrides or bytes that are no text at all. It
//! prints escaped, always; the raw bytes stay available.

use std::fmt;

/// Bytes that a disk claims to be text. `Display` gives a single harmless line.
#[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct DiskText(Vec<u8>);

impl DiskText {
    /// The bytes up to the first NUL, without trailing blanks: how fixed-width labels are stored.
    #[must_use]
    pub fn from_padded(bytes: &[u8]) -> DiskText {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        DiskText(bytes[..end].trim_ascii_end().to_vec())
    }

    /// The bytes as they are.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> DiskText {
        DiskText(bytes.to_vec())
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
        DiskText(text.into_bytes())
    }

    /// The raw bytes, unescaped: for comparing and for opening files, never for printing.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for DiskText {
    fn from(text: &str) -> DiskText {
        DiskText(text.as_bytes().to_vec())
    }
}

/// `text` where it needs no escape: printable ASCII without a backslash, as nearly all of it is.
fn plain(text: &[u8]) -> Option<&str> {
    let is_plain = text.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'\\');
    is_plain.then(|| std::str::from_utf8(text).ok()).flatten()
}

impl fmt::Display for DiskText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(plain) = plain(&self.0) {
            return f.write_str(plain);
        }
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                write_escaped(f, character)?;
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for DiskText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Control characters, the backslash, and characters that reorder or hide text are written as
/// escapes. Source: Unicode Standard Annex #9, section 2 (directional formatting characters).
fn write_escaped(f: &mut fmt::Formatter<'_>, character: char) -> fmt::Result {
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
    if let Some(plain) = plain(text) {
        return plain.to_owned();
    }
    DiskText::from_bytes(text).to_string()
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
    fn labels_end_at_nul_and_drop_padding() {
        assert_eq!(DiskText::from_padded(b"data   \0junk").to_string(), "data");
        assert_eq!(DiskText::from_utf16le(b"E\0S\0P\0\0\0x\0").to_string(), "ESP");
    }
}
