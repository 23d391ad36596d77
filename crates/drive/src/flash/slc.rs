//! Cells that are programmed with one bit each, quickly, until there are no more: pSLC.
//!
//! A drive of three or four bits a cell takes a burst with one bit a cell. When all such cells are
//! full it programs as its cells are: its rate falls from one page in `slc_program_ns` a die to one
//! in `program_ns`, after `slc_bytes`. In silence what they hold is read and programmed elsewhere,
//! on all dies side by side. Not modeled: moving while the host writes, and cells whose number
//! changes with what is in use.

use super::FlashPlan;

/// The cells that take one bit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slc {
    pages: u64,
    used_pages: u64,
    slc_program_ns: u64,
    program_ns: u64,
    /// Time of moving a page: it is read and programmed, and with the rest of its block erased.
    move_ns: u64,
    idle_ns: u64,
    dies: u64,
    /// Until when a die has work.
    busy_ns: u64,
}

impl Slc {
    /// Those of a drive, empty.
    pub(super) fn new(plan: &FlashPlan) -> Slc {
        let erase_ns = plan.erase_ns.div_ceil(plan.pages_per_block.into());
        Slc {
            pages: plan.slc_bytes / plan.program_bytes(),
            used_pages: 0,
            slc_program_ns: plan.slc_program_ns,
            program_ns: plan.program_ns,
            move_ns: plan.read_ns + plan.program_ns + erase_ns,
            idle_ns: plan.slc_idle_ns,
            dies: plan.dies.into(),
            busy_ns: 0,
        }
    }

    /// Returns what the next page takes to be programmed.
    pub(super) fn cell_ns(&self) -> u64 {
        match self.used_pages < self.pages {
            true => self.slc_program_ns,
            false => self.program_ns,
        }
    }

    /// Programs so many pages: what all take, and what the last takes.
    pub(super) fn program(&mut self, pages: u64) -> (u64, u64) {
        let quick = pages.min(self.pages - self.used_pages);
        self.used_pages += quick;
        let slow = pages - quick;
        let all_ns = quick.saturating_mul(self.slc_program_ns);
        let last_ns = if slow == 0 { self.slc_program_ns } else { self.program_ns };
        (all_ns.saturating_add(slow.saturating_mul(self.program_ns)), last_ns)
    }

    /// A die has work until `until_ns`.
    pub(super) fn busy(&mut self, until_ns: u64) {
        self.busy_ns = self.busy_ns.max(until_ns);
    }

    /// The dies are needed again at `at_ns`: how many pages were moved meanwhile.
    pub(super) fn fold(&mut self, at_ns: u64) -> u64 {
        let silent_ns = at_ns.saturating_sub(self.busy_ns.saturating_add(self.idle_ns));
        if self.used_pages == 0 || silent_ns == 0 {
            return 0;
        }
        let pages =
            (silent_ns / self.move_ns.max(1)).saturating_mul(self.dies).min(self.used_pages);
        self.used_pages -= pages;
        self.busy_ns = at_ns;
        pages
    }
}
