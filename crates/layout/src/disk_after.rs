//! The disk as it will be, so that a plan is judged before anyone types it.

use std::rc::Rc;

use device::{Disk, ReadError, disk};
use units::ByteRange;

use crate::plan::DiskPlan;

/// The bytes of a disk after a plan: the old ones, moved and changed as the plan says.
pub struct DiskAfter {
    disk: Rc<dyn Disk>,
    /// The new ranges with their content, the lowest first.
    over: Vec<(ByteRange, Over)>,
}

enum Over {
    Zeros,
    /// From this byte of the old disk on.
    Old(u64),
    Bytes(Vec<u8>),
    Volume(Rc<dyn Disk>),
}

impl DiskAfter {
    /// `disk` after `plan`.
    #[must_use]
    pub fn new(disk: Rc<dyn Disk>, plan: &DiskPlan) -> DiskAfter {
        let mut over = Vec::new();
        let mut put = |start: u64, length: u64, what| {
            over.extend(ByteRange::new(start, length).map(|range| (range, what)));
        };
        for one in &plan.moves {
            for aside in &one.aside {
                put(one.from_bytes + aside.start_bytes(), aside.length_bytes(), Over::Zeros);
            }
        }
        for left in &plan.leftovers {
            put(left.start_bytes(), left.length_bytes(), Over::Zeros);
        }
        for one in &plan.moves {
            put(one.to_bytes, one.length_bytes, Over::Old(one.from_bytes));
            for fix in &one.fix_ups {
                let new = fix.new.clone();
                put(one.to_bytes + fix.at_bytes, disk::length_of(&new), Over::Bytes(new));
            }
        }
        for region in &plan.regions {
            let new = region.new.clone();
            put(region.at_bytes, disk::length_of(&new), Over::Bytes(new));
        }
        DiskAfter { disk, over }
    }

    /// The same disk with `volume` in `range`, as long as it.
    #[must_use]
    pub fn with_volume(mut self, range: ByteRange, volume: Rc<dyn Disk>) -> DiskAfter {
        self.over.push((range, Over::Volume(volume)));
        self
    }

    /// The ranges that are not what they were, in any order.
    pub fn changed(&self) -> impl Iterator<Item = ByteRange> + '_ {
        self.over.iter().map(|(range, _)| *range)
    }
}

impl Disk for DiskAfter {
    fn length_bytes(&self) -> u64 {
        self.disk.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.disk.read_at(offset_bytes, buffer)?;
        let Some(wanted) = ByteRange::new(offset_bytes, disk::length_of(buffer)) else {
            return Ok(());
        };
        let index = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        for (range, over) in &self.over {
            let Some(part) = range.intersection(wanted).filter(|part| part.length_bytes() > 0)
            else {
                continue;
            };
            let at = index(part.start_bytes() - offset_bytes);
            let to = &mut buffer[at..at + index(part.length_bytes())];
            let within = part.start_bytes() - range.start_bytes();
            match over {
                Over::Zeros => to.fill(0),
                Over::Volume(volume) => volume.read_at(within, to)?,
                Over::Old(from) => self.disk.read_at(from + within, to)?,
                Over::Bytes(bytes) => {
                    let from = index(within);
                    to.copy_from_slice(&bytes[from..from + to.len()]);
                }
            }
        }
        Ok(())
    }
}
