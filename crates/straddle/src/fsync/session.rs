//! One run of `straddle fsync`: its clock, its document as it grows, what ends it early.

use std::io;
use std::rc::Rc;

use host::{Interrupt, Pinned};
use report::Envelope;
use report::fsync::{FSYNC_SCHEMA, Fsync as Document};

use super::schedule::Schedule;
use crate::arguments::Fsync;
use crate::shared::file_system_failure;
use crate::shared::halt::Halt;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{Printer, shown};
use crate::shared::progress::{self, ProgressLine};
use crate::shared::run;
use crate::world::clock::Clock;
use crate::world::{SyncFiles, World};

/// State that all parts of a run share.
pub(crate) struct Session<'a> {
    pub(crate) arguments: &'a Fsync,
    pub(crate) inspected: InspectedMachine,
    pub(crate) interrupt: Interrupt,
    /// The result so far.
    pub(crate) document: Document,
    pub(crate) clock: Rc<dyn Clock>,
    pub(crate) printer: Printer,
    begun_ns: u64,
    /// The directory, which is looked up once.
    directory: io::Result<Pinned>,
}

impl<'a> Session<'a> {
    /// Begins a run in `world`.
    ///
    /// # Errors
    /// When signals cannot be listened to.
    pub(crate) fn new<W: World>(arguments: &'a Fsync, world: &W) -> io::Result<Session<'a>> {
        let (started, clock) = (world.started(), world.clock());
        let (begun_ns, inspected) = (clock.now_ns(), world.inspected());
        let (interrupt, printer) = (world.interrupt()?, world.printer());
        let document = Document {
            envelope: Envelope::new(FSYNC_SCHEMA, run::run(started, &inspected)),
            seed: arguments.start.seed(started),
            ..Document::default()
        };
        let directory = Pinned::at(&arguments.directory);
        Ok(Session {
            arguments,
            inspected,
            interrupt,
            document,
            clock,
            printer,
            begun_ns,
            directory,
        })
    }

    /// The directory.
    ///
    /// # Errors
    /// When its path led nowhere.
    pub(crate) fn directory(&self) -> Result<&Pinned, Halt> {
        self.directory.as_ref().map_err(|error| {
            let name = shown(&self.arguments.directory);
            let hint = "check the path, or name another directory on the drive".to_owned();
            Halt::refused(format!("cannot measure syncs in {name}: {error}"), Some(hint))
        })
    }

    /// Returns what to do about the file system of the directory, where that went down.
    pub(crate) fn fallen(&self) -> Option<String> {
        let options = &self.document.target.mount_options;
        let was_written = options.first().is_some_and(|option| option == "rw");
        file_system_failure::advice(&self.inspected, &self.arguments.directory, was_written)
    }

    /// Now, in nanoseconds since this run began.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.begun_ns)
    }

    /// Returns what is left of the seconds that were given, in nanoseconds.
    pub(crate) fn left_ns(&self) -> u64 {
        Schedule::of(self.arguments.seconds).total_ns().saturating_sub(self.elapsed_ns())
    }

    /// The line that says how far it is, from `begun_ns` of a clock of its caller's.
    pub(crate) fn progress(&self, begun_ns: u64) -> ProgressLine {
        ProgressLine::new(progress::is_wanted(self.arguments.printed.kept.no_progress), begun_ns)
    }

    /// Says something that belongs to the result, once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.document.envelope.notes.contains(&text) {
            self.document.envelope.notes.push(text);
        }
    }

    /// Says what a file without a name means where it does not sync as others do.
    pub(crate) fn note_name(&mut self, files: &impl SyncFiles) {
        if files.lack_name() {
            let system = files.filesystem();
            self.note(format!(
                "the scratch file has no name, and {system} may not sync such a file as it does \
                 others: what is measured may be too good"
            ));
        }
        if files.filesystem() == "btrfs" {
            // Linux commit "btrfs: always fallback to buffered write if the inode requires
            // checksum".
            self.note(
                "btrfs may take direct writes through the page cache where it keeps checksums \
                 (since Linux 6.14), so that rows called direct may not be",
            );
        }
    }

    /// The result.
    pub(crate) fn ended(mut self) -> Document {
        self.document.elapsed_ns = self.elapsed_ns();
        self.document
    }
}
