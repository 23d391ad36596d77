//! Names quoted as words that a POSIX shell takes.

use crate::disk_text::unescaped;

/// Quotes `escaped`, as [`escape`](crate::text::escape) gave it, for a POSIX shell: in single
/// quotes where a shell could read more into it, and with `./` before a dash that begins it.
/// Escapes stand outside of the quotes: `printf` gives the shell its bytes, and a line feed, which
/// that would drop, is `$'\n'` (bash, zsh, ksh, busybox; POSIX.1-2024, section 2.2.4).
#[must_use]
pub fn shell_word(escaped: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !escaped.is_empty() && !escaped.starts_with('-') && escaped.chars().all(plain) {
        return escaped.to_owned();
    }
    let dash = if escaped.starts_with('-') { "./" } else { "" };
    let mut typed = format!("'{dash}");
    let mut rest = escaped;
    while let Some((plain, behind)) = rest.split_once('\\') {
        typed += &plain.replace('\'', "'\\''");
        let (bytes, behind) = unescaped(behind);
        typed += &match &bytes[..] {
            b"\\" => "\\".to_owned(),
            b"\n" => "'$'\\n''".to_owned(),
            bytes => octal(bytes),
        };
        rest = behind;
    }
    typed + &rest.replace('\'', "'\\''") + "'"
}

/// The same for the path of a file: `./` stands before a relative one with a colon in its first
/// part, which QEMU takes for a protocol (qemu(1), "file:") and others for the name of a host.
#[must_use]
pub fn file_word(escaped: &str) -> String {
    shell_word(&plain_path(escaped))
}

/// `path` with `./` before it where the part before a colon could be taken for a protocol.
#[must_use]
pub fn plain_path(path: &str) -> String {
    let has_colon = path.split('/').next().is_some_and(|first| first.contains(':'));
    if has_colon { format!("./{path}") } else { path.to_owned() }
}

/// `bytes` within a word in single quotes, as what `printf` prints.
#[must_use]
pub fn octal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
    format!("'\"$(printf '{digits}')\"'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{escape, unescape};

    #[test]
    fn a_word_is_quoted_so_that_it_can_be_typed() {
        assert_eq!(shell_word("/srv/vm/disk-1.raw"), "/srv/vm/disk-1.raw");
        assert_eq!(shell_word("a b.raw"), "'a b.raw'");
        assert_eq!(shell_word("it's;rm"), r"'it'\''s;rm'");
        assert_eq!(shell_word("\u{e9}"), "'\u{e9}'");
        assert_eq!(shell_word("-x"), "'./-x'");
        let typed = |bytes: &[u8]| shell_word(&escape(bytes));
        assert_eq!(typed(b"a\\b"), r"'a\b'");
        assert_eq!(typed(b"a\nb"), r"'a'$'\n''b'");
        assert_eq!(typed(b"\x1b\xffa"), r#"''"$(printf '\033')"''"$(printf '\377')"'a'"#);
        for bytes in [&b"a\\b\n\x1b\xff'"[..], "\u{202e}\u{e9}".as_bytes(), b""] {
            assert_eq!(unescape(&escape(bytes)), bytes);
        }
        assert_eq!(shell_word("\\u{zz}"), "'\\u{zz}'", "no escape");
    }

    #[test]
    fn no_path_is_taken_for_a_protocol_or_an_option() {
        assert_eq!(file_word("file:x.vdi"), "./file:x.vdi");
        assert_eq!(file_word("vm:a b"), "'./vm:a b'");
        assert_eq!(file_word("-x"), "'./-x'");
        for path in ["a/file:x", "/file:x", "./file:x", "x.vdi"] {
            assert_eq!(file_word(path), path);
        }
    }
}
