//! `straddle atomic` as a user types it: what it refuses, and how.

mod live;

use std::process::{Command, Output};

use testkit::Scratch;
use testkit::scratch::text;

fn atomic(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.arg("atomic").args(words).output().expect("the binary runs")
}

/// It ends with 2 and says so.
#[track_caller]
fn refuses(words: &[&str], why: &str) {
    let output = atomic(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    assert!(said.contains(why), "{words:?}: {said}");
}

#[test]
fn refuses_what_is_no_data_file_and_says_what_to_name() {
    let scratch = Scratch::new();
    let empty = scratch.path().join("empty");
    std::fs::create_dir(&empty).expect("the scratch directory takes another");
    let other = scratch.file("other", b"nothing of a database");
    let empty = text(&empty);
    refuses(&[empty, "--for", "mysql"], "hint: name the directory that holds ibdata1");
    refuses(&[empty, "--for", "postgresql"], "hint: name the directory that holds PG_VERSION");
    refuses(&[empty, "--for", "sqlite"], "hint: name the database file");
    refuses(&["/dev/null", "--for", "sqlite"], "neither a directory nor a regular file");
    refuses(&["/nonexistent", "--for", "mysql"], "cannot judge /nonexistent: No such file");
    for engine in ["mysql", "mariadb", "postgresql", "sqlite"] {
        refuses(&[text(&other), "--for", engine], "not recognized as a data file of");
    }
}

#[test]
fn refuses_words_that_it_does_not_know() {
    refuses(&["/tmp"], "--for");
    refuses(&["/tmp", "--for", "oracle"], "mariadb");
    for page in ["0", "3K", "128K", "1", "-1", "x"] {
        let page = format!("--page={page}");
        refuses(&["/tmp", "--for", "mysql", &page], "a power of two from 512 to 64K");
    }
}

#[test]
fn a_refusal_is_a_document_too() {
    let output = atomic(&["/nonexistent", "--for", "mysql", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&document["schema"], &document["verdict"]),
        (&"straddle.atomic/1".into(), &serde_json::Value::Null)
    );
    assert!(document["refusal"]["message"].is_string(), "{document:#}");
}
