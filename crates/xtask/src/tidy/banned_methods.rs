//! The ban of clocks and programs from logic, which clippy.toml has: that it works, and that
//! nothing of logic is excepted from it.

use super::{ProjectFile, TidyFault};

/// Files that may expect banned methods: the head of the commands, and the build script.
const EXCEPTED: [&str; 2] = ["crates/straddle/src/lib.rs", "crates/straddle/build.rs"];

/// Tests of logic, and code outside of the crates that are Linux itself, expect no banned method.
pub(super) fn banned_methods(source: &ProjectFile) -> Vec<TidyFault> {
    let is_linux = ["host", "serve", "testkit", "xtask"]
        .iter()
        .any(|name| source.path.starts_with(&format!("crates/{name}/")));
    let is_in = |directory: &str| source.path.contains(directory);
    let is_system = is_in("/tests/") && !is_in("/tests/logic/") && !is_in("/tests/made/");
    if is_linux || is_system || EXCEPTED.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let lines = (1..).zip(source.text.lines());
    lines
        .filter(|(_, line)| line.contains("clippy::disallowed_methods"))
        // Denying it again, below a head that expects it, is the ban itself.
        .filter(|(_, line)| !line.contains("deny("))
        .map(|(number, _)| TidyFault::new(number, "logic has no clock and starts no program"))
        .collect()
}

#[cfg(test)]
mod tests {
    use testkit::{Scratch, scratch::text, tool};

    use super::*;

    #[test]
    fn logic_is_not_excepted_from_the_ban() {
        let line = "//! Head.\n#![expect(clippy::disallowed_methods, reason = \"a\")]\n";
        let faults = |path: &str| {
            let source = ProjectFile { path: path.to_owned(), text: line.to_owned() };
            banned_methods(&source).iter().map(|fault| fault.line).collect::<Vec<_>>()
        };
        assert_eq!(faults("crates/format/src/a.rs"), [2]);
        assert_eq!(faults("crates/format/tests/logic/main.rs"), [2]);
        assert_eq!(faults("crates/straddle/src/bench/command.rs"), [2]);
        for path in ["crates/format/tests/system/main.rs", "crates/host/src/a.rs", EXCEPTED[0]] {
            assert!(faults(path).is_empty(), "{path}");
        }
    }

    #[test]
    fn only_crates_that_are_linux_itself_have_a_ban_of_their_own() {
        let mut own = Vec::new();
        for entry in std::fs::read_dir(crate::root().join("crates")).unwrap() {
            let package = entry.unwrap();
            if package.path().join("clippy.toml").is_file() {
                own.push(package.file_name().into_string().unwrap());
            }
        }
        own.sort();
        assert_eq!(own, ["host", "serve", "testkit", "xtask"]);
    }

    #[test]
    fn clocks_and_programs_are_found_by_clippy() {
        if tool::find("clippy-driver").is_none() {
            testkit::skip("needs clippy-driver");
            return;
        }
        let scratch = Scratch::new();
        let driver = |call: &str| {
            let code = format!("//! A canary.\npub fn sing() {{ let _ = {call}; }}\n");
            let file = scratch.file("canary.rs", code.as_bytes());
            let out = text(scratch.path());
            let mut command = tool::command("clippy-driver");
            command.env("CLIPPY_CONF_DIR", crate::root());
            command.args(["--edition=2024", "--crate-type=lib", "--emit=metadata"]);
            command.args(["-Dclippy::disallowed_methods", "--out-dir", out, text(&file)]);
            let output = command.output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        for call in [
            "std::time::Instant::now()",
            "std::time::SystemTime::now()",
            "std::thread::sleep(std::time::Duration::ZERO)",
            "std::process::Command::new(\"true\")",
        ] {
            let (is_good, said) = driver(call);
            assert!(!is_good && said.contains("use of a disallowed method"), "{call}: {said}");
        }
        let (is_good, said) = driver("std::time::Duration::ZERO");
        assert!(is_good, "{said}");
    }
}
