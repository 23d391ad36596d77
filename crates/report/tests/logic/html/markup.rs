//! The page's markup, taken apart: nothing but what is ours, whatever a label says.

use std::collections::BTreeSet;

use crate::made::pages::{HOSTILE, full, labeled, labeled_pages};

/// Every element that a page has.
const ELEMENTS: &[&str] = &[
    "a",
    "body",
    "caption",
    "circle",
    "code",
    "dd",
    "desc",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "li",
    "line",
    "main",
    "meta",
    "ol",
    "p",
    "path",
    "polygon",
    "polyline",
    "rect",
    "section",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];
/// Every attribute that an element has.
const ATTRIBUTES: &[&str] = &[
    "aria-describedby",
    "aria-label",
    "aria-labelledby",
    "charset",
    "class",
    "colspan",
    "content",
    "cx",
    "cy",
    "d",
    "data-head",
    "dy",
    "fill",
    "font-family",
    "font-size",
    "height",
    "href",
    "http-equiv",
    "id",
    "lang",
    "lengthAdjust",
    "name",
    "opacity",
    "open",
    "points",
    "r",
    "role",
    "scope",
    "stroke",
    "stroke-width",
    "tabindex",
    "text-anchor",
    "textLength",
    "transform",
    "viewBox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];
/// Elements without content.
const VOID: &[&str] = &["meta"];

/// An element as it opens.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// Every element of `page`, which is well formed.
fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("it says what it is");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(closing) = rest.strip_prefix('/') {
            let (name, behind) = closing.split_once('>').expect("it ends");
            assert_eq!(open.pop().as_deref(), Some(name), "elements are closed in order");
            rest = behind;
            continue;
        }
        let end = rest.find([' ', '>', '/', '\n']).expect("a name ends");
        let mut tag = Tag { name: rest[..end].to_owned(), attributes: Vec::new() };
        rest = &rest[end..];
        let empty = loop {
            rest = rest.trim_start();
            if let Some(behind) = rest.strip_prefix("/>") {
                rest = behind;
                break true;
            }
            if let Some(behind) = rest.strip_prefix('>') {
                rest = behind;
                break false;
            }
            let end = rest.find(['=', ' ', '>']).expect("an attribute ends");
            let name = rest[..end].to_owned();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let (inside, behind) = quoted.split_once('"').expect("a value ends");
                (value, rest) = (inside.to_owned(), behind);
            }
            tag.attributes.push((name, value));
        };
        if tag.name == "style" {
            rest = &rest[rest.find("</style>").expect("the style ends")..];
        }
        if !empty && !VOID.contains(&tag.name.as_str()) {
            open.push(tag.name.clone());
        }
        tags.push(tag);
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    tags
}

fn ours(page: &str) -> Vec<Tag> {
    let tags = tags(page);
    let mut ids = BTreeSet::new();
    for tag in &tags {
        assert!(ELEMENTS.contains(&tag.name.as_str()), "{tag:?}");
        for (name, value) in &tag.attributes {
            assert!(ATTRIBUTES.contains(&name.as_str()), "{tag:?}");
            match name.as_str() {
                "href" => assert!(value.starts_with('#'), "{tag:?}"),
                "id" => assert!(ids.insert(value.clone()), "{value} is there twice"),
                "class" => {
                    let known = |one: char| {
                        one.is_ascii_lowercase() || " -".contains(one) || one.is_ascii_digit()
                    };
                    assert!(value.chars().all(known), "{tag:?}");
                }
                _ => {}
            }
        }
    }
    for (name, value) in tags.iter().flat_map(|tag| &tag.attributes) {
        if let Some(id) = value.strip_prefix('#').filter(|_| name == "href") {
            assert!(ids.contains(id), "nothing is called {id}");
        }
        if name == "aria-labelledby" || name == "aria-describedby" {
            assert!(ids.contains(value), "nothing is called {value}");
        }
    }
    tags
}

#[test]
fn a_page_holds_the_elements_that_are_ours_and_no_others() {
    let page = full();
    let tags = ours(&page);
    for needed in ["table", "svg", "title", "desc", "figcaption", "main", "polyline", "circle"] {
        assert!(tags.iter().any(|tag| tag.name == needed), "{needed}");
    }
    for needed in ["http://", "https://", "url(", "@import", "src=", "<script", "style=\""] {
        let markup = page.replace("https://www.postgresql.org", "");
        let fetched = markup.match_indices(needed).find(|(at, _)| !in_text(&markup, *at));
        assert_eq!(fetched, None, "a page fetches nothing");
    }
}

/// Returns whether the byte at `at` is text between elements, where it means nothing.
fn in_text(page: &str, at: usize) -> bool {
    let before = &page[..at];
    before.rfind('>') > before.rfind('<')
        && !before.ends_with("<style>")
        && before.rfind("<style>") <= before.rfind("</style>")
}

#[test]
fn no_label_gets_to_be_markup() {
    // The words of a drawing take as many rows as they need.
    let elements = |label: &str| -> Vec<String> {
        let pages = labeled_pages(label);
        let tags = pages.iter().flat_map(|page| ours(page)).map(|tag| tag.name);
        tags.filter(|name| name != "text").collect()
    };
    let plain = elements("label");
    for label in [
        HOSTILE,
        "<script>",
        "\"onload=",
        "</title>",
        "' onclick='x",
        "-->",
        "<!--",
        "<![CDATA[",
        "&quot;><b>",
        "\u{feff}<",
        "`",
        "javascript:alert(1)",
    ] {
        assert!(elements(label) == plain, "{label:?} makes no element and hides none");
    }
}

#[test]
fn nothing_on_a_page_turns_a_line_around_or_is_no_text() {
    let page = labeled(HOSTILE);
    let bad = |letter: &char| {
        (letter.is_control() && *letter != '\n')
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(letter, '\u{2066}'..='\u{2069}')
    };
    assert_eq!(page.chars().find(bad), None);
    assert!(page.contains("\\u{202e}txet\\u{0}\\u{1b}"), "what was there is still seen");
}

#[test]
fn long_labels_are_cut_everywhere() {
    let short = labeled("x").len();
    let parts = full().matches('>').count();
    let long = labeled(&"x".repeat(1 << 16));
    assert!(long.len() < short + parts * 2000, "{} of {short}", long.len());
    let longest = long.split(|letter| letter != 'x').map(str::len).max();
    assert!(longest.is_some_and(|length| length <= 400), "{longest:?}");
}
