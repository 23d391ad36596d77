//! Disks with data, made from a seed by the field's own tools, and what a plan for one must hold:
//! the script is typed on a copy, and everything is compared afterwards.

pub(crate) mod content;
mod make;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use units::random::Random;

use crate::{Loop, Scratch, running_program, scratch, tool};

/// The disks for which plans are made.
const CONDITIONS: [&str; 9] = [
    "",
    "",
    "512e",
    "granule=16K",
    "granule=64K",
    "granule=1M",
    "512e,origin=3584",
    "512e,stripe=64Kx3+1",
    "4Kn",
];
/// Rules about where partitions and their data begin and end.
const PLACES: [&str; 7] = ["ST101", "ST102", "ST105", "ST106", "ST201", "ST202", "ST301"];
/// A partition as it was made.
struct MadePartition {
    kind: &'static str,
    start: u64,
    sectors: u64,
}

/// A disk and its seed.
pub struct Trial<'a> {
    program: &'a Path,
    scratch: Scratch,
    random: Random,
    seed: u64,
    sector: u64,
    table: &'static str,
    on: &'static str,
    parts: Vec<MadePartition>,
}

/// Counts of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialCounts {
    /// True if the plan changed anything.
    pub changed: bool,
    /// Number of partitions it moved.
    pub moved: u64,
    /// Lines about what no move mends.
    pub unmended: u64,
    /// True if there was no plan, with a reason.
    pub refused: bool,
    /// Number of times that the script was killed before it was run to its end.
    pub kills: u64,
    /// Number of wrong disks the script refused.
    pub refusals: u64,
}

pub(crate) type Tried<T> = Result<T, String>;

pub(crate) fn output(command: &mut Command) -> Tried<Output> {
    command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))
}

/// Runs a tool that must succeed, and returns its output.
pub(crate) fn ran(name: &str, arguments: &[&str]) -> Tried<String> {
    let output = output(tool::command(name).args(arguments))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let out = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{name} {arguments:?}: {}: {said}{out}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl<'a> Trial<'a> {
    /// The disk of `seed`, in a directory of its own in `directory`, for the binary `program`.
    #[must_use]
    pub fn new(program: &'a Path, directory: &Path, seed: u64) -> Trial<'a> {
        let mut random = Random::new(seed);
        let table =
            *random.choose(&["gpt", "gpt", "gpt", "dos", "dos", "dos", "hybrid", "gpt4096"]);
        let sector = if table == "gpt4096" { 4096 } else { 512 };
        let on = if sector == 4096 { "4Kn" } else { *random.choose(&CONDITIONS) };
        let scratch = Scratch::within(directory);
        Trial { program, scratch, random, seed, sector, table, on, parts: Vec::new() }
    }

    /// Makes the disk, plans, types, looks.
    ///
    /// # Errors
    /// A failed check, with the seed and the table.
    pub fn run(mut self) -> Result<TrialCounts, String> {
        let image = self.make().map_err(|error| format!("seed {}: {error}", self.seed))?;
        self.judge(&image).map_err(|error| {
            let kinds: Vec<String> = (self.parts.iter())
                .map(|part| format!("{}@{}+{}", part.kind, part.start, part.sectors))
                .collect();
            let kinds = kinds.join(" ");
            format!("seed {} ({}, --on {:?}: {kinds}): {error}", self.seed, self.table, self.on)
        })
    }

    fn straddle(&self, words: &[&str]) -> Tried<Output> {
        let on = if self.on.is_empty() { vec![] } else { vec!["--on", self.on] };
        output(Command::new(self.program).args(words).args(on))
    }

    fn plan(&self, image: &Path) -> Tried<Value> {
        let output = self.straddle(&["plan", "--json", scratch::text(image)])?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("plan: {error}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn judge(&mut self, image: &Path) -> Tried<TrialCounts> {
        let plan = self.plan(image)?;
        let mut seen = TrialCounts::default();
        if !plan["refusal"].is_null() {
            let reason = plan["refusal"]["message"].as_str().unwrap_or_default();
            // Only a conversion may find a start that the new sectors do not express.
            if self.on == "4Kn"
                && (reason.contains("is not a multiple of") || reason.contains("do not fit"))
            {
                return Ok(TrialCounts { refused: true, ..seen });
            }
            return Err(format!("no plan: {reason}"));
        }
        seen.changed = plan["changes"] == true;
        seen.unmended = plan["unmended"].as_array().map_or(0, |list| list.len() as u64);
        let list = plan["partitions"].as_array().cloned().unwrap_or_default();
        let moves = |one: &&Value| one["old_start_bytes"] != one["new_start_bytes"];
        seen.moved = list.iter().filter(moves).count() as u64;
        let copy = self.scratch.path().join("copy.raw");
        if seen.changed {
            let script = self.straddle(&["plan", "--script", scratch::text(image)])?;
            let script = self.scratch.file("plan.sh", &script.stdout);
            seen.refusals = self.refusals(image, &script)?;
            ran("cp", &["--sparse=always", scratch::text(image), scratch::text(&copy)])?;
            seen.kills = self.typed(&script, &copy)?;
        } else {
            ran("cp", &["--sparse=always", scratch::text(image), scratch::text(&copy)])?;
        }
        let again = self.plan(&copy)?;
        if again["changes"] != false {
            return Err(format!("a second plan is not empty: {again:#}\nfirst: {plan:#}"));
        }
        self.findings(&copy, &plan)?;
        for (index, one) in list.iter().enumerate() {
            self.content(image, &copy, one, index)?;
        }
        if self.on != "4Kn" || self.sector == 4096 {
            let (old, new) = (self.described(image)?, self.described(&copy)?);
            if old != new {
                return Err(format!("the table lost something:\n{old}\n{new}"));
            }
        }
        Ok(seen)
    }

    /// Runs the script to its end; of every third disk it is killed some times before. Where the
    /// disk says that it is half moved, straddle names the directory that goes on.
    fn typed(&mut self, script: &Path, copy: &Path) -> Tried<u64> {
        let work = self.scratch.path().join("work");
        let mut kills = 0;
        let command = || {
            let mut command = Command::new("sh");
            command.arg(script).arg(copy).arg(&work).env("STRADDLE_CHUNK_BYTES", "1048576");
            command.arg("--confirm").arg(copy.file_name().unwrap_or_default());
            command.stdin(Stdio::null());
            command
        };
        if self.random.below(3) == 0 {
            for _ in 0..1 + self.random.below(5) {
                let mut begun = command();
                begun.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
                let mut going = begun.spawn().map_err(|error| error.to_string())?;
                std::thread::sleep(Duration::from_millis(self.random.below(1500)));
                let group = format!("-{}", going.id());
                if going.try_wait().map_err(|error| error.to_string())?.is_none() {
                    ran("kill", &["-s", "KILL", "--", &group])?;
                    kills += 1;
                }
                going.wait().map_err(|error| error.to_string())?;
                // A dd of the script ends in its own time, with its last write done.
                let leader = going.id();
                running_program::until("the script's processes ended", || {
                    running_program::has_group_ended(leader)
                });
            }
        }
        let mut last = command();
        if let Some(kept) = self.half_moved(copy)? {
            last = Command::new("sh");
            last.arg(Path::new(&kept).join("resume.sh")).arg(copy).current_dir("/");
        }
        let ended = output(&mut last)?;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        if !ended.status.success() {
            let out = String::from_utf8_lossy(&ended.stdout);
            return Err(format!("the script after {kills} kills: {}: {said}{out}", ended.status));
        }
        Ok(kills)
    }

    /// The directory that goes on with a half moved disk, as straddle names it, which has no other
    /// plan for such a disk.
    fn half_moved(&self, disk: &Path) -> Tried<Option<String>> {
        let plan = self.plan(disk)?;
        let said = plan["refusal"]["message"].as_str().unwrap_or_default();
        let Some((_, kept)) = said.split_once("keeps a part of them in ") else { return Ok(None) };
        Ok(Some(kept.to_owned()))
    }

    /// Types the script on disks that are not the one it is for; returns how many it refused.
    fn refusals(&mut self, image: &Path, script: &Path) -> Tried<u64> {
        if self.random.below(4) != 0 {
            return Ok(0);
        }
        let wrong = self.scratch.path().join("wrong.raw");
        let length = std::fs::metadata(image).map_err(|error| error.to_string())?.len();
        for case in 0..4 {
            ran("cp", &["--sparse=always", scratch::text(image), scratch::text(&wrong)])?;
            let file = OpenOptions::new().read(true).write(true).open(&wrong);
            let file = file.map_err(|error| error.to_string())?;
            let mut held = None;
            match case {
                0 => file.set_len(length + 4096).map_err(|error| error.to_string())?,
                // A disk id, or a byte of the primary GPT header.
                1 => file
                    .write_all_at(b"?", if self.table == "dos" { 440 } else { self.sector + 57 })
                    .map_err(|error| error.to_string())?,
                // A partition of the table.
                2 => {
                    let at = if self.table == "dos" { 450 } else { 2 * self.sector + 60 };
                    file.write_all_at(b"?", at).map_err(|error| error.to_string())?;
                }
                _ => held = Some(Loop::attach(&wrong, 512)),
            }
            let before = digest(&wrong)?;
            let work = self.scratch.path().join("refused");
            let ended = output(Command::new("sh").arg(script).arg(&wrong).arg(&work))?;
            drop(held);
            if ended.status.code() != Some(3) || digest(&wrong)? != before {
                let said = String::from_utf8_lossy(&ended.stderr);
                return Err(format!("wrong disk {case} was not refused: {}: {said}", ended.status));
            }
        }
        Ok(4)
    }

    /// Nothing that was fixable is left, and what is left was said.
    fn findings(&self, copy: &Path, plan: &Value) -> Tried<()> {
        let output = self.straddle(&["check", "--json", scratch::text(copy)])?;
        let document: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let target = &document["targets"][0];
        let left = plan["unmended"].to_string();
        let layers = target["layers"].as_array().cloned().unwrap_or_default();
        for found in target["findings"].as_array().into_iter().flatten() {
            let code = found["code"].as_str().unwrap_or_default();
            let layer = layers.iter().find(|layer| layer["id"] == found["layer"]);
            let name = layer.and_then(|layer| layer["name"].as_str()).unwrap_or_default();
            let number = name.rsplit('#').next().unwrap_or_default();
            let said = left.contains(code)
                || left.contains(&format!("partition {number} "))
                || (!name.contains('#') && left.contains("partition "));
            if PLACES.contains(&code) && !said {
                return Err(format!("{code} on {name} is left: {found:#}\n{plan:#}"));
            }
        }
        Ok(())
    }

    /// The content is the same, but for what keeps its place, and its own checker finds nothing.
    fn content(&self, old: &Path, new: &Path, one: &Value, index: usize) -> Tried<()> {
        let bytes = |key: &str| one[key].as_u64().ok_or_else(|| format!("{key} is missing"));
        let (from, to) = (bytes("old_start_bytes")?, bytes("new_start_bytes")?);
        let (before, after) = (bytes("old_length_bytes")?, bytes("new_length_bytes")?);
        let parts = self.parts.iter().filter(|part| part.kind != "extended");
        let part = parts.into_iter().nth(index).ok_or("a partition too many")?;
        let masked = content::masked(part.kind, part.sectors);
        let (old, new) = (open(old)?, open(new)?);
        let length = before.min(after);
        let mut at = 0;
        while at < length {
            let run = (length - at).min(1 << 20);
            let mut pair = [read(&old, from + at, run)?, read(&new, to + at, run)?];
            for mask in &masked {
                for byte in (mask.0..mask.1).filter(|byte| (at..at + run).contains(byte)) {
                    let byte = usize::try_from(byte - at).unwrap_or(0);
                    pair.iter_mut().for_each(|bytes| bytes[byte] = 0);
                }
            }
            if pair[0] != pair[1] {
                let first = pair[0].iter().zip(&pair[1]).position(|(one, other)| one != other);
                return Err(format!("{} differs after byte {at} + {first:?}", part.kind));
            }
            at += run;
        }
        let told = match part.kind {
            "vfat" | "fat32" | "ntfs" => number(&read(&new, to + 0x1c, 4)?) * 512,
            "exfat" => number(&read(&new, to + 64, 8)?) * 512,
            _ => to,
        };
        if told != to {
            return Err(format!("{} says that it starts at {told}, not {to}", part.kind));
        }
        content::checked(&self.scratch, part.kind, &new, to, after)
    }

    /// The table without places and sizes.
    fn described(&self, image: &Path) -> Tried<String> {
        let device = (self.sector == 4096).then(|| Loop::attach(image, 4096));
        let target = device.as_ref().map_or(image, Loop::path);
        let text = ran("sfdisk", &["--dump", scratch::text(target)])?;
        let lines = text.lines().filter(|line| !line.starts_with("device"));
        let rest = lines.map(|line| match line.split_once("start=") {
            Some((_, rest)) => rest.splitn(3, ',').nth(2).unwrap_or_default(),
            None => line,
        });
        Ok(rest.collect::<Vec<_>>().join("\n"))
    }
}

pub(crate) fn open(path: &Path) -> Tried<File> {
    File::open(path).map_err(|error| error.to_string())
}

pub(crate) fn read(file: &File, at: u64, length: u64) -> Tried<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(|error| error.to_string())?];
    file.read_exact_at(&mut bytes, at).map_err(|error| error.to_string())?;
    Ok(bytes)
}

pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

fn digest(path: &Path) -> Tried<String> {
    ran("sha256sum", &[scratch::text(path)])
}
