//! `straddle check`: opens targets, assembles and judges each, and hands results on in order.
//!
//! Targets are looked at on all processors, a bounded number ahead of the one that is printed next,
//! so memory does not grow with their number. Members of one array or volume group wait until all
//! targets were seen, and are then judged together.

mod baseline;
mod document;
mod show;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use host::{ImageFiles, Interrupt};
use jiff::Timestamp;
use report::{Answer, Blocks, Refusal, Summary};
use stack::Verdict;
use stack::assemble::{self, Devices as _};
use stack::kernel::NodeId;

use crate::arguments::{Check, Format};
use crate::exit::{self, Outcome};
use crate::shared::not_an_image;
use crate::shared::parallel;
use crate::shared::printer::{self, Content, Said};
use crate::shared::run;
use crate::shared::scene::Scene;
use crate::shared::stack_beneath;
use crate::shared::target::{self, Target, What};
use baseline::Save;
use document::View;
use show::{Page, Piece, Press};

pub(crate) fn run(check: &Check) -> anyhow::Result<Outcome> {
    let (started, begun) = (Timestamp::now(), Instant::now());
    let baseline = check.watch.as_deref().map(baseline::read).transpose()?;
    let again = baseline.as_ref().filter(|_| check.targets.is_empty());
    let again = again.and_then(|baseline| baseline::again(check, baseline));
    let check = again.as_ref().unwrap_or(check);
    let scene = match &check.sysroot.tree {
        Some(path) => Scene::of(host::sysroot::open(path)?, true),
        None => Scene::live(),
    };
    let scene = scene.ignoring_measured(check.measured.is_ignored);
    let mut targets = target::expand(&check.targets, &scene);
    if let Some(baseline) = baseline.as_ref().filter(|_| again.is_some()) {
        let gone = gone(check, &scene);
        // What the baseline has is no target that cannot be opened: it vanished.
        targets.retain(|target| !(gone.contains(&target.name) && baseline.knows(&target.name)));
    }
    for target in &targets {
        if let What::Again { first, .. } = &target.what {
            printer::note(&format!("{} is the same file as {first}", target.name));
        }
    }
    // Formats for machines hold no colors that would have to be taken out again.
    let people = check.chosen() == Format::Table;
    let mut output = printer::output(if people { Content::Text } else { Content::Data });
    let mut own = run::run(started, &scene);
    if again.is_some() {
        own.command = baseline::command(check);
    }
    let asked = if again.is_some() { &[][..] } else { &check.targets[..] };
    let press = Press::new(check, baseline, own, asked, targets.len() > 1)?;
    // A document is ended properly; what people look at just stops.
    let interrupt = if people { Interrupt::none() } else { Interrupt::install()? };
    let save = check.save.as_deref().map(|path| Save::begin(path, &press.run)).transpose()?;
    let mut page = Page::begin(&press, &mut output)?;
    let mut tally = Tally { save, ..Tally::default() };
    let round = Round {
        check,
        targets: &targets,
        shared: shared(&targets),
        scene: &scene,
        press: &press,
        interrupt: &interrupt,
    };
    let rest = round.each(|shown| tally.take(&mut page, shown))?;
    let groups = groups(&rest.waiting);
    if tally.summary.targets == 0 && groups.len() == 1 {
        press.is_for_one();
    }
    for group in groups {
        if interrupt.is_raised() {
            break;
        }
        let members: Vec<&Target> = group.iter().map(|&index| &targets[index]).collect();
        let shown = Shown::of(check, &press, together(check, &members, &scene));
        tally.take(&mut page, shown)?;
    }
    for directory in rest.empty() {
        let name = printer::shown(&check.targets[directory]);
        let shown = Shown::of(check, &press, refused(name.clone(), target::holds_none(&name)));
        tally.take(&mut page, shown)?;
    }
    if let Some(signal) = interrupt.signal() {
        let judged = tally.summary.targets;
        let message = format!("interrupted after {judged} of {} targets", targets.len());
        let refusal = Refusal { message, hint: None };
        let shown = Shown::of(check, &press, refused("straddle check".to_owned(), refusal));
        tally.take(&mut page, shown)?;
        tally.save = None;
        page.end(&tally.summary, tally.answer(), false)?;
        let said = Said::or(output.end()?, "interrupted");
        return Ok(Outcome::Interrupted(signal, said));
    }
    tally.summary.elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    tally.answer.merge(page.take_vanished());
    let answer = tally.answer();
    let answer = Answer { unknown: answer.unknown && !check.unknown.is_allowed, ..answer };
    let is_saved = tally.save.is_some() && tally.has_opened;
    match tally.save.take() {
        Some(save) if is_saved => save.end(&tally.summary)?,
        Some(save) => save.leave(),
        None => {}
    }
    page.end(&tally.summary, answer, is_saved)?;
    let said = Said::or(output.end()?, "there is nothing to judge");
    let left_out = rest.left_out.iter().map(|(_, name)| name.as_str());
    if let Some(note) = not_an_image::note(left_out) {
        printer::note(&note);
    }
    // The process ends here: it is quicker not to give back a large machine piece by piece.
    std::mem::forget((scene, targets));
    Ok(exit::of_check(check.chosen(), answer, said))
}

/// The names of targets that are not there.
fn gone(check: &Check, scene: &Scene) -> BTreeSet<String> {
    let is_gone = |path: &&PathBuf| {
        let found = std::fs::symlink_metadata(path);
        found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    let named = check.targets.iter().filter(|_| !scene.is_captured);
    named.filter(is_gone).map(|path| printer::shown(&target::plain(path))).collect()
}

/// Remainder of a target that was judged: its counts, and what is printed of it.
struct Shown {
    summary: Summary,
    answer: Answer,
    /// `None` where it is not to be shown.
    piece: Option<Piece>,
    /// Blocks that are saved of it, where any are.
    saved: Option<Blocks>,
    /// Why it could not be judged.
    refusal: Option<Refusal>,
}

impl Shown {
    fn of(check: &Check, press: &Press, target: report::Target) -> Shown {
        let summary = Summary::of(&target);
        let saved = check.save.as_ref().map(|_| report::element(&target));
        let refusal = target.refusal.clone();
        let (answer, piece) = press.judge(target, check.only_bad);
        Shown { summary, answer, piece, saved, refusal }
    }
}

/// Counts, over everything that was shown.
#[derive(Default)]
struct Tally {
    summary: Summary,
    answer: Answer,
    save: Option<Save>,
    /// True if at least one target could be opened.
    has_opened: bool,
}

impl Tally {
    fn take(&mut self, page: &mut Page<'_>, shown: Shown) -> anyhow::Result<()> {
        self.summary.merge(&shown.summary);
        self.answer.merge(shown.answer);
        self.has_opened |= shown.refusal.is_none();
        if let Some(Refusal { message, hint }) = &shown.refusal {
            printer::refusal(message, hint.as_deref());
        }
        if let (Some(save), Some(element)) = (&mut self.save, &shown.saved) {
            save.take(element)?;
        }
        shown.piece.map_or(Ok(()), |piece| page.take(piece))
    }

    /// Returns where there is no target, none could be opened, unless all that the baseline has are
    /// gone.
    fn answer(&self) -> Answer {
        let none = self.summary.targets == 0 && !self.answer.unknown;
        let unopened = self.answer.unopened || none;
        Answer { unopened, ..self.answer }
    }
}

/// A target that lacks members, and the ids of what it lacks them of.
struct Waiting {
    index: usize,
    lacks: BTreeSet<String>,
}

/// Everything that is left when every target was looked at.
#[derive(Default)]
struct Rest {
    /// Targets that lack members.
    waiting: Vec<Waiting>,
    /// The names of what a directory happened to hold and that is no image, and which directory.
    left_out: Vec<(usize, String)>,
    /// The directories in which something was judged.
    judged: BTreeSet<usize>,
}

impl Rest {
    /// The directories in which everything was left out, in their order.
    fn empty(&self) -> BTreeSet<usize> {
        let left_out = self.left_out.iter().map(|(directory, _)| *directory);
        left_out.filter(|directory| !self.judged.contains(directory)).collect()
    }
}

/// Result of looking at one target.
enum Seen {
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
fn stack_id(target: &Target) -> Option<NodeId> {
    match &target.what {
        What::Devices { nodes, .. } => nodes.first().copied(),
        _ => None,
    }
}

/// The stacks of which several targets are devices.
fn shared(targets: &[Target]) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::new();
    targets.iter().filter_map(stack_id).filter(|&id| !seen.insert(id)).collect()
}

/// More layers than any but a hostile target has.
const MANY_LAYERS: usize = 512;
/// Held by whoever judges a target of so many.
static ONE_LARGE: Mutex<()> = Mutex::new(());

/// One look at all targets.
struct Round<'a> {
    check: &'a Check,
    targets: &'a [Target],
    /// The stacks of which several targets are devices.
    shared: BTreeSet<NodeId>,
    scene: &'a Scene,
    press: &'a Press,
    interrupt: &'a Interrupt,
}

impl Round<'_> {
    /// Looks at every target and gives what is shown of each to `take` in order; returns those that
    /// lack members.
    fn each(&self, mut take: impl FnMut(Shown) -> anyhow::Result<()>) -> anyhow::Result<Rest> {
        let mut rest = Rest::default();
        let hosts = || stack_beneath::FileHosts::new(self.scene);
        let look = |hosts: &mut stack_beneath::FileHosts<'_>, index: usize| {
            self.look(&self.targets[index], hosts)
        };
        let take = |index, seen| {
            let Target { name, found, .. } = &self.targets[index];
            let directory = found.as_ref().map(|found| found.directory);
            if let (Seen::LeftOut, Some(directory)) = (&seen, directory) {
                rest.left_out.push((directory, name.clone()));
                return Ok(());
            }
            rest.judged.extend(directory);
            match seen {
                Seen::LeftOut | Seen::Missed => Ok(()),
                // Nothing else may complete it.
                Seen::Lacking(shown, _) if self.targets.len() < 2 => take(shown),
                Seen::Lacking(_, lacks) => {
                    rest.waiting.push(Waiting { index, lacks });
                    Ok(())
                }
                Seen::Shared(id) => {
                    rest.waiting.push(Waiting { index, lacks: BTreeSet::from([id]) });
                    Ok(())
                }
                Seen::Shown(shown) => take(shown),
            }
        };
        parallel::in_order_with(self.targets.len(), hosts, look, Seen::bytes, take)?;
        Ok(rest)
    }

    fn look(&self, target: &Target, hosts: &mut stack_beneath::FileHosts<'_>) -> Seen {
        let Round { check, scene, press, .. } = self;
        if self.interrupt.is_raised() {
            return Seen::Missed;
        }
        if let Some(id) = stack_id(target).filter(|id| self.shared.contains(id)) {
            return Seen::Shared(format!("devices {id}"));
        }
        if target.found.as_ref().is_some_and(target::FoundInDirectory::is_left_out) {
            return Seen::LeftOut;
        }
        let assembled = match assembled(check, &[target], scene, hosts) {
            Ok(assembled) => assembled,
            Err(refusal) => {
                return Seen::Shown(Shown::of(check, press, refused(target.name.clone(), refusal)));
            }
        };
        // What is said of thousands of layers takes tens of megabytes: one at a time does.
        let _alone = (assembled.stack.len() > MANY_LAYERS)
            .then(|| ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
        let meant: Vec<String> = meant(target, scene).into_iter().collect();
        let result = result(check, target.name.clone(), &assembled, &meant);
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
            return Seen::LeftOut;
        }
        let shown = Shown::of(check, press, result);
        // One file is one member, whatever it is called.
        let is_again = matches!(target.what, What::Again { .. });
        match incomplete.is_empty() || is_again {
            true => Seen::Shown(shown),
            false => Seen::Lacking(shown, incomplete.into_iter().collect()),
        }
    }
}

impl Seen {
    /// The bytes that wait to be taken.
    fn bytes(&self) -> usize {
        match self {
            Seen::Shown(shown) | Seen::Lacking(shown, _) => {
                let piece = shown.piece.as_ref().map_or(0, Piece::bytes);
                piece + shown.saved.as_ref().map_or(0, Blocks::len)
            }
            Seen::LeftOut | Seen::Shared(_) | Seen::Missed => 0,
        }
    }
}

/// The stack of targets that belong together. One that cannot be opened is left out where there are
/// others: what it held is then missing from the stack, which says so.
fn assembled(
    check: &Check,
    members: &[&Target],
    scene: &Scene,
    hosts: &mut stack_beneath::FileHosts<'_>,
) -> Result<assemble::Assembled, Refusal> {
    let mut nodes = BTreeSet::new();
    let mut starts = Vec::new();
    let mut refusals = Vec::new();
    for target in members {
        match &target.what {
            What::Devices { nodes: joined, .. } => nodes.extend(joined.iter().copied()),
            What::File(path) | What::Found(path) | What::Again { path, .. } => {
                match target::start_file(path) {
                    Ok(start) => starts.push(start),
                    Err(refusal) => refusals.push(refusal),
                }
            }
            What::Refused(refusal) => match target.found.as_ref().and_then(|it| it.odd.as_ref()) {
                Some((path, what)) => starts.push(target::start_odd(path, what)),
                None => refusals.push(refusal.clone()),
            },
        }
    }
    let told = check.on.as_ref();
    if !nodes.is_empty()
        && let Ok(machine) = scene.machine()
    {
        let nodes: Vec<_> = nodes.into_iter().collect();
        if starts.is_empty() {
            return Ok(stack_beneath::of_loops(scene, scene.assemble(machine, &nodes, told)));
        }
        // Members that are files beside members that are disks: bytes alone join them.
        let disks = nodes.iter().map(|&id| machine.node(id)).filter(|node| node.below.is_empty());
        starts.extend(disks.map(|node| scene.disk(&node.name)));
    }
    match (starts.is_empty(), refusals.into_iter().next()) {
        (true, Some(refusal)) => Err(refusal),
        _ => {
            let mut assembled = assemble::assemble(starts, &beside(check, members), told);
            if let [Target { what: What::File(path) | What::Again { path, .. }, .. }] = members
                && !scene.is_captured
                && let Some(&root) = assembled.roots.first()
            {
                assembled.stack.layer_mut(root).host = Some(hosts.of(path));
            }
            Ok(assembled)
        }
    }
}

/// Returns which files these images may name: what lies in a directory was chosen by nobody, so
/// nothing in it leads elsewhere.
fn beside(check: &Check, members: &[&Target]) -> ImageFiles {
    let is_found = |target: &&Target| matches!(target.what, What::Found(_));
    match check.follow_references && !members.iter().any(is_found) {
        true => ImageFiles::Everywhere,
        false => ImageFiles::Directory,
    }
}

/// The kernel's name of the device that was meant.
fn meant(target: &Target, scene: &Scene) -> Option<String> {
    let What::Devices { meant: Some(id), .. } = target.what else { return None };
    Some(units::text::escape(scene.machine().ok()?.node(id).name.as_bytes()))
}

/// Targets that share an array or a volume group, directly or through others, in order.
fn groups(waiting: &[Waiting]) -> Vec<Vec<usize>> {
    // The first target that lacks members of each array or group, and the next link from each
    // target toward the first of its group.
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut toward: Vec<usize> = (0..waiting.len()).collect();
    for (place, one) in waiting.iter().enumerate() {
        for id in &one.lacks {
            let other = *first.entry(id).or_insert(place);
            let (one, other) = (end(&mut toward, place), end(&mut toward, other));
            toward[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, one) in waiting.iter().enumerate() {
        groups.entry(end(&mut toward, place)).or_default().push(one.index);
    }
    groups.into_values().collect()
}

/// The first of the group that `place` belongs to; the way there is shortened.
fn end(toward: &mut [usize], mut place: usize) -> usize {
    while toward[place] != place {
        toward[place] = toward[toward[place]];
        place = toward[place];
    }
    place
}

/// Members of one stack, judged together.
fn together(check: &Check, members: &[&Target], scene: &Scene) -> report::Target {
    let names: Vec<&str> = members.iter().map(|target| target.name.as_str()).collect();
    let name = target::joined_names(&names);
    // Where one of them is a file, or stands for all that it is joined to, all is shown.
    let meant: Option<Vec<String>> = members.iter().map(|one| meant(one, scene)).collect();
    let meant = meant.unwrap_or_default();
    match assembled(check, members, scene, &mut stack_beneath::FileHosts::new(scene)) {
        Ok(assembled) => result(check, name, &assembled, &meant),
        Err(refusal) => refused(name, refusal),
    }
}

fn result(
    check: &Check,
    name: String,
    assembled: &assemble::Assembled,
    meant: &[String],
) -> report::Target {
    let view = View { told: check.on.as_ref(), rules: &check.rules, meant };
    document::target(name, assembled, &view)
}

fn refused(name: String, refusal: Refusal) -> report::Target {
    report::Target {
        target: name,
        refusal: Some(refusal),
        verdict: Verdict::Unknown,
        layers: Vec::new(),
        findings: Vec::new(),
    }
}

impl Check {
    /// The format asked for.
    pub(crate) fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(index: usize, lacks: &[&str]) -> Waiting {
        Waiting { index, lacks: lacks.iter().map(|&id| id.to_owned()).collect() }
    }

    #[test]
    fn targets_that_share_anything_directly_or_not_are_one_group() {
        let found = groups(&[
            waiting(0, &["a"]),
            waiting(1, &["b"]),
            waiting(2, &["c"]),
            waiting(3, &["a", "b"]),
        ]);
        assert_eq!(found, [vec![0, 1, 3], vec![2]]);
    }
}
