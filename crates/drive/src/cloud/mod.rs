//! A network volume: a way there and back, and limits, before any drive.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | what a volume is, and what it cannot be |
//! | `bucket` | its credits |
//! | `ideal` | a store that takes no time |

mod bucket;
mod ideal;
mod plan;

use std::collections::VecDeque;

use bucket::Bucket;
pub use ideal::Ideal;
pub use plan::{CloudPlan, Spread, VolumeLimits};
use units::random::Random;

use crate::model::refuses;
use crate::plan_bounds::PlanFault;
use crate::server::{Agenda, Server, transfer_ns};
use crate::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// A network volume over any store, in simulated time.
#[derive(Clone, Debug)]
pub struct Cloud<M> {
    plan: CloudPlan,
    store: M,
    random: Random,
    operations: Bucket,
    bytes: Server,
    /// When the last command left: none overtakes.
    left_ns: u64,
    /// Commands on their way to the store, with the time of arrival.
    going: VecDeque<(u64, DriveCommand)>,
    /// Completions on their way back.
    coming: Agenda<DriveCompletion>,
    /// Completions of the store that nobody took yet.
    stored: Vec<DriveCompletion>,
}

impl<M: Model> Cloud<M> {
    /// A volume on `store`, at time 0.
    ///
    /// # Errors
    /// When such a volume cannot be.
    pub fn new(plan: CloudPlan, store: M) -> Result<Cloud<M>, PlanFault> {
        let plan = plan.checked()?;
        Ok(Cloud {
            store,
            random: Random::new(plan.seed),
            operations: Bucket::new(plan.limits),
            bytes: Server::default(),
            left_ns: 0,
            going: VecDeque::new(),
            coming: Agenda::new(),
            stored: Vec::new(),
            plan,
        })
    }

    /// Returns what the volume lies on.
    #[must_use]
    pub fn store(&self) -> &M {
        &self.store
    }

    /// When the limits let `command` through. Reads and writes are counted, no others.
    fn leaves_ns(&mut self, command: &DriveCommand, at_ns: u64) -> u64 {
        let mut begin_ns = self.left_ns.max(at_ns);
        if matches!(command.action, CommandKind::Read | CommandKind::Write { .. }) {
            let count = command.length_bytes.div_ceil(self.plan.limits.counted_bytes);
            begin_ns = self.operations.take(begin_ns, count).max(self.bytes.free_ns);
            let on_ns = transfer_ns(command.length_bytes, self.plan.limits.bytes_per_second);
            self.bytes.serve(begin_ns, on_ns);
        }
        self.left_ns = begin_ns;
        begin_ns
    }

    fn jitter_ns(&mut self) -> u64 {
        let bound = self.plan.jitter_ns + 1;
        match self.plan.spread {
            Spread::Uniform => self.random.below(bound),
            Spread::Triangular => {
                let (one, other) = (self.random.below(bound), self.random.below(bound));
                u64::midpoint(one, other)
            }
        }
    }

    /// Sends what the store has done on its way back.
    fn return_stored(&mut self) {
        let mut stored = std::mem::take(&mut self.stored);
        for done in stored.drain(..) {
            let way_ns = self.plan.response_ns + self.jitter_ns();
            let at_ns = done.at_ns.saturating_add(way_ns);
            self.coming.push(at_ns, DriveCompletion { at_ns, ..done });
        }
        // Its room stays.
        self.stored = stored;
    }
}

impl<M: Model> Model for Cloud<M> {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        if refuses(self, &command, at_ns, done) {
            return;
        }
        let left_ns = self.leaves_ns(&command, at_ns);
        self.going.push_back((left_ns.saturating_add(self.plan.request_ns), command));
        self.advance(at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        let going = self.going.front().map(|(at_ns, _)| *at_ns);
        [going, self.store.next_ns(), self.coming.next_ns()].into_iter().flatten().min()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        while let Some(next_ns) = self.next_ns()
            && next_ns <= to_ns
        {
            self.store.advance(next_ns, &mut self.stored);
            if let Some(&(at_ns, command)) = self.going.front()
                && at_ns <= next_ns
            {
                self.going.pop_front();
                self.store.submit(command, next_ns, &mut self.stored);
            }
            self.return_stored();
            done.extend(self.coming.pop(next_ns).map(|(_, done)| done));
        }
        // The clock goes on where nothing happens, too.
        assert!(self.coming.pop(to_ns).is_none(), "all that was due has been told");
    }

    fn capacity_bytes(&self) -> u64 {
        self.store.capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        self.store.logical_bytes()
    }

    /// None overtakes on the way, so that the store's writes have the host's numbers.
    fn below(&self) -> Option<&dyn Model> {
        Some(&self.store)
    }

    fn tally(&self) -> DriveTally {
        self.store.tally()
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        self.coming.is_new() && self.left_ns == 0 && self.store.keep_log(entries_max)
    }
}
