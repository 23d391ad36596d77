//! The dies and the wires to them.
//!
//! A die does one thing at a time. Programs and erases wait for each other in the order in which
//! they came; a read goes before those that wait, but not into the middle of the one that runs: the
//! wait behind a program is what a mixed load's reads show. (An erase is suspended for a read, as
//! chips can, so that a read never waits for more than a program.)
//!
//! A die that has read keeps the page until it is through the channel. A read finds its page where
//! the address says, as if the drive had been written in one go. A program goes to the next die in
//! turn. Times are known, and counted, when a command comes.

use super::FlashPlan;
use super::channel::Channel;
use super::garbage::Garbage;
use super::slc::Slc;
use crate::DriveTally;
use crate::server::{Server, transfer_ns, turn};

/// One die: what reads it has ahead, and what programs.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    reads: Server,
    programs: Server,
    /// Programs since its last erase.
    since_erase: u64,
}

impl Die {
    /// The die numbered `die`, idle. Dies do not erase at one time.
    fn staggered(die: u32, plan: &FlashPlan) -> Die {
        let since_erase = u64::from(die) * u64::from(plan.pages_per_block) / u64::from(plan.dies);
        Die { since_erase, ..Die::default() }
    }

    /// When a read that comes at `at_ns` begins.
    fn begins_ns(&self, at_ns: u64, program_ns: u64) -> u64 {
        let left_ns = self.programs.free_ns.saturating_sub(at_ns);
        let wait_ns = left_ns.checked_rem(program_ns).unwrap_or(0);
        at_ns.saturating_add(wait_ns).max(self.reads.free_ns)
    }

    /// Reads from `begun_ns` to `end_ns`; what was to be programmed at `at_ns` is that much later.
    fn reads(&mut self, at_ns: u64, begun_ns: u64, end_ns: u64) {
        if self.programs.free_ns > at_ns {
            self.programs.free_ns = self.programs.free_ns.saturating_add(end_ns - begun_ns);
        }
        self.reads.free_ns = end_ns;
    }

    fn program(&mut self, at_ns: u64, work_ns: u64) -> u64 {
        self.programs.serve(at_ns.max(self.reads.free_ns), work_ns)
    }
}

/// All dies, with the account of what they did.
#[derive(Clone, Debug)]
pub(super) struct Dies {
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Whose turn it is to be programmed.
    next: usize,
    pub(super) garbage: Garbage,
    /// Programs of what was folded since the last erase for it.
    folded: u64,
    slc: Slc,
    plan: FlashPlan,
    pub(super) tally: DriveTally,
}

impl Dies {
    /// Dies that did nothing yet.
    pub(super) fn new(plan: &FlashPlan, garbage: Garbage) -> Dies {
        Dies {
            dies: (0..plan.dies).map(|die| Die::staggered(die, plan)).collect(),
            channels: vec![Channel::default(); plan.channels as usize],
            next: 0,
            garbage,
            folded: 0,
            slc: Slc::new(plan),
            plan: *plan,
            tally: DriveTally::default(),
        }
    }

    /// Returns how long so many bytes are on a channel.
    pub(super) fn on_channel_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.plan.channel_bytes_per_second)
    }

    /// Reads `pages` from the one numbered `first` on, and brings `bytes` of them out; when that is
    /// done. The pages lie on one die after the other.
    pub(super) fn read(&mut self, at_ns: u64, first: u64, pages: u64, bytes: u64) -> u64 {
        self.fold(at_ns);
        let dies = self.dies.len() as u64;
        let page_bytes = bytes.div_ceil(pages);
        let mut ready_ns = at_ns;
        for step in 0..pages.min(dies) {
            let count = (pages - step).div_ceil(dies);
            let number = turn(first + step, self.dies.len());
            let work_ns = count.saturating_mul(self.plan.read_ns);
            let one_ns = self.on_channel_ns(page_bytes);
            let begun_ns = self.dies[number].begins_ns(at_ns, self.plan.program_ns);
            // The first page goes out while the next is read.
            let from_ns = begun_ns.saturating_add(self.plan.read_ns);
            let all_ns = count.saturating_mul(one_ns);
            let sent_ns = self.channel(number).serve(at_ns, from_ns, all_ns);
            let end_ns = sent_ns.max(begun_ns.saturating_add(work_ns).saturating_add(one_ns));
            self.dies[number].reads(at_ns, begun_ns, end_ns);
            ready_ns = ready_ns.max(end_ns);
            self.tally.read_ns = self.tally.read_ns.saturating_add(work_ns);
            self.tally.busy_ns = self.tally.busy_ns.saturating_add(work_ns);
        }
        self.tally.medium_reads += pages;
        self.slc.busy(ready_ns);
        ready_ns
    }

    /// Returns what the next page takes to be programmed.
    pub(super) fn cell_ns(&self) -> u64 {
        self.slc.cell_ns()
    }

    /// Accounts for what was moved out of cells of one bit while the dies were silent.
    fn fold(&mut self, at_ns: u64) {
        let pages = self.slc.fold(at_ns);
        if pages == 0 {
            return;
        }
        let blocks = u64::from(self.plan.pages_per_block);
        let erases = (self.folded + pages) / blocks;
        self.folded = (self.folded + pages) % blocks;
        let (read_ns, program_ns) = (pages * self.plan.read_ns, pages * self.plan.program_ns);
        let erase_ns = erases * self.plan.erase_ns;
        self.tally.read_ns = self.tally.read_ns.saturating_add(read_ns);
        self.tally.program_ns = self.tally.program_ns.saturating_add(program_ns);
        self.tally.busy_ns = self.tally.busy_ns.saturating_add(read_ns + program_ns + erase_ns);
        self.tally.erase_ns = self.tally.erase_ns.saturating_add(erase_ns);
        self.tally.erases += erases;
        self.tally.medium_reads += pages;
        self.tally.medium_writes += pages;
        self.tally.programs += pages;
        self.tally.moves += pages;
    }

    /// Programs a page; when it is durable. What garbage must go for it follows on the same die.
    pub(super) fn program(&mut self, at_ns: u64) -> u64 {
        self.program_next(at_ns, 1)
    }

    /// Programs `pages` on all dies in turn; when the last is durable.
    pub(super) fn program_all(&mut self, at_ns: u64, pages: u64) -> u64 {
        let dies = self.dies.len() as u64;
        let counts = (0..pages.min(dies)).map(|step| (pages - step).div_ceil(dies));
        counts.map(|count| self.program_next(at_ns, count)).max().unwrap_or(at_ns)
    }

    fn program_next(&mut self, at_ns: u64, pages: u64) -> u64 {
        let number = self.next;
        self.next = (number + 1) % self.dies.len();
        self.fold(at_ns);
        let moving_ns = self.on_channel_ns(self.plan.program_bytes());
        let (work_ns, program_ns) = self.slc.program(pages);
        let all_ns = pages.saturating_mul(moving_ns);
        let sent_ns = self.channel(number).serve(at_ns, at_ns, all_ns);
        let die_ns = self.dies[number].program(at_ns, work_ns);
        self.tally.program_ns = self.tally.program_ns.saturating_add(work_ns);
        self.tally.busy_ns = self.tally.busy_ns.saturating_add(work_ns);
        self.tally.programs += pages;
        self.tally.medium_writes += pages;
        self.collect(at_ns, number, pages);
        let end_ns = die_ns.max(sent_ns.saturating_add(program_ns));
        self.slc.busy(end_ns);
        end_ns
    }

    /// Moves and erases on die `number` what `pages` programmed there make necessary.
    fn collect(&mut self, at_ns: u64, number: usize, pages: u64) {
        let moved = self.garbage.moved(pages);
        let blocks = u64::from(self.plan.pages_per_block);
        let die = &mut self.dies[number];
        let programmed = die.since_erase.saturating_add(pages).saturating_add(moved);
        let erases = programmed / blocks;
        die.since_erase = programmed % blocks;
        if moved == 0 && erases == 0 {
            return;
        }
        let read_ns = moved.saturating_mul(self.plan.read_ns);
        let program_ns = moved.saturating_mul(self.plan.program_ns);
        let erase_ns = erases.saturating_mul(self.plan.erase_ns);
        let work_ns = read_ns.saturating_add(program_ns).saturating_add(erase_ns);
        self.dies[number].program(at_ns, work_ns);
        let moving_ns = moved.saturating_mul(2 * self.on_channel_ns(self.plan.program_bytes()));
        self.channel(number).serve(at_ns, at_ns, moving_ns);
        let tally = &mut self.tally;
        tally.read_ns = tally.read_ns.saturating_add(read_ns);
        tally.program_ns = tally.program_ns.saturating_add(program_ns);
        tally.erase_ns = tally.erase_ns.saturating_add(erase_ns);
        tally.busy_ns = tally.busy_ns.saturating_add(work_ns);
        tally.medium_reads += moved;
        tally.medium_writes += moved;
        tally.programs += moved;
        tally.moves += moved;
        tally.erases += erases;
    }

    fn channel(&mut self, die: usize) -> &mut Channel {
        let count = self.channels.len();
        &mut self.channels[die % count]
    }
}
