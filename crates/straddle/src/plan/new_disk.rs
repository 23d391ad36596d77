//! `straddle plan --new`: how to lay out a disk without data.

use std::fs::File;
use std::io::Read as _;

use format::image::ImageLayout;
use format::lost_table;
use format::table::TableKind;
use layout::{Advice, NewIds, Side};
use report::Refusal;
use report::plan::{Layout, LayoutPartition, TableChangeDocument};
use stack::assemble::Assembled;
use stack::judge;
use stack::{LayerId, LayerKind, Stack};
use units::ByteRange;
use units::text::shell_word;

use super::PlanAnswer;
use super::script::planned_again;
use crate::arguments::Plan;
use crate::exit::CommandOutcome;
use crate::shared::disk_target::{assembled, lost_volumes, meant, unknown_content, unread};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, shown};
use crate::shared::qcow2_image::{QCOW2, Qcow2Image};
use crate::shared::{table_document, target};

pub(super) fn run(plan: &Plan, inspected: &InspectedMachine) -> anyhow::Result<CommandOutcome> {
    match lines(plan, inspected) {
        Ok(text) => {
            printer::print(&text)?;
            Ok(CommandOutcome::Done)
        }
        Err(refusal) => Ok(CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal))),
    }
}

/// The longest disk of which every byte is read for its layout.
const WHOLE_BYTES: u64 = 2 << 20;

/// The disk that is laid out.
struct NewDisk {
    assembled: Assembled,
    disk: LayerId,
    name: String,
}

fn refuse(name: &str, reason: &str, hint: Option<String>) -> Refusal {
    Refusal::undecided(format!("cannot plan {name}: {reason}"), hint)
}

fn named(plan: &Plan, inspected: &InspectedMachine) -> Result<NewDisk, Refusal> {
    let targets = target::expand(std::slice::from_ref(&plan.target), inspected);
    let name = shown(&plan.target);
    let misuse = |reason| {
        let hint = "name one disk: straddle plan --new /dev/sdX";
        Refusal::hinted(format!("cannot plan {name}: {reason}"), hint)
    };
    let [target] = &targets[..] else { return Err(misuse("it is not one disk")) };
    let (assembled, device) = assembled("plan", target, inspected, plan.on.as_ref())?;
    let stack = &assembled.stack;
    let outer = meant(stack, device.as_deref()).ok_or_else(|| misuse("no such disk is known"))?;
    // The disk of an image is what its format gives a guest.
    let is_format = |id: &LayerId| matches!(stack.layer(*id).kind, LayerKind::ImageFormat(_));
    let disk = stack.over(outer).into_iter().rfind(is_format).unwrap_or(outer);
    if let LayerKind::ImageFormat(image) = &stack.layer(disk).kind
        && matches!(image.layout, ImageLayout::Unknown(_))
    {
        let reason = judge::judge(stack, disk).reason;
        let hint = format!("to see what is known of it: straddle check {}", shell_word(&name));
        return Err(refuse(&name, &reason, Some(hint)));
    }
    Ok(NewDisk { assembled, disk, name })
}

/// The first table of a blank disk.
pub(super) fn table(plan: &Plan, inspected: &InspectedMachine) -> Result<PlanAnswer, Refusal> {
    let NewDisk { assembled, disk, name } = named(plan, inspected)?;
    let stack = &assembled.stack;
    let failed = |reason: &str| refuse(&name, reason, None);
    if let Some(why) = not_blank(stack, disk) {
        let hint = format!("to see what: straddle check {}", shell_word(&name));
        return Err(refuse(&name, &why, Some(hint)));
    }
    let image = match stack.layer(disk).kind {
        LayerKind::ImageFormat(_) => {
            let image = Qcow2Image::of(stack, disk);
            Some(image.ok_or_else(|| failed(&made_raw(&name)))?)
        }
        _ => None,
    };
    let mut random = [0; 32];
    let drawn = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
    drawn.map_err(|error| failed(&format!("no random ids for it: {error}")))?;
    let (first, second) = random.split_at(16);
    let id = |bytes: &[u8]| <[u8; 16]>::try_from(bytes).unwrap_or_default();
    let ids = NewIds { disk: id(first), partition: id(second) };
    let (change, range) = layout::new_table(stack, disk, ids)
        .map_err(|none| refuse(&name, &none.reason, none.hint))?;
    let bytes = stack.bytes(disk).ok_or_else(|| failed("its bytes cannot be read"))?;
    layout::check(&change, bytes.as_ref(), Side::New, &|_| Ok(true))
        .map_err(|reason| failed(&reason))?;
    let path = std::fs::canonicalize(&plan.target).map_err(|error| failed(&error.to_string()))?;
    if let Some(image) = &image {
        image.takes(&change, &name).map_err(|none| refuse(&name, &none.reason, none.hint))?;
    }
    let format = if image.is_some() { QCOW2 } else { "" };
    let change = table_document::document(&change, bytes.as_ref(), &path, format, true)
        .map_err(|reason| failed(&reason))?;
    Ok(PlanAnswer::NewTable(Box::new(change), range))
}

/// Writes a first table into a plan.
pub(super) fn fill(document: &mut Layout, change: TableChangeDocument, range: ByteRange) {
    document.disk_bytes = Some(change.disk_bytes);
    document.table = Some(TableKind::Gpt.word().into());
    document.old_sector_bytes = change.old_sector_bytes;
    document.sector_bytes = change.new_sector_bytes;
    document.changes = true;
    document.partitions = vec![LayoutPartition {
        number: 1,
        kind: "Linux data".to_owned(),
        name: None,
        content: None,
        old_start_bytes: range.start_bytes(),
        old_length_bytes: 0,
        new_start_bytes: range.start_bytes(),
        new_length_bytes: range.length_bytes(),
        fix_ups: Vec::new(),
        why: "new; straddle apply reads all of the disk before it writes".to_owned(),
        gain: String::new(),
    }];
    document.table_change = Some(change);
}

fn lines(plan: &Plan, inspected: &InspectedMachine) -> Result<String, Refusal> {
    let NewDisk { assembled, disk, name } = named(plan, inspected)?;
    let stack = &assembled.stack;
    let withheld = withheld(stack, disk, plan);
    let advice = layout::advice(stack, disk, &shell_word(&name))
        .map_err(|none| refuse(&name, &none.reason, none.hint))?;
    let shown = |one: &&Advice| !one.erases || withheld.is_none();
    let mut lines = vec![format!("{name}: layout for a new disk")];
    lines.extend(advice.iter().filter(shown).map(|one| format!("  {:<13} {}", one.what, one.line)));
    match withheld {
        Some(why) => lines.push(format!("  not shown     commands that would erase {name}; {why}")),
        None if stack.layer(disk).length().is_some_and(|bytes| bytes > WHOLE_BYTES) => {
            let read = lost_table::READ;
            let all = planned_again(plan, &format!("--new {}", shell_word(&name)));
            lines.push(format!(
                "  read          {read}: zeros; other bytes were not read; to read all: {all} -o \
                 plan.json"
            ));
            lines.push(format!("{:16}straddle apply plan.json --dry-run", ""));
        }
        None => {}
    }
    let limit = printer::look(false).columns();
    Ok(lines.iter().map(|line| fitted(line, limit) + "\n").collect())
}

/// `line` in at most `limit` columns, except that a command stays whole: it goes below the sentence
/// that ends with it, and a comment below it.
fn fitted(line: &str, limit: usize) -> String {
    if line.chars().count() <= limit {
        return line.to_owned();
    }
    let below = |head: &str, tail: &str| format!("{head}\n{:16}{tail}", "");
    if let Some((command, comment)) = line.split_once("  # ") {
        return below(command, &format!("# {comment}"));
    }
    match line.split_once(": straddle ") {
        Some((words, command)) => {
            below(&report::hang(&format!("{words}:"), limit), &format!("straddle {command}"))
        }
        None => report::hang(line, limit),
    }
}

/// Returns why no command that erases is shown; `None` where nothing speaks against it.
fn withheld(stack: &Stack, disk: LayerId, plan: &Plan) -> Option<String> {
    let name = shown(&plan.target);
    let reason = || match stack.layer(disk).kind {
        LayerKind::ImageFormat(_) if Qcow2Image::of(stack, disk).is_some() => {
            let again = planned_again(plan, &format!("--new {}", shell_word(&name)));
            let command = format!("{again} -o plan.json");
            Some(format!("partitioners do not open its format; to plan its first table: {command}"))
        }
        LayerKind::ImageFormat(_) => Some(made_raw(&name)),
        _ => None,
    };
    not_blank(stack, disk).or_else(reason)
}

/// Advice on an image that neither partitioners nor `straddle apply` write.
fn made_raw(name: &str) -> String {
    format!(
        "partitioners do not open its format: lay out a raw image of the same size, then qemu-img \
         convert it into a new {name}"
    )
}

/// Returns why a disk is not taken for a blank one; `None` where it may be.
fn not_blank(stack: &Stack, disk: LayerId) -> Option<String> {
    match unread(stack, disk) {
        Some(reason) => Some(format!("what is on it is not known: {reason}")),
        None => lost_volumes(stack, disk)
            .or_else(|| recognized(stack, disk).map(|found| format!("found on it: {found}")))
            .or_else(|| unknown_content(stack, disk)),
    }
}

/// Returns what is on the disk, in a few words; `None` where it may be blank.
fn recognized(stack: &Stack, disk: LayerId) -> Option<String> {
    let layer = stack.layer(disk);
    if !layer.tables.is_empty() {
        return Some("a partition table".to_owned());
    }
    if let Some(&above) = stack.above(disk).first() {
        return Some(stack.layer(above).kind.word().replace('-', " "));
    }
    if let Some(other) = layer.also.first() {
        return Some(other.clone());
    }
    if let Some(problem) = layer.problems.first() {
        return Some(problem.detail.clone());
    }
    let Some(bytes) = stack.bytes(disk) else {
        return Some("something that cannot be read".to_owned());
    };
    if let Some(mark) = format::signature::marks(bytes.as_ref()).first() {
        return Some(mark.to_string());
    }
    // Not blank at its head: nobody knows whose that is.
    let head = device::disk::read_vec(bytes.as_ref(), 0, bytes.length_bytes().min(1 << 20));
    match head {
        Ok(head) if head.iter().all(|&byte| byte == 0) => None,
        Ok(_) => Some("data of an unknown kind".to_owned()),
        Err(_) => Some("something that cannot be read".to_owned()),
    }
}
