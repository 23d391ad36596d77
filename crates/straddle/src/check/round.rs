//! One look at all targets, on all processors.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use host::Interrupt;
use report::Blocks;
use stack::Verdict;
use stack::kernel::NodeId;

use super::groups::WaitingTarget;
use super::show::{Press, PrintedPiece};
use super::tally::Shown;
use super::target_stack::{self, assembled, refused, result};
use crate::arguments::Check;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::target::{self, CheckTarget, What};
use crate::shared::{bug, not_an_image, parallel, stack_beneath};

/// Everything that is left when every target was looked at.
#[derive(Default)]
pub(super) struct Rest {
    /// Targets that lack members.
    pub(super) waiting: Vec<WaitingTarget>,
    /// The names of what a directory happened to hold and that is no image, and which directory.
    pub(super) left_out: Vec<(usize, String)>,
    /// The directories in which something was judged.
    judged: BTreeSet<usize>,
}

impl Rest {
    /// The directories in which everything was left out, in their order.
    pub(super) fn empty(&self) -> BTreeSet<usize> {
        let left_out = self.left_out.iter().map(|(directory, _)| *directory);
        left_out.filter(|directory| !self.judged.contains(directory)).collect()
    }
}

/// Result of looking at one target.
enum Looked {
    Shown(Shown),
    /// It lacks the members of arrays and groups with these ids.
    Lacking(Shown, BTreeSet<String>),
    /// A directory happened to hold it, and it is no image.
    LeftOut,
    /// Others name devices of the same stack, which has this id.
    Shared(String),
    /// It was not looked at, since the command was asked to end.
    Missed,
}

/// Returns what names the stack of a target that is a device: the first of those that are joined to
/// it.
fn stack_id(target: &CheckTarget) -> Option<NodeId> {
    match &target.what {
        What::Devices { nodes, .. } => nodes.first().copied(),
        _ => None,
    }
}

/// The stacks of which several targets are devices.
pub(super) fn shared(targets: &[CheckTarget]) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::new();
    targets.iter().filter_map(stack_id).filter(|&id| !seen.insert(id)).collect()
}

/// More layers than any but a hostile target has.
const MANY_LAYERS: usize = 512;
/// Held by whoever judges a target of so many.
static ONE_LARGE: Mutex<()> = Mutex::new(());

/// One look at all targets.
pub(super) struct Round<'a> {
    pub(super) check: &'a Check,
    pub(super) targets: &'a [CheckTarget],
    /// The stacks of which several targets are devices.
    pub(super) shared: BTreeSet<NodeId>,
    pub(super) inspected: &'a InspectedMachine,
    pub(super) press: &'a Press,
    pub(super) interrupt: &'a Interrupt,
}

impl Round<'_> {
    /// Looks at every target and gives what is shown of each to `take` in order; returns those that
    /// lack members.
    pub(super) fn each(
        &self,
        mut take: impl FnMut(Shown) -> anyhow::Result<()>,
    ) -> anyhow::Result<Rest> {
        let mut rest = Rest::default();
        let begin = || stack_beneath::FileHosts::new(self.inspected);
        let look = |hosts: &mut _, index: usize| {
            let target = &self.targets[index];
            bug::caught(|| self.look(target, hosts)).unwrap_or_else(|bug| {
                // It may be half done.
                *hosts = begin();
                let name = target.name.clone();
                let refused = target_stack::failed(name, &bug);
                Looked::Shown(Shown::of(self.check, self.press, refused))
            })
        };
        let take = |index, seen| {
            let CheckTarget { name, found, .. } = &self.targets[index];
            let directory = found.as_ref().map(|found| found.directory);
            if let (Looked::LeftOut, Some(directory)) = (&seen, directory) {
                rest.left_out.push((directory, name.clone()));
                return Ok(());
            }
            rest.judged.extend(directory);
            match seen {
                Looked::LeftOut | Looked::Missed => Ok(()),
                // Nothing else may complete it.
                Looked::Lacking(shown, _) if self.targets.len() < 2 => take(shown),
                Looked::Lacking(_, lacks) => {
                    rest.waiting.push(WaitingTarget { index, lacks });
                    Ok(())
                }
                Looked::Shared(id) => {
                    rest.waiting.push(WaitingTarget { index, lacks: BTreeSet::from([id]) });
                    Ok(())
                }
                Looked::Shown(shown) => take(shown),
            }
        };
        let done = parallel::in_order_with(self.targets.len(), begin, look, Looked::bytes, take);
        let name = |index: usize| format!("judge {}", self.targets[index].name);
        done.map_err(|error| parallel::named(error, name))?;
        Ok(rest)
    }

    fn look(&self, target: &CheckTarget, hosts: &mut stack_beneath::FileHosts<'_>) -> Looked {
        let Round { check, inspected, press, .. } = self;
        #[cfg(test)]
        assert!(!target.name.ends_with(target_stack::BUG), "a bug at {}", target.name);
        if self.interrupt.is_raised() {
            return Looked::Missed;
        }
        if let Some(id) = stack_id(target).filter(|id| self.shared.contains(id)) {
            return Looked::Shared(format!("devices {id}"));
        }
        if target.found.as_ref().is_some_and(target::FoundInDirectory::is_left_out) {
            return Looked::LeftOut;
        }
        let assembled = match assembled(check, &[target], inspected, hosts) {
            Ok(assembled) => assembled,
            Err(refusal) => {
                return Looked::Shown(Shown::of(
                    check,
                    press,
                    refused(target.name.clone(), refusal),
                ));
            }
        };
        // What is said of thousands of layers takes tens of megabytes: one at a time does.
        let _alone = (assembled.stack.len() > MANY_LAYERS)
            .then(|| ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
        let result = result(check, &[target], inspected, &assembled);
        let incomplete = assembled.incomplete;
        drop(assembled.stack);
        if let (What::Found(path), [only]) = (&target.what, result.layers.as_slice())
            && match only.verdict {
                Verdict::Unknown => not_an_image::is_none(path),
                // A log that was made longer ahead of its use is no blank disk.
                Verdict::Empty => !not_an_image::is_named_as_image(path),
                _ => false,
            }
        {
            return Looked::LeftOut;
        }
        let shown = Shown::of(check, press, result);
        // One file is one member, whatever it is called.
        let is_again = matches!(target.what, What::Again { .. });
        match incomplete.is_empty() || is_again {
            true => Looked::Shown(shown),
            false => Looked::Lacking(shown, incomplete.into_iter().collect()),
        }
    }
}

impl Looked {
    /// The bytes that wait to be taken.
    fn bytes(&self) -> usize {
        match self {
            Looked::Shown(shown) | Looked::Lacking(shown, _) => {
                let piece = shown.piece.as_ref().map_or(0, PrintedPiece::bytes);
                piece + shown.saved.as_ref().map_or(0, Blocks::len)
            }
            Looked::LeftOut | Looked::Shared(_) | Looked::Missed => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::arguments::{Arguments, Command};
    use crate::exit::CommandOutcome;
    use crate::shared::bug::tests::printed;
    use crate::shared::printer::Said;

    /// Checks a directory of 40 images, at some of which a look panics; the outcome, and the names
    /// with the messages of their refusals.
    fn checked(bad: &[usize]) -> (CommandOutcome, Vec<(String, String)>) {
        let scratch = testkit::Scratch::new();
        let mut words = vec!["straddle".to_owned(), "check".to_owned(), "--save".to_owned()];
        let saved = scratch.path().join("saved.json");
        words.push(saved.display().to_string());
        for index in 0..40 {
            let end =
                if bad.contains(&index) { crate::check::target_stack::BUG } else { "good.raw" };
            let path = scratch.file(&format!("{index:02}-{end}"), &[0x5a; 4096]);
            words.push(path.display().to_string());
        }
        let Command::Check(check) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("it is a check")
        };
        let outcome = crate::check::run(&check).unwrap();
        let text = std::fs::read_to_string(saved).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let targets = document["targets"].as_array().unwrap().iter().map(|target| {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            (text(&target["target"]), text(&target["refusal"]["message"]))
        });
        (outcome, targets.collect())
    }

    #[test]
    fn a_panic_at_a_target_is_its_refusal_and_all_others_are_judged() {
        let name =
            "check::round::tests::a_panic_at_a_target_is_its_refusal_and_all_others_are_judged";
        let said = printed(name, || {
            for bad in
                [vec![0], vec![17], vec![39], vec![3, 4, 5, 20], (0..40).step_by(2).collect()]
            {
                let (outcome, targets) = checked(&bad);
                assert_eq!(outcome, CommandOutcome::Misuse(Said::FOR_TESTS), "{bad:?}");
                assert_eq!(targets.len(), 40, "{bad:?}");
                for (index, (name, message)) in targets.iter().enumerate() {
                    let expected =
                        format!("cannot judge {name}: a bug in straddle: a bug at {name}");
                    match bad.contains(&index) {
                        true => assert!(message.starts_with(&expected), "{message}"),
                        false => assert_eq!(message, "", "{name}"),
                    }
                }
            }
        });
        assert!(said.contains("error: cannot judge ") && !said.contains("panicked"), "{said}");
    }
}
