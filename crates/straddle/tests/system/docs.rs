//! The documentation says what the program does: `docs/rules.md` is made from the table of rules,
//! and what the README tells people to type exists.
//!
//! After a change of them or of what is printed, all are written anew by
//! `STRADDLE_UPDATE_DOCS=1 cargo test -p straddle --test system docs`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};

#[path = "../../src/exit/table.rs"]
mod table;

use crate::exit_code_tests;
use stack::rule::RULES;

/// Meaning of the digit after `ST`.
const SUBJECTS: [(&str, &str); 7] = [
    ("ST1", "Starts and ends"),
    ("ST2", "Stripes"),
    ("ST3", "Sector sizes"),
    ("ST4", "Damage, and what could not be read"),
    ("ST5", "Images"),
    ("ST6", "What drives report"),
    ("ST7", "The running kernel"),
];

/// Command to type after a change.
const UPDATE: &str = "run STRADDLE_UPDATE_DOCS=1 cargo test -p straddle --test system docs";

fn is_update() -> bool {
    std::env::var_os("STRADDLE_UPDATE_DOCS").is_some()
}

fn straddle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle")).args(arguments).output().expect("the binary runs")
}

fn printed(arguments: &[&str]) -> String {
    String::from_utf8(straddle(arguments).stdout).expect("it prints UTF-8")
}

fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn readme() -> String {
    std::fs::read_to_string(file("README.md")).expect("the README is there")
}

/// The pages that people read first: the README, and those of the commands that it leads to.
fn first_pages() -> String {
    let pages = ["README.md", "check.md", "trace.md", "atomic.md"];
    let pages = pages.map(|page| std::fs::read_to_string(file("docs").join(page)));
    pages.into_iter().fold(readme(), |all, page| all + &page.expect("the page is there"))
}

/// The page of all rules.
fn page() -> String {
    let mut page = "# Rules\n\n\
        Made from the table of rules; `straddle explain CODE` prints each of them.\n\
        Severity follows from the predicted cost; `--rule CODE=SEVERITY` changes it, \
        `--rule CODE=off` switches a rule off.\n"
        .to_owned();
    for (prefix, subject) in SUBJECTS {
        page += &format!("\n## {subject}\n");
        for rule in RULES.iter().filter(|rule| rule.code.starts_with(prefix)) {
            page += &format!("\n### {}: {}\n\n", rule.code, plain(rule.title));
            page += &format!("{}\n\n", plain(rule.why));
            page += &format!("**Fix:** {}\n", plain(rule.fix));
        }
    }
    page
}

/// Text with single blanks, in which Markdown sees no markup.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut escaped = String::new();
    for character in words.join(" ").chars() {
        if matches!(character, '*' | '_' | '<' | '>' | '#' | '|' | '`' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The file and the name of the test that ends so.
fn walk(ending: &table::Ending) -> (&'static str, &'static str) {
    let key = (ending.command, ending.number);
    let found = exit_code_tests::WALKS.iter().find(|(_, _, walked)| walked.contains(&key));
    let (file, test, _) = found.unwrap_or_else(|| panic!("no test walks {key:?}"));
    (file, test)
}

/// The page of exit codes.
fn exit_codes() -> String {
    let mut text = "# Exit codes\n\n\
        Made from `crates/straddle/src/exit/table.rs`, as are the help and the manual pages.\n\n\
        Every code other than 0 comes with its reason: a line on standard error, or the verdict on \
        standard output.\nIf several codes apply, the uppermost in this table counts: a \
        finding outranks a missing verdict.\n\n| code | means |\n|---|---|\n"
        .to_owned();
    for code in table::CODES {
        text += &format!("| {} | {} |\n", code.number, code.means);
    }
    text += "\n`--allow-unknown` (check, trace, bench, probe, compare, fsync, atomic) turns 5 into 0.\n\
        `--format nagios` (check, fsync, bench, watch) and `npd` follow those monitors' codes:\n\
        [monitoring.md](monitoring.md).\n\n\
        | command | code | means | walked by, in `crates/straddle` |\n|---|---|---|---|\n";
    for ending in table::ENDINGS {
        let table::Ending { command, number, means } = ending;
        let (file, test) = walk(ending);
        text += &format!("| {command} | {number} | {means} | `{file}` {test} |\n");
    }
    text
}

#[test]
fn the_page_of_exit_codes_is_their_table_and_every_test_that_it_names_exists() {
    for ending in table::ENDINGS {
        let (file, test) = walk(ending);
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
        let source = std::fs::read_to_string(&path).expect("the file of the test is there");
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let is_it =
            |two: &[&str]| two[0] == "#[test]" && two[1].starts_with(&format!("fn {test}()"));
        assert!(lines.windows(2).any(is_it), "{file}: {test}");
    }
    let walked: usize = exit_code_tests::WALKS.iter().map(|(_, _, walked)| walked.len()).sum();
    assert_eq!(walked, table::ENDINGS.len(), "each is walked once");
    let path = file("docs/exit-codes.md");
    let fresh = exit_codes();
    if is_update() {
        std::fs::write(&path, &fresh).expect("docs/exit-codes.md can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == fresh, "docs/exit-codes.md is not up to date: {UPDATE}");
}

#[test]
fn the_help_of_every_command_has_its_exit_codes() {
    for ending in table::ENDINGS {
        let words: Vec<&str> = ending.command.split(' ').chain(["--help"]).collect();
        let help = printed(&words);
        assert!(help.contains(&table::help(ending.command)), "{}", ending.command);
    }
}

#[test]
fn the_page_of_rules_is_the_table_of_rules() {
    let path = file("docs/rules.md");
    let page = page();
    if is_update() {
        std::fs::write(&path, &page).expect("docs/rules.md can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "docs/rules.md is not up to date: {UPDATE}");
}

#[test]
fn every_rule_is_on_the_page_and_in_explain() {
    let (page, list) = (page(), printed(&["explain"]));
    for rule in RULES {
        assert!(page.contains(&format!("### {}: ", rule.code)), "{} has no subject", rule.code);
        assert!(list.contains(&format!("{}  {}", rule.code, rule.title)), "{}", rule.code);
        assert!(printed(&["explain", rule.code]).starts_with(rule.code));
    }
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
fn every_option_of_straddle_that_the_first_pages_name_is_in_its_help() {
    let helps = [
        &["check", "--help"][..],
        &["trace", "--help"],
        &["plan", "--help"],
        &["bench", "--help"],
        &["probe", "--help"],
        &["fsync", "--help"],
        &["atomic", "--help"],
        &["watch", "--help"],
        &["report", "--help"],
        &["draw", "--help"],
        &["generate", "sysroot", "--help"],
    ];
    let known: BTreeSet<String> =
        helps.into_iter().flat_map(|arguments| options(&printed(arguments))).collect();
    let readme = first_pages();
    // What stands after the command on its line, and inline code that is an option alone.
    let commands =
        ["check", "bench", "probe", "fsync", "report"].map(|it| format!("straddle {it} "));
    let typed = commands
        .iter()
        .flat_map(|command| readme.lines().filter_map(move |line| line.split_once(command)));
    let inline = readme.split('`').skip(1).step_by(2).filter(|code| code.starts_with("--"));
    let named: BTreeSet<String> =
        typed.map(|(_, typed)| typed).chain(inline).flat_map(options).collect();
    assert!(named.len() > 4, "the README names options: {named:?}");
    assert!(named.is_subset(&known), "named {named:?}, known {known:?}");
}

#[test]
fn every_command_and_code_that_the_first_pages_name_exists() {
    let readme = first_pages();
    let commands = readme.match_indices("`straddle ").chain(readme.match_indices("    straddle "));
    for (at, typed) in commands {
        let rest = &readme[at + typed.len()..];
        let word: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
        assert!(straddle(&[&word, "--help"]).status.success(), "there is no straddle {word}");
    }
    for (at, _) in readme.match_indices("straddle explain ST") {
        let code = &readme[at + "straddle explain ".len()..][..5];
        assert!(straddle(&["explain", code]).status.success(), "{code}");
    }
}

/// Only the time that a run takes differs from one to the next.
fn timeless(screen: &str) -> String {
    let lines = screen.lines().map(|line| match line.rsplit_once(" in ") {
        Some((counts, _)) if line.ends_with("nothing was written.") => counts.to_owned(),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// The blocks of the README that show a screen, each with its first line `    $ `.
fn screens(readme: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in readme.split_inclusive('\n') {
        let is_code = line.starts_with("    ");
        if is_code && !is_inside && line.starts_with("    $ ") {
            found.push(String::new());
            is_inside = true;
        }
        is_inside &= is_code;
        if is_inside {
            found.last_mut().expect("one was begun").push_str(line);
        }
    }
    found
}

/// Output of the commands of a screen, typed in `scratch`.
fn typed(block: &str, scratch: &testkit::Scratch) -> String {
    let typed: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("    $ ")).collect();
    let here = PathBuf::from(env!("CARGO_BIN_EXE_straddle"));
    let here = here.parent().expect("the binary is in a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &typed.join(" && ")])
        .current_dir(scratch.path())
        .env("PATH", format!("{}:{path}:/usr/sbin:/sbin", here.display()))
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "100")
        .env_remove("TERM")
        .output()
        .expect("a shell runs");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

#[test]
fn the_screens_in_the_readme_are_what_their_commands_print() {
    testkit::need_tools!("sfdisk", "mkfs.ext4");
    let readme = readme();
    let scratch = testkit::Scratch::new();
    let mut fresh = readme.clone();
    let screens = screens(&readme);
    assert_eq!(screens.len(), 3);
    for block in screens {
        let shown: Vec<&str> =
            block.lines().map(|line| &line[4..]).filter(|line| !line.starts_with("$ ")).collect();
        let printed = typed(&block, &scratch);
        if timeless(&shown.join("\n")) == timeless(&printed) {
            continue;
        }
        assert!(is_update(), "{UPDATE}\n{printed}");
        let typed = block.lines().filter(|line| line.starts_with("    $ ")).map(str::to_owned);
        let lines: Vec<String> =
            typed.chain(printed.lines().map(|line| format!("    {line}"))).collect();
        fresh = fresh.replace(&block, &(lines.join("\n") + "\n"));
    }
    if fresh != readme {
        std::fs::write(file("README.md"), fresh).expect("the README can be written");
    }
}

#[test]
fn the_picture_of_the_page_about_draw_is_what_its_commands_make() {
    testkit::need_tools!("sfdisk", "mkfs.ext4");
    let scratch = testkit::Scratch::new();
    let page = std::fs::read_to_string(file("docs/draw.md")).expect("the page is there");
    screens(&page).iter().for_each(|block| assert_eq!(typed(block, &scratch), ""));
    let made = std::fs::read_to_string(scratch.path().join("stack.svg")).expect("it is made");
    if is_update() {
        std::fs::write(file("docs/draw.svg"), &made).expect("the picture can be written");
    }
    let shown = std::fs::read_to_string(file("docs/draw.svg")).unwrap_or_default();
    assert!(shown == made, "{UPDATE}\n{made}");
}

/// Every file below `directory` with this extension.
fn files(directory: PathBuf, extension: &str) -> Vec<PathBuf> {
    let mut ahead = vec![directory];
    let mut found = Vec::new();
    while let Some(directory) = ahead.pop() {
        for entry in std::fs::read_dir(directory).expect("it can be listed") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                ahead.push(path);
            } else if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    found
}

/// Variables of the environment that the program reads or sets, each in the docs.
const VARIABLES: [&str; 5] = [
    "STRADDLE_CHUNK_BYTES",
    "STRADDLE_DEVICE",
    "STRADDLE_DIR",
    "STRADDLE_NO_PROGRESS",
    "STRADDLE_PHASE",
];

#[test]
fn the_program_knows_no_world_but_its_machine_and_no_variable_that_names_another() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_straddle")).expect("it was built");
    let holds = |text: &str| program.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds("straddle alone runs straddle check"), "texts of the program are found");
    // The drive of the models, and a file of theirs, which a panic would name.
    assert!(!holds("MODEL DRIVE") && !holds("world/models"), "models are not in the program");
    let starts = program.windows(9).enumerate().filter(|(_, part)| *part == b"STRADDLE_");
    for (at, _) in starts {
        // Texts of a program follow each other without a mark.
        let is_known = VARIABLES.iter().any(|name| program[at..].starts_with(name.as_bytes()));
        let text = String::from_utf8_lossy(&program[at..program.len().min(at + 40)]);
        assert!(is_known, "not a variable that is known: {text}");
    }
}

#[test]
fn every_test_that_the_readme_names_exists() {
    let [tests, units] =
        ["tests", "src"].map(|place| files(file("crates/straddle").join(place), "rs"));
    let sources: String = tests
        .iter()
        .chain(&units)
        .map(|path| std::fs::read_to_string(path).expect("it is text"))
        .collect();
    let readme = readme();
    let cells = readme.lines().filter_map(|line| line.trim_end_matches(" |").rsplit_once(" | "));
    let named: Vec<&str> = cells
        .flat_map(|(_, cell)| cell.split('`').skip(1).step_by(2))
        .filter(|name| name.contains('_'))
        .collect();
    assert!(named.len() > 5, "{named:?}");
    for name in named {
        assert!(sources.contains(&format!("#[test]\nfn {name}()")), "there is no test {name}");
    }
}

/// Returns the anchor that a code host gives a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

#[test]
fn every_link_between_pages_leads_to_a_page_and_a_heading() {
    let mut pages = files(file("docs"), "md");
    pages.extend(
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "guest/README.md"]
            .map(file),
    );
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("it is text");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let leads = match path {
                "" => page.clone(),
                path => page.parent().expect("a page is in a directory").join(path),
            };
            assert!(leads.exists(), "{}: {target}", page.display());
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&leads).expect("it is text");
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                assert!(headings.any(|it| anchor(it) == heading), "{}: {target}", page.display());
            }
        }
    }
}

#[test]
fn the_exit_codes_are_those_of_the_readme() {
    let readme = readme();
    assert!(readme.contains("[docs/exit-codes.md](docs/exit-codes.md)"));
    let blank = testkit::Scratch::new();
    let blank = blank.image("blank.raw", 1 << 20);
    let clean = straddle(&["check", testkit::scratch::text(&blank)]);
    assert_eq!(clean.status.code(), Some(0));
    assert_eq!(straddle(&["check", "/nonexistent"]).status.code(), Some(2));
    assert_eq!(straddle(&["check", "--nonsense"]).status.code(), Some(2));
    assert_eq!(straddle(&["explain", "ST000"]).status.code(), Some(5));
}

#[test]
fn the_help_of_every_rule_of_sarif_is_a_heading_of_the_page_of_rules() {
    let blank = testkit::Scratch::new();
    let blank = blank.image("blank.raw", 1 << 20);
    let log = printed(&["check", "--format", "sarif", testkit::scratch::text(&blank)]);
    let log: serde_json::Value = serde_json::from_str(&log).expect("it is JSON");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    let page = std::fs::read_to_string(file("docs/rules.md")).expect("the page is there");
    let headings: Vec<String> =
        page.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
    assert!(rules.len() > 40, "{}", rules.len());
    let start = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/rules.md#");
    for rule in rules {
        let uri = rule["helpUri"].as_str().expect("an address");
        let anchor = uri.strip_prefix(start).expect("on the page of rules");
        assert!(headings.iter().any(|heading| heading == anchor), "{uri}");
    }
}

/// The page about monitors, in lines.
fn monitoring() -> String {
    std::fs::read_to_string(file("docs/monitoring.md")).expect("the page is there")
}

#[test]
fn every_option_and_format_that_the_page_about_monitors_names_is_in_the_help() {
    let help = printed(&["check", "--help"]);
    let commands = ["check", "fsync", "bench", "watch", "export"];
    let helps = commands.map(|command| printed(&[command, "--help"]));
    let known: BTreeSet<String> = helps.iter().flat_map(|help| options(help)).collect();
    let page = monitoring();
    let after = |line: &'_ str| {
        commands.iter().find_map(|command| {
            line.split_once(&format!("straddle {command} ")).map(|(_, typed)| typed.to_owned())
        })
    };
    let typed: Vec<String> = page.lines().filter_map(after).collect();
    let inline = page.split('`').skip(1).step_by(2).filter(|code| code.starts_with("--"));
    let typed = typed.iter().map(String::as_str);
    let named = typed.chain(inline).filter(|text| !text.contains("config."));
    let named: BTreeSet<String> = named.flat_map(options).collect();
    assert!(named.len() > 4, "{named:?}");
    assert!(named.is_subset(&known), "named {named:?}, known {known:?}");
    let page = std::fs::read_to_string(file("docs/check.md")).expect("the page is there");
    for format in crate::check::FORMATS {
        assert!(help.contains(&format!("- {format}:")), "{format} is not in the help");
        assert!(page.contains(&format!("`{format}`")), "{format} is not in docs/check.md");
    }
}

#[test]
fn the_recording_of_demo_has_every_line_that_demo_prints() {
    let recording = std::fs::read_to_string(file("docs/demo.svg")).expect("it is there");
    let mut played = String::new();
    for line in recording.lines().filter_map(|line| line.strip_prefix("<text ")) {
        let texts = line.split('>').skip(1).filter_map(|part| part.split_once('<'));
        let texts: String = texts.map(|(text, _)| text).collect();
        played += &texts.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        played.push('\n');
    }
    let mut demo = Command::new(env!("CARGO_BIN_EXE_straddle"));
    demo.arg("demo").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    let printed = String::from_utf8(demo.output().expect("it runs").stdout).expect("UTF-8");
    let hint = "run: cargo xtask demo target/debug/straddle";
    let lines = |text: &str| -> Vec<String> {
        timeless(text.trim_end()).lines().map(|line| line.trim_end().to_owned()).collect()
    };
    assert_eq!(lines(&played), lines(&printed), "{hint}");
}
