//! Text that fits: one line, a known width, wrapped or shortened.
//!
//! Widths are terminal columns (Unicode Standard Annex #11), not bytes or characters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` without anything that could leave its line or reorder it. Escapes already in it stay as
/// they are, so text that was escaped once is not escaped twice.
pub(crate) fn one_line(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let parts: Vec<String> =
        text.split('\\').map(|part| units::text::escape(part.as_bytes())).collect();
    parts.join("\\")
}

/// `text` with every character beyond ASCII as an escape.
pub(crate) fn ascii(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            escaped.extend(character.escape_unicode());
        }
    }
    escaped
}

/// The columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` in at most `limit` columns, its end replaced by `ellipsis` where it is longer.
pub(crate) fn shorten(text: &str, limit: usize, ellipsis: &str) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let head = split(text, limit.saturating_sub(width(ellipsis))).0;
    format!("{}{ellipsis}", head.trim_end())
}

/// `text` in at most `limit` columns, its middle replaced by `ellipsis` where it is longer: names
/// differ at their ends.
pub(crate) fn shorten_middle(text: &str, limit: usize, ellipsis: &str) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(width(ellipsis));
    let head = split(text, room.div_euclid(2)).0;
    let mut tail = text.len();
    let mut used = width(head);
    for (index, character) in text.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if used > room {
            break;
        }
        tail = index;
    }
    format!("{head}{ellipsis}{}", &text[tail..])
}

/// `text` as lines of at most `limit` columns, broken at blanks but not behind a number, and inside
/// a word only where it is longer than a line. At least one line.
pub(crate) fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    for mut piece in pieces(text) {
        if !line.is_empty() {
            if width(&line) + 1 + width(&piece) <= limit {
                line.push(' ');
            } else {
                lines.push(std::mem::take(&mut line));
            }
        }
        while width(&line) + width(&piece) > limit {
            let (head, tail) = split(&piece, limit);
            lines.push(head.to_owned());
            piece = tail.to_owned();
        }
        line.push_str(&piece);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The words of `text`, each with the number before it: `reads`, `4 KiB`.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match pieces.last_mut() {
            Some(last) if is_number(last) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The longest start of `text` that takes at most `limit` columns, and the rest.
fn split(text: &str, limit: usize) -> (&str, &str) {
    let mut used = 0;
    for (index, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > limit {
            return text.split_at(index);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_that_are_there_stay_and_raw_ones_are_added() {
        assert_eq!(one_line("a\\u{1b}[31m\\xff b"), "a\\u{1b}[31m\\xff b");
        assert_eq!(one_line("a\x1b[31m\nb\\\u{202e}é"), "a\\u{1b}[31m\\u{a}b\\\\u{202e}é");
        assert_eq!(ascii("Données"), "Donn\\u{e9}es");
    }

    #[test]
    fn shortened_text_keeps_its_columns() {
        assert_eq!(shorten("partition", 9, "…"), "partition");
        assert_eq!(shorten("partitions", 9, "…"), "partitio…");
        assert_eq!(shorten("日本語の名前", 6, "…"), "日本…");
        assert_eq!(shorten_middle("/srv/images/disk-0001.raw", 16, "…"), "/srv/im…0001.raw");
        assert_eq!(shorten_middle("日本語の名前", 6, "…"), "日…前");
    }

    #[test]
    fn wrapped_text_breaks_at_blanks_and_only_then_inside_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("of a 512 KiB chunk", 8), ["of a", "512 KiB", "chunk"]);
        assert_eq!(wrap("a abcdefghijklmnopqr b", 8), ["a", "abcdefgh", "ijklmnop", "qr b"]);
    }
}
