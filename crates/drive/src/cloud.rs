//! A network volume: a way there and back, and limits, before any drive.
//!
//! Credits, as Amazon EBS's gp2 has them: they come in at the baseline rate, up to a most; each
//! operation takes one, and while there are any, operations may come at the burst rate. A large
//! operation counts as several. (Amazon EBS user guide, "General Purpose SSD volumes": 3 credits a
//! second and GiB, at least 100 and at most 16,000; 5.4 million at first and at most; 3000 a second
//! while they last. "I/O characteristics": 256 KiB count as one on SSD volumes.)

use std::collections::VecDeque;

use units::random::Random;

use crate::hard_disk::PlanFault;
use crate::power::{Aftermath, Cut, CutFault, Data, HostLog, MediumLog, Sectors, Told};
use crate::server::{Agenda, Server, transfer_ns};
use crate::{Action, Command, Done, Model, Tally};

const SECOND_NS: u64 = 1_000_000_000;

/// How a random part of the way is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// All values are as likely.
    Uniform,
    /// The middle is the likeliest: the mean of two uniform values.
    Triangular,
}

/// How much a volume does in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Operations a second that it may always do, and credits that come in.
    pub baseline_per_second: u64,
    /// Operations a second while there are credits; at least the baseline.
    pub burst_per_second: u64,
    /// How many credits there are at first and at most; 0 for no burst.
    pub credits: u64,
    /// Up to how many bytes count as one operation.
    pub counted_bytes: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
}

impl Limits {
    /// The limits of an EBS gp2 volume of so many GiB, as Amazon documents them. Bytes: 128 MiB/s
    /// up to 170 GiB, else 250 MiB/s; between 170 and 334 GiB that lasts no longer than the credits
    /// do, which is not modelled.
    #[must_use]
    pub fn gp2(gib: u64) -> Limits {
        let baseline_per_second = gib.saturating_mul(3).clamp(100, 16_000);
        Limits {
            baseline_per_second,
            burst_per_second: baseline_per_second.max(3000),
            credits: 5_400_000,
            counted_bytes: 256 << 10,
            bytes_per_second: if gib <= 170 { 128 << 20 } else { 250 << 20 },
        }
    }
}

/// What a network volume adds to its store: [`CloudPlan::checked`] says what each value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudPlan {
    /// The way there.
    pub request_ns: u64,
    /// The way back, at the least.
    pub response_ns: u64,
    /// How much longer the way back may take.
    pub jitter_ns: u64,
    /// How that is spread.
    pub spread: Spread,
    /// What decides it.
    pub seed: u64,
    /// What it lets through.
    pub limits: Limits,
}

impl CloudPlan {
    /// The plan, where such a volume can be.
    ///
    /// # Errors
    /// When a value is out of its bounds; the first such is named.
    pub fn checked(self) -> Result<CloudPlan, PlanFault> {
        let time = |value, ns| (ns <= 10 * SECOND_NS, value, ns, "at most 10 s");
        let limits = self.limits;
        let rate = 1..=1_000_000_000;
        let burst = (limits.baseline_per_second..=1_000_000_000).contains(&limits.burst_per_second);
        let checks = [
            time("request", self.request_ns),
            time("response", self.response_ns),
            time("jitter", self.jitter_ns),
            (
                rate.contains(&limits.baseline_per_second),
                "baseline",
                limits.baseline_per_second,
                "from 1 to 10^9",
            ),
            (burst, "burst", limits.burst_per_second, "from the baseline to 10^9"),
            (limits.credits <= 1 << 50, "credits", limits.credits, "at most 2^50"),
            (
                (512..=1 << 40).contains(&limits.counted_bytes),
                "counted",
                limits.counted_bytes,
                "from 512 to 2^40",
            ),
            (
                (1_000..=1 << 40).contains(&limits.bytes_per_second),
                "rate",
                limits.bytes_per_second,
                "from 1000 to 2^40",
            ),
        ];
        match checks.into_iter().find(|(is_right, ..)| !is_right) {
            Some((_, value, found, wanted)) => Err(PlanFault { value, found, wanted }),
            None => Ok(self),
        }
    }
}

/// Credits, and when the next operation may begin.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    limits: Limits,
    /// Credits, each 10^9; below 0 where a large operation took more than there were.
    level: i128,
    at_ns: u64,
    pace: Server,
}

impl Bucket {
    const ONE: i128 = SECOND_NS as i128;

    fn new(limits: Limits) -> Bucket {
        let level = Bucket::most(limits);
        Bucket { limits, level, at_ns: 0, pace: Server::default() }
    }

    /// One credit at least: who waited long enough waits no longer.
    fn most(limits: Limits) -> i128 {
        i128::from(limits.credits.max(1)) * Bucket::ONE
    }

    /// When an operation that counts as `count` may begin, not before `at_ns`.
    fn take(&mut self, at_ns: u64, count: u64) -> u64 {
        let baseline = i128::from(self.limits.baseline_per_second);
        let mut begin_ns = self.pace.free_ns.max(at_ns);
        let came = i128::from(begin_ns.saturating_sub(self.at_ns)) * baseline;
        self.level = (self.level + came).min(Bucket::most(self.limits));
        let missing = (Bucket::ONE - self.level).max(0);
        let wait_ns = (missing + baseline - 1) / baseline;
        begin_ns = begin_ns.saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX));
        self.level += wait_ns * baseline - i128::from(count) * Bucket::ONE;
        self.at_ns = begin_ns;
        self.pace.serve(begin_ns, transfer_ns(count, self.limits.burst_per_second));
        begin_ns
    }
}

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
    /// What is on its way there, with the time at which it arrives.
    going: VecDeque<(u64, Command)>,
    /// What is on its way back.
    coming: Agenda<Done>,
    /// What the store has done and nobody took yet.
    stored: Vec<Done>,
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

    /// What the volume lies on.
    #[must_use]
    pub fn store(&self) -> &M {
        &self.store
    }

    /// When the limits let `command` through. Reads and writes are counted, no others.
    fn leaves_ns(&mut self, command: &Command, at_ns: u64) -> u64 {
        let mut begin_ns = self.left_ns.max(at_ns);
        if matches!(command.action, Action::Read | Action::Write { .. }) {
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
            self.coming.push(at_ns, Done { at_ns, ..done });
        }
        // Its room stays.
        self.stored = stored;
    }
}

impl<M: Model> Model for Cloud<M> {
    fn submit(&mut self, command: Command, at_ns: u64, done: &mut Vec<Done>) {
        self.advance(at_ns, done);
        if let Err(fault) = command.checked(self.capacity_bytes(), self.logical_bytes()) {
            done.push(Done { id: command.id, at_ns, outcome: Err(fault) });
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

    fn advance(&mut self, to_ns: u64, done: &mut Vec<Done>) {
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

    fn tally(&self) -> Tally {
        self.store.tally()
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        self.coming.is_new() && self.left_ns == 0 && self.store.keep_log(entries_max)
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.store.medium_log()
    }

    fn told(&self) -> Told {
        self.store.told()
    }

    /// None overtakes on the way, so that the store's writes have the host's numbers.
    fn after(&self, host: &HostLog, cut: &Cut) -> Result<Aftermath, CutFault> {
        self.store.after(host, cut)
    }
}

/// A store that takes no time: what a volume's limits are seen on alone.
#[derive(Clone, Debug)]
pub struct Ideal {
    capacity_bytes: u64,
    logical_bytes: u64,
    now_ns: u64,
    tally: Tally,
    /// What is put there, where somebody asked.
    log: Option<Box<MediumLog>>,
}

impl Ideal {
    /// A store of so many bytes.
    ///
    /// # Errors
    /// When the sector is no power of two from 512 to 65536, or the capacity not whole sectors from
    /// 1 MiB to 2^56.
    pub fn new(capacity_bytes: u64, logical_bytes: u64) -> Result<Ideal, PlanFault> {
        let fault = |value, found, wanted| Err(PlanFault { value, found, wanted });
        if !logical_bytes.is_power_of_two() || !(512..=65_536).contains(&logical_bytes) {
            return fault("logical_sector", logical_bytes, "a power of two from 512 to 65536");
        }
        let is_size = (1 << 20..=1 << 56).contains(&capacity_bytes);
        if !is_size || !capacity_bytes.is_multiple_of(logical_bytes) {
            return fault("capacity", capacity_bytes, "whole sectors, from 1 MiB to 2^56");
        }
        Ok(Ideal { capacity_bytes, logical_bytes, now_ns: 0, tally: Tally::default(), log: None })
    }
}

impl Ideal {
    fn sectors(&self) -> Sectors {
        let logical_bytes = self.logical_bytes;
        Sectors { logical_bytes, physical_bytes: logical_bytes, origin_bytes: 0 }
    }

    /// Writes down that a write is there.
    fn log_write(&mut self, command: &Command, at_ns: u64) {
        let (Some(log), Some(range)) = (&mut self.log, command.range()) else { return };
        if !matches!(command.action, Action::Write { .. }) {
            return;
        }
        let Some(number) = log.sent(command.id) else { return };
        log.arrived(command.id, false, at_ns);
        log.put(Data::Write(number), range, (at_ns, at_ns), &[], false);
        log.ended(command.id);
    }
}

impl Model for Ideal {
    fn submit(&mut self, command: Command, at_ns: u64, done: &mut Vec<Done>) {
        self.advance(at_ns, done);
        let outcome = command.checked(self.capacity_bytes, self.logical_bytes);
        if outcome.is_ok() {
            self.tally.count(&command);
            self.log_write(&command, at_ns);
        }
        done.push(Done { id: command.id, at_ns, outcome });
    }

    fn next_ns(&self) -> Option<u64> {
        None
    }

    fn advance(&mut self, to_ns: u64, _: &mut Vec<Done>) {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        self.now_ns = to_ns;
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        self.logical_bytes
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn keep_log(&mut self, entries_max: usize) -> bool {
        let is_new = self.now_ns == 0 && self.tally == Tally::default();
        if is_new {
            let log = MediumLog::new(self.sectors(), self.capacity_bytes, entries_max);
            self.log = Some(Box::new(log));
        }
        is_new
    }

    fn medium_log(&self) -> Option<&MediumLog> {
        self.log.as_deref()
    }

    fn told(&self) -> Told {
        Told { sectors: self.sectors(), has_volatile_cache: false }
    }
}
