//! A partition that may be placed elsewhere: the addresses that its data needs, and its least
//! length.

use device::{Disk, Window};
use format::table::{PartitionRole, PartitionTable};
use stack::placement::{self, Obstacle};
use stack::rule::{self, RuleInput};
use stack::{LayerId, LayerKind, Stack, UnitKind};
use units::{ByteRange, Source};

use crate::content_needs::ContentNeeds;
use crate::grid::{Grid, lcm};
use crate::immovable;
use crate::in_the_way::InTheWay;

/// The longest unit that starts are put on.
const UNIT_MAX: u64 = 1 << 30;

/// Units that starts are put on, the most important first.
const LEVELS: [UnitKind; 3] = [UnitKind::Granule, UnitKind::Chunk, UnitKind::FullStripe];

/// A unit that starts have to fit, as the disk counts.
#[derive(Clone, Debug)]
pub(crate) struct StartUnit {
    /// Purpose.
    pub(crate) kind: UnitKind,
    /// Its length in bytes.
    pub(crate) unit: u64,
    /// Distance of byte 0 of the disk from the last boundary, in bytes.
    pub(crate) behind: u64,
    /// True if nothing reports it.
    pub(crate) assumed: bool,
}

impl StartUnit {
    /// The addresses on its boundaries.
    pub(crate) fn grid(&self) -> Grid {
        Grid { unit: self.unit, remainder: (self.unit - self.behind % self.unit) % self.unit }
    }
}

/// A partition and its needs.
#[derive(Clone, Debug)]
pub(crate) struct PartitionNeeds {
    pub(crate) layer: LayerId,
    pub(crate) number: u32,
    pub(crate) range: ByteRange,
    /// Address of the record of a logical partition, in bytes.
    pub(crate) record_at: Option<u64>,
    /// Why it must stay.
    pub(crate) fixed: Option<String>,
    /// Starts at which its data is on the granule; on the chunk as well; on the full stripe as
    /// well.
    pub(crate) grids: [Grid; 3],
    /// True if its alignment is worth a move: it is written often.
    pub(crate) wants: bool,
    /// The bytes that its content needs; never more than its length.
    pub(crate) least: u64,
    /// The most bytes that it may have.
    pub(crate) most: u64,
    /// Why its length must stay: something is found from its end, or may be. `None` where the end
    /// may move.
    pub(crate) exact: Option<&'static str>,
    pub(crate) content: Option<String>,
    /// Units that no start meets for all of its data.
    pub(crate) unmet: Vec<UnitKind>,
    /// Starts that are as good as now on the units that no start meets; `None` for no other.
    kept: Option<Grid>,
    /// Bytes of free space that it cannot take.
    pub(crate) in_the_way: Vec<InTheWay>,
}

/// The units beneath `disk`, the most important first, and the logical sector `sector`.
pub(crate) fn marks(stack: &Stack, disk: LayerId, sector: u64) -> Vec<StartUnit> {
    let kind = UnitKind::LogicalSector;
    let mut marks = vec![StartUnit { kind, unit: sector, behind: 0, assumed: false }];
    let whole = whole(stack, disk);
    let under = stack.under(disk);
    let mut put = |kind, unit: u64, to: LayerId, origin: u64, assumed| {
        let shifts = placement::shifts(stack, disk, whole, to, unit);
        if let Some(shift) = shifts.single() {
            let behind = (shift + unit - origin % unit) % unit;
            marks.push(StartUnit { kind, unit, behind, assumed });
        }
    };
    for (leaf, layer) in stack.leaves(disk) {
        if let Some((unit, source)) = layer.units.used(UnitKind::Granule) {
            let assumed = source == Source::Assumed;
            put(UnitKind::Granule, unit.length_bytes(), leaf, unit.origin_bytes(), assumed);
        }
    }
    for &array in &under {
        let layer = stack.layer(array);
        let laid = layer.mapping.stripes();
        if laid.is_empty() {
            for kind in [UnitKind::Chunk, UnitKind::FullStripe] {
                if let Some(bytes) = layer.units.used_bytes(kind).filter(|&bytes| bytes > 0) {
                    put(kind, bytes, array, 0, false);
                }
            }
        }
        for laid in laid.iter().filter(|laid| laid.stripe.data_members() > 1) {
            put(UnitKind::Chunk, laid.stripe.chunk_bytes(), array, laid.start_bytes, false);
            put(UnitKind::FullStripe, laid.stripe.full_bytes(), array, laid.start_bytes, false);
        }
    }
    marks
}

/// The granule of the first leaf, as the disk counts: what ends are put on.
pub(crate) fn end_grid(marks: &[StartUnit]) -> Grid {
    let granule = marks.iter().find(|mark| mark.kind == UnitKind::Granule);
    let sector = Grid::multiples(marks.first().map_or(512, |mark| mark.unit));
    granule.and_then(|mark| mark.grid().and(sector, UNIT_MAX)).unwrap_or(sector)
}

fn whole(stack: &Stack, id: LayerId) -> ByteRange {
    let length = stack.layer(id).length().unwrap_or(1).max(1);
    ByteRange::new(0, length).expect("a range from 0 always exists")
}

impl PartitionNeeds {
    /// The partition on `layer`, with its needs on a disk with `marks` and these `bytes`. Where
    /// none are given, they are taken for zeros.
    pub(crate) fn new(
        case: &RuleInput<'_>,
        layer: LayerId,
        table: &PartitionTable,
        marks: &[StartUnit],
        bytes: Option<&dyn Disk>,
    ) -> Option<PartitionNeeds> {
        let stack = case.stack;
        let LayerKind::Partition(partition, _) = &stack.layer(layer).kind else { return None };
        let is_logical = table.kind == format::table::TableKind::Mbr && partition.number > 4;
        let volume = bytes.map(|bytes| Window::new(bytes, partition.range));
        let volume = volume.as_ref().map(|volume| volume as &dyn Disk);
        let length = partition.range.length_bytes();
        let ContentNeeds { content, least, most, exact } =
            ContentNeeds::new(stack, layer, length, volume, end_grid(marks).unit);
        let (grids, unmet) = grids(case, layer, marks);
        let wants = matches!(partition.role, PartitionRole::Ordinary | PartitionRole::BsdSlice)
            && !rule::is_rarely_written(case, layer);
        Some(PartitionNeeds {
            layer,
            number: partition.number,
            range: partition.range,
            record_at: is_logical.then(|| partition.entry_at_bytes.saturating_sub(446)),
            fixed: immovable::why(case, layer, partition),
            grids,
            wants,
            least,
            most,
            exact,
            content,
            kept: kept(partition.range.start_bytes(), marks, &unmet),
            unmet,
            in_the_way: Vec::new(),
        })
    }

    /// The same partition once it starts at `start`, has `length` bytes, and its record is at
    /// `record_at`.
    pub(crate) fn moved(&self, start: u64, length: u64, record_at: Option<u64>) -> PartitionNeeds {
        // Content that may need every byte needs those of the new length.
        let needs_all = self.least == self.range.length_bytes();
        PartitionNeeds {
            range: ByteRange::new(start, length).unwrap_or(self.range),
            record_at,
            least: if needs_all { length } else { self.least },
            ..self.clone()
        }
    }

    /// The same partition where its end may not move.
    pub(crate) fn at_its_length(&self) -> PartitionNeeds {
        PartitionNeeds { exact: Some("its length is kept"), ..self.clone() }
    }

    /// Returns the end of the space that it can take from `start` on, at most `limit`.
    pub(crate) fn blank_until(&self, start: u64, limit: u64) -> u64 {
        let after = self.in_the_way.iter().map(|one| one.at_bytes).filter(|&at| at >= start);
        after.fold(limit, u64::min)
    }

    /// Why it has no better start.
    pub(crate) fn lack(&self) -> String {
        let words = self.in_the_way.first().map(|one| one.words());
        words.unwrap_or_else(|| "there is no room for an aligned start".to_owned())
    }

    /// Starts at which its data is on every unit.
    pub(crate) fn grid(&self) -> Grid {
        self.grids[2]
    }

    /// Returns whether its data is aligned where it starts now.
    pub(crate) fn is_good(&self) -> bool {
        self.grid().holds(self.range.start_bytes())
    }

    /// The unit that its data is off from `start`.
    pub(crate) fn missed(&self, start: u64) -> Option<UnitKind> {
        let missed = self.grids.iter().position(|grid| !grid.holds(start))?;
        Some(LEVELS[missed])
    }

    /// Places for it, the best first. One that is aligned never moves to where it is worse.
    pub(crate) fn goals(&self) -> Vec<Grid> {
        let mut goals = self.grids.to_vec();
        goals.reverse();
        goals.dedup();
        match self.kept {
            _ if !self.is_good() => goals,
            Some(kept) => self.grid().and(kept, UNIT_MAX).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

/// Returns where the partition may start so that all that lies in it is on `marks`, for each of
/// [`LEVELS`] with those before it, and which of them no start meets.
fn grids(case: &RuleInput<'_>, id: LayerId, marks: &[StartUnit]) -> ([Grid; 3], Vec<UnitKind>) {
    let mut grid = Grid::multiples(marks.first().map_or(512, |mark| mark.unit));
    let mut grids = [grid; 3];
    let mut unmet = Vec::new();
    let of = |level: usize| {
        marks.iter().filter(move |mark| mark.kind == LEVELS[level]).map(move |mark| (level, mark))
    };
    for (level, mark) in (0..LEVELS.len()).flat_map(of) {
        let met = anchor(case, id, mark.unit).and_then(|anchor| {
            let over = (anchor + mark.behind) % mark.unit;
            let wanted = Grid { unit: mark.unit, remainder: (mark.unit - over) % mark.unit };
            grid.and(wanted, UNIT_MAX)
        });
        match met {
            Some(met) => {
                grid = met;
                grids[level..].fill(grid);
            }
            None => unmet.push(mark.kind),
        }
    }
    (grids, unmet)
}

/// Starts that differ from `now` by multiples of the units that are not met; `None` where they are
/// too far apart.
fn kept(now: u64, marks: &[StartUnit], unmet: &[UnitKind]) -> Option<Grid> {
    let units = marks.iter().filter(|mark| unmet.contains(&mark.kind)).map(|mark| mark.unit);
    let unit = units.into_iter().try_fold(1, lcm).filter(|&unit| unit <= UNIT_MAX)?;
    Some(Grid { unit, remainder: now % unit })
}

/// Returns the offset within `unit` of the data that the partition holds, counted from its start;
/// `None` when that differs or follows from nothing.
fn anchor(case: &RuleInput<'_>, id: LayerId, unit: u64) -> Option<u64> {
    let stack = case.stack;
    let over = stack.over(id);
    let tops = over.iter().filter(|&&top| stack.above(top).is_empty());
    let mut found = None;
    for &top in tops {
        let shifts = placement::shifts(stack, top, whole(stack, top), id, unit);
        let torn = |obstacle: &Obstacle| matches!(obstacle, Obstacle::ChunkBelowUnit { .. });
        if shifts.obstacles.iter().any(torn) {
            return None;
        }
        for &shift in shifts.bytes.keys() {
            if *found.get_or_insert(shift) != shift {
                return None;
            }
        }
    }
    Some(found.unwrap_or(0))
}
