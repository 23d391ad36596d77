//! The page in a browser: on a phone, a tablet, a screen and on paper, light and dark.

use std::path::{Path, PathBuf};
use std::{fs, panic};

use serde_json::{Value, json};
use testkit::{need_tools, scratch};

use super::browser::Browser;
use super::measure::{ACCESS, CELLS, CONTRAST, OVERFLOW};
use crate::made::pages::{HOSTILE, full, labeled};

/// The widths of a phone, a tablet and a screen, and a very small phone.
const WIDTHS: [u32; 4] = [320, 360, 768, 1280];
/// Room left of A4 between its margins, at 96 to the inch.
const PAPER: u32 = 688;
/// Some of what must be read on every page of all results.
const SAID: &[&str] = &[
    "first bad layer",
    "ST101",
    "Cost",
    "Fix",
    "Penalty",
    "95 % interval",
    "Ratio to aligned",
    "Latency of each arm",
    "Method",
    "db-07: Its median is 200 ms",
    "Fast enough for",
    "Is a completed fsync real?",
    "p99.9",
    "Files that are not shown",
    "cut.json",
    "web-3",
    "82.00A82",
    "Seed",
    "Kernel",
    "16 KiB plus 4 KiB",
    "What to type",
    "What it costs",
    "512 B off",
    "disk.raw#1 ext4 at 31.5 KiB",
    "the most expensive costs 4.00 times",
    "3 of 4 within their bounds, 1 fitted",
    "+1.2 %",
    "10 %",
    "the writeback of metadata is not modeled",
    "118.5 to 160",
];

fn sticks_out(browser: &mut Browser, width: u32) {
    browser.width(width);
    let found = browser.run(OVERFLOW);
    assert_eq!(found, json!([]), "at {width} pixels");
}

#[test]
fn the_page_fits_every_width_and_paper_and_says_all() {
    need_tools!("chromium", "bash", "mkfifo", "kill");
    let mut browser = Browser::showing(&full());
    for width in WIDTHS {
        sticks_out(&mut browser, width);
        let text = browser.run(
            "for (const it of document.querySelectorAll('details')) it.open = true; \
             const text = document.body.innerText; \
             for (const it of document.querySelectorAll('details')) it.open = false; return text",
        );
        let text = text.as_str().expect("a text");
        for said in SAID {
            assert!(text.contains(said), "{said} is missing at {width} pixels:\n{text}");
        }
    }
    browser.media("print", "dark");
    sticks_out(&mut browser, PAPER);
    // What is folded on a screen is not on paper.
    let folded = browser.run(
        "return [...document.querySelectorAll('details:not([open]) table')]\
         .map((table) => table.getBoundingClientRect().height)",
    );
    let folded: Vec<f64> = serde_json::from_value(folded).expect("numbers");
    assert!(!folded.is_empty() && folded.iter().all(|height| *height > 20.0), "{folded:?}");
    let print = json!({ "preferCSSPageSize": true, "printBackground": false });
    let pdf = browser.ask("Page.printToPDF", &print);
    let pdf = pdf["data"].as_str().expect("a document in base 64");
    assert!(pdf.starts_with("JVBERi") && pdf.len() > 50_000, "{} bytes", pdf.len());
    assert_eq!(browser.trouble(), Vec::<String>::new());
}

#[test]
fn every_cell_of_every_table_is_on_the_screen_and_has_its_head() {
    need_tools!("chromium", "bash", "mkfifo", "kill");
    let mut browser = Browser::showing(&full());
    for width in WIDTHS {
        browser.width(width);
        let cells = browser.run(CELLS);
        assert_eq!(cells["found"], json!([]), "at {width} pixels");
        assert!(cells["seen"].as_u64() > Some(200), "{cells}");
    }
    // A row that is a card is a row all the same to those who do not see it.
    browser.width(320);
    browser.ask("Accessibility.enable", &json!({}));
    let tree = browser.ask("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let named = |role: &str, name: &str| {
        nodes.iter().any(|node| {
            node["role"]["value"].as_str() == Some(role)
                && node["name"]["value"].as_str() == Some(name)
        })
    };
    assert!(named("columnheader", "Median"), "heads are read where they are not seen");
    assert!(named("rowheader", "shifted 512 B"));
    assert!(named("cell", "cannot tell"), "a cell does not repeat its head");
}

#[test]
fn the_page_is_read_without_eyes_and_with_weak_ones() {
    need_tools!("chromium", "bash", "mkfifo", "kill");
    let mut browser = Browser::showing(&full());
    let access = browser.run(ACCESS);
    assert_eq!(access["found"], json!([]));
    assert!(access["tables"].as_u64() > Some(10) && access["charts"].as_u64() > Some(10));
    for (media, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "light")] {
        browser.media(media, scheme);
        let contrast = browser.run(CONTRAST);
        assert_eq!(contrast["found"], json!([]), "{media} {scheme}");
        assert!(contrast["seen"].as_u64() > Some(300), "{contrast}");
    }
    // What the browser tells those who do not see: every picture has its name and what it shows.
    browser.ask("Accessibility.enable", &json!({}));
    let tree = browser.ask("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let role = |node: &&Value| matches!(node["role"]["value"].as_str(), Some("image" | "img"));
    let pictures: Vec<&Value> = nodes.iter().filter(role).collect();
    assert_eq!(Some(pictures.len()), access["charts"].as_u64().and_then(|it| it.try_into().ok()));
    for picture in pictures {
        for key in ["name", "description"] {
            let said = picture[key]["value"].as_str().unwrap_or_default();
            assert!(said.len() > 10, "{key}: {picture}");
        }
    }
}

#[test]
fn no_label_runs_fetches_or_breaks_the_page() {
    need_tools!("chromium", "bash", "mkfifo", "kill");
    // Without the policy, so that it is the escaping alone that holds.
    let page = labeled(HOSTILE);
    let begin = page.find("<meta http-equiv").expect("the policy is there");
    let end = begin + page[begin..].find('>').expect("it ends") + 1;
    let page = format!("{}{}", &page[..begin], &page[end..]);
    let mut browser = Browser::showing(&page);
    for width in WIDTHS {
        sticks_out(&mut browser, width);
    }
    let ran = browser.run(
        "return { pwned: typeof window.pwned, scripts: document.scripts.length, \
         images: document.images.length, forms: document.forms.length, \
         links: [...document.links].filter((a) => !a.getAttribute('href').startsWith('#'))\
         .length }",
    );
    let none = json!({ "pwned": "undefined", "scripts": 0, "images": 0, "forms": 0, "links": 0 });
    assert_eq!(ran, none);
    assert_eq!(browser.run(ACCESS)["found"], json!([]));
    assert_eq!(browser.trouble(), Vec::<String>::new());
    let canary = browser.run("console.error('seen'); return 1");
    assert_eq!((canary, browser.trouble().len()), (json!(1), 1), "what is said is heard");
}

#[test]
fn a_page_that_is_too_wide_is_found() {
    need_tools!("chromium", "bash", "mkfifo", "kill");
    let wide = full().replace("</h1>", "</h1><div class=\"card\"><p>x</p></div>");
    let wide = wide.replace("<style>", "<style>.card { width: 900px; }");
    let mut browser = Browser::showing(&wide);
    browser.width(360);
    assert_ne!(browser.run(OVERFLOW), json!([]));
}

#[test]
fn a_browser_leaves_nothing_behind_when_a_test_fails() {
    need_tools!("chromium", "bash", "mkfifo", "kill");
    let mut home = PathBuf::new();
    let failed = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let mut browser = Browser::showing("<!DOCTYPE html><title>t</title>");
        home = browser.home();
        assert!(running(&home) > 0, "it runs");
        browser.run("throw new Error('this fails')");
    }));
    assert!(failed.is_err(), "the test failed");
    assert_eq!(running(&home), 0, "no process is left");
    assert!(!home.exists(), "no profile is left");
}

/// Returns how many processes name `home` in their command line.
fn running(home: &Path) -> usize {
    let named = |process: &fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(scratch::text(home))
    };
    fs::read_dir("/proc").expect("/proc is there").flatten().filter(named).count()
}
