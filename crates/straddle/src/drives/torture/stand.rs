//! A place where a program runs on a drive: attached, mounted, and gone afterwards.
//!
//! The guard process of `drives::serve` takes the drive away when this process is killed. Mounts
//! are in a namespace of this process, and as root the program is in a process namespace of its
//! own: nothing that it starts, daemons included, outlives it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::anyhow;
use host::{
    CommandError, CommandPlan, Interrupt, MountError, MountPlan, Mounted, PrivateMounts,
    Surroundings,
};
use serve::ServedDrive;

use super::super::serve::{Plug, attach};
use super::file_system::FsTools;
use crate::arguments::Protocol;
use crate::bench::installed;
use crate::drives::recorded_drive::Settings;

/// Pause between words to the guard.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Seconds without an answer after which the guard pulls the drive.
const PATIENCE: u32 = 20;
/// Starts a program in a process namespace of its own, whose end ends all processes in it.
const CAGE: [&str; 4] = ["unshare", "--pid", "--fork", "--kill-child"];

/// A place where a program runs.
pub(super) struct Stand<'a> {
    protocol: Protocol,
    words: Vec<OsString>,
    tools: Option<&'static FsTools>,
    mount_options: &'a str,
    mounts: Option<PrivateMounts>,
    interrupt: &'a Interrupt,
}

/// A phase of the program.
pub(super) struct Phase<'a> {
    /// Value of STRADDLE_PHASE.
    pub(super) name: &'a str,
    /// Longest time.
    pub(super) budget: Duration,
    /// Text of its standard input.
    pub(super) input: String,
    /// Its standard output; without it, nobody reads that.
    pub(super) output: Option<File>,
}

/// End of a phase.
pub(super) enum PhaseEnd {
    /// It says that all is well.
    Passed,
    /// Its time was over.
    TimedOut,
    /// It says that something is wrong.
    Failed(String),
    /// This process got a signal.
    Interrupted,
}

impl<'a> Stand<'a> {
    /// A place for the program `words`.
    ///
    /// # Errors
    /// When this process may not mount.
    pub(super) fn new(
        protocol: Protocol,
        words: &[OsString],
        settings: &'a Settings,
        interrupt: &'a Interrupt,
    ) -> anyhow::Result<Stand<'a>> {
        let tools = FsTools::of(&settings.file_system);
        let failed = |error: MountError| match error.hint() {
            Some(hint) => anyhow!("{error}\nhint: {hint}"),
            None => anyhow!("{error}"),
        };
        let mounts = tools.map(|_| PrivateMounts::enter()).transpose().map_err(failed)?;
        let is_caged = host::is_root() && installed(CAGE[0]);
        let cage = CAGE.iter().filter(|_| is_caged).map(OsString::from);
        let words = cage.chain(words.iter().cloned()).collect();
        let mount_options = &settings.mount_options;
        Ok(Stand { protocol, words, tools, mount_options, mounts, interrupt })
    }

    /// Attaches `drive`, does `work` with its path, and takes it away again.
    ///
    /// # Errors
    /// When it cannot be attached or taken away, and what `work` says.
    pub(super) fn with<T>(
        &self,
        drive: &Arc<ServedDrive>,
        work: impl FnOnce(&Path) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let clock = Arc::clone(drive);
        let clock = std::thread::spawn(move || clock.run());
        let mut plug: Box<dyn Plug + Send> = attach(self.protocol, drive, PATIENCE)?;
        let path = PathBuf::from(plug.address());
        let result = std::thread::scope(|scope| {
            let (is_done, done) = mpsc::channel::<()>();
            let plug = &mut plug;
            scope.spawn(move || {
                while done.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    plug.look();
                    drive.listen();
                }
            });
            let result = work(&path);
            drop(is_done);
            result
        });
        let pulled = plug.pull();
        drive.stop();
        // Its end is that of the drive.
        let _ = clock.join();
        anyhow::ensure!(
            !drive.has_failed(),
            "cannot serve the drive any longer: a request or its model failed"
        );
        let result = result?;
        pulled?;
        Ok(result)
    }

    /// Makes the file system on `device`, where there is to be one; false where a signal came.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn make(&self, device: &Path, size_bytes: u64) -> anyhow::Result<bool> {
        self.tools.map_or(Ok(true), |tools| tools.make(device, size_bytes, self.interrupt))
    }

    /// Mounts `device`, where there is a file system.
    ///
    /// # Errors
    /// When that is damaged, or not known here.
    pub(super) fn mount(&self, device: &Path) -> Result<Option<Mounted<'_>>, MountError> {
        let (Some(tools), Some(mounts)) = (self.tools, &self.mounts) else { return Ok(None) };
        let plan = MountPlan { device, file_system: tools.name, options: self.mount_options };
        mounts.mount(plan).map(Some)
    }

    /// Returns what is wrong with the file system on `device`, which is not mounted.
    ///
    /// # Errors
    /// When it cannot be checked.
    pub(super) fn damage(&self, device: &Path) -> anyhow::Result<Option<String>> {
        self.tools.map_or(Ok(None), |tools| tools.damage(device, self.interrupt))
    }

    /// Runs a phase of the program on `device`, mounted at `directory`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(
        &self,
        phase: Phase<'_>,
        device: &Path,
        directory: Option<&Path>,
    ) -> anyhow::Result<PhaseEnd> {
        let mut environment = vec![
            ("STRADDLE_PHASE", OsStr::new(phase.name)),
            ("STRADDLE_DEVICE", device.as_os_str()),
        ];
        environment.extend(directory.map(|path| ("STRADDLE_DIR", path.as_os_str())));
        let (reader, mut writer) = std::io::pipe()?;
        let around = Surroundings {
            environment: &environment,
            input: Some(File::from(OwnedFd::from(reader))),
            output: phase.output,
        };
        let interrupt = self.interrupt;
        let plan = CommandPlan { words: &self.words, budget: phase.budget, interrupt };
        let ended = std::thread::scope(|scope| {
            // A program that reads nothing closes the pipe.
            let input = phase.input.as_bytes();
            scope.spawn(move || drop(writer.write_all(input)));
            host::command::run_in(plan, around)
        });
        match ended {
            Ok(_) => Ok(PhaseEnd::Passed),
            Err(CommandError::TimedOut { .. }) => Ok(PhaseEnd::TimedOut),
            Err(CommandError::Interrupted { .. }) => Ok(PhaseEnd::Interrupted),
            Err(CommandError::Failed { ended, lines, .. }) if lines.is_empty() => {
                Ok(PhaseEnd::Failed(ended.to_string()))
            }
            Err(CommandError::Failed { lines, .. }) => Ok(PhaseEnd::Failed(lines.join(" / "))),
            Err(error) => Err(match error.hint() {
                Some(hint) => anyhow!("{error}\nhint: {hint}"),
                None => anyhow!("{error}"),
            }),
        }
    }
}
