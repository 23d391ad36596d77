//! One fix, and how it is typed.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::tool;

use crate::content::Content;
use crate::work_directory::Bench;

/// One fix of one rule.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// The rule.
    pub(crate) rule: &'static str,
    /// Its subject.
    pub(crate) name: &'static str,
    /// Tools beside those of util-linux, joined by spaces.
    pub(crate) tools: &'static str,
    /// Value of `--on`; empty for nothing.
    pub(crate) on: &'static str,
    /// The file to check.
    pub(crate) target: &'static str,
    /// Makes it.
    pub(crate) make: fn(&Bench),
    /// Use that is made of what is printed.
    pub(crate) fix: Fix,
}

/// Use that is made of what is printed.
#[derive(Clone, Copy)]
pub(crate) enum Fix {
    /// The lines that hold a word are typed; the fixed disk has this name.
    Typed(&'static str, &'static str),
    /// The lines that hold a word are typed; they change a superblock, and files stay.
    Tuned(&'static str),
    /// The layer is made again in a new `disk.raw`, with the words that are printed.
    Recreated(fn(&Bench, &str)),
    /// The line holds these words, and this is typed to do what it says.
    Done(&'static str, &'static str),
    /// The line that holds a word is typed: it works and changes nothing.
    Looked(&'static str),
}

/// Outcome of a case.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was typed, and all was well.
    Typed,
    /// A tool is absent.
    Skipped(String),
    /// It mended nothing, or did harm.
    Failed(String),
}

impl Case {
    /// A fix that is typed: all lines.
    pub(crate) const fn typed(
        rule: &'static str,
        name: &'static str,
        tools: &'static str,
        on: &'static str,
        target: &'static str,
        make: fn(&Bench),
    ) -> Case {
        Case { rule, name, tools, on, target, make, fix: Fix::Typed("", target) }
    }

    /// A layer that is made again.
    pub(crate) const fn recreated(
        rule: &'static str,
        name: &'static str,
        tools: &'static str,
        on: &'static str,
        make: fn(&Bench),
        again: fn(&Bench, &str),
    ) -> Case {
        let fix = Fix::Recreated(again);
        Case { rule, name, tools, on, target: "disk.raw", make, fix }
    }

    /// Types only the lines that hold `word`; the fixed disk is `result`.
    pub(crate) const fn only(mut self, word: &'static str, result: &'static str) -> Case {
        self.fix = Fix::Typed(word, result);
        self
    }

    /// Types the line that holds `word`, which changes a superblock.
    pub(crate) const fn tuned(mut self, word: &'static str) -> Case {
        self.fix = Fix::Tuned(word);
        self
    }

    /// On another disk.
    pub(crate) const fn on(mut self, on: &'static str) -> Case {
        self.on = on;
        self
    }

    pub(crate) fn run(&self) -> Outcome {
        self.run_with(type_line)
    }

    /// Does what [`Case::run`] does, with another way to type.
    pub(crate) fn run_with(&self, type_line: fn(&Bench, &str) -> Result<(), String>) -> Outcome {
        if let Some(absent) = self.tools.split_whitespace().find(|name| tool::find(name).is_none())
        {
            return Outcome::Skipped(absent.to_owned());
        }
        let tried = std::panic::catch_unwind(|| self.attempt(type_line));
        match tried {
            Ok(Ok(())) => Outcome::Typed,
            Ok(Err(why)) => Outcome::Failed(why),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                Outcome::Failed(text.unwrap_or("it panicked").to_owned())
            }
        }
    }

    fn attempt(&self, type_line: fn(&Bench, &str) -> Result<(), String>) -> Result<(), String> {
        let original = Bench::new();
        (self.make)(&original);
        let before = original.check(self.target, self.on)?;
        let lines = self.printed(&before)?;
        let copy = original.copy();
        match self.fix {
            Fix::Typed(word, result) => {
                let lines: Vec<&String> = lines.iter().filter(|line| line.contains(word)).collect();
                if lines.is_empty() {
                    return Err(format!("nothing to type is printed: {}", summary(&before)));
                }
                for line in lines {
                    type_line(&copy, line)?;
                }
                self.nothing_new(&before, &copy.check(result, self.on)?)?;
                self.nothing_lost(&original, &copy, result)
            }
            Fix::Tuned(word) => {
                let line = lines.iter().find(|line| line.contains(word));
                type_line(&copy, line.ok_or_else(|| format!("no such line: {lines:?}"))?)?;
                self.nothing_new(&before, &copy.check(self.target, self.on)?)?;
                let sound = original.path("sound").exists();
                let before = files(&original, if sound { "sound" } else { "disk.raw" });
                match (before, files(&copy, "disk.raw")) {
                    (before, after) if before == after => Ok(()),
                    (before, after) => Err(format!("files were {before} and are {after}")),
                }
            }
            Fix::Recreated(again) => {
                let line = lines.iter().find_map(|line| {
                    line.split_once("recreate it with ")?.1.split_once(" (ERASES it)")
                });
                let (words, _) = line.ok_or_else(|| format!("no such line: {lines:?}"))?;
                again(&copy, words);
                self.nothing_new(&before, &copy.check(self.target, self.on)?)
            }
            Fix::Done(words, command) => {
                if !lines.iter().any(|line| line.contains(words)) {
                    return Err(format!("no such line: {lines:?}"));
                }
                copy.attempt(command)?;
                self.nothing_new(&before, &copy.check(self.target, self.on)?)
            }
            Fix::Looked(word) => {
                let line = lines.iter().find(|line| line.contains(word));
                type_line(&copy, line.ok_or_else(|| format!("no such line: {lines:?}"))?)?;
                let sum = |bench: &Bench| bench.shell(&format!("sha256sum {}", self.target));
                match sum(&original) == sum(&copy) {
                    true => Ok(()),
                    false => Err("what only looks changed the disk".to_owned()),
                }
            }
        }
    }

    /// The remedies of the first finding of the rule.
    fn printed(&self, checked: &Value) -> Result<Vec<String>, String> {
        let findings = checked["findings"].as_array().ok_or("no findings")?;
        let found = findings.iter().find(|finding| finding["code"] == self.rule);
        let found =
            found.ok_or_else(|| format!("{} is not found: {}", self.rule, summary(checked)))?;
        let remedies = found["remedies"].as_array().ok_or("no remedies")?;
        Ok(remedies.iter().filter_map(|line| Some(line.as_str()?.to_owned())).collect())
    }

    fn nothing_new(&self, before: &Value, after: &Value) -> Result<(), String> {
        let said = summary(after);
        let (before, now) = (codes(before), codes(after));
        if now.contains(self.rule) {
            return Err(format!("{} is found again: {said}", self.rule));
        }
        // A start that its content corrects is as good as an aligned one.
        let new: Vec<&String> = now.difference(&before).filter(|code| *code != "ST103").collect();
        if new.is_empty() { Ok(()) } else { Err(format!("new findings {new:?}: {said}")) }
    }

    fn nothing_lost(&self, original: &Bench, copy: &Bench, result: &str) -> Result<(), String> {
        let is_raw = self.target.trim_end_matches('\'').ends_with(".raw");
        // Of a disk that was damaged, as it was before.
        let sound = if original.path("sound").exists() { "sound" } else { unquoted(self.target) };
        let result = unquoted(result);
        let lost = match (is_raw, result != self.target) {
            (true, _) => Content::of(original, sound).lost(&Content::of(copy, result)),
            (false, true) => {
                // The guest's disk, read as raw by a tool that knows both formats.
                original.shell(&format!("qemu-img convert -O raw {} guest.raw", self.target));
                copy.shell(&format!("qemu-img convert -O raw {result} guest.raw"));
                Content::of(original, "guest.raw").lost(&Content::of(copy, "guest.raw"))
            }
            (false, false) => Vec::new(),
        };
        if lost.is_empty() { Ok(()) } else { Err(lost.join("; ")) }
    }
}

/// Names and checksums of all files of the file system at the noted offset of `disk`.
fn files(bench: &Bench, disk: &str) -> String {
    std::fs::create_dir_all(bench.path("seen")).expect("a directory can be made");
    let offset = bench.shell("cat offset 2>/dev/null || echo 0");
    bench.shell(&format!(
        "mount -o ro,loop,offset={} {disk} seen && (cd seen; find . -type f | sort | xargs -r \
         sha256sum); umount seen",
        offset.trim()
    ))
}

fn unquoted(name: &str) -> &str {
    name.trim_matches('\'')
}

/// Code, evidence and remedies of each finding.
fn summary(checked: &Value) -> String {
    let findings = checked["findings"].as_array().into_iter().flatten();
    let lines = findings
        .map(|found| format!("{} {} {}", found["code"], found["evidence"], found["remedies"]));
    lines.collect::<Vec<_>>().join("\n")
}

fn codes(checked: &Value) -> BTreeSet<String> {
    let findings = checked["findings"].as_array().into_iter().flatten();
    findings.filter_map(|finding| Some(finding["code"].as_str()?.to_owned())).collect()
}

/// Types the command of a line: what stands after its remark.
fn type_line(bench: &Bench, line: &str) -> Result<(), String> {
    let command = line.split_once(": ").map_or(line, |(_, command)| command);
    if let Some(words) = command.strip_prefix("straddle plan ") {
        bench.attempt(&format!("{command} --script >script.sh"))?;
        let done = bench
            .attempt(&format!("set -- {words}; sh script.sh \"$1\" --confirm \"${{1##*/}}\""))
            .map(drop);
        // What could not be moved is part of the failure.
        return done.map_err(|why| format!("{why}\n{}", bench.shell(command)));
    }
    if command.starts_with("mount ") {
        std::fs::create_dir(bench.path("DIR")).map_err(|error| error.to_string())?;
        bench.attempt(command)?;
        return bench.attempt("umount DIR").map(drop);
    }
    bench.attempt(command).map(drop)
}
