//! The cheapest sufficient places: what stays stays; what must move goes to the nearest aligned
//! start that is free; only where none is free do its neighbors move too.
//!
//! The order on the disk never changes. Each partition has a few candidates for its start; the best
//! choice for all of them together follows from left to right, so that no choice is greedy.

use crate::grid::Grid;
use crate::old_table_bytes::RECORD_BYTES;
use crate::partition_needs::PartitionNeeds;

/// The most partitions that are placed together, and the most aligned starts that are tried to each
/// side of each.
pub(crate) const PIECES_MAX: usize = 256;
const STEPS_MAX: usize = 24;
/// The most times that places are looked for from those that were found.
const ROUNDS_MAX: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionRoom {
    /// The first byte that a partition may have.
    pub(crate) first: u64,
    /// The byte after the last one.
    pub(crate) end: u64,
    pub(crate) ends: Grid,
    /// Unit of all starts and ends, in bytes: the logical sector.
    pub(crate) sector: u64,
}

/// The new range of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewRange {
    pub(crate) start: u64,
    pub(crate) length: u64,
}

/// Cost of a choice, the most important part first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Price {
    /// Starts or ends that the table cannot express.
    impossible: u64,
    /// Partitions whose data stays off the granule, the chunk, the full stripe.
    misaligned: [u64; 3],
    /// Bytes that move.
    moved: u128,
    /// Ends that stay off the granule.
    ends: u64,
    /// Distance of all moves and changes of length, in bytes.
    distance: u128,
}

impl Price {
    fn plus(self, other: Price) -> Price {
        Price {
            impossible: self.impossible + other.impossible,
            misaligned: [0, 1, 2].map(|level| self.misaligned[level] + other.misaligned[level]),
            moved: self.moved.saturating_add(other.moved),
            ends: self.ends + other.ends,
            distance: self.distance.saturating_add(other.distance),
        }
    }
}

/// A start of the current piece: what it costs with all before it, and the start before it with the
/// length that the piece before got.
struct PlacedStart {
    start: u64,
    price: Price,
    from: Option<(usize, u64)>,
}

/// The places for `pieces`, which are in the order of the disk, from which nothing better is found:
/// what a move makes room for is taken at once, so that a second plan is empty. `None` when they do
/// not even fit as they are.
pub(crate) fn settled(pieces: &[PartitionNeeds], room: PartitionRoom) -> Option<Vec<NewRange>> {
    let mut places = best(pieces, room)?;
    for _ in 0..ROUNDS_MAX {
        let moved = pieces.iter().zip(&places).map(|(piece, &new)| {
            let record_at = piece.record_at.map(|_| gap_start(piece, new.start, room));
            piece.moved(new.start, new.length, record_at)
        });
        let next = best(&moved.collect::<Vec<_>>(), room)?;
        if next == places {
            break;
        }
        places = next;
    }
    Some(places)
}

/// The best place for each of `pieces` among those next to where they are.
fn best(pieces: &[PartitionNeeds], room: PartitionRoom) -> Option<Vec<NewRange>> {
    let mut rows: Vec<Vec<PlacedStart>> = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        let mut row = Vec::new();
        for start in candidates(piece, pieces.len()) {
            let before = gap_start(piece, start, room);
            let is_moved = piece.record_at.is_some_and(|at| at != before);
            if is_moved && piece.blank_until(before, start) < before + RECORD_BYTES {
                continue;
            }
            let from = match rows.last() {
                None if before >= room.first => Some((None, Price::default())),
                None => None,
                Some(previous) => cheapest(previous, &pieces[index - 1], before, room),
            };
            if let Some((from, price)) = from {
                row.push(PlacedStart {
                    start,
                    price: price.plus(start_price(piece, start, room)),
                    from,
                });
            }
        }
        rows.push(row);
    }
    let last = pieces.last()?;
    let (from, _) = cheapest(rows.last()?, last, room.end, room)?;
    let mut places = Vec::with_capacity(pieces.len());
    let mut next = from;
    for row in rows.iter().rev() {
        let (index, length) = next?;
        let step = &row[index];
        places.push(NewRange { start: step.start, length });
        next = step.from;
    }
    places.reverse();
    Some(places)
}

/// The cheapest start of the piece of `row` that lets it end before `limit`, with its length then.
fn cheapest(
    row: &[PlacedStart],
    piece: &PartitionNeeds,
    limit: u64,
    room: PartitionRoom,
) -> Option<(Option<(usize, u64)>, Price)> {
    let each = row.iter().enumerate().filter_map(|(index, step)| {
        let (length, price) = length(piece, step.start, limit, room)?;
        Some((Some((index, length)), step.price.plus(price)))
    });
    each.min_by_key(|(_, price)| *price)
}

/// Returns the end of the space before a piece: a logical partition has its record there.
pub(crate) fn gap_start(piece: &PartitionNeeds, start: u64, room: PartitionRoom) -> u64 {
    match piece.record_at {
        None => start,
        Some(at) if start == piece.range.start_bytes() && at.is_multiple_of(room.sector) => at,
        Some(_) => start.saturating_sub(room.ends.unit.max(room.sector)),
    }
}

/// The starts that are tried: as it is, and the aligned ones next to that, of each kind.
fn candidates(piece: &PartitionNeeds, count: usize) -> Vec<u64> {
    let now = piece.range.start_bytes();
    let mut found = vec![now];
    if piece.fixed.is_some() {
        return found;
    }
    let steps = STEPS_MAX.min(count + 2);
    for grid in piece.goals() {
        let up = std::iter::successors(grid.after(now), |at| at.checked_add(grid.unit));
        let down = std::iter::successors(grid.before(now), |at| at.checked_sub(grid.unit));
        found.extend(up.take(steps).chain(down.take(steps)));
    }
    found.sort_unstable_by_key(|&at| (at.abs_diff(now), at < now));
    found.dedup();
    found
}

fn start_price(piece: &PartitionNeeds, start: u64, room: PartitionRoom) -> Price {
    let now = piece.range.start_bytes();
    Price {
        impossible: u64::from(!start.is_multiple_of(room.sector)),
        misaligned: piece.grids.map(|grid| u64::from(piece.wants && !grid.holds(start))),
        moved: if start == now { 0 } else { piece.range.length_bytes().into() },
        ends: 0,
        distance: start.abs_diff(now).into(),
    }
}

/// The length of a piece from `start` that ends at or before `limit`, nearest to what it has, on
/// the granule where that is possible; `None` when its content does not fit.
fn length(
    piece: &PartitionNeeds,
    start: u64,
    limit: u64,
    room: PartitionRoom,
) -> Option<(u64, Price)> {
    let now = piece.range.length_bytes();
    let limit = piece.blank_until(start, limit);
    let most = limit.checked_sub(start)?;
    let longest = most.min(piece.most.max(now));
    let fits = |length: &u64| (piece.least..=longest).contains(length) && *length > 0;
    let end = start.checked_add(now)?;
    let whole = |end: Option<u64>| end.and_then(|end| end.checked_sub(start)).filter(fits);
    let is_even = |length: u64| room.ends.holds(start + length);
    let expressible = |length: u64| (start + length).is_multiple_of(room.sector);
    // Where the start is off the granule for the sake of its data, the end may be off it too.
    let is_exact = piece.exact.is_some();
    let may_change = !is_exact && (piece.fixed.is_none() || piece.wants);
    let cares = room.ends.holds(start) || !expressible(now);
    let chosen = if now <= most && (is_exact || is_even(now) || !cares) {
        Some(now)
    } else if !may_change {
        (now <= most).then_some(now)
    } else {
        let rounded =
            whole(room.ends.before(end.min(limit))).or_else(|| whole(room.ends.after(end)));
        rounded.or_else(|| Some(now).filter(fits)).or_else(|| Some(most).filter(fits))
    }?;
    let price = Price {
        impossible: u64::from(!expressible(chosen)),
        ends: u64::from(piece.wants && cares && !is_even(chosen)),
        distance: chosen.abs_diff(now).into(),
        ..Price::default()
    };
    Some((chosen, price))
}
