//! `straddle generate`: what it writes is accepted by the programs that read it, and says all that
//! the help says.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use testkit::{Scratch, tool};

fn straddle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle")).args(arguments).output().expect("the binary runs")
}

fn printed(arguments: &[&str]) -> String {
    let output = straddle(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

/// The words of every command, found through the help: `[]`, `["check"]`, `["generate", "man"]`.
fn commands() -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut at = 0;
    while let Some(words) = found.get(at).cloned() {
        at += 1;
        let help = help(&words);
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in listed.take_while(|line| line.starts_with("  ")) {
            let name = line.split_whitespace().next().expect("a command has a name");
            let is_name = line.starts_with("  ") && !line.starts_with("   ");
            if is_name && name != "help" {
                found.push(words.iter().cloned().chain([name.to_owned()]).collect());
            }
        }
    }
    found
}

fn help(words: &[String]) -> String {
    let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    printed(&arguments)
}

fn page(words: &[String]) -> String {
    let start = ["generate", "man"];
    printed(&start.into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>())
}

/// The long options in `text`: `--fail-on`.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_alphabetic() || character == '-';
    text.split(|character| !is_part(character))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_option_and_every_word_of_the_help_is_in_the_manual_page() {
    let commands = commands();
    assert!(commands.len() > 5, "{commands:?}");
    for words in commands {
        let fonts = ["\\fB", "\\fI", "\\fR"];
        let page = fonts.iter().fold(page(&words), |page, font| page.replace(font, " "));
        let page = page.replace("\\-", "-");
        let (named, there) = (options(&help(&words)), options(&page));
        assert!(named.is_subset(&there), "{words:?}: {named:?} in {there:?}");
        let title = format!("straddle {}", words.join(" ")).trim_end().replace(' ', "-");
        assert!(page.contains(&format!(".TH \"{}\"", title.to_uppercase())), "{title}");
    }
}

#[test]
fn man_and_mandoc_take_every_page_without_a_word() {
    let scratch = Scratch::new();
    let directory = scratch.path().join("deep/man1");
    printed(&["generate", "man", "--to", testkit::scratch::text(&directory)]);
    let entries = std::fs::read_dir(&directory).expect("the directory was made");
    let paths: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    assert_eq!(paths.len(), commands().len());
    testkit::need_tools!("mandoc", "man");
    for path in &paths {
        let path = testkit::scratch::text(path);
        let lint = tool::output("mandoc", &["-T", "lint", "-W", "warning", path]);
        // Pages have no date, so that they can be made again byte for byte.
        let said = String::from_utf8_lossy(&lint.stdout).into_owned();
        let said: Vec<&str> = said.lines().filter(|line| !line.contains("missing date")).collect();
        assert!(said.is_empty(), "{said:?}");
        let shown = tool::output("man", &["--warnings", "-E", "UTF-8", "-l", path]);
        assert!(shown.status.success() && shown.stderr.is_empty(), "{shown:?}");
    }
}

#[test]
fn shells_take_their_completions() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["generate", "completions", shell]);
        assert!(script.contains("only-bad"), "{shell} completes options");
        let path = scratch.path().join(shell);
        std::fs::write(&path, script).expect("the script can be written");
        if tool::find(shell).is_none() {
            testkit::skip(&format!("needs {shell}"));
            continue;
        }
        tool::run(shell, &["-n", testkit::scratch::text(&path)]);
    }
}

#[test]
fn bash_completes_commands_options_and_built_in_names() {
    testkit::need_tools!("bash");
    let script = printed(&["generate", "completions", "bash"]);
    let asked = script
        + "\nCOMP_WORDS=(straddle check --fa); COMP_CWORD=2; _straddle straddle --fa check; \
           echo \"${COMPREPLY[@]}\"\n\
           COMP_WORDS=(straddle expl); COMP_CWORD=1; _straddle straddle expl straddle; \
           echo \"${COMPREPLY[@]}\"\n\
           COMP_WORDS=(straddle fsync --for etc); COMP_CWORD=3; _straddle straddle etc --for; \
           echo \"${COMPREPLY[@]}\"\n\
           COMP_WORDS=(straddle drive show raid6); COMP_CWORD=3; _straddle straddle raid6 show; \
           echo \"${COMPREPLY[@]}\"\n\
           COMP_WORDS=(straddle explain ST101); COMP_CWORD=2; _straddle straddle ST101 explain; \
           echo \"${COMPREPLY[@]}\"\n";
    let completed = tool::run_with_input("bash", &["--norc"], &asked);
    assert_eq!(completed, "--fail-on\nexplain\netcd\nraid6-6x64k\nST101\n");
}

#[test]
fn the_schema_is_the_committed_one() {
    let committed = include_str!("../../../report/schema/straddle.check.1.schema.json");
    assert_eq!(printed(&["generate", "schema"]), committed);
    assert_eq!(printed(&["generate", "schema", "check"]), committed);
    let changes = include_str!("../../../report/schema/straddle.check.changes.1.schema.json");
    assert_eq!(printed(&["generate", "schema", "changes"]), changes);
}

#[test]
fn what_check_prints_is_what_the_schema_demands() {
    let schema: serde_json::Value =
        serde_json::from_str(&printed(&["generate", "schema"])).expect("it is JSON");
    let own = env!("CARGO_BIN_EXE_straddle");
    let output = straddle(&["check", "--json", "--fail-on", "never", own]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(document["schema"], schema["title"]);
    for key in schema["required"].as_array().expect("a list of keys") {
        let key = key.as_str().expect("a key is text");
        assert!(document.get(key).is_some(), "{key}");
    }
    for key in document.as_object().expect("an object").keys() {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
}

#[test]
fn misuse_is_named() {
    for arguments in [
        &["generate"][..],
        &["generate", "man", "chekc"],
        &["generate", "schema", "chekc"],
        &["generate", "completions", "tcsh"],
        &["generate", "man", "--to", "/dev/null/man1"],
        &["generate", "man", "check", "--to", "/tmp"],
    ] {
        let output = straddle(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).expect("errors are UTF-8");
        assert!(output.stdout.is_empty() && !error.is_empty(), "{arguments:?}");
        assert!(!error.contains("standard output"), "{error}");
    }
}
