//! The ways that a disk goes: each on a copy of its own, judged by the oracle.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Fate;
use super::disk::MadeDisk;
use super::made_part::MadePart;
use super::oracle::Side;
use crate::disks::{Tried, content, open, ran};
use crate::running_program::Ran;
use crate::{Scratch, scratch};

/// Exit code of the commands that refuse.
const REFUSED: [i32; 2] = [3, 5];

/// Reasons for which `apply` leaves a change to the script although no data moves.
const DOCUMENTED: &str = "a power cut after";

/// A disk, and what was seen of it so far.
pub(super) struct Ways<'a> {
    program: &'a Path,
    scratch: &'a Scratch,
    disk: &'a MadeDisk,
    faults: Vec<String>,
    /// True if the script moved a partition that is not blank.
    is_data_moved: bool,
}

/// A copy before a change, which may have another sector size afterwards.
struct Step<'a> {
    way: &'static str,
    image: &'a Path,
    sector: u64,
    /// True if FAT file systems are rebuilt.
    is_rebuilt: bool,
}

impl<'a> Ways<'a> {
    pub(super) fn new(program: &'a Path, scratch: &'a Scratch, disk: &'a MadeDisk) -> Ways<'a> {
        Ways { program, scratch, disk, faults: Vec::new(), is_data_moved: false }
    }

    /// Goes every way; the fates, and what was wrong.
    pub(super) fn run(mut self) -> ([Fate; 6], Vec<String>) {
        let mut fates = [const { Fate::Untried }; 6];
        if let Err(fault) = self.go(&mut fates) {
            self.faults.push(fault);
        }
        (fates, self.faults)
    }

    fn go(&mut self, fates: &mut [Fate; 6]) -> Tried<()> {
        fates[0] = self.script()?;
        [fates[1], fates[2]] = self.applied("apply", &["plan", "apply.raw", "-o", "apply.json"])?;
        self.compare(&fates[0], &fates[1]);
        [fates[3], fates[4]] = self.converted()?;
        let words = ["convert", "place.raw", "--sector", "4096", "--plan", "place.json"];
        [fates[5], _] = self.applied("in place", &words)?;
        Ok(())
    }

    fn straddle(&self, words: &[&str]) -> Ran {
        let on = match (words[0], self.disk.on) {
            ("plan", on) if !on.is_empty() => vec!["--on", on],
            _ => vec![],
        };
        let mut command = Command::new(self.program);
        Ran::of(command.args(words).args(on).current_dir(self.scratch.path()))
    }

    /// Bytes of a sector for which plans are made.
    fn planned_sector(&self) -> u64 {
        if self.disk.on == "4Kn" { 4096 } else { 512 }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn copy(&self, name: &str) -> Tried<PathBuf> {
        let copy = self.file(name);
        ran("cp", &["--sparse=always", scratch::text(&self.disk.image), scratch::text(&copy)])?;
        Ok(copy)
    }

    fn fault(&mut self, way: &str, what: impl std::fmt::Display) {
        self.faults.push(format!("{way}: {what}"));
    }

    /// Judges an end that is not a success: nothing may have changed.
    fn refused(&mut self, way: &str, ran: &Ran, image: &Path) -> Tried<Fate> {
        let reason = reason(ran);
        if !ran.status.is_some_and(|status| REFUSED.contains(&status)) {
            self.fault(way, format!("ended with {:?}: {reason}", ran.status));
        }
        if !self.is_same(image)? {
            self.fault(way, format!("refused, but the disk changed: {reason}"));
        }
        Ok(Fate::Refused(reason))
    }

    fn is_same(&self, image: &Path) -> Tried<bool> {
        let bytes = std::fs::read(image).map_err(|error| error.to_string())?;
        Ok(bytes == self.disk.side.bytes)
    }

    /// Types the script on a copy.
    fn script(&mut self) -> Tried<Fate> {
        let copy = self.copy("script.raw")?;
        let ran = self.straddle(&["plan", "script.raw", "--script", "-o", "plan.sh"]);
        if ran.status != Some(0) {
            return self.refused("script", &ran, &copy);
        }
        let mut command = Command::new("sh");
        let ran = Ran::of(
            command
                .args(["plan.sh", "script.raw", "work", "--confirm", "script.raw"])
                .current_dir(self.scratch.path()),
        );
        if ran.status != Some(0) {
            return self.refused("script", &ran, &copy);
        }
        if self.is_same(&copy)? {
            return Ok(Fate::Idle);
        }
        let step =
            Step { way: "script", image: &copy, sector: self.planned_sector(), is_rebuilt: false };
        let new = self.judge(&self.disk.side, &step)?;
        self.is_data_moved = self.disk.side.places.iter().any(|old| {
            let is_moved =
                new.place(old.number).is_some_and(|new| new.range.start != old.range.start);
            is_moved && self.disk.side.part(&old.range).iter().any(|&byte| byte != 0)
        });
        Ok(Fate::Changed)
    }

    /// Plans by `words`, applies, and undoes.
    fn applied(&mut self, way: &'static str, words: &[&str]) -> Tried<[Fate; 2]> {
        let is_rebuilt = words[0] == "convert";
        let sector = if is_rebuilt { 4096 } else { self.planned_sector() };
        let name = words[1];
        let copy = self.copy(name)?;
        let plan = name.replace(".raw", ".json");
        let ran = self.straddle(words);
        if ran.status != Some(0) {
            return Ok([self.refused(way, &ran, &copy)?, Fate::Untried]);
        }
        if !self.file(&plan).exists() {
            return Ok([Fate::Idle, Fate::Untried]);
        }
        let ran = self.straddle(&["apply", &plan, "--confirm", name]);
        if ran.status != Some(0) {
            return Ok([self.refused(way, &ran, &copy)?, Fate::Untried]);
        }
        if self.is_same(&copy)? {
            return Ok([Fate::Idle, Fate::Untried]);
        }
        self.judge(&self.disk.side, &Step { way, image: &copy, sector, is_rebuilt })?;
        let ran = self.straddle(&["apply", "--undo", &format!("{plan}.undo"), "--confirm", name]);
        if ran.status != Some(0) {
            let reason = reason(&ran);
            self.fault(way, format!("undo is refused: {}", ran.errors.trim()));
            return Ok([Fate::Changed, Fate::Refused(reason)]);
        }
        if !self.is_same(&copy)? {
            self.fault(way, "undo does not give every byte back");
        }
        Ok([Fate::Changed, Fate::Changed])
    }

    /// Converts to a new image of 4096-byte sectors, and that back.
    fn converted(&mut self) -> Tried<[Fate; 2]> {
        let copy = self.copy("old.raw")?;
        let ran = self.straddle(&["convert", "old.raw", "--sector", "4096", "-o", "new.raw"]);
        if !self.is_same(&copy)? {
            self.fault("convert", "the source changed");
        }
        let new = self.file("new.raw");
        if ran.status != Some(0) {
            if new.exists() {
                self.fault("convert", "refused, but there is a new image");
            }
            return Ok([self.refused("convert", &ran, &copy)?, Fate::Untried]);
        }
        if !new.exists() {
            return Ok([Fate::Idle, Fate::Untried]);
        }
        let step = Step { way: "convert", image: &new, sector: 4096, is_rebuilt: true };
        self.judge(&self.disk.side, &step)?;
        let ran = self.straddle(&["convert", "new.raw", "--sector", "512", "-o", "back.raw"]);
        let back = self.file("back.raw");
        if ran.status != Some(0) {
            return Ok([Fate::Changed, Fate::Refused(reason(&ran))]);
        }
        let step = Step { way: "convert back", image: &back, sector: 512, is_rebuilt: true };
        self.judge(&Side::of(&new, 4096)?, &step)?;
        Ok([Fate::Changed, Fate::Changed])
    }

    /// Compares the disk after a step with `old`, and returns it.
    fn judge(&mut self, old: &Side, step: &Step<'_>) -> Tried<Side> {
        let new = Side::of(step.image, step.sector)?;
        let way = step.way;
        for loss in old.losses(&new, &self.ignored(old, step)) {
            let (sector, blocks, words) = (loss.at.div_euclid(512), loss.blocks, loss.words);
            self.fault(way, format!("LOST {blocks} blocks from sector {sector} on: {words}"));
        }
        let exact: Vec<u64> = self.disk.exact().collect();
        for number in exact {
            let length =
                |side: &Side| side.place(number).map(|place| place.range.end - place.range.start);
            let (before, after) = (length(old), length(&new));
            if before != after {
                let lengths = format!("{before:?} to {after:?}");
                self.fault(way, format!("partition {number} ends with bytes, and went {lengths}"));
            }
        }
        let file = open(step.image)?;
        for part in &self.disk.parts {
            let Some(place) = new.place(part.number).map(|place| place.range.clone()) else {
                continue;
            };
            let kind = if part.is_fat() || !step.is_rebuilt { part.kind } else { "" };
            // The last sector of NTFS is a copy of its first; here, other bytes may follow.
            let length = match kind {
                "ntfs" => part.content * 512,
                _ => place.end - place.start,
            };
            if let Err(said) = content::checked(self.scratch, kind, &file, place.start, length) {
                self.fault(way, format!("partition {} is damaged: {said}", part.number));
            }
            if part.is_fat()
                && self.files(&self.disk.image, part.start * 512)?
                    != self.files(step.image, place.start)?
            {
                self.fault(way, format!("partition {} has other files", part.number));
            }
        }
        Ok(new)
    }

    /// Bytes that may change within partitions: fields that hold the start, and FAT file systems
    /// that are rebuilt.
    fn ignored(&self, old: &Side, step: &Step<'_>) -> Vec<Range<u64>> {
        let of = |part: &MadePart| -> Vec<(u64, u64)> {
            match part.is_fat() && step.is_rebuilt {
                true => vec![(0, part.content * 512)],
                false => content::masked(part.kind, part.content),
            }
        };
        let ranges = self.disk.parts.iter().filter_map(|part| {
            let start = old.place(part.number)?.range.start;
            Some(of(part).into_iter().map(move |(from, to)| start + from..start + to))
        });
        ranges.flatten().collect()
    }

    /// Names and digests of the files of a FAT file system.
    fn files(&self, image: &Path, at: u64) -> Tried<String> {
        let out = self.file("out");
        let _ = std::fs::remove_dir_all(&out);
        std::fs::create_dir(&out).map_err(|error| error.to_string())?;
        let (volume, to) = (format!("{}@@{at}", scratch::text(image)), scratch::text(&out));
        ran("mcopy", &["-s", "-n", "-Q", "-i", &volume, "::/", to])?;
        let list = "cd \"$0\" && find . -type f -exec sha256sum {} + | sort";
        ran("sh", &["-c", list, to])
    }

    /// Compares what the script and `apply` made of a disk on which no data moves.
    fn compare(&mut self, script: &Fate, apply: &Fate) {
        let is_documented = |why: &str| why.contains(DOCUMENTED);
        match (script, apply) {
            (Fate::Refused(_), Fate::Refused(_)) => {}
            (_, Fate::Refused(why)) if self.is_data_moved || is_documented(why) => {}
            _ if script != apply => {
                self.fault("script and apply", format!("they disagree: {script:?}, {apply:?}"));
            }
            _ => {}
        }
    }
}

/// The first line of an error, without what is of one disk alone.
fn reason(ran: &Ran) -> String {
    let line = ran.errors.lines().find(|line| !line.starts_with("note:")).unwrap_or_default();
    // The name of the disk or of the plan follows the verb.
    let (verb, rest) = line
        .split_once(": ")
        .map_or(("", line), |(_, rest)| rest.split_once(": ").unwrap_or(("", rest)));
    let verb = verb.rsplit_once(' ').map_or(verb, |(verb, _)| verb);
    let mut text = format!("{verb}: ");
    for letter in rest.chars() {
        match letter {
            '0'..='9' if text.ends_with('N') => {}
            '0'..='9' => text.push('N'),
            other => text.push(other),
        }
    }
    text
}
