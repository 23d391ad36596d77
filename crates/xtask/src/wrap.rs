//! Long comments broken at a word, since rustfmt leaves them alone.

/// `text` with every comment over `columns` broken, as far as it has blanks: the rest of a line
/// goes to the front of the next line of the same comment, unless that begins a list, a heading, a
/// table or a paragraph of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut carried: Option<Carried> = None;
    for line in text.lines() {
        let mut line = line.to_owned();
        if let Some(rest) = carried.take() {
            match Comment::of(&line).filter(|next| rest.joins(next)) {
                Some(next) => line = format!("{}{} {}", rest.prefix, rest.words, next.words),
                None => push(&mut out, &format!("{}{}", rest.prefix, rest.words)),
            }
        }
        carried = broken(&mut line, columns);
        push(&mut out, &line);
    }
    if let Some(rest) = carried {
        push(&mut out, &format!("{}{}", rest.prefix, rest.words));
    }
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// The end of a long line: its words, and what stands before them on their own line.
struct Carried {
    prefix: String,
    words: String,
}

impl Carried {
    fn joins(&self, next: &Comment<'_>) -> bool {
        let starts =
            next.words.starts_with(['-', '*', '#', '|', '`', '>']) || next.words.is_empty();
        next.prefix == self.prefix && !starts
    }
}

/// A line that is a comment: its indentation, slashes and blanks, and then its words.
struct Comment<'a> {
    prefix: &'a str,
    words: &'a str,
}

impl Comment<'_> {
    fn of(line: &str) -> Option<Comment<'_>> {
        let behind = line.trim_start().strip_prefix("//")?;
        let words = behind.trim_start_matches(['/', '!']).trim_start();
        Some(Comment { prefix: &line[..line.len() - words.len()], words })
    }
}

/// Cuts `line` down to `columns` when it is a comment with a blank to cut at; gives what is left
/// over.
fn broken(line: &mut String, columns: usize) -> Option<Carried> {
    let comment = Comment::of(line)?;
    if line.chars().count() <= columns || comment.words.starts_with('|') {
        return None;
    }
    let start = comment.prefix.len();
    let fits = line.char_indices().nth(columns).map_or(line.len(), |(at, _)| at);
    let cut = line[..=fits.min(line.len() - 1)].rfind(' ').filter(|cut| *cut > start)?;
    let indent = if comment.words.starts_with(['-', '*']) { "  " } else { "" };
    let prefix = format!("{}{indent}", comment.prefix);
    let words = line[cut..].trim().to_owned();
    line.truncate(cut);
    Some(Carried { prefix, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(wrapped(text, 20), expected);
        assert_eq!(wrapped(expected, 20), expected, "twice is once");
    }

    #[test]
    fn words_move_to_the_next_line_of_the_comment() {
        check(
            "/// one two three four\n/// five\nfn a() {}\n",
            "/// one two three\n/// four five\nfn a() {}\n",
        );
        check("    // one two threes\nlet a = 1;\n", "    // one two\n    // threes\nlet a = 1;\n");
    }

    #[test]
    fn lists_paragraphs_and_code_stay_apart() {
        check(
            "//! one two three four\n//!\n//! five\n",
            "//! one two three\n//! four\n//!\n//! five\n",
        );
        check(
            "/// - one two three four\n/// - five\n",
            "/// - one two three\n///   four\n/// - five\n",
        );
        check("// https://example.org/a/b/c\n", "// https://example.org/a/b/c\n");
    }
}
