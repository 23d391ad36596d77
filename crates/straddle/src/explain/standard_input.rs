//! Lines from standard input: a whole log, or one line that a terminal broke into several.

use std::io::{self, BufRead, Read as _};

use super::answer::{Answer, answer};
use super::page;
use crate::lexicon::{self, LexiconEntry};
use anyhow::{anyhow, bail};

/// Bytes that are read of a line; the rest of a longer one is skipped.
const LINE_MAX: u64 = 64 * 1024;
/// Bytes of the beginning that are kept, in case that one line was broken into several.
const HEAD_MAX: usize = 64 * 1024;

/// The page of each known line of `input`, each once, in the order in which they come.
pub(super) fn pages(input: impl BufRead) -> anyhow::Result<Answer> {
    // As text, since an input or output error would be taken for one of standard output.
    let read = read(input).map_err(|error| anyhow!("cannot read standard input: {error}"));
    let (found, head) = read?;
    if found.is_empty() {
        let whole = head.trim();
        if whole.is_empty() {
            bail!("cannot explain standard input: empty\nhint: journalctl -b | straddle explain -");
        }
        return Ok(answer(whole));
    }
    let mut out = String::new();
    for (entry, lines) in found {
        if !out.is_empty() {
            out.push('\n');
        }
        if lines > 1 {
            out += &format!("{lines} lines\n");
        }
        out += &page::page(entry);
    }
    Ok(Answer::Pages(out))
}

/// The entries that lines name, with how many do, and the beginning of the text.
fn read(mut input: impl BufRead) -> io::Result<(Vec<(LexiconEntry, u64)>, String)> {
    let mut found: Vec<(LexiconEntry, u64)> = Vec::new();
    let mut head = String::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok((found, head));
        }
        let text = String::from_utf8_lossy(&line);
        if head.len() < HEAD_MAX {
            head.push_str(&text);
        }
        let Some(entry) = lexicon::find_in_line(&text) else { continue };
        match found.iter_mut().find(|(known, _)| *known == entry) {
            Some((_, lines)) => *lines += 1,
            None => found.push((entry, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_each_page_once_and_counts_its_lines() {
        let log = "noise\nx slow fdatasync y\n\nslow fdatasync\napply request took too long\n";
        let (found, _) = read(log.as_bytes()).unwrap();
        let names: Vec<(&str, u64)> =
            found.iter().map(|(entry, lines)| (entry.name(), *lines)).collect();
        assert_eq!(names, [("slow fdatasync", 2), ("apply request took too long", 1)]);
    }

    #[test]
    fn a_line_that_was_broken_by_a_terminal_is_found() {
        let page = pages("Partition 1 does not start on physical\nsector boundary.\n".as_bytes());
        let Answer::Pages(page) = page.unwrap() else { panic!("it has a page") };
        assert!(page.starts_with("does not start on physical sector boundary"));
    }

    #[test]
    fn bytes_that_are_no_text_and_endless_lines_do_no_harm() {
        let mut log = vec![0xff; 200_000];
        log.extend(b"\nslow fdatasync\n");
        assert_eq!(read(&log[..]).unwrap().0.len(), 1);
        assert!(pages(&b"\n \n"[..]).is_err());
    }
}
