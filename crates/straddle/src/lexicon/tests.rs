//! Every page is whole, and every famous line finds its own.

use super::search::NearEntries;
use super::{GROUPS, LexiconEntry, find, find_in_line, page, pages, pattern, search};
use stack::rule::rule;

#[test]
fn every_page_says_what_it_means_and_what_to_do() {
    for page in pages() {
        let name = page.name;
        assert!(!page.title.is_empty() && !page.title.contains('\n'), "{name}: title");
        assert!(!page.means.is_empty(), "{name}: means");
        assert!(page.from.iter().all(|from| from.starts_with("https://")), "{name}: from");
        if !page.lines.is_empty() {
            assert!(!page.check.is_empty() && !page.from.is_empty(), "{name}: check and from");
        }
    }
}

#[test]
fn every_line_of_the_files_is_a_field() {
    // `read` leaves out what it does not know, aloud only in a debug build.
    let count: usize = GROUPS.iter().map(|group| page::read(group).len()).sum();
    assert_eq!(count, pages().len());
    let names =
        GROUPS.iter().flat_map(|group| group.text.lines()).filter(|line| line.starts_with('='));
    assert_eq!(names.count(), count);
}

#[test]
fn no_word_has_two_pages() {
    let mut words: Vec<String> = pages()
        .iter()
        .flat_map(|page| page.words().map(pattern::name).collect::<Vec<_>>())
        .collect();
    words.push("history".to_owned());
    words.sort();
    let twice: Vec<&[String]> = words.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn every_page_is_found_by_each_of_its_words_and_lines() {
    for page in pages() {
        for word in page.words().chain(page.lines.iter().map(|line| line.text)) {
            assert_eq!(find(word), Some(LexiconEntry::Page(page)), "{word}");
            assert_eq!(find(&word.to_uppercase()), Some(LexiconEntry::Page(page)), "{word}");
        }
    }
}

#[test]
fn every_page_that_another_names_exists() {
    for page in pages() {
        for word in &page.see {
            assert!(find(word).is_some(), "{} names {word}", page.name);
        }
    }
}

#[test]
fn every_rule_that_a_page_names_exists() {
    let text = GROUPS.iter().map(|group| group.text);
    for word in text.flat_map(|text| text.split(|mark: char| !mark.is_ascii_alphanumeric())) {
        if word.len() == 5 && word.starts_with("ST") && word[2..].parse::<u32>().is_ok() {
            assert!(rule(word).is_some(), "{word}");
        }
    }
}

/// Lines as logs hold them, under the page that each must find.
const LINES: &str = include_str!("lines.txt");

#[test]
fn famous_lines_find_their_page_with_whatever_stands_around_them() {
    let mut name = "";
    let mut named = 0;
    for line in LINES.lines().filter(|line| !line.is_empty()) {
        if let Some(next) = line.strip_prefix("= ") {
            name = next;
            named += 1;
            continue;
        }
        for line in [line.to_owned(), line.to_uppercase(), format!("x | {line}\n")] {
            assert_eq!(find_in_line(&line).map(LexiconEntry::name), Some(name), "{line}");
        }
    }
    let with_lines = pages().iter().filter(|page| !page.lines.is_empty()).count();
    assert_eq!(named, with_lines, "every page with lines has one here");
}

#[test]
fn lines_that_are_not_known_find_nothing() {
    for line in ["", "Started Session 1 of user root.", "fdatasync is slow", "took 5 ms"] {
        assert_eq!(find_in_line(line), None, "{line}");
    }
}

#[test]
fn a_part_of_one_line_is_enough_and_a_code_in_our_own_output() {
    assert_eq!(
        find("does not start on phys").map(LexiconEntry::name),
        Some("does not start on physical sector boundary")
    );
    let ours = "   │  ST102  warning: start is not on a 4 KiB granule (granule assumed)";
    assert_eq!(find(ours).map(LexiconEntry::name), Some("ST102"));
}

#[test]
fn a_question_that_holds_a_pages_name_or_a_slip_of_it_is_answered_by_it() {
    for (text, name) in [
        ("ashfit", "ashift"),
        ("which ashift", "ashift"),
        ("which ashift should a vdev have?", "ashift"),
        ("which ashift for a QLC drive", "indirection unit"),
        ("fsnyc", "fsync"),
        ("what does misaligned mean?", "misaligned"),
        ("histroy", "history"),
        ("what happens on power failure?", "power failure"),
        ("what happens to my writes in a blackout", "power failure"),
        ("will my data survive a power cut", "power failure"),
    ] {
        assert_eq!(find(text), None, "{text}");
        assert_eq!(search(text).answer.map(LexiconEntry::name), Some(name), "{text}");
    }
}

#[test]
fn a_question_that_only_resembles_pages_has_their_titles_and_no_answer() {
    for (text, name) in [
        ("ST1001", "ST101"),
        ("partition starts on sector 63", "does not start on physical sector boundary"),
        ("how do I know if my ssd has capacitors", "PLP"),
        ("can I turn off doublewrite", "doublewrite"),
        ("do I lose commits when power fails", "power failure"),
    ] {
        assert_eq!(find(text), None, "{text}");
        let near = search(text);
        assert_eq!(near.answer, None, "{text}");
        assert_eq!(near.titles.first().map(|entry| entry.name()), Some(name), "{text}");
    }
}

#[test]
fn words_that_mean_something_else_or_the_opposite_have_no_answer() {
    let answers =
        OTHERS.lines().filter_map(|text| Some((text, find(text).or(search(text).answer)?)));
    let answers: Vec<(&str, &str)> = answers.map(|(text, entry)| (text, entry.name())).collect();
    assert_eq!(answers, []);
    for text in [
        "qqqqqqqqqqqqqqqqqqqq",
        "systemd[1]: Failed to start Foo.service",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "Out of memory: Killed process 123 (mysqld)",
        "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
        "sshd[1]: Accepted publickey for root",
        "no space left on device",
    ] {
        assert_eq!(search(text), NearEntries::default(), "{text}");
    }
    assert_eq!(search(""), NearEntries::default());
    assert_eq!(search(&"x".repeat(1_000_000)), NearEntries::default());
}

/// Settings, lines and questions that no page is about, though many share words with one.
const OTHERS: &str = include_str!("others.txt");

#[test]
fn every_word_of_the_field_that_people_type_has_a_page() {
    for word in
        ["QLC", "IU", "RWF_ATOMIC", "ashift", "PLP", "torn page", "doublewrite", "4Kn", "SMR"]
    {
        assert!(find(word).is_some(), "{word}");
    }
}
