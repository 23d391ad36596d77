//! Text that fits: one line, a known width, wrapped or shortened.
//!
//! Widths are terminal columns (Unicode Standard Annex #11), not bytes or characters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most bytes of a text that are shown: several of the longest paths. What a disk said was
/// bounded when it was read; a result file may hold anything.
const SHOWN_BYTES: usize = 4 * units::text::KEPT_BYTES;
/// The longest text of a result file that is shown, in bytes.
const RESULT_BYTES: usize = 400;

/// `text` without anything that could leave its line or reorder it, and its start alone where it is
/// very long. Escapes already in it stay as they are, so text that was escaped once is not escaped
/// twice.
pub(crate) fn one_line(text: &str) -> String {
    if text.len() > SHOWN_BYTES {
        let start = &text[..text.floor_char_boundary(SHOWN_BYTES)];
        return format!("{}... ({} bytes)", units::text::escape_again(start), text.len());
    }
    units::text::escape_again(text)
}

/// A text of a result file: one harmless line of a bounded length.
pub(crate) fn say(text: &str) -> String {
    say_in(text, RESULT_BYTES)
}

/// The same in at most `bytes`.
pub(crate) fn say_in(text: &str, bytes: usize) -> String {
    // Escapes make a character longer, never shorter; a few bytes more show that it is cut.
    clip(&one_line(&text[..text.floor_char_boundary(bytes + 8)]), bytes)
}

/// `text` in at most `limit` bytes, with dots at its end where it is longer.
pub(crate) fn clip(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let dots = &"..."[..limit.min(3)];
    let end = text.floor_char_boundary(limit - dots.len());
    format!("{}{dots}", text[..end].trim_end())
}

/// `text` with a full stop, where it ends in nothing like it.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.is_empty() || text.ends_with(['.', '!', '?', '…']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
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

/// The command in `text` without a character beyond ASCII: printf gives the shell their bytes. They
/// stand in single quotes, where [`units::text::shell_word`] puts them.
pub(crate) fn ascii_command(text: &str) -> String {
    let mut typed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| !letter.is_ascii()) {
        let (plain, behind) = rest.split_at(start);
        let length = behind.find(|letter: char| letter.is_ascii()).unwrap_or(behind.len());
        typed += plain;
        typed += &units::text::octal(&behind.as_bytes()[..length]);
        rest = &behind[length..];
    }
    typed + rest
}

/// `text`, which has no controls, with escapes for the two other characters that XML forbids
/// (XML 1.0, production 2, Char).
pub(crate) fn xml_characters(text: &str) -> String {
    text.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
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
/// a word only where it is longer than a line. At least one line. The work grows with the text's
/// length alone.
pub(crate) fn wrap(text: &str, limit: usize) -> Vec<String> {
    filled(text, limit.max(8), true)
}

/// The same, with a word that is longer than a line on a line of its own, unbroken: an address.
#[must_use]
pub fn wrap_words(text: &str, limit: usize) -> Vec<String> {
    filled(text, limit, false)
}

fn filled(text: &str, limit: usize, breaks_words: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for piece in quoted(&pieces(text), limit) {
        let mut rest = piece.as_str();
        let mut columns = width(rest);
        if !line.is_empty() {
            if used + 1 + columns <= limit {
                line.push(' ');
                used += 1;
            } else {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
        }
        while breaks_words && used + columns > limit {
            let (head, tail) = split(rest, limit);
            lines.push(head.to_owned());
            rest = tail;
            columns = columns.saturating_sub(width(head));
            if columns <= limit {
                // Characters that were drawn as one may have been cut apart.
                columns = width(rest);
            }
        }
        line.push_str(rest);
        used += columns;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// `line` in at most `limit` columns. What is too long goes on below the text that follows the last
/// gap of two blanks in the first half of the line.
#[must_use]
pub fn hang(line: &str, limit: usize) -> String {
    if width(line) <= limit {
        return line.to_owned();
    }
    let half = line.floor_char_boundary(limit.div_euclid(2));
    let (label, text) = line.split_at(line[..half].rfind("  ").map_or(0, |gap| gap + 2));
    let indent = format!("\n{}", " ".repeat(width(label)));
    label.to_owned() + &wrap(text, limit.saturating_sub(width(label))).join(&indent)
}

/// The words of `text`, each with the number before it: `reads`, `4 KiB`.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut after_number = false;
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        match pieces.last_mut() {
            Some(last) if after_number => {
                last.push(' ');
                last.push_str(word);
                after_number = false;
            }
            _ => {
                pieces.push(word.to_owned());
                after_number = is_number(word);
            }
        }
    }
    pieces
}

/// The most words within quotes that are looked at.
const QUOTED_MAX: usize = 16;

/// The pieces, with what is quoted as one where it fits a line: a command is typed as it stands.
fn quoted(pieces: &[String], limit: usize) -> Vec<String> {
    let mut joined = Vec::with_capacity(pieces.len());
    let mut rest = pieces;
    while let Some((first, behind)) = rest.split_first() {
        let is_open = first.starts_with('\'') && first[1..].find('\'').is_none();
        let end = behind.iter().take(QUOTED_MAX).position(|piece| piece.contains('\''));
        let (piece, behind) = match end.filter(|_| is_open) {
            Some(end) => (rest[..end + 2].join(" "), &rest[end + 2..]),
            None => (first.clone(), behind),
        };
        let fits = width(&piece) <= limit;
        joined.push(if fits { piece } else { first.clone() });
        rest = if fits { behind } else { &rest[1..] };
    }
    joined
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches('(');
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
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

/// Same as [`columns`], where those in `spare` are emptied one after the other until it all fits
/// `limit`.
pub(crate) fn fitted<R: AsMut<[String]> + AsRef<[String]>>(
    rows: &mut [R],
    right: &[usize],
    gap: usize,
    limit: usize,
    spare: &[usize],
) -> String {
    let mut text = columns(rows, right, gap);
    for &column in spare {
        if text.lines().all(|line| width(line) <= limit) {
            break;
        }
        rows.iter_mut().filter_map(|row| row.as_mut().get_mut(column)).for_each(String::clear);
        text = columns(rows, right, gap);
    }
    text
}

/// Rows in columns, `gap` blanks apart; those in `right` end together, empty ones are left out.
pub(crate) fn columns<R: AsRef<[String]>>(rows: &[R], right: &[usize], gap: usize) -> String {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let cells = row.as_ref().iter().enumerate().filter(|&(column, _)| widest(column) > 0);
        let cells = cells.map(|(column, cell)| {
            let blanks = " ".repeat(widest(column).saturating_sub(width(cell)));
            if right.contains(&column) { blanks + cell } else { cell.clone() + &blanks }
        });
        text += cells.collect::<Vec<String>>().join(&" ".repeat(gap)).trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_apart_and_numbers_end_together() {
        let rows = [["1".to_owned(), "a".to_owned()], ["200".to_owned(), "bc".to_owned()]];
        assert_eq!(columns(&rows, &[0], 2), "  1  a\n200  bc\n");
    }

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
        assert_eq!(wrap("granule (4 KiB)", 10), ["granule", "(4 KiB)"]);
        assert_eq!(wrap("a abcdefghijklmnopqr b", 8), ["a", "abcdefgh", "ijklmnop", "qr b"]);
    }

    #[test]
    fn a_long_line_goes_on_below_its_text() {
        let line = "  write  one two three";
        assert_eq!(hang(line, 22), line);
        assert_eq!(hang(line, 18), "  write  one two\n         three");
        assert_eq!(hang("error: no such file", 14), "error: no such\nfile");
    }

    #[test]
    fn a_quoted_word_of_a_command_stays_on_one_line_where_it_fits_one() {
        let text = "ask: psql -c 'SHOW fsync' -c 'SHOW full_page_writes'";
        let lines = ["ask: psql -c", "'SHOW fsync' -c", "'SHOW full_page_writes'"];
        assert_eq!(wrap(text, 23), lines);
        assert_eq!(wrap("a 'bc def ghi jkl' m", 8), ["a 'bc", "def ghi", "jkl' m"]);
        assert_eq!(wrap("the hosts' own 'tis", 11), ["the hosts'", "own 'tis"]);
    }

    #[test]
    fn a_word_of_any_length_is_wrapped_in_time_that_grows_with_it() {
        // Quadratic, these would take minutes.
        for piece in ["\\u{1b}", "a", "é", "1 ", "1", "👨‍👩‍👧", "a\u{301}"] {
            let text = piece.repeat(200_000 / piece.len());
            let lines = wrap(&text, 72);
            assert!(lines.iter().all(|line| width(line) <= 72));
            assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }

    #[test]
    fn of_a_very_long_text_the_start_is_shown_and_its_length() {
        let shown = one_line(&"x".repeat(1_000_000));
        assert!(shown.ends_with("x... (1000000 bytes)") && shown.len() < 20_000);
        assert!(one_line(&"\u{1b}".repeat(1_000_000)).len() < 8 * SHOWN_BYTES);
    }

    #[test]
    fn clipped_text_keeps_its_bytes_and_its_characters() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abc...");
        assert_eq!(clip("日本語", 8), "日...");
        assert_eq!(clip("日本語", 2), "..");
    }
}
