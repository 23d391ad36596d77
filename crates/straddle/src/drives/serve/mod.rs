//! `drive serve`: a modeled drive, plugged in.
//!
//! | file | what it is |
//! |---|---|
//! | `plugged_drive` | a drive with its clock, its counts and its plug |
//! | `plug` | a way for clients to use it, until it is pulled |
//! | `nbd_plug`, `file_plug`, `loop_plug` | those ways |
//! | `protocols` | which of them is asked for |
//! | `fuse_plug` | the last two of them, once they are there |
//! | `attached` | what a guard takes away: a mount, or a loop device |
//! | `guard` | the process that pulls the drive when this one cannot, as seen from here |
//! | `watchman` | that process |
//! | `record` | what a drive leaves on the machine, so that `drive detach` finds it |
//! | `counts` | its counts: at the end, and meanwhile |
//! | `runtime_directory` | the place of sockets |

mod attached;
mod counts;
mod file_plug;
mod fuse_plug;
mod guard;
mod loop_plug;
mod nbd_plug;
mod plug;
mod plugged_drive;
mod protocols;
mod record;
pub(super) mod runtime_directory;
mod watchman;

use std::fs::{File, TryLockError};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use drive::profile::DriveProfile;
use host::Interrupt;
use report::drive::{served_json, served_text};
use serve::{Pace, Recording, ServedDrive, Store, TraceLog};

pub(super) use self::plug::Plug;
pub(super) use self::plugged_drive::PluggedDrive;
pub(super) use self::protocols::attach;
use super::recorded_drive::{RecordedDrive, Settings};
use super::variants;
use crate::arguments::{Detach, DriveGuard, Serve};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, shown};

/// Pause between looks at signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Pause between two writings of the counts.
const COUNTS_EVERY: Duration = Duration::from_secs(1);
/// Longest line of a trace that is looked at.
const TRACE_LINE_MAX: u64 = 200;
/// Longest drive: the table of a store in memory grows with it.
const CAPACITY_BYTES_MAX: u64 = 256 << 40;

/// Serves a drive until a signal comes.
pub(super) fn run(asked: &Serve) -> anyhow::Result<CommandOutcome> {
    let interrupt = Interrupt::install()?;
    let mut plugged = PluggedDrive::insert(asked)?;
    let ready = match asked.document.json {
        true => served_json(&plugged.counts.document()),
        false => format!("{}\n", plugged.address()),
    };
    printer::print(&ready)?;
    let mut told = Instant::now();
    while !interrupt.is_raised() && !plugged.is_gone() {
        std::thread::sleep(LOOK_EVERY);
        plugged.look();
        if told.elapsed() >= COUNTS_EVERY {
            told = Instant::now();
            plugged.counts.tell()?;
        }
    }
    let document = plugged.pull(asked)?;
    printer::print(&match asked.document.json {
        true => served_json(&document),
        false => served_text(&document),
    })?;
    Ok(CommandOutcome::Done)
}

/// Keeps what was recorded, for `drive cut`.
fn keep(asked: &Serve, recording: Recording, directory: &Path) -> anyhow::Result<()> {
    if recording.is_full() {
        bail!(
            "cannot keep the recording: clients wrote more than --memory allows\nhint: --memory 4G"
        );
    }
    let settings = Settings {
        profile: asked.profile.clone(),
        set: asked.drive.set.clone(),
        ..Settings::default()
    };
    let base = Arc::new(Store::memory(0, 0));
    RecordedDrive { settings, base, recording }.save(directory)
}

/// Detaches drives that nobody serves.
pub(super) fn detach(asked: &Detach) -> anyhow::Result<CommandOutcome> {
    record::detach(asked)
}

/// Guards a drive that another process serves.
pub(super) fn guard(asked: &DriveGuard) -> anyhow::Result<CommandOutcome> {
    watchman::run(asked)
}

/// The drive, with its store and its trace.
fn modeled(asked: &Serve, profile: &DriveProfile) -> anyhow::Result<ServedDrive> {
    let model = profile.model()?;
    let capacity_bytes = model.capacity_bytes();
    if capacity_bytes > CAPACITY_BYTES_MAX {
        let most = units::prefix::Size(CAPACITY_BYTES_MAX);
        return Err(anyhow!(
            "cannot serve {}: its capacity is above {most}\nhint: --set capacity=4T",
            profile.name
        ));
    }
    let store = match &asked.store {
        None => Store::memory(capacity_bytes, asked.drive.memory),
        Some(path) => store_in(path, capacity_bytes)?,
    };
    let trace = asked.record.as_deref().map(|path| {
        let file = trace_file(path).map_err(|error| {
            anyhow!("cannot record to {}: {error}\nhint: name a new file", shown(path))
        })?;
        Ok::<_, anyhow::Error>(TraceLog::new(Box::new(file)))
    });
    let rotates = profile.amount("rpm").is_some();
    let drive = ServedDrive::new(model, store, rotates, asked.drive.timing, trace.transpose()?);
    Ok(match &asked.log {
        Some(_) => drive.recorded(Recording::new(asked.drive.memory), Box::new(std::io::empty())),
        None => drive,
    })
}

/// The store in the file at `path`, which is locked as long as the drive is served.
///
/// # Errors
/// When it cannot be opened or made so long, another process has it locked, or it holds something
/// that is not as long as the drive.
fn store_in(path: &Path, capacity_bytes: u64) -> anyhow::Result<Store> {
    let failed = |error: std::io::Error| {
        anyhow!(
            "cannot use {} as the store: {error}\nhint: name a new file, or one that an earlier \
             run made",
            shown(path)
        )
    };
    let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = open.map_err(failed)?;
    let data = file.metadata().map_err(failed)?;
    if !data.is_file() {
        return Err(failed(std::io::Error::other("not a regular file")));
    }
    if ![0, capacity_bytes].contains(&data.len()) {
        let length = data.len();
        let why = format!("{length} bytes, and the drive has {capacity_bytes}");
        return Err(failed(std::io::Error::other(why)));
    }
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => failed(std::io::Error::other("another process has it locked")),
        TryLockError::Error(error) => failed(error),
    })?;
    Store::file(file, capacity_bytes).map_err(failed)
}

/// Makes the file of a trace, in the place of an earlier one or of nothing.
fn trace_file(path: &Path) -> std::io::Result<File> {
    let mut line = String::new();
    match File::open(path) {
        Ok(file) if file.metadata()?.is_file() => {
            BufReader::new(file.take(TRACE_LINE_MAX)).read_line(&mut line)?;
            if !line.is_empty() && !line.ends_with("[straddle]\n") {
                return Err(std::io::Error::other("it holds something else than a recorded drive"));
            }
        }
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create(path)
}

/// The factor by which times are multiplied; `None` where requests take no time.
fn factor(pace: Pace) -> Option<f64> {
    match pace {
        Pace::Off => None,
        Pace::Scaled { millionths } => Some(f64::from(millionths) / 1e6),
    }
}
