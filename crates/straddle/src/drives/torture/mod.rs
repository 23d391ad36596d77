//! `drive torture`: power cuts under a program, and what it lost.
//!
//! | file | what it is |
//! |---|---|
//! | `cut_plan` | when the power goes, and what survives |
//! | `stand` | where the program runs: attached, mounted, gone afterwards |
//! | `file_system` | the file system under it |
//! | `image` | `drive cut`: one outcome as an image |

mod cut_plan;
mod file_system;
mod image;
mod stand;

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::ValueEnum as _;
use drive::Model as _;
use drive::power::{CutFault, Liar};
use host::Interrupt;
use report::Envelope;
use report::drive::{
    FAILURES_MAX, TORTURE_SCHEMA, Torture as Document, TortureFailure, torture_json, torture_text,
};
use serve::{Pace, Recording, ServedDrive, Store};
use units::text::{escape, shell_word};

use self::cut_plan::{CutPlan, after};
pub(super) use self::image::write as write_image;
use self::stand::{Phase, PhaseEnd, Stand};
use super::cut_policy;
use super::recorded_drive::{LoggedDrive, RecordedDrive, Settings};
use crate::arguments::{Protocol, Torture, TortureFs};
use crate::exit::{CUT_OFF, CommandOutcome};
use crate::shared::destination::{Destination, TORTURE};
use crate::shared::printer;
use crate::shared::run;

/// Longest time of setup, and of one check.
const WITHIN: Duration = Duration::from_secs(600);

/// Records the program, and cuts the power under it.
pub(super) fn run(asked: &Torture) -> anyhow::Result<CommandOutcome> {
    let destination = Destination::of(TORTURE, asked.output.as_ref())?;
    let interrupt = Interrupt::install()?;
    let kept = asked.from.as_ref().map(|from| RecordedDrive::load(from, asked.drive.memory));
    let kept = kept.transpose()?;
    let settings = match &kept {
        Some(kept) => kept.settings.clone(),
        None => settings(asked)?,
    };
    if let Some(directory) = &asked.save {
        RecordedDrive::make(directory)?;
    }
    if asked.protocol == Protocol::Loop {
        // Threads take this over, so it comes before them. Where it is refused, the guard is left.
        let _ = host::serve_under_memory_pressure();
    }
    let stand = Stand::new(asked.protocol, &asked.words, &settings, &interrupt)?;
    let torture = TortureRun { asked, settings: &settings, stand, interrupt: &interrupt };
    let recorded = match kept {
        Some(kept) => Some(kept),
        None => torture.record()?,
    };
    let Some(recorded) = recorded else { return Ok(interrupted(&interrupt)) };
    if let Some(directory) = &asked.save {
        recorded.save(directory)?;
    }
    let document = torture.cuts(&recorded)?;
    if let Some(destination) = destination {
        destination.write(&torture_json(&document))?;
    }
    let said = printer::print(&match asked.document.json {
        true => torture_json(&document),
        false => torture_text(&document, &printer::look(false)),
    })?;
    Ok(match (document.counts.failed(), said) {
        (1.., Some(said)) => CommandOutcome::Found(said),
        _ if interrupt.is_raised() => interrupted(&interrupt),
        (_, Some(said)) if !document.shows_something() => CommandOutcome::NoVerdict(said),
        _ => CommandOutcome::Done,
    })
}

fn interrupted(interrupt: &Interrupt) -> CommandOutcome {
    CommandOutcome::Interrupted(interrupt.signal().unwrap_or(2), printer::interrupted())
}

/// The settings of the drive that is asked for.
fn settings(asked: &Torture) -> anyhow::Result<Settings> {
    let fs = match (asked.fs, asked.protocol) {
        (Some(fs), _) => fs,
        (None, Protocol::Loop) => TortureFs::Ext4,
        (None, _) => TortureFs::None,
    };
    if fs != TortureFs::None && asked.protocol != Protocol::Loop {
        bail!(
            "cannot mount a file: a file system needs a block device\nhint: --as loop, or --fs none"
        );
    }
    Ok(Settings {
        profile: asked.profile.clone().unwrap_or_default(),
        set: asked.drive.set.clone(),
        lies: asked.lie.clone(),
        file_system: Settings::name(fs).to_owned(),
        mount_options: asked.mount_options.clone(),
    })
}

/// Why the drive cannot be cut, and what to do.
fn not_cut(recorded: &RecordedDrive, fault: CutFault) -> anyhow::Error {
    let hint = match fault {
        CutFault::Full => "write less, or end the program earlier: --seconds 10",
        CutFault::NoSuchMember { .. } => "members are counted from 0: --lost-member 0",
        _ => "choose another drive; to list all: straddle drive list",
    };
    anyhow!("cannot cut the power of {}: {fault}\nhint: {hint}", recorded.settings.profile)
}

/// A run of the whole command.
struct TortureRun<'a> {
    asked: &'a Torture,
    settings: &'a Settings,
    stand: Stand<'a>,
    interrupt: &'a Interrupt,
}

impl TortureRun<'_> {
    /// A drive with `store`, which lies as asked.
    fn drive(&self, store: Arc<Store>, pace: Pace) -> anyhow::Result<ServedDrive> {
        let profile = self.settings.profile()?;
        let rotates = profile.amount("rpm").is_some();
        let model = Liar::new(profile.model()?, cut_policy::lies(&self.settings.lies));
        Ok(ServedDrive::new(Box::new(model), store, rotates, pace, None))
    }

    /// Prepares, and records the program; `None` where a signal came.
    fn record(&self) -> anyhow::Result<Option<RecordedDrive>> {
        let memory = self.asked.drive.memory;
        let capacity = self.settings.profile()?.model()?.capacity_bytes();
        let base = Arc::new(Store::memory(capacity, memory));
        let drive = Arc::new(self.drive(Arc::clone(&base), Pace::Off)?);
        let prepared = self.stand.with(&drive, |device| {
            let is_made = self.stand.make(device, self.asked.fs_size)?;
            Ok(is_made && self.passes("setup", WITHIN, device, None, || ())?)
        })?;
        if !prepared {
            return Ok(None);
        }
        let store = Arc::new(Store::over(Arc::clone(&base), capacity, memory));
        let (printed, output) = host::command::pipe()?;
        let drive = self.drive(store, self.asked.drive.timing)?;
        let drive = Arc::new(drive.recorded(Recording::new(memory), Box::new(printed)));
        let mut recording = None;
        let done = self.stand.with(&drive, |device| {
            let budget = Duration::from_secs(self.asked.seconds.into());
            self.passes("run", budget, device, Some(output), || recording = drive.cut())
        })?;
        let recording = recording.unwrap_or_default();
        if recording.is_full() {
            bail!(
                "cannot keep the recording: the program wrote more than --memory allows\nhint: \
                 --memory 4G, or less time: --seconds 10"
            );
        }
        if done && recording.lines().is_empty() {
            printer::note("the program acknowledged nothing: it printed no line in phase run");
        }
        let settings = self.settings.clone();
        Ok(done.then_some(RecordedDrive { settings, base, recording }))
    }

    /// Mounts `device` and runs a phase that has to pass; false where a signal came. `end` is
    /// called when the program has ended and the file system is still there.
    fn passes(
        &self,
        name: &str,
        budget: Duration,
        device: &Path,
        output: Option<File>,
        end: impl FnOnce(),
    ) -> anyhow::Result<bool> {
        let mut mounted = self.stand.mount(device)?;
        let phase = Phase { name, budget, input: String::new(), output };
        let directory = mounted.as_ref().map(|mounted| mounted.path().to_owned());
        let ended = self.stand.run(phase, device, directory.as_deref())?;
        end();
        if let (Some(mounted), "setup") = (&mut mounted, name) {
            mounted.unmount()?;
        }
        match ended {
            PhaseEnd::Passed => Ok(true),
            PhaseEnd::TimedOut if name == "run" => Ok(true),
            PhaseEnd::TimedOut => bail!("phase {name} took longer than {} s", budget.as_secs()),
            PhaseEnd::Failed(why) => bail!(
                "phase {name} of the program failed: {why}\nhint: STRADDLE_PHASE names the phase \
                 for the program: setup, run or check"
            ),
            PhaseEnd::Interrupted => Ok(false),
        }
    }

    /// Makes the cuts of this shard.
    fn cuts(&self, recorded: &RecordedDrive) -> anyhow::Result<Document> {
        let model = recorded.replayed()?;
        let plan = CutPlan::new(&self.asked.policy, &recorded.recording, &self.settings.lies);
        let mut document = self.document(recorded, &model)?;
        let (shard, shards) = self.asked.shard;
        let all = match self.asked.cut {
            Some(one) => (one..one.saturating_add(1)).step_by(1),
            None => (shard - 1..self.asked.cuts).step_by(shards as usize),
        };
        let is_shown = std::io::stderr().is_terminal() && !self.asked.document.json;
        let hasher = RandomState::new();
        let mut known: HashMap<u64, Option<String>> = HashMap::new();
        for index in all {
            if is_shown {
                let _ = write!(anstream::stderr(), "\r\u{1b}[Kcut {index} of {}", self.asked.cuts);
            }
            let cut = plan.cut(Some(index));
            let (after, judged) = after(&model, &cut).map_err(|fault| not_cut(recorded, fault))?;
            // What was checked once need not be checked again.
            let content = hasher.hash_one(&after);
            let check = match known.get(&content) {
                Some(check) => check.clone(),
                None => {
                    let medium = recorded.medium(&model, &after, self.asked.drive.memory)?;
                    let Some(check) = self.check(recorded, medium, cut.at_ns)? else { break };
                    known.insert(content, check.clone());
                    check
                }
            };
            let lines = recorded.recording.lines();
            let failure = TortureFailure {
                cut: index,
                at_ns: cut.at_ns,
                acknowledged_lines: lines.partition_point(|line| line.at_ns <= cut.at_ns) as u64,
                survivors: cut_policy::words(cut.survivors),
                missing_sectors: judged.missing,
                check,
            };
            count(&mut document, failure, judged.collateral > 0);
        }
        if is_shown {
            let _ = write!(anstream::stderr(), "\r\u{1b}[K");
        }
        if self.interrupt.is_raised() {
            document.envelope.notes.push(CUT_OFF.to_owned());
        }
        document.look_at = self.look_at(&document);
        Ok(document)
    }

    /// Runs the check on `medium`: `Some(None)` where it passed, `Some` with why it failed; `None`
    /// where a signal came.
    fn check(
        &self,
        recorded: &RecordedDrive,
        medium: Store,
        at_ns: u64,
    ) -> anyhow::Result<Option<Option<String>>> {
        let lines = recorded.recording.lines().iter().filter(|line| line.at_ns <= at_ns);
        let input: String = lines.map(|line| format!("{}\n", line.text)).collect();
        let drive = Arc::new(self.drive(Arc::new(medium), Pace::Off)?);
        self.stand.with(&drive, |device| {
            let mut mounted = match self.stand.mount(device) {
                Ok(mounted) => mounted,
                Err(error) => return Ok(Some(Some(error.to_string()))),
            };
            let directory = mounted.as_ref().map(|mounted| mounted.path().to_owned());
            let phase = Phase { name: "check", budget: WITHIN, input, output: None };
            let ended = self.stand.run(phase, device, directory.as_deref())?;
            // Bytes that cannot be written out are lost with the disk of this cut.
            let _ = mounted.as_mut().map(|mounted| mounted.unmount());
            drop(mounted);
            Ok(match ended {
                PhaseEnd::Passed => Some(self.stand.damage(device)?),
                PhaseEnd::Failed(why) => Some(Some(why)),
                PhaseEnd::TimedOut => Some(Some(format!("no end within {} s", WITHIN.as_secs()))),
                PhaseEnd::Interrupted => None,
            })
        })
    }

    /// The document, before any cut.
    fn document(&self, recorded: &RecordedDrive, model: &LoggedDrive) -> anyhow::Result<Document> {
        let word = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| value.get_name().to_owned()).unwrap_or_default()
        };
        let words = self.asked.words.iter().map(|word| escape(word.as_encoded_bytes()));
        let log = model.log();
        let (shard, shards) = self.asked.shard;
        Ok(Document {
            envelope: Envelope::new(TORTURE_SCHEMA, run::anywhere()),
            drive: self.settings.profile()?.name,
            changed: self.settings.set.clone(),
            lies: self.settings.lies(),
            protocol: self.asked.protocol.word().to_owned(),
            file_system: Some(self.settings.file_system.clone()).filter(|name| !name.is_empty()),
            workload: words.collect::<Vec<String>>().join(" "),
            survivors: word(self.asked.policy.survivors.to_possible_value()),
            half_written: word(self.asked.policy.half_written.to_possible_value()),
            seed: self.asked.policy.seed,
            planned_cuts: self.asked.cuts,
            shard,
            shards,
            recorded_ns: recorded.recording.end_ns(),
            recorded_writes: log.writes().len() as u64,
            recorded_flushes: log.flushes().len() as u64,
            recorded_lines: recorded.recording.lines().len() as u64,
            ..Document::default()
        })
    }

    /// The command that makes the disk of the first failure, where the recording was kept.
    fn look_at(&self, document: &Document) -> Option<String> {
        let first = document.failures.first()?;
        let directory = self.asked.save.as_ref().or(self.asked.from.as_ref())?;
        let policy = &self.asked.policy;
        let mut words = format!(
            "straddle drive cut {} --cut {} --seed {}",
            shell_word(&directory.to_string_lossy()),
            first.cut,
            policy.seed
        );
        for (option, value, usual) in [
            ("survivors", &document.survivors, "mix"),
            ("half-written", &document.half_written, "old"),
        ] {
            if value != usual {
                words += &format!(" --{option} {value}");
            }
        }
        if let Some(member) = policy.lost_member {
            words += &format!(" --lost-member {member}");
        }
        Some(words + " -o disk.img")
    }
}

/// Counts a cut, and keeps it where something was wrong.
fn count(document: &mut Document, failure: TortureFailure, has_neighbours: bool) {
    let counts = &mut document.counts;
    counts.cuts += 1;
    counts.neighbour_cuts += u32::from(has_neighbours);
    let which = match (failure.check.is_some(), failure.missing_sectors > 0) {
        (false, false) => return,
        (true, false) => &mut counts.program_lost,
        (true, true) => &mut counts.drive_lost,
        (false, true) => &mut counts.drive_broke_unseen,
    };
    *which += 1;
    if document.failures.len() < FAILURES_MAX {
        document.failures.push(failure);
    }
}
