//! Types the steps of a procedure on drives that this process serves.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use clap::Parser as _;
use host::{CommandPlan, Interrupt};

use super::procedure::{Arm, Stand, Step};
use crate::arguments::{Arguments, Command, DriveWhat, Protocol, Serve};
use crate::drives::serve::{PluggedDrive, runtime_directory};
use crate::shared::printer::{self, shown};

/// Pause between looks at the drive's guard.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Runs its arguments; what they find (1) and a verdict that cannot be given (5) are no failures.
const SHOWN: &str = r#""$@" || case $? in 1|5) ;; *) exit 1 ;; esac"#;
/// Words of parted about a partition that is in use, and the longest time for which that may last.
const IN_USE: &str = "unable to inform the kernel of the change";
const IN_USE_MAX: Duration = Duration::from_secs(10);
/// Longest time of a step besides the time that it measures.
const BUDGET: Duration = Duration::from_secs(900);

/// Lines for a shell that serve a drive, wait until its place is known, and detach it however the
/// shell ends, with what is mounted.
const SHELL_SERVES: [&str; 9] = [
    "OUTPUT=$(mktemp)",
    "POINT=$(mktemp -d)",
    "SERVE_COMMAND >\"$OUTPUT\" &",
    "SERVED=$!",
    "clean() { umount \"$POINT\" 2>&-; rmdir \"$POINT\"; kill $SERVED; wait $SERVED; }",
    "trap 'set +e; clean; rm \"$OUTPUT\"' EXIT",
    "trap 'exit 130' INT TERM",
    "until [ -s \"$OUTPUT\" ]; do kill -0 $SERVED; sleep 0.1; done",
    "DRIVE=$(head -n 1 \"$OUTPUT\")",
];
/// Words behind a command whose findings (1), or a verdict that cannot be given (5), are no
/// failures.
const SHELL_SHOWN: &str = " || case $? in 1|5) ;; *) exit 1 ;; esac";

/// Types steps, and keeps the numbers that come out.
pub(super) struct Typist {
    /// Time of each run, in seconds.
    pub(super) seconds: u32,
    /// True if standard output is for a document.
    pub(super) is_quiet: bool,
    pub(super) interrupt: Interrupt,
    pub(super) numbers: BTreeMap<String, f64>,
}

/// Values of the placeholders.
struct Places {
    drive: String,
    bytes: String,
    point: String,
    seconds: String,
    probe_seconds: String,
}

impl Typist {
    /// Serves the drive of `stand`, and types all of its steps.
    ///
    /// # Errors
    /// When the drive cannot be served, a step fails, or a signal comes. The drive is gone then,
    /// and so is what was mounted.
    pub(super) fn work_at(&mut self, stand: &Stand) -> anyhow::Result<()> {
        let serve = serve_arguments(stand.serve)?;
        if serve.protocol == Protocol::Loop && !host::is_root() {
            bail!("only root may attach a loop device\nhint: try sudo");
        }
        let missing = missing_programs(stand);
        if !missing.is_empty() {
            bail!("not installed: {}", missing.join(", "));
        }
        self.say(&format!("$ {}\n", stand.serve));
        let point = MountPoint::new()?;
        let mut plugged = PluggedDrive::insert(&serve)?;
        let places = Places {
            drive: plugged.address().to_owned(),
            bytes: plugged.capacity_bytes().to_string(),
            point: shown(&point.0),
            seconds: self.seconds.to_string(),
            probe_seconds: self.probe_seconds(),
        };
        let typed = self.type_all(stand, &places, &mut plugged);
        let pulled = plugged.pull(&serve);
        typed?;
        pulled.map(drop)
    }

    /// Prints what would be typed at `stands`, as a script for a shell that also serves the drives.
    /// It ends where a step fails, and `${DRIVE:?}` keeps it from running one without a drive.
    pub(super) fn preview(&self, stands: &[Stand]) {
        let mut programs: Vec<String> =
            stands.iter().flat_map(steps).map(|(_, step)| typed_name(step.words())).collect();
        programs.push("straddle".to_owned());
        programs.sort_unstable();
        programs.dedup();
        let needs_root = stands.iter().any(|stand| stand.serve.contains("--as loop"));
        let root = if needs_root { "root and " } else { "" };
        self.say(&format!("# needs {root}{}\n(\nset -e\n", programs.join(", ")));
        stands.iter().for_each(|stand| self.preview_stand(stand));
        self.say(")\n");
    }

    /// A shell of its own for the drive of `stand`.
    fn preview_stand(&self, stand: &Stand) {
        let places = Places {
            drive: "${DRIVE:?}".to_owned(),
            bytes: "$(blockdev --getsize64 ${DRIVE:?})".to_owned(),
            point: "${POINT:?}".to_owned(),
            seconds: self.seconds.to_string(),
            probe_seconds: self.probe_seconds(),
        };
        let typed = steps(stand).map(|(arm, step)| {
            let words = places.fill(step.words(), arm);
            let words = words
                .split_once(' ')
                .map_or(words.clone(), |(name, rest)| format!("{} {rest}", typed_name(name)));
            let ends = if matches!(step, Step::Show(_)) { SHELL_SHOWN } else { "" };
            format!("{words}{ends}")
        });
        let before = SHELL_SERVES.map(|line| line.replace("SERVE_COMMAND", stand.serve));
        self.say("(\n");
        before.into_iter().chain(typed).for_each(|line| self.say(&format!("{line}\n")));
        self.say(")\n");
    }

    fn probe_seconds(&self) -> String {
        u64::from(self.seconds).saturating_mul(3).to_string()
    }

    fn type_all(
        &mut self,
        stand: &Stand,
        places: &Places,
        plugged: &mut PluggedDrive,
    ) -> anyhow::Result<()> {
        for (arm, step) in steps(stand) {
            let words = places.fill(step.words(), arm);
            self.say(&format!("$ {words}\n"));
            // Filled word by word: a path may have blanks.
            let filled = step.words().split(' ').map(|word| places.fill(word, arm));
            let mut typed: Vec<OsString> = filled.map(OsString::from).collect();
            typed[0] = program_of(&typed[0])?;
            require_there(plugged, &typed)?;
            if let Step::Show(_) = step {
                typed.splice(0..0, ["sh", "-c", SHOWN, "sh"].map(OsString::from));
            }
            let printed = self.settled(&typed, plugged)?;
            if let Step::Show(_) = step {
                self.say(&printed);
            }
            let Step::Measure(_, readings) = step else { continue };
            for (reading, name) in *readings {
                let number = reading.of(&printed);
                let number =
                    number.with_context(|| format!("no number in the output of {words}"))?;
                let name = places.fill(name, arm);
                self.say(&format!("  {name}: {number:.3}\n"));
                self.numbers.insert(name, number);
            }
        }
        Ok(())
    }

    /// Runs `words`, again while parted finds a partition in use: others look at new disks for a
    /// moment. Returns what is printed.
    fn settled(&self, words: &[OsString], plugged: &mut PluggedDrive) -> anyhow::Result<String> {
        let since = Instant::now();
        loop {
            match self.run(words, plugged) {
                Err(error)
                    if error.to_string().contains(IN_USE) && since.elapsed() < IN_USE_MAX =>
                {
                    std::thread::sleep(LOOK_EVERY);
                    plugged.look();
                }
                ended => return ended,
            }
        }
    }

    /// Runs `words`, and looks after the drive meanwhile. Returns what is printed.
    fn run(&self, words: &[OsString], plugged: &mut PluggedDrive) -> anyhow::Result<String> {
        let budget = BUDGET + Duration::from_secs(self.seconds.into());
        let plan = CommandPlan { words, budget, interrupt: &self.interrupt };
        let ran = std::thread::scope(|scope| {
            let command = scope.spawn(|| host::command::run(plan));
            while !command.is_finished() {
                std::thread::sleep(LOOK_EVERY);
                plugged.look();
            }
            command.join()
        });
        match ran.map_err(|_| anyhow!("the thread of a step ended"))? {
            Ok(ran) => {
                let bytes: Vec<u8> = ran.output.bytes.into_iter().collect();
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Prints for people: on standard error where standard output is for a document.
    pub(super) fn say(&self, text: &str) {
        // Steps go on when nobody reads them any more.
        match self.is_quiet {
            true => {
                let _ = std::io::Write::write_all(&mut anstream::stderr(), text.as_bytes());
            }
            false => {
                let _ = printer::print(text);
            }
        }
    }
}

impl Places {
    fn fill(&self, words: &str, arm: &Arm) -> String {
        let pairs = [
            ("{drive}", self.drive.as_str()),
            ("{bytes}", &self.bytes),
            ("{point}", &self.point),
            ("{seconds}", &self.seconds),
            ("{probe_seconds}", &self.probe_seconds),
            ("{start}", arm.start),
            ("{place}", arm.place),
        ];
        pairs.iter().fold(words.to_owned(), |text, (mark, value)| text.replace(mark, value))
    }
}

impl Step {
    /// The command.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Step::Do(words) | Step::Show(words) | Step::Measure(words, _) => words,
        }
    }
}

/// The steps of a stand in the order in which they are typed.
fn steps(stand: &Stand) -> impl Iterator<Item = (&'static Arm, &'static Step)> {
    const NONE: &Arm = &Arm { start: "", place: "" };
    let (arms, each) = (stand.arms, stand.steps);
    let of_arms = arms.iter().flat_map(move |arm| each.iter().map(move |step| (arm, step)));
    of_arms.chain(stand.last.iter().map(|step| (NONE, step)))
}

/// The options of a command line of `straddle drive serve`.
pub(super) fn serve_arguments(typed: &str) -> anyhow::Result<Serve> {
    match Arguments::try_parse_from(typed.split(' '))?.command {
        Command::Drive(crate::arguments::Drive { what: DriveWhat::Serve(serve) }) => Ok(*serve),
        _ => bail!("not a served drive: {typed}"),
    }
}

/// The path of the program called `name`, which may be this one.
fn program_of(name: &OsStr) -> anyhow::Result<OsString> {
    let name = name.to_string_lossy();
    match name.as_ref() {
        "straddle" => Ok(std::env::current_exe()?.into()),
        name => Ok(program(name).with_context(|| format!("not installed: {name}"))?.into()),
    }
}

/// Refuses to type `words` where the served drive is gone: its number may be another's by now. A
/// partition of it must be a block device, and no file that a tool made.
fn require_there(plugged: &PluggedDrive, words: &[OsString]) -> anyhow::Result<()> {
    if plugged.is_gone() {
        bail!("the served drive is gone: its guard took it away");
    }
    let partition = format!("{}p", plugged.address());
    for word in words.iter().filter(|word| word.to_string_lossy().contains(&partition)) {
        let word = word.to_string_lossy();
        let path = word.strip_prefix("--filename=").unwrap_or(&word);
        let kind = std::fs::metadata(path).map(|found| found.file_type());
        if !kind.is_ok_and(|kind| kind.is_block_device()) {
            bail!("{path} is no block device");
        }
    }
    Ok(())
}

/// The programs of `stand` that are not installed.
fn missing_programs(stand: &Stand) -> Vec<&'static str> {
    let names = steps(stand).filter_map(|(_, step)| step.words().split(' ').next());
    let mut missing: Vec<&str> =
        names.filter(|name| *name != "straddle" && program(name).is_none()).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// The path of a program: also where only root looks, and where Debian keeps PostgreSQL's.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    places.extend(versions.map(|version| version.path().join("bin")));
    places.into_iter().map(|place| place.join(name)).find(|path| path.is_file())
}

/// The first of `words` as a shell finds it: with its path where that is not in `PATH`.
fn typed_name(words: &str) -> String {
    let name = words.split(' ').next().unwrap_or(words);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_in_path = std::env::split_paths(&path).any(|place| place.join(name).is_file());
    match program(name) {
        Some(path) if !is_in_path => shown(&path),
        _ => name.to_owned(),
    }
}

/// An empty directory, removed when dropped; it stays where something is still mounted on it.
struct MountPoint(PathBuf);

impl MountPoint {
    fn new() -> anyhow::Result<MountPoint> {
        let path = runtime_directory::made()?.join(format!("{}-point", std::process::id()));
        let is_there = |path: &Path| path.is_dir();
        match std::fs::create_dir(&path) {
            Err(error) if !is_there(&path) => Err(anyhow!("cannot make {}: {error}", shown(&path))),
            _ => Ok(MountPoint(path)),
        }
    }
}

impl Drop for MountPoint {
    fn drop(&mut self) {
        // Nothing is lost with an empty directory.
        let _ = std::fs::remove_dir(&self.0);
    }
}
