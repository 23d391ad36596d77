//! A drive that clients can use, with everything that it needs meanwhile.

use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context as _, bail};
use report::drive::Served;
use serve::ServedDrive;

use super::counts::Counts;
use super::fuse_plug::prompt_thread;
use super::plug::Plug;
use super::{keep, modeled, protocols, variants};
use crate::arguments::{Protocol, Serve};
use crate::drives::profiles;
use crate::drives::recorded_drive::RecordedDrive;
use crate::shared::printer::shown;

/// A drive that is plugged in. Dropped, it is pulled, and its users get errors.
pub(in crate::drives) struct PluggedDrive {
    drive: Arc<ServedDrive>,
    clock: JoinHandle<()>,
    pub(super) counts: Arc<Counts>,
    plug: Box<dyn Plug>,
}

impl PluggedDrive {
    /// Plugs in the drive that is `asked`.
    ///
    /// # Errors
    /// When that is not possible here; nothing is left then.
    pub(in crate::drives) fn insert(asked: &Serve) -> anyhow::Result<PluggedDrive> {
        if let Some(directory) = &asked.log {
            RecordedDrive::make(directory)?;
        }
        let profile = variants::changed(profiles::named(&asked.profile)?, &asked.drive.set)?;
        let drive = Arc::new(modeled(asked, &profile)?);
        if asked.protocol == Protocol::Loop {
            // Threads take this over, so it comes before them. Where it is refused, the guard is
            // left.
            let _ = host::serve_under_memory_pressure();
        }
        let counts = Arc::new(Counts::new(asked, &profile, &drive)?);
        let clock = Arc::clone(&drive);
        let clock = prompt_thread(move || clock.run());
        let plug = protocols::insert(asked, &drive, &counts)?;
        counts.found_at(plug.address());
        Ok(PluggedDrive { drive, clock, counts, plug })
    }

    /// Place where clients find the drive.
    pub(in crate::drives) fn address(&self) -> &str {
        self.plug.address()
    }

    /// Bytes that it holds.
    pub(in crate::drives) fn capacity_bytes(&self) -> u64 {
        self.drive.capacity_bytes()
    }

    /// Returns whether nobody can use it any more.
    pub(in crate::drives) fn is_gone(&self) -> bool {
        self.plug.is_gone() || self.drive.has_failed()
    }

    /// Does what is due: call it several times a second.
    pub(in crate::drives) fn look(&mut self) {
        self.plug.look();
    }

    /// Takes the drive away from its clients; ends the trace and the log that are `asked`. Returns
    /// its counts.
    ///
    /// # Errors
    /// When something stays, one of them cannot be written, or a request or the model panicked.
    pub(in crate::drives) fn pull(mut self, asked: &Serve) -> anyhow::Result<Served> {
        if self.drive.has_failed() {
            // Its users get errors already, and are waited for no more.
            bail!("cannot serve {} any longer: a request or its model failed", asked.profile);
        }
        self.plug.pull()?;
        let recording = self.drive.cut();
        let trace = self.drive.stop();
        // Its end is that of the drive.
        let _ = self.clock.join();
        if let (Some(trace), Some(path)) = (trace, &asked.record) {
            trace.end().with_context(|| format!("cannot write the trace {}", shown(path)))?;
        }
        if let (Some(recording), Some(directory)) = (recording, &asked.log) {
            keep(asked, recording, directory)?;
        }
        self.counts.tell()?;
        Ok(self.counts.document())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use drive::CommandKind;

    use super::*;
    use crate::arguments::{Arguments, Command, DriveWhat};

    #[test]
    fn a_drive_that_panics_is_gone_and_its_pull_is_an_error_that_leaves_nothing() {
        let scratch = testkit::Scratch::new();
        let socket = scratch.path().join("socket");
        let words = ["straddle", "drive", "serve", "--profile", "hdd-7200-512e", "--as", "nbd"];
        let words = words.into_iter().chain(["--socket", testkit::scratch::text(&socket)]);
        let Command::Drive(drive) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("it is a drive")
        };
        let DriveWhat::Serve(asked) = drive.what else { panic!("it is served") };
        let plugged = PluggedDrive::insert(&asked).unwrap();
        assert!(socket.exists() && !plugged.is_gone());
        plugged.drive.submit(CommandKind::Read, 0, 4096, |_| panic!("a test's panic"));
        testkit::running_program::until("the drive is gone", || plugged.is_gone());
        let error = plugged.pull(&asked).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "cannot serve hdd-7200-512e any longer: a request or its model failed");
        assert!(!socket.exists());
    }
}
