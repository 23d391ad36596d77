//! `straddle plan --new`: how to lay out a disk without data.

use format::image::ImageLayout;
use layout::Advice;
use report::Refusal;
use stack::judge;
use stack::{LayerId, LayerKind, Stack};
use units::text::shell_word;

use super::disk::{assembled, meant, unread};
use crate::arguments::Plan;
use crate::exit::CommandOutcome;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, shown};
use crate::shared::target;

pub(super) fn run(plan: &Plan, inspected: &InspectedMachine) -> anyhow::Result<CommandOutcome> {
    match lines(plan, inspected) {
        Ok(text) => {
            printer::print(&text)?;
            Ok(CommandOutcome::Done)
        }
        Err(refusal) => Ok(CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal))),
    }
}

fn lines(plan: &Plan, inspected: &InspectedMachine) -> Result<String, Refusal> {
    let targets = target::expand(std::slice::from_ref(&plan.target), inspected);
    let name = shown(&plan.target);
    let refuse = |reason: &str, hint: Option<String>| {
        Refusal::undecided(format!("cannot plan {name}: {reason}"), hint)
    };
    let misuse = |reason| {
        let hint = "name one disk: straddle plan --new /dev/sdX";
        Refusal::hinted(format!("cannot plan {name}: {reason}"), hint)
    };
    let [target] = &targets[..] else { return Err(misuse("it is not one disk")) };
    let (assembled, device) = assembled(target, inspected, plan.on.as_ref())?;
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
        return Err(refuse(&reason, Some(hint)));
    }
    let withheld = withheld(stack, disk, &name);
    let advice = layout::advice(stack, disk, &shell_word(&name))
        .map_err(|none| refuse(&none.reason, none.hint))?;
    let shown = |one: &&Advice| !one.erases || withheld.is_none();
    let mut text = format!("{name}: layout for a new disk\n");
    for one in advice.iter().filter(shown) {
        text += &format!("  {:<13} {}\n", one.what, one.line);
    }
    if let Some(why) = withheld {
        text += &format!("  not shown     commands that would erase {name}; {why}\n");
    }
    Ok(text)
}

/// Returns why no command that erases is shown; `None` where nothing speaks against it.
fn withheld(stack: &Stack, disk: LayerId, name: &str) -> Option<String> {
    if let Some(reason) = unread(stack, disk) {
        return Some(format!("what is on it is not known: {reason}"));
    }
    let found = recognized(stack, disk).map(|found| format!("found on it: {found}"));
    found.or_else(|| {
        matches!(stack.layer(disk).kind, LayerKind::ImageFormat(_)).then(|| {
            format!(
                "partitioners do not open its format: lay out a raw image of the same size, then \
                 qemu-img convert it into a new {name}"
            )
        })
    })
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
