//! The drives under a layer of a stack as one model: what `stack::amplify` says becomes commands.
//!
//! A write to parity reads what is old first, and writes when all of that is there; everything else
//! goes to all drives at once. Writes that are under way together are not joined into stripes, as
//! md does when more than one is in flight. A mirror is read from its first member.

use std::collections::BTreeMap;
use std::rc::Rc;

use drive::{CommandFault, CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};
use send_wrapper::SendWrapper;
use stack::amplify::{ByteRun, Io, Work, work};
use stack::{LayerId, Stack};
use units::ByteRange;

/// A drive under a layer.
pub(super) struct Leaf {
    /// Whose bytes it holds.
    pub(super) id: LayerId,
    /// The drive.
    pub(super) model: Box<dyn Model>,
    /// Distance by which each byte lies here after its own address.
    pub(super) raised_bytes: u64,
}

/// A layer on its drives, in simulated time.
pub(super) struct LeafDrives {
    /// Stays on its thread, as the drives under the layer do.
    stack: SendWrapper<Rc<Stack>>,
    layer: LayerId,
    leaves: Vec<Leaf>,
    now_ns: u64,
    /// By the numbers of their commands.
    flights: BTreeMap<u64, LeafCommand>,
    /// Of which flight a drive's command is, by its number.
    owners: BTreeMap<u64, u64>,
    next_id: u64,
    tally: DriveTally,
}

/// A command that has not ended.
struct LeafCommand {
    command: DriveCommand,
    /// Writes that are done when all reads have ended.
    writes: Vec<ByteRun>,
    /// Commands of drives that have not ended.
    left: usize,
    outcome: Result<(), CommandFault>,
}

impl LeafDrives {
    /// `layer` on `leaves`, all that it lies on, at time 0.
    pub(super) fn new(stack: Rc<Stack>, layer: LayerId, leaves: Vec<Leaf>) -> LeafDrives {
        LeafDrives {
            stack: SendWrapper::new(stack),
            layer,
            leaves,
            now_ns: 0,
            flights: BTreeMap::new(),
            owners: BTreeMap::new(),
            next_id: 0,
            tally: DriveTally::default(),
        }
    }

    /// The drives, in the order in which they were given.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &dyn Model> {
        self.leaves.iter().map(|leaf| &*leaf.model)
    }

    /// Returns what a command becomes.
    fn work(&self, command: &DriveCommand) -> Result<Work, CommandFault> {
        let range = ByteRange::new(command.offset_bytes, command.length_bytes);
        let range = range.ok_or(CommandFault::Bounds)?;
        let io = Io { write: command.action != CommandKind::Read, range };
        work(&self.stack, self.layer, io).map_err(|_| CommandFault::Bounds)
    }

    /// Sends the first commands of a command that came now.
    fn begin(&mut self, command: DriveCommand, heard: &mut Vec<DriveCompletion>) {
        let id = command.id;
        let flight = LeafCommand { command, writes: Vec::new(), left: 0, outcome: Ok(()) };
        self.flights.insert(id, flight);
        if command.action == CommandKind::Flush {
            for place in 0..self.leaves.len() {
                self.send(id, place, CommandKind::Flush, (0, 0), heard);
            }
            return;
        }
        match self.work(&command) {
            // Zeros that parity could rely on are promised by few drives: md ignores it too.
            Ok(work) if command.action == CommandKind::Discard && work.parity_updates > 0 => {}
            Ok(work) => {
                self.tally.parity_updates += work.parity_updates;
                self.tally.parity_rmws += work.parity_rmws;
                let is_written = |run: &ByteRun| run.write;
                let (writes, reads) =
                    work.runs.into_iter().partition::<Vec<ByteRun>, _>(is_written);
                if let (false, Some(flight)) = (reads.is_empty(), self.flights.get_mut(&id)) {
                    flight.writes = writes;
                    self.send_all(id, CommandKind::Read, &reads, heard);
                } else {
                    self.send_all(id, command.action, &writes, heard);
                }
            }
            Err(fault) => {
                if let Some(flight) = self.flights.get_mut(&id) {
                    flight.outcome = Err(fault);
                }
            }
        }
    }

    fn send_all(
        &mut self,
        id: u64,
        action: CommandKind,
        runs: &[ByteRun],
        heard: &mut Vec<DriveCompletion>,
    ) {
        for run in runs {
            let place = self.leaves.iter().position(|leaf| leaf.id == run.leaf);
            let place = place.expect("all leaves under the layer were given");
            self.send(id, place, action, (run.start_bytes, run.length_bytes), heard);
        }
    }

    fn send(
        &mut self,
        id: u64,
        place: usize,
        action: CommandKind,
        bytes: (u64, u64),
        heard: &mut Vec<DriveCompletion>,
    ) {
        let own = self.next_id;
        self.next_id += 1;
        self.owners.insert(own, id);
        if let Some(flight) = self.flights.get_mut(&id) {
            flight.left += 1;
        }
        let leaf = &mut self.leaves[place];
        let raised = if action == CommandKind::Flush { 0 } else { leaf.raised_bytes };
        let offset_bytes = bytes.0.saturating_add(raised);
        let command = DriveCommand { id: own, action, offset_bytes, length_bytes: bytes.1 };
        leaf.model.submit(command, self.now_ns, heard);
    }

    /// Takes what the drives have done, and goes on with what waits for it.
    fn settle(&mut self, heard: &mut Vec<DriveCompletion>, done: &mut Vec<DriveCompletion>) {
        while let Some(one) = heard.pop() {
            let id = self.owners.remove(&one.id).expect("a command has an owner");
            let flight = self.flights.get_mut(&id).expect("it has not ended");
            flight.left -= 1;
            flight.outcome = flight.outcome.and(one.outcome);
            if flight.left == 0 {
                let writes = std::mem::take(&mut flight.writes);
                let action = flight.command.action;
                self.send_all(id, action, &writes, heard);
                self.end(id, done);
            }
        }
    }

    /// Ends a command, where nothing is left of it.
    fn end(&mut self, id: u64, done: &mut Vec<DriveCompletion>) {
        if self.flights.get(&id).is_none_or(|flight| flight.left > 0) {
            return;
        }
        let Some(LeafCommand { command, outcome, .. }) = self.flights.remove(&id) else { return };
        self.tally.count(&command);
        done.push(DriveCompletion { id, at_ns: self.now_ns, outcome });
    }
}

impl Model for LeafDrives {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        let mut heard = Vec::new();
        self.begin(command, &mut heard);
        self.end(command.id, done);
        self.settle(&mut heard, done);
    }

    fn next_ns(&self) -> Option<u64> {
        let next = self.leaves.iter().filter_map(|leaf| leaf.model.next_ns()).min();
        next.map(|next_ns| next_ns.max(self.now_ns))
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        let mut heard = Vec::new();
        while let Some(next_ns) = self.next_ns().filter(|&next_ns| next_ns <= to_ns) {
            self.now_ns = next_ns;
            for leaf in &mut self.leaves {
                leaf.model.advance(next_ns, &mut heard);
            }
            self.settle(&mut heard, done);
        }
        self.now_ns = to_ns;
    }

    fn capacity_bytes(&self) -> u64 {
        self.stack.layer(self.layer).length().unwrap_or(u64::MAX)
    }

    fn logical_bytes(&self) -> u64 {
        self.leaves.iter().map(|leaf| leaf.model.logical_bytes()).max().unwrap_or(512)
    }

    fn tally(&self) -> DriveTally {
        let all = self.leaves.iter().map(|leaf| leaf.model.tally());
        all.fold(DriveTally::default(), DriveTally::plus).over(self.tally)
    }

    fn has_write_cache(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.model.has_write_cache())
    }

    fn waiting_bytes(&self) -> u64 {
        self.leaves.iter().map(|leaf| leaf.model.waiting_bytes()).sum()
    }
}
