//! A store that takes no time.

use crate::plan_bounds::{PlanFault, capacity, check, logical_sector};
use crate::power::{HostPromises, MediumLog, Sectors};
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// A store that takes no time: what a volume's limits are seen on alone.
#[derive(Clone, Debug)]
pub struct Ideal {
    capacity_bytes: u64,
    logical_bytes: u64,
    now_ns: u64,
    tally: DriveTally,
    /// Log of what is put there, if somebody asked for it.
    log: Option<Box<MediumLog>>,
}

impl Ideal {
    /// A store of so many bytes.
    ///
    /// # Errors
    /// When the sector is no power of two from 512 to 65536, or the capacity not whole sectors from
    /// 1 MiB to 2^56.
    pub fn new(capacity_bytes: u64, logical_bytes: u64) -> Result<Ideal, PlanFault> {
        check([logical_sector(logical_bytes), capacity(capacity_bytes, logical_bytes)])?;
        Ok(Ideal {
            capacity_bytes,
            logical_bytes,
            now_ns: 0,
            tally: DriveTally::default(),
            log: None,
        })
    }

    fn sectors(&self) -> Sectors {
        let logical_bytes = self.logical_bytes;
        Sectors { logical_bytes, physical_bytes: logical_bytes, origin_bytes: 0 }
    }
}

impl Model for Ideal {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        let outcome = command.checked(self.capacity_bytes, self.logical_bytes);
        if outcome.is_ok() {
            self.tally.count(&command);
            if let (Some(log), CommandKind::Write { .. }) = (&mut self.log, command.action) {
                log.written(&command, (at_ns, at_ns), &[]);
            }
        }
        done.push(DriveCompletion { id: command.id, at_ns, outcome });
    }

    fn next_ns(&self) -> Option<u64> {
        None
    }

    fn advance(&mut self, to_ns: u64, _: &mut Vec<DriveCompletion>) {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        self.now_ns = to_ns;
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        self.logical_bytes
    }

    fn tally(&self) -> DriveTally {
        self.tally
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new = self.now_ns == 0 && self.tally == DriveTally::default();
        if is_new {
            let log = MediumLog::new(self.sectors(), self.capacity_bytes, entries_max);
            self.log = Some(Box::new(log));
        }
        is_new
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.log.as_deref()
    }

    fn told(&self) -> HostPromises {
        HostPromises { sectors: self.sectors(), has_volatile_cache: false }
    }
}
