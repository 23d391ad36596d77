//! Long comments and texts broken at a word, since rustfmt leaves both alone.

/// `text` with every comment and every string over `columns` broken, as far as they have blanks.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    with_short_texts(&with_short_comments(text, columns), columns)
}

/// The rest of a comment line goes to the front of the next line of the same comment, unless that
/// begins a list, a heading, a table or a paragraph of its own.
fn with_short_comments(text: &str, columns: usize) -> String {
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

/// A string goes on after a backslash, which takes the line's end and the blanks after it away.
/// In a raw string it would not, so all lines of one stay as they are.
fn with_short_texts(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut within = false;
    let mut raw_end: Option<String> = None;
    for line in text.lines() {
        let began_raw = raw_end.is_some();
        raw_end = raw_string_end(line, raw_end);
        let mut line = line.to_owned();
        // A raw string may begin and end on one line, and a character may be a quote.
        let hard = ["r\"", "r#", "'\"'"].iter().any(|hard| line.contains(hard));
        let plain = !began_raw && raw_end.is_none() && !hard;
        while plain && Comment::of(&line).is_none() && line.chars().count() > columns {
            let Some(cut) = cut_in_text(&line, columns, within) else { break };
            let rest = line[cut..].trim_start().to_owned();
            let indent = line.len() - line.trim_start().len() + if within { 0 } else { 4 };
            line.truncate(cut);
            push(&mut out, &format!("{} \\", line.trim_end()));
            line = format!("{}{rest}", " ".repeat(indent));
            within = true;
        }
        within = line.ends_with('\\');
        push(&mut out, &line);
    }
    out
}

/// Returns what ends the raw string that is open after `line`, when `open` was before it.
fn raw_string_end(line: &str, open: Option<String>) -> Option<String> {
    let (mut open, mut rest) = (open, line);
    loop {
        if let Some(end) = open.take() {
            match rest.find(&end) {
                Some(at) => rest = &rest[at + end.len()..],
                None => return Some(end),
            }
        }
        let start = rest.find("r#")?;
        rest = &rest[start + 1..];
        let hashes: String = rest.chars().take_while(|&hash| hash == '#').collect();
        rest = &rest[hashes.len()..];
        open = rest.strip_prefix('"').map(|_| format!("\"{hashes}"));
        if open.is_some() {
            rest = &rest[1..];
        }
    }
}

/// The last blank of `line` that lies in a string and leaves room for the backslash; a single one,
/// since those after the backslash would be lost.
fn cut_in_text(line: &str, columns: usize, mut within: bool) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let (mut cut, mut escaped) = (None, false);
    for (number, (at, character)) in line.char_indices().enumerate() {
        if number + 2 > columns {
            break;
        }
        let single =
            !line[..at].ends_with(' ') && !line[at + character.len_utf8()..].starts_with(' ');
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => within = !within,
            ' ' if within && single && at > start => cut = Some(at),
            _ => {}
        }
    }
    cut
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

    #[test]
    fn strings_go_on_behind_a_backslash_and_mean_the_same() {
        check("let a = \"one two three\";\n", "let a = \"one two \\\n    three\";\n");
        check("f(a, \"one\", b, c, d, e);\n", "f(a, \"one\", b, c, d, e);\n");
        check("let a = r\"one two three\";\n", "let a = r\"one two three\";\n");
        let raw = "let a = r#\"\n  one \"two three four five\"\n\"#;\n";
        check(raw, raw);
        let long = "let a = \"one two three four five six\";\n";
        check(long, "let a = \"one two \\\n    three four \\\n    five six\";\n");
    }
}
