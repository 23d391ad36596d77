//! An array: a model made of models, RAID 0, 1, 10, 4, 5 or 6.
//!
//! | file | what it is |
//! |---|---|
//! | `plan` | what an array is, and what it cannot be |
//! | `members` | what goes to the members, and which of several copies is read |
//! | `stripes` | the stripes with parity that are being written: a bounded table |
//! | `writes` | how writes go to such stripes, round by round |
//! | `rebuild` | a lost member's bytes on a spare, at a rate |
//! | `parity_update` | what must be read and written for a part of a stripe |
//! | `ledger` | which write is in which member's write, for power cuts |
//! | `aftermath` | what the members' media make of the array: the write hole |
//!
//! A command becomes one piece for each run of bytes that lies on one member, and ends when the
//! last of them has ended. Addresses are those of `units::stripe`, which the stack uses too. Writes
//! go to all copies. A flush goes to all members, and FUA to every piece, parity included
//! (`R5_WantFUA` in `drivers/md/raid5.c`). An array with parity ignores discards, as md does unless
//! it is told that zeros can be relied on (`devices_handle_discard_safely`). Making parity takes
//! no time here, and neither does the array's own work: both are microseconds.

mod aftermath;
mod ledger;
mod members;
mod parity_update;
mod plan;
mod rebuild;
mod stripes;
mod writes;

use std::collections::VecDeque;

use aftermath::Fallen;
use ledger::ArrayLedger;
use members::{MemberRun, Members, Owner};
use parity_update::Chunk;
use plan::ArrayShape;
pub use plan::{ArrayPlan, Level, Member, ParityWrite};
use rebuild::Rebuild;
use stripes::Stripes;
use units::ByteRange;
use units::stripe::Rotation;

use crate::clock::{earliest, goes_on};
use crate::model::refuses;
use crate::plan_bounds::PlanFault;
use crate::power::{Aftermath, Cut, CutFault, HostLog, HostPromises, Sectors};
use crate::slab::Slab;
use crate::{CommandFault, CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};

/// Chunks of one read from an array with parity that are read at once; the rest follows.
const READ_CHUNKS: u64 = 256;

/// An array in simulated time.
#[derive(Clone, Debug)]
pub struct Array<M> {
    plan: ArrayPlan,
    shape: ArrayShape,
    members: Members<M>,
    now_ns: u64,
    flights: Slab<ArrayCommand>,
    /// Writes that wait for room among the stripes, in the order in which they came.
    writes: VecDeque<usize>,
    stripes: Stripes,
    /// The first of the members that are lost are so many.
    lost: usize,
    rebuild: Rebuild,
    /// Commands whose last piece has ended.
    ended: Vec<usize>,
    tally: DriveTally,
    /// Ledger of the writes, if somebody asked for it.
    ledger: Option<Box<ArrayLedger>>,
    /// When something happens next, as of the last event.
    next_ns: Option<u64>,
}

/// A command that has not ended.
#[derive(Clone, Copy, Debug)]
struct ArrayCommand {
    command: DriveCommand,
    /// The first byte that no piece was made of yet.
    next: u64,
    /// Behind the last byte.
    end: u64,
    /// Pieces, or stripes, that have not ended.
    left: u64,
    outcome: Result<(), CommandFault>,
    /// A write's number in the ledger.
    number: usize,
}

impl<M: Model> Array<M> {
    /// An array of `members`, in their order, which did nothing yet, at time 0. Of members of
    /// different sizes the smallest counts.
    ///
    /// # Errors
    /// When such an array cannot be: a value of the plan is out of its bounds, or the members are
    /// not as many as it says, too small, or do not have their data at whole sectors.
    pub fn new(plan: ArrayPlan, members: Vec<Member<M>>) -> Result<Array<M>, PlanFault> {
        let plan = plan.checked()?;
        let shape = ArrayShape::of(&plan, &members)?;
        let mut array = Array {
            members: Members::new(members, plan.turns),
            now_ns: 0,
            flights: Slab::new(),
            writes: VecDeque::new(),
            stripes: Stripes::new(plan.stripes, plan.hold_ns, shape.stripe.full_bytes()),
            lost: usize::try_from(plan.lost).unwrap_or(usize::MAX),
            rebuild: Rebuild::new(&plan, shape.capacity_bytes / plan.data_members()),
            ended: Vec::new(),
            tally: DriveTally::default(),
            ledger: None,
            next_ns: None,
            plan,
            shape,
        };
        array.next_ns = array.upcoming_ns();
        Ok(array)
    }

    /// The members, in order.
    pub fn members(&self) -> impl Iterator<Item = &M> {
        self.members.models()
    }

    /// Makes pieces of a command that came now.
    fn begin(&mut self, place: usize) {
        let command = self.flights.at(place).command;
        match (command.action, self.plan.level.rotation()) {
            (CommandKind::Flush, _) => self.flush(place),
            (CommandKind::Read, Some(rotation)) => self.read_on(place, rotation),
            (CommandKind::Write { .. }, Some(_)) => self.writes.push_back(place),
            (CommandKind::Discard, Some(_)) => {
                let flight = self.flights.at(place);
                flight.next = flight.end;
                self.ended.push(place);
            }
            (_, None) => self.share(place),
        }
    }

    fn post(&mut self, place: usize, member: usize, action: CommandKind, bytes: (u64, u64)) {
        let (start, end) = bytes;
        let flight = self.flights.at(place);
        flight.left += 1;
        let (owner, origin) = (Owner::Flight(place), flight.number);
        self.members.post(MemberRun { member, action, start, end, owner, origin });
    }

    fn flush(&mut self, place: usize) {
        for member in 0..self.members.count() {
            if self.is_there(member) {
                self.post(place, member, CommandKind::Flush, (0, 0));
            }
        }
    }

    /// Gives every member its share: one run each.
    fn share(&mut self, place: usize) {
        let flight = self.flights.at(place);
        flight.next = flight.end;
        let command = flight.command;
        let range = ByteRange::new(command.offset_bytes, command.length_bytes);
        let range = range.expect("the command was checked");
        let copies = usize::try_from(self.plan.copies()).expect("members are bounded");
        for (group, position) in (0..self.plan.data_members()).enumerate() {
            let Some(share) = self.shape.stripe.share(range, position) else { continue };
            let bytes = (share.start_bytes(), share.end_bytes());
            // Lost copies are the first ones of the first group.
            let is_gone = |&member: &usize| self.is_lost(member, share.end_bytes());
            let gone = (group * copies..(group + 1) * copies).take_while(is_gone).count();
            let (first, copies) = (group * copies + gone, copies - gone);
            if command.action == CommandKind::Read {
                let member = self.members.copy(first, copies, share);
                self.post(place, member, command.action, bytes);
                continue;
            }
            for member in first..first + copies {
                self.post(place, member, command.action, bytes);
            }
        }
    }

    /// Reads the next chunks of a command.
    fn read_on(&mut self, place: usize, rotation: Rotation) {
        let ArrayCommand { mut next, end, .. } = *self.flights.at(place);
        let mut left = READ_CHUNKS;
        while next < end && left > 0 {
            let at = self.shape.stripe.place(next);
            let bytes = at.left_in_chunk_bytes.min(end - next);
            let member = Chunk::Data(at.position).member(&self.plan, rotation, at.stripe);
            let range = (at.member_bytes, at.member_bytes + bytes);
            match self.is_lost(member, range.1) {
                false => self.post(place, member, CommandKind::Read, range),
                true => self.read_others(place, rotation, next, range),
            }
            (next, left) = (next + bytes, left - 1);
        }
        self.flights.at(place).next = next;
    }

    /// Reads what a lost chunk's `range` is worked out from, but for what the command reads anyway;
    /// the chunk's first byte that is read is `address` of the array.
    fn read_others(&mut self, place: usize, rotation: Rotation, address: u64, range: (u64, u64)) {
        let (at, bytes) = (self.shape.stripe.place(address), range.1 - range.0);
        let command = self.flights.at(place).command;
        let (from, upto) = (command.offset_bytes, command.offset_bytes + command.length_bytes);
        let chunk_bytes = self.plan.chunk_bytes;
        let positions = 0..self.plan.data_members();
        let read_anyway = positions.filter(|&position| {
            let start = address - at.position * chunk_bytes + position * chunk_bytes;
            position != at.position && start >= from && start + bytes <= upto
        });
        let read_anyway: Vec<usize> = read_anyway
            .map(|position| Chunk::Data(position).member(&self.plan, rotation, at.stripe))
            .collect();
        for member in self.sources().filter(|member| !read_anyway.contains(member)) {
            self.post(place, member, CommandKind::Read, range);
        }
    }

    /// Ends a piece.
    fn end_piece(&mut self, owner: Owner, outcome: Result<(), CommandFault>) {
        match owner {
            Owner::Flight(place) => self.end_part(place, outcome),
            Owner::Stripe(place) => self.end_stripe_piece(place),
            Owner::Rebuild(place) => self.end_rebuild(place),
        }
    }

    /// Ends a part of a command: with the last of them it ends, or goes on.
    fn end_part(&mut self, place: usize, outcome: Result<(), CommandFault>) {
        let flight = self.flights.at(place);
        flight.left -= 1;
        flight.outcome = flight.outcome.and(outcome);
        if flight.left > 0 {
            return;
        }
        match (flight.next == flight.end, flight.command.action, self.plan.level.rotation()) {
            (true, ..) => self.ended.push(place),
            (false, CommandKind::Read, Some(rotation)) => self.read_on(place, rotation),
            // The rest of a write waits for room.
            _ => {}
        }
    }

    /// Does all that can be done now.
    fn settle(&mut self, done: &mut Vec<DriveCompletion>) {
        loop {
            while let Some(place) = self.stripes.due(self.now_ns) {
                self.begin_stripe(place);
            }
            self.write_on();
            self.rebuild_on();
            self.members.send(self.now_ns);
            if self.members.heard.is_empty() {
                self.next_ns = self.upcoming_ns();
                return;
            }
            self.hear();
            self.finish(done);
        }
    }

    /// Ends the pieces that the members have done.
    fn hear(&mut self) {
        let mut heard = std::mem::take(&mut self.members.heard);
        for done in heard.drain(..) {
            let mut next = usize::try_from(done.id).ok();
            while let Some(place) = next {
                let (owner, joined) = self.members.end(place);
                self.end_piece(owner, done.outcome);
                next = joined;
            }
        }
        self.members.heard = heard;
    }

    /// When something happens next by itself.
    fn upcoming_ns(&self) -> Option<u64> {
        earliest([self.members.next_ns(), self.stripes.next_ns(), self.rebuild.next_ns()])
    }

    /// Tells which commands have ended.
    fn finish(&mut self, done: &mut Vec<DriveCompletion>) {
        let mut ended = std::mem::take(&mut self.ended);
        for place in ended.drain(..) {
            let ArrayCommand { command, outcome, .. } = self.flights.remove(place);
            self.tally.count(&command);
            done.push(DriveCompletion { id: command.id, at_ns: self.now_ns, outcome });
        }
        self.ended = ended;
    }
}

impl<M: Model> Model for Array<M> {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        if refuses(self, &command, at_ns, done) {
            return;
        }
        let (next, end) = match command.action {
            CommandKind::Flush => (0, 0),
            _ => (command.offset_bytes, command.offset_bytes + command.length_bytes),
        };
        let number = match (command.action, &mut self.ledger) {
            (CommandKind::Write { .. }, Some(ledger)) => ledger.sent(),
            _ => 0,
        };
        let flight = ArrayCommand { command, next, end, left: 0, outcome: Ok(()), number };
        let place = self.flights.insert(flight);
        self.begin(place);
        self.finish(done);
        self.settle(done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.next_ns.map(|next_ns| next_ns.max(self.now_ns))
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        while goes_on(self.next_ns(), to_ns, &mut self.now_ns) {
            self.members.advance(self.now_ns);
            self.settle(done);
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.shape.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        self.shape.logical_bytes
    }

    fn tally(&self) -> DriveTally {
        self.members.tally().over(self.tally)
    }

    fn stripe_bytes(&self) -> Option<u64> {
        (self.plan.level.parity() > 0).then(|| self.shape.stripe.full_bytes())
    }

    fn waiting_bytes(&self) -> u64 {
        self.members().map(Model::waiting_bytes).sum()
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        // What a cut leaves of an array that lacks a member is not modeled.
        let is_new = self.lost == 0
            && self.now_ns == 0
            && self.tally() == DriveTally::default()
            && self.writes.is_empty();
        let keeps = is_new && self.members.keep_logs(entries_max);
        self.ledger = keeps.then(Box::default);
        keeps
    }

    fn has_write_cache(&self) -> bool {
        self.members().any(Model::has_write_cache)
    }

    fn told(&self) -> HostPromises {
        let members = || self.members().map(Model::told);
        let physical = members().map(|told| told.sectors.physical_bytes).max();
        let logical_bytes = self.shape.logical_bytes;
        let physical_bytes = physical.unwrap_or(logical_bytes).max(logical_bytes);
        let sectors = Sectors { logical_bytes, physical_bytes, origin_bytes: 0 };
        HostPromises { sectors, has_volatile_cache: members().any(|told| told.has_volatile_cache) }
    }

    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        let members = (&self.members, self.ledger.as_deref());
        Fallen::new((&self.plan, &self.shape), members, host, cut)?.aftermath()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use units::random::Random;

    const PLAN: ArrayPlan = ArrayPlan {
        level: Level::Raid5(Rotation::LeftSymmetric),
        members: 5,
        chunk_bytes: 65_536,
        turns: true,
        row_bytes: 4096,
        parity_write: ParityWrite::Fewer,
        stripes: 16,
        hold_ns: 1_000_000,
        lost: 0,
        rebuild_bytes_per_second: 0,
    };

    /// The most things that an array keeps at once while so many commands pass, 32 at once.
    fn most(commands: u64) -> (usize, usize, usize) {
        let disk = profile::called("hdd-7200-512n").expect("a built-in drive");
        let disk = || disk.model().expect("such a disk can be");
        let members = (0..5).map(|_| Member { model: disk(), offset_bytes: 0 }).collect();
        let mut array = Array::new(PLAN, members).expect("such an array can be");
        let (mut random, mut done) = (Random::new(5), Vec::new());
        let (mut begun, mut ended, mut now_ns) = (0, 0, 0);
        while ended < commands {
            while begun < commands && begun - ended < 32 {
                let offset_bytes = random.below(1 << 20) * 4096;
                let action = *random.choose(&[
                    CommandKind::Read,
                    CommandKind::Write { fua: false },
                    CommandKind::Flush,
                ]);
                let length_bytes = if action == CommandKind::Flush { 0 } else { 16_384 };
                let command = DriveCommand { id: begun, action, offset_bytes, length_bytes };
                array.submit(command, now_ns, &mut done);
                begun += 1;
            }
            now_ns = array.next_ns().expect("a command is in flight");
            array.advance(now_ns, &mut done);
            ended += done.drain(..).count() as u64;
        }
        (array.flights.most(), array.members.most(), array.stripes.most())
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_number_of_commands() {
        let few = most(2_000);
        let many = most(20_000);
        assert!(few.0 <= 32 && many.0 <= 32, "{few:?}, {many:?}");
        // A command has four pieces at most: two chunks, of which each reads or writes, and parity;
        // or a flush for each of five members.
        assert!(many.1 <= 32 * 10 && many.2 <= 16, "{few:?}, {many:?}");
    }
}
