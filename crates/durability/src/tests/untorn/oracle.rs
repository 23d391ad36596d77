//! The oracle: every page's bytes as commands on the drive, against the rule in the raw answers.
//! It shares no code with the judgment.

use super::made::{Answers, Made};

impl Made {
    /// Returns whether the drive's own words keep every page whole, wherever it is placed.
    pub(super) fn is_whole(&self) -> bool {
        let amazon = self.drive.model.starts_with("Amazon");
        // Amazon: merging need not be disabled for InnoDB.
        amazon && self.keeps_pages(&Answers::amazon_keeps, false)
            || self.keeps_pages(&Answers::standard_keeps, self.drive.number("nomerges") != Some(2))
    }

    fn keeps_pages(&self, keeps: &dyn Fn(&Answers, u64, u64) -> bool, merges: bool) -> bool {
        let Some(most) = self.drive.number("max_sectors_kb").map(|kib| u128::from(kib) * 1024)
        else {
            return false;
        };
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        let is_kept = |pieces: &Vec<(u64, u64)>| {
            let [(start, length)] = pieces[..] else { return false };
            if !self.is_one_command(start, length, most) {
                return false;
            }
            // Neighbors may join it, as long as the command is not too long.
            let longest = if merges { most.min(1 << 40) / length } else { 1 };
            [1, 2, 3, 24, longest]
                .into_iter()
                .filter(|&pages| pages <= longest)
                .all(|pages| keeps(&self.drive, start, pages * length))
        };
        self.placements().iter().chain(&self.at_boundaries()).all(is_kept)
    }

    /// Placements around the first boundaries of every kind.
    fn at_boundaries(&self) -> Vec<Vec<(u64, u64)>> {
        if !self.unit.is_multiple_of(self.page) || self.drive.namespace.is_none() {
            return Vec::new();
        }
        let sector = self.drive.sector().unwrap_or(512);
        let base = self.start + self.volume;
        let amazon = self.drive.le16(644) | self.drive.le16(646) << 16;
        let kernel = self.drive.number("atomic_write_boundary_bytes").unwrap_or(0);
        let chunk = self.drive.number("chunk_sectors").and_then(|one| one.checked_mul(512));
        let every =
            [(self.drive.le16(44) + 1) * sector, (amazon + 1) * sector, kernel, chunk.unwrap_or(0)];
        let from = self.drive.le16(42) * sector;
        let boundaries = every.into_iter().filter(|&every| every > 0).flat_map(|every| {
            let first = (0..=32).filter_map(move |number| every.checked_mul(number));
            first.flat_map(move |at| [Some(at), at.checked_add(from)]).flatten()
        });
        let pages = boundaries.flat_map(|at| {
            let page = at.saturating_sub(base) / self.page;
            page.saturating_sub(1)..=page.saturating_add(1)
        });
        let pages = pages.filter(|page| *page < 1 << 49);
        pages.map(|page| vec![(base + page * self.page, self.page)]).collect()
    }

    fn is_one_command(&self, start: u64, length: u64, most: u64) -> bool {
        let chunk = self.drive.number("chunk_sectors");
        let segments = self.drive.number("max_segments");
        let (Some(chunk), Some(segments)) = (chunk, segments) else { return false };
        let Some(chunk) = chunk.checked_mul(512) else { return false };
        let is_split = crosses(start, length, chunk, 0);
        length <= most && segments.checked_mul(4096).is_none_or(|room| room >= length) && !is_split
    }
}

impl Answers {
    pub(super) fn number(&self, file: &str) -> Option<u64> {
        self.queue.iter().find(|(name, _)| *name == file)?.1.trim().parse().ok()
    }

    fn le16(&self, at: usize) -> u64 {
        let bytes = self.namespace.as_ref().expect("it was asked");
        u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    }

    /// Sector of the format in use; `None` where the answer makes no sense.
    fn sector(&self) -> Option<u64> {
        let bytes = self.namespace.as_ref()?;
        let upper = if bytes[25] >= 16 { (bytes[26] >> 5 & 3) << 4 } else { 0 };
        let format = usize::from(upper | bytes[26] & 15);
        let shift = bytes[128 + 4 * format + 2];
        (format <= usize::from(bytes[25]) && bytes[25] < 64 && (9..=24).contains(&shift))
            .then(|| 1 << shift)
    }

    fn amazon_keeps(&self, start: u64, length: u64) -> bool {
        let Some(sector) = self.sector() else { return false };
        let (longest, step) = ((self.le16(640) + 1) * sector, (self.le16(642) + 1) * sector);
        let stored = self.le16(644) | self.le16(646) << 16;
        let every = (stored + 1) * sector;
        length <= longest
            && length.is_multiple_of(step)
            && start.is_multiple_of(length)
            && !(stored != 0 && crosses(start, length, every, 0))
    }

    fn standard_keeps(&self, start: u64, length: u64) -> bool {
        if self.namespace.is_none() {
            // The kernel speaks for the drive.
            let kernel = self.number("atomic_write_unit_max_bytes");
            let least = self.number("atomic_write_unit_min_bytes");
            let every = self.number("atomic_write_boundary_bytes").unwrap_or(0);
            let (Some(most), Some(least)) = (kernel, least) else { return false };
            return (least..=most).contains(&length)
                && start.is_multiple_of(length)
                && !crosses(start, length, every, 0);
        }
        let Some(sector) = self.sector() else { return false };
        let bytes = self.namespace.as_ref().expect("it was asked");
        let own = bytes[24] & 2 != 0 && self.le16(36) != 0;
        let shifts = (0..=usize::from(bytes[25]).min(63)).map(|row| bytes[128 + 4 * row + 2]);
        let smallest = shifts.filter(|shift| (9..=24).contains(shift)).min().unwrap_or(9);
        let all = u64::from(u16::from_le_bytes([self.controller[528], self.controller[529]]));
        let longest = if own { (self.le16(36) + 1) * sector } else { (all + 1) << smallest };
        let (every, from) = ((self.le16(44) + 1) * sector, self.le16(42) * sector);
        let kernel = self.number("atomic_write_boundary_bytes").unwrap_or(0);
        length <= longest
            && !(self.le16(44) != 0 && crosses(start, length, every, from))
            && !crosses(start, length, kernel, 0)
    }
}

/// Returns whether a boundary is inside of a command; 0 for none.
fn crosses(start: u64, length: u64, every: u64, from: u64) -> bool {
    let number = |at: u64| (i128::from(at) - i128::from(from)).div_euclid(i128::from(every));
    every != 0 && number(start) != number(start + (length - 1))
}
