//! `bench TARGET --shift 512 -- COMMAND`: any command on shifted devices, once for each pair and
//! arm.
//!
//! All arms use the same part of the drive, one after the other. What a run leaves behind in
//! caches is part of its time: the unmount, or the flush of the device.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use device::Counters as _;
use host::{CommandPlan, DiskStats, LoopDevice, PathIdentity, PrivateMounts};
use report::bench::Experiment;
use units::text;

use super::document::{self, About, ArmRecord};
use super::file_system::{FileSystemRecipe, recipe};
use super::paired_loop::{self, Bounds, ContestResult, Timed};
use super::plan::{self, PlannedArm};
use super::scratch_file::ScratchFile;
use super::session::Session;
use super::shifted::{self, Region};
use crate::arguments::{FileSystem, SuiteSteps};
use crate::shared::halt::Halt;

/// A command as it was typed.
struct Template<'a> {
    words: &'a [OsString],
    device: bool,
    mount: bool,
}

impl<'a> Template<'a> {
    fn of(words: &'a [OsString]) -> Template<'a> {
        let holds = |name: &str| words.iter().any(|word| contains(word, name));
        Template { words, device: holds("{device}"), mount: holds("{mount}") }
    }

    /// The words with the device and the mount point put in.
    fn filled(&self, device: &Path, mount: Option<&Path>) -> Vec<OsString> {
        let fill = |word: &OsString| {
            let word = replaced(word, "{device}", device.as_os_str());
            match mount {
                Some(mount) => replaced(&word, "{mount}", mount.as_os_str()),
                None => word,
            }
        };
        self.words.iter().map(fill).collect()
    }
}

fn contains(word: &OsStr, name: &str) -> bool {
    word.as_bytes().windows(name.len()).any(|part| part == name.as_bytes())
}

fn replaced(word: &OsStr, name: &str, by: &OsStr) -> OsString {
    let (mut rest, mut made) = (word.as_bytes(), Vec::new());
    while let Some(at) = rest.windows(name.len()).position(|part| part == name.as_bytes()) {
        made.extend_from_slice(&rest[..at]);
        made.extend_from_slice(by.as_bytes());
        rest = &rest[at + name.len()..];
    }
    made.extend_from_slice(rest);
    OsString::from_vec(made)
}

/// The command on the arms' devices.
struct Runs<'a> {
    template: Template<'a>,
    ground: &'a ScratchFile,
    region: Region,
    arms: &'a [PlannedArm],
    file_system: Option<&'static FileSystemRecipe>,
    mounts: Option<&'a PrivateMounts>,
    interrupt: host::Interrupt,
    budget: Duration,
    /// The most bytes that one pair was seen to write.
    pair_bytes: u64,
    bytes_now: u64,
}

impl Runs<'_> {
    /// Runs the command on a device; how long it took with all that it left in caches.
    fn on(&mut self, device: &LoopDevice) -> Result<u64, Halt> {
        let node = device.node().to_owned();
        if let Some(recipe) = self.file_system {
            let sector = self.ground.place.unit.length_bytes();
            recipe.make(&node, sector, &self.interrupt)?;
            self.bytes_now = self.bytes_now.saturating_add(self.ground.settle()?);
        }
        let mounted = match (self.template.mount, self.file_system, self.mounts) {
            (true, Some(recipe), Some(mounts)) => Some(recipe.mount(mounts, &node)?),
            _ => None,
        };
        let words = self.template.filled(&node, mounted.as_ref().map(|mounted| mounted.path()));
        let plan = CommandPlan { words: &words, budget: self.budget, interrupt: &self.interrupt };
        let ran = host::command::run(plan)?;
        let behind = match mounted {
            Some(mut mounted) => mounted.unmount()?,
            None => flushed(device)?,
        };
        Ok(nanoseconds(ran.wall.saturating_add(behind)))
    }
}

impl Timed for Runs<'_> {
    fn time(&mut self, arm: usize) -> Result<u64, Halt> {
        let device = shifted::attach(self.ground, self.region, self.arms[arm].shift_bytes)?;
        let number = number(&device);
        let before = number.and_then(written_bytes);
        let took = self.on(&device)?;
        let after = number.and_then(written_bytes);
        let written = after.zip(before).map_or(0, |(after, before)| after.wrapping_sub(before));
        self.bytes_now = self.bytes_now.saturating_add(written);
        let detached = device.detach();
        detached.map_err(|error| Halt::Void(format!("the device is still in use: {error}")))?;
        self.pair_bytes = self.pair_bytes.max(self.bytes_now);
        Ok(took)
    }

    fn pair_bytes(&self) -> u64 {
        self.pair_bytes
    }

    fn start_pair(&mut self) {
        self.bytes_now = 0;
    }

    fn fault(&mut self) -> Option<String> {
        self.ground.moved()
    }
}

/// The number of a device that counts what is written to it: by its file system, the command, and
/// the unmount.
fn number(device: &LoopDevice) -> Option<(u32, u32)> {
    match host::identity(device.node()) {
        Ok(PathIdentity::Block { major, minor }) => Some((major, minor)),
        _ => None,
    }
}

/// The bytes that were written to a device since it appeared; `None` when it does not count.
fn written_bytes(number: (u32, u32)) -> Option<u64> {
    Some(DiskStats::open(number).ok()?.counts().ok()?.written_bytes())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Writes out what the command left in the device's page cache; how long that took.
fn flushed(device: &LoopDevice) -> Result<Duration, Halt> {
    let begun = Instant::now();
    let node = device.node();
    let file = std::fs::File::options().read(true).write(true).open(node);
    file.and_then(|file| file.sync_all()).map_err(|error| {
        Halt::Void(format!("what the command wrote to {} is lost: {error}", node.display()))
    })?;
    Ok(begun.elapsed())
}

/// Returns whether a file system is mounted for the command.
pub(crate) fn mounts(bench: &SuiteSteps) -> bool {
    Template::of(&bench.command).mount
}

/// Refuses a command that would run elsewhere than on a shifted device.
pub(crate) fn check(bench: &SuiteSteps) -> Result<(), Halt> {
    let template = Template::of(&bench.command);
    if template.device || template.mount {
        return Ok(());
    }
    let message =
        "cannot run the command on shifted devices: it names neither {device} nor {mount}";
    let hint = "write {device} or {mount} in it, such as: straddle bench /data --shift 512 -- \
                ./run {mount}";
    Err(Halt::hinted(message, hint))
}

/// The command's words, harmless to print.
pub(crate) fn words(bench: &SuiteSteps) -> Vec<String> {
    bench.command.iter().map(|word| text::escape(word.as_bytes())).collect()
}

/// Compares the command on aligned and shifted devices.
pub(crate) fn run(
    session: &mut Session<'_>,
    ground: &ScratchFile,
    mounts: Option<&PrivateMounts>,
    arms: &[PlannedArm],
) -> Result<Experiment, Halt> {
    let bench = session.bench;
    let template = Template::of(&bench.command);
    let shift_bytes = arms.iter().map(|arm| arm.shift_bytes).max().unwrap_or(0);
    let regions = shifted::regions(session, ground, 1, shift_bytes)?;
    let kind = bench.fs.or(template.mount.then_some(FileSystem::Ext4));
    let title = title(&bench.command, kind.map(recipe));
    let budget_ns = session.comparison_ns();
    let mut runs = Runs {
        template,
        ground,
        region: regions[0],
        arms,
        file_system: kind.map(recipe),
        mounts,
        interrupt: session.interrupt.clone(),
        budget: Duration::from_nanos(budget_ns),
        pair_bytes: 0,
        bytes_now: 0,
    };
    let plan = session.experiment(arms, plan::ALPHA);
    let bounds = Bounds { nanoseconds: budget_ns, bytes: session.bytes_left() };
    let done = paired_loop::run(session, plan, &title, bounds, &mut runs)?;
    Ok(documented(words(bench), title, arms.to_vec(), done))
}

/// The arms; an operation of a whole unit crosses a boundary wherever it is shifted to.
pub(crate) fn arms(session: &Session<'_>, ground: &ScratchFile) -> Result<Vec<PlannedArm>, Halt> {
    ground.arms(session, ground.place.unit.length_bytes())
}

fn title(command: &[OsString], file_system: Option<&FileSystemRecipe>) -> String {
    let program = command.first().map(|word| text::escape(word.as_bytes())).unwrap_or_default();
    match file_system {
        Some(recipe) => format!("{program} on {}, includes writeback", recipe.name),
        None => format!("{program}, no file system, includes writeback"),
    }
}

fn documented(
    words: Vec<String>,
    title: String,
    arms: Vec<PlannedArm>,
    done: ContestResult,
) -> Experiment {
    let about = About {
        title,
        unit: "command",
        block_operations: 1,
        workload: document::of_command(words),
        seen: vec![ArmRecord::default(); arms.len()],
        arms,
        elapsed_ns: done.elapsed_ns,
        written_bytes: done.written_bytes,
        predicted: None,
        turn_ns: None,
    };
    document::experiment(about, &done.experiment, done.conclusion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_and_mount_are_put_in_wherever_they_stand() {
        let words: Vec<OsString> =
            ["db", "--path={mount}/x/{mount}", "{device}"].map(OsString::from).to_vec();
        let template = Template::of(&words);
        assert!(template.device && template.mount);
        let filled = template.filled(Path::new("/dev/loop7"), Some(Path::new("/m")));
        assert_eq!(filled, ["db", "--path=/m/x//m", "/dev/loop7"].map(OsString::from));
        assert!(!Template::of(&words[..1]).device);
    }
}
