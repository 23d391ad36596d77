//! Files that are no result: each is named, with what was expected and what to do.

use std::fs;

use testkit::{Scratch, scratch::text};

use super::run::{checked, report};

#[test]
fn a_file_that_is_no_result_is_named_and_the_others_are_shown() {
    let scratch = Scratch::new();
    let check = checked(&scratch);
    let whole = fs::read(&check).unwrap();
    let deep = "[".repeat(2_000_000);
    let wrong = "{\"schema\": \"straddle.check/1\", \"version\": 5, \"targets\": {}}";
    for (name, content, reason) in [
        ("cut", &whole[..whole.len() / 2], "damaged: "),
        ("empty", b"", "not a straddle result file"),
        ("deep", deep.as_bytes(), "not a straddle result file"),
        ("wrong", wrong.as_bytes(), "damaged: "),
        (
            "future",
            b"{\"schema\": \"straddle.bench/2\"}",
            "does not know the schema `straddle.bench/2`",
        ),
        ("list", b"[]", "expected one JSON object, found a JSON list"),
        ("lines", b"{\"schema\": \"straddle.target/1\"}\n{}\n", "more text after the first one"),
        (
            "older",
            b"{\"schema\": \"straddle.bench/1\", \"version\": \"0.0.1\"}",
            "written by straddle 0.0.1",
        ),
        (
            "other",
            b"{\"schema\": \"straddle.bench.plan/1\"}",
            "expected a result of a check or a measurement, found schema `straddle.bench.plan/1`",
        ),
        ("bytes", b"\xff\xfe\x00\x01", "not text"),
        ("fio", b"{\"fio version\": \"fio-3.33\"}", "expected a `schema` field"),
    ] {
        let path = scratch.file(name, content);
        let ran = report(&[text(&path), &check]);
        assert_eq!(ran.status, Some(2), "{name}");
        assert!(ran.errors.contains(&format!("error: cannot show {}", text(&path))), "{ran:?}");
        assert!(ran.errors.contains(reason), "{name}: {}", ran.errors);
        assert!(ran.errors.contains("\nhint: "), "{name}: {}", ran.errors);
        assert!(!ran.errors.contains("struct "), "{name}: {}", ran.errors);
        assert!(ran.out.contains("Files that are not shown"), "{name}");
        assert!(ran.out.contains("check of"), "{name}: the other one is shown");
        // Alone it makes no page.
        let alone = report(&[text(&path)]);
        assert_eq!((alone.status, alone.out.as_str()), (Some(2), ""), "{name}");
    }
}

#[test]
fn what_is_no_file_or_too_long_is_not_read() {
    let scratch = Scratch::new();
    let long = scratch.image("long.json", (64 << 20) + 1);
    for (path, reason) in [
        ("/nonexistent.json", "No such file"),
        (text(scratch.path()), "is a directory"),
        ("/dev/zero", "not a regular file"),
        (text(&long), "longer than 64 MiB"),
    ] {
        let ran = report(&[path]);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{path}");
        assert!(ran.errors.contains(reason) && ran.errors.contains("hint: "), "{path}: {ran:?}");
    }
    let twice = report(&["-", "-"]);
    assert_eq!(twice.status, Some(2));
    assert!(twice.errors.contains("cannot read standard input twice"), "{twice:?}");
    assert_eq!(report(&[]).status, Some(2));
}
