//! Output that nobody reads to its end, and runs that are asked to end: the code is the one of what
//! was found, and a document is whole.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;
use testkit::running_program::by_signals;
use testkit::{Scratch, need_tools, tool};

use super::run::{partitioned, text};

const SHIFTED: &str = "label: gpt\nfirst-lba: 34\nstart=34\n";

fn start(arguments: &[&str]) -> Child {
    by_signals(env!("CARGO_BIN_EXE_straddle"))
        .arg("check")
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs")
}

#[test]
fn a_reader_that_closes_the_pipe_does_not_change_the_exit_code() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "d.raw", 64 << 20, SHIFTED);
    for format in super::FORMATS {
        let mut child = start(&["--format", format, text(&image), text(&image)]);
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{format}");
    }
}

/// A directory with more bad images than a pipe has room for.
fn many(scratch: &Scratch) -> PathBuf {
    let image = partitioned(scratch, "d.raw", 64 << 20, SHIFTED);
    let directory = scratch.path().join("many");
    std::fs::create_dir(&directory).expect("a directory can be made");
    for number in 0..2000 {
        let link = directory.join(format!("{number:04}.raw"));
        std::fs::hard_link(&image, link).expect("a link can be made");
    }
    directory
}

#[test]
fn a_document_that_is_interrupted_is_whole_and_says_so() {
    need_tools!("sfdisk", "kill");
    let scratch = Scratch::new();
    let directory = many(&scratch);
    for format in ["json", "sarif", "junit"] {
        let mut child = start(&["--format", format, text(&directory)]);
        let mut output = child.stdout.take().unwrap();
        let mut printed = vec![0];
        output.read_exact(&mut printed).unwrap();
        // The pipe is full soon, so the run is far from its end.
        tool::run("kill", &["-INT", &child.id().to_string()]);
        output.read_to_end(&mut printed).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{format}");
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.contains("interrupted after "), "{format}");
        if format == "junit" {
            assert!(printed.ends_with("\n</testsuites>\n"));
            assert_eq!(
                printed.matches("<testsuite ").count(),
                printed.matches("</testsuite>").count()
            );
        } else {
            let whole: Value = serde_json::from_str(&printed).expect("it is whole");
            let refusal = &whole["refusal"]["message"];
            let is_told = refusal.as_str().is_some_and(|text| text.starts_with("interrupted"));
            assert_eq!(is_told, format == "json", "{refusal}");
        }
    }
}
