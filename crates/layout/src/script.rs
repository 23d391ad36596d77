//! The plan as one POSIX shell script, which can be run again wherever it stopped.
//!
//! [`BODY`] is what all scripts share; what stands before it is the plan. The table is written as
//! bytes rather than by sfdisk: sfdisk loses hybrid entries, places records of logical partitions
//! itself, and cannot count in 4096-byte sectors on an image.

use std::fmt::Write as _;

use format::table::MARK;
use sha2::{Digest as _, Sha256};
use units::ByteRange;
use units::prefix::{Exact, in_one_unit};
use units::text::escape;

use crate::new_table_bytes::Region;
use crate::plan::DiskPlan;

/// The part that all scripts share.
const BODY: &str = include_str!("script.sh");

/// The shortest run of zeros that is written as a run.
const ZEROS_MIN: usize = 24;
/// Number of equal bytes that end a change.
const EQUAL_MIN: usize = 6;

/// The disk that a script names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDisk {
    /// Path to type for it; of an image of another format than raw, the copy. `None` where it has
    /// no name yet.
    pub path: Option<String>,
    /// The command that makes that copy, which comes first.
    pub copy: Option<String>,
    /// Its serial number, where a device has one.
    pub serial: Option<String>,
    /// Sentences on what the plan does not mend; harmless to print.
    pub remains: Vec<String>,
}

/// The script that carries out `plan`, which is not empty, on the disk `source`.
#[must_use]
pub fn script(plan: &DiskPlan, source: &NamedDisk) -> String {
    let steps = Steps::of(plan);
    let mut text = String::from("#!/bin/sh\n");
    comment(plan, source, &mut text);
    text.push_str("set -eu\nexport LC_ALL=C\nPATH=$PATH:/usr/sbin:/sbin\n\n");
    let id = id(plan);
    let values = [
        ("default_disk", source.path.clone().unwrap_or_default()),
        ("copy", source.copy.clone().unwrap_or_default()),
        ("moving", MARK.to_owned()),
        ("plan", id),
        ("disk_bytes", plan.disk_bytes.to_string()),
        ("sector", plan.sector_bytes.to_string()),
        ("serial", source.serial.clone().unwrap_or_default()),
        ("steps", steps.count.to_string()),
        ("mark_step", steps.mark_step.to_string()),
        ("last_step", steps.last_step.to_string()),
        ("kept_bytes", kept_bytes(plan).to_string()),
        ("table_hash", hash(plan.known_table.iter().map(|(_, bytes)| &bytes[..]))),
        ("content_hash", hash(plan.known_content.iter().map(|(_, bytes)| &bytes[..]))),
    ];
    for (name, value) in values {
        let _ = writeln!(text, "{name}={}", quoted(&value));
    }
    text.push_str("chunk=${STRADDLE_CHUNK_BYTES:-67108864}\n\n");
    text += &function("known_table", &known(&plan.known_table));
    text += &function("known_content", &known(&plan.known_content));
    text += &function("blank_space", &blank(&plan.blank_space));
    text += &steps.functions;
    text += &function("all_steps", &steps.lines);
    let afterwards: Vec<String> =
        plan.afterwards.iter().map(|line| format!("say {}", quoted(line))).collect();
    text += &function("afterwards", &afterwards);
    text.push_str(BODY);
    text
}

/// A start or a length in bytes before and after, in sectors; in sizes of one unit where the sector
/// changes.
fn change(plan: &DiskPlan, bytes: [u64; 2]) -> String {
    let [old, new] = match plan.converts() {
        true => in_one_unit(bytes),
        false => bytes.map(|bytes| bytes.div_euclid(plan.sector_bytes).to_string()),
    };
    if old == new { old } else { format!("{old} -> {new}") }
}

/// Writes the head: the changes, and warnings before them.
fn comment(plan: &DiskPlan, source: &NamedDisk, text: &mut String) {
    let mut line = |line: &str| {
        let _ = writeln!(text, "{}", format!("# {line}").trim_end());
    };
    line("Aligns the partitions of one disk, as straddle plan computed it.");
    line("");
    if let Some(copy) = &source.copy {
        line("No partitioner opens the image: this is the plan of a raw copy. Make that first:");
        line(copy);
        line("");
    }
    for row in &plan.rows {
        let start = change(plan, [row.old.start_bytes(), row.new.start_bytes()]);
        let length = change(plan, [row.old.length_bytes(), row.new.length_bytes()]);
        line(&match plan.converts() {
            true => format!("partition {}: start {start}, length {length}", row.number),
            false => {
                format!("partition {}: start sector {start}, length {length} sectors", row.number)
            }
        });
    }
    if plan.converts() {
        let (old, new) = (plan.old_sector_bytes, plan.sector_bytes);
        line(&format!(
            "The table is for {old}-byte sectors; the new one is for {new}-byte sectors."
        ));
    }
    line("");
    if plan.moves.is_empty() {
        line("No data moves; only the partition table is written. Back it up all the same.");
    } else {
        for text in [
            "BACK UP FIRST. This moves data. If it stops part way (error, power cut, kill), run it",
            "again with the same DISK and DIR, or run the copy of it that is in DIR:",
            "sh DIR/straddle-plan-*/resume.sh DISK. It goes on where it stopped. Until it has",
            "finished, keep DIR, do not use the partitions that move, and do not boot the disk.",
        ] {
            line(text);
        }
    }
    line("");
    for left in &source.remains {
        line(&format!("Remains: {left}"));
    }
    line("Usage: sh SCRIPT DISK [DIR] [--confirm WORD] [--dry-run] [--help]");
    let path = source.path.as_ref().map(|path| format!(": {}", escape(path.as_bytes())));
    line(&format!("  DISK  the disk of the plan, or a copy of it{}", path.unwrap_or_default()));
    line("  DIR   keeps each piece while it is moved. For a device: on another disk. For an image");
    line("        file: any directory with free space, not in tmpfs.");
    line("        Without DIR, the directory of this script is used.");
    line("  --confirm WORD  the name of the image, or the serial number of the device; else the");
    line("        script asks on the terminal, and refuses where there is none");
    line("  -n, --dry-run   check everything, print the steps and the word, and write nothing");
    line("Exit codes: 0 done, 3 refused and nothing was written, 4 stopped part way; by a signal:");
    line("130 or 143.");
}

/// The steps as lines of shell.
#[derive(Default)]
struct Steps {
    lines: Vec<String>,
    functions: String,
    count: usize,
    mark_step: usize,
    last_step: usize,
}

impl Steps {
    fn of(plan: &DiskPlan) -> Steps {
        let mut steps = Steps::default();
        steps.step("keep the old table, and make the new one", "make_table");
        steps.make_table(&plan.regions);
        let mut to_save = vec!["known_table".to_owned()];
        for one in &plan.moves {
            for (index, range) in one.aside.iter().enumerate() {
                let what = format!(
                    "put {} of partition {} aside",
                    Exact(range.length_bytes()),
                    one.number
                );
                let at = one.from_bytes + range.start_bytes();
                let name = format!("aside-{}-{index}", one.number);
                steps.step(&what, &format!("aside {name} {at} {}", range.length_bytes()));
                to_save.push(format!("read_at {at} {}", range.length_bytes()));
            }
            for fix in &one.fix_ups {
                let within = |range: &&ByteRange| {
                    (range.start_bytes()..range.end_bytes()).contains(&fix.at_bytes)
                };
                let Some(index) = one.aside.iter().position(|range| within(&range)) else {
                    continue;
                };
                let at = fix.at_bytes - one.aside[index].start_bytes();
                let what = format!("partition {}: {}", one.number, fix.what);
                let name = format!("aside-{}-{index}", one.number);
                steps.step(&what, &format!("amend {name} {at} '{}'", octal(&fix.new)));
            }
        }
        steps.functions += &function("to_save", &to_save);
        steps.step("mark the disk as half moved", "mark");
        steps.mark_step = steps.count;
        for one in &plan.moves {
            for range in &one.aside {
                let what = format!("hide partition {} while it is moved", one.number);
                let at = one.from_bytes + range.start_bytes();
                steps.step(&what, &format!("erase {at} {}", range.length_bytes()));
            }
        }
        for one in &plan.moves {
            for range in one.runs() {
                let what = format!(
                    "move {} of partition {} from byte {} to {}",
                    Exact(range.length_bytes()),
                    one.number,
                    one.from_bytes,
                    one.to_bytes
                );
                let (from, to) =
                    (one.from_bytes + range.start_bytes(), one.to_bytes + range.start_bytes());
                steps.step(&what, &format!("move {from} {to} {}", range.length_bytes()));
            }
        }
        for one in &plan.moves {
            for (index, range) in one.aside.iter().enumerate() {
                let what =
                    format!("put back {} of partition {}", Exact(range.length_bytes()), one.number);
                let (at, length) = (one.to_bytes + range.start_bytes(), range.length_bytes());
                steps.step(&what, &format!("put aside-{}-{index} {at} {length}", one.number));
            }
        }
        for (index, region) in plan.regions.iter().enumerate() {
            let what = format!("write the {}", region.what);
            let (at, length) = (region.at_bytes, region.new.len());
            let hash = hash([&region.new[..]].into_iter());
            steps.step(&what, &format!("put table-{index} {at} {length} {hash}"));
        }
        steps.last_step = steps.count;
        let here = plan.regions.iter().enumerate();
        let here = here.map(|(index, region)| format!("here table-{index} {}", region.at_bytes));
        let here = here.collect::<Vec<_>>().join(" &&\n        ");
        steps.functions += &function("tables_here", &[here]);
        for (index, region) in plan.regions.iter().enumerate() {
            let what = format!("read the {} again", region.what);
            steps.step(&what, &format!("compare table-{index} {}", region.at_bytes));
        }
        for left in &plan.leftovers {
            let what = format!(
                "erase an old signature at byte {}: its data has moved",
                left.start_bytes()
            );
            let (at, length) = (left.start_bytes(), left.length_bytes());
            steps.step(&what, &format!("erase {at} {length}"));
        }
        steps.functions += &function(
            "reread",
            &[
                "[ -b \"$disk\" ] || return 0".to_owned(),
                "blockdev --rereadpt \"$disk\" 2>/dev/null || partx -u \"$disk\" 2>/dev/null ||"
                    .to_owned(),
                "    say 'the kernel still has the old table: restart before using the disk'"
                    .to_owned(),
            ],
        );
        steps.step("show the kernel the new table", "reread");
        steps
    }

    fn step(&mut self, what: &str, command: &str) {
        self.count += 1;
        self.lines.push(format!("step {} {} {command}", self.count, quoted(what)));
    }

    /// Fetches each region, and changes a copy of it.
    fn make_table(&mut self, regions: &[Region]) {
        let mut lines = Vec::new();
        for (index, region) in regions.iter().enumerate() {
            let (at, length) = (region.at_bytes, region.new.len());
            lines.push(format!("# {}", region.what));
            lines.push(format!("fetch \"$work/old-{index}\" {at} {length}"));
            match &region.old {
                Some(_) => lines.push(format!("cp \"$work/old-{index}\" \"$work/table-{index}\"")),
                None => lines.push(format!(": >\"$work/table-{index}\"")),
            }
            let old = region.old.clone().unwrap_or_default();
            lines.extend(edits(&format!("table-{index}"), &old, &region.new));
            let hash = hash([&region.new[..]].into_iter());
            lines.push(format!("same table-{index} {hash}"));
        }
        self.functions += &function("make_table", &lines);
    }
}

/// A function of shell, which does nothing where there are no lines.
fn function(name: &str, lines: &[String]) -> String {
    let nothing = [":".to_owned()];
    let lines = if lines.is_empty() { &nothing[..] } else { lines };
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("{name}() {{\n{body}}}\n\n")
}

/// Lines that print runs of the disk.
fn known(runs: &[(u64, Vec<u8>)]) -> Vec<String> {
    runs.iter().map(|(at, bytes)| format!("read_at {at} {}", bytes.len())).collect()
}

/// Lines that fail where a range is no longer blank.
fn blank(ranges: &[ByteRange]) -> Vec<String> {
    let line = |range: &ByteRange| {
        format!("is_blank {} {} || return 1", range.start_bytes(), range.length_bytes())
    };
    ranges.iter().map(line).collect()
}

/// Number of bytes kept in the directory beside a chunk.
fn kept_bytes(plan: &DiskPlan) -> u64 {
    let aside = plan.moves.iter().flat_map(|one| &one.aside).map(|range| range.length_bytes());
    let table = plan.regions.iter().map(|region| device::disk::length_of(&region.new) * 2);
    aside.chain(table).sum()
}

/// Lines that turn `old` into `new`, byte runs in octal.
fn edits(name: &str, old: &[u8], new: &[u8]) -> Vec<String> {
    let differs = |at: usize| old.get(at) != new.get(at);
    let mut lines = Vec::new();
    let mut at = 0;
    while at < new.len() {
        if !differs(at) {
            at += 1;
            continue;
        }
        let zeros = new[at..].iter().take_while(|&&byte| byte == 0).count();
        if zeros >= ZEROS_MIN {
            lines.push(format!("blank {name} {at} {zeros}"));
            at += zeros;
            continue;
        }
        let start = at;
        let (mut end, mut equal, mut zeros) = (at, 0, 0);
        while at < new.len() && equal < EQUAL_MIN && zeros < ZEROS_MIN {
            zeros = if new[at] == 0 { zeros + 1 } else { 0 };
            if differs(at) {
                end = at + 1;
                equal = 0;
            } else {
                equal += 1;
            }
            at += 1;
        }
        if zeros >= ZEROS_MIN {
            end = end.min(at - zeros);
        }
        at = end.max(start + 1);
        lines.push(format!("edit {name} {start} '{}'", octal(&new[start..at])));
    }
    lines
}

/// Bytes as `printf` takes them.
fn octal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:03o}")).collect()
}

fn hash<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    parts.for_each(|part| digest.update(part));
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name for this plan: what would be another plan has another.
fn id(plan: &DiskPlan) -> String {
    let text = format!("{:?} {:?} {:?}", plan.known_table, plan.moves, plan.regions);
    hash([text.as_bytes()].into_iter()).chars().take(12).collect()
}

/// A word as a shell takes it, without bytes that a terminal would obey. A line feed stays, which
/// `$(printf)` would drop.
fn quoted(word: &str) -> String {
    let inner = word.chars().map(|letter| match letter {
        '\'' => "'\\''".to_owned(),
        _ if letter.is_control() && letter != '\n' => {
            units::text::octal(letter.to_string().as_bytes())
        }
        _ => letter.to_string(),
    });
    format!("'{}'", inner.collect::<String>())
}
