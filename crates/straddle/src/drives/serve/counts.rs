//! The counts of a served drive, at the end and meanwhile.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use drive::profile::DriveProfile;
use report::Envelope;
use report::drive::{SERVED_SCHEMA, Served, served_json, served_line};
use serve::ServedDrive;
use units::number::real;

use super::factor;
use crate::arguments::Serve;
use crate::drives::simulate::did;
use crate::shared::destination::{Destination, SERVED};
use crate::shared::run;

/// The counts of a drive, from its start.
pub(super) struct Counts {
    empty: Served,
    drive: Arc<ServedDrive>,
    begun: Instant,
    /// Nanoseconds of a turn.
    turn_ns: Option<u64>,
    file: Option<PathBuf>,
    has_line: bool,
    address: OnceLock<String>,
}

impl Counts {
    /// The counts of `drive`, and the file that they are told in.
    ///
    /// # Errors
    /// When that file is there and holds something else.
    pub(super) fn new(
        asked: &Serve,
        profile: &DriveProfile,
        drive: &Arc<ServedDrive>,
    ) -> anyhow::Result<Counts> {
        Destination::of(SERVED, asked.counts.as_ref())?;
        let empty = Served {
            envelope: Envelope::new(SERVED_SCHEMA, run::anywhere()),
            drive: profile.name.clone(),
            changed: asked.drive.set.clone(),
            protocol: asked.protocol.word().to_owned(),
            capacity_bytes: drive.capacity_bytes(),
            logical_bytes: drive.logical_bytes(),
            physical_bytes: drive.physical_bytes(),
            has_write_cache: drive.has_write_cache(),
            timing: factor(asked.drive.timing),
            ..Served::default()
        };
        let turn_ns = profile.amount("rpm").and_then(|rpm| 60_000_000_000_u64.checked_div(rpm));
        Ok(Counts {
            empty,
            drive: Arc::clone(drive),
            begun: Instant::now(),
            turn_ns,
            file: asked.counts.clone(),
            has_line: std::io::stderr().is_terminal() && !asked.document.json,
            address: OnceLock::new(),
        })
    }

    /// Clients find the drive at `address`.
    pub(super) fn found_at(&self, address: &str) {
        // It has one address.
        let _ = self.address.set(address.to_owned());
    }

    /// The counts now.
    pub(super) fn document(&self) -> Served {
        let tally = self.drive.tally();
        let turning_ns = tally.wait_ns.saturating_add(tally.transfer_ns);
        Served {
            address: self.address.get().cloned().unwrap_or_default(),
            elapsed_ns: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            requests: self.drive.counts(),
            did: did(tally),
            turns: self.turn_ns.map(|turn_ns| real(turning_ns) / real(turn_ns.max(1))),
            memory_bytes: self.drive.store().memory_bytes(),
            ..self.empty.clone()
        }
    }

    /// Puts the counts into their file, and onto the terminal.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn tell(&self) -> anyhow::Result<()> {
        if self.file.is_none() && !self.has_line {
            return Ok(());
        }
        let document = self.document();
        if let Some(file) = Destination::of(SERVED, self.file.as_ref())? {
            file.write(&served_json(&document))?;
        }
        if self.has_line {
            // A line over itself; nothing is lost where it cannot be shown.
            let _ = write!(anstream::stderr(), "\r\u{1b}[K{}", served_line(&document));
        }
        Ok(())
    }
}
