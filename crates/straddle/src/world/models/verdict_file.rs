//! Documents and sentences of verdicts, kept once, in `src/world/verdicts`: a document as JSON, and
//! the screen that goes with it. With `STRADDLE_WRITE=1` a test writes its files instead; they
//! never change together with the code that decides.

use std::path::PathBuf;

use serde_json::Value;

use super::{DIRECTORY, Models};

/// Compares what `words` print in the world that `world` makes with the files called `name`.
///
/// # Panics
/// When they differ, or are not there.
#[track_caller]
pub(crate) fn matches_file(name: &str, world: impl Fn() -> Models, words: &[&str]) {
    let [command, options @ ..] = words else { panic!("a command") };
    let typed = [&[*command, DIRECTORY, "--seed", "1"], options].concat();
    let mut document = world().run(&[&typed[..], &["--json"]].concat()).document();
    let object = document.as_object_mut().expect("a document is an object");
    // The test's own words, and the number of this version.
    object.retain(|key, _| !matches!(key.as_str(), "command" | "version"));
    check(name, "json", &(serde_json::to_string_pretty(&document).expect("JSON") + "\n"));
    let screen = world().run(&typed);
    check(name, "expected", &screen.out);
}

#[track_caller]
fn check(name: &str, kind: &str, found: &str) {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/world/verdicts");
    let path = directory.join(format!("{name}.{kind}"));
    if std::env::var_os("STRADDLE_WRITE").is_some() {
        std::fs::write(&path, found).expect("the file can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if kind == "json" {
        let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
        assert_eq!(found.parse::<Value>().ok(), Some(expected), "{}", path.display());
    } else {
        assert_eq!(found, expected, "{}", path.display());
    }
}
