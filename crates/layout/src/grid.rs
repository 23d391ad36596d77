//! Allowed starts of a partition: every address that leaves one remainder modulo one unit.

/// The most steps that are tried to bring two conditions together.
const STEPS_MAX: u64 = 1 << 16;

/// Addresses that leave `remainder` modulo `unit`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) unit: u64,
    pub(crate) remainder: u64,
}

impl Grid {
    /// Multiples of `unit`, which is not 0.
    pub(crate) fn multiples(unit: u64) -> Grid {
        Grid { unit: unit.max(1), remainder: 0 }
    }

    /// Returns whether `address` is on it.
    pub(crate) fn holds(self, address: u64) -> bool {
        address % self.unit == self.remainder
    }

    /// The last address on it that is not after `address`.
    pub(crate) fn before(self, address: u64) -> Option<u64> {
        let over = (address % self.unit + self.unit - self.remainder) % self.unit;
        address.checked_sub(over)
    }

    /// The first address on it that is not before `address`.
    pub(crate) fn after(self, address: u64) -> Option<u64> {
        let over = (address % self.unit + self.unit - self.remainder) % self.unit;
        if over == 0 { Some(address) } else { address.checked_add(self.unit - over) }
    }

    /// The addresses that are on both; `None` where there are none, or where they repeat only after
    /// more than `most` bytes.
    pub(crate) fn and(self, other: Grid, most: u64) -> Option<Grid> {
        let unit = lcm(self.unit, other.unit).filter(|&unit| unit <= most)?;
        let (coarse, fine) = if self.unit >= other.unit { (self, other) } else { (other, self) };
        let steps = unit.div_euclid(coarse.unit).min(STEPS_MAX);
        let mut tried = (0..steps).map(|step| coarse.remainder + step * coarse.unit);
        let remainder = tried.find(|&address| fine.holds(address))?;
        Some(Grid { unit, remainder })
    }
}

/// The smallest common multiple; `None` beyond 64 bits.
pub(crate) fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_conditions_meet_where_both_hold() {
        let jumper = Grid { unit: 4096, remainder: 3584 };
        assert_eq!(jumper.and(Grid::multiples(512), 1 << 30), Some(jumper));
        assert_eq!(jumper.and(Grid::multiples(1 << 20), 1 << 30), None);
        let stripe = Grid { unit: 3 << 19, remainder: 512 << 10 };
        let both = stripe.and(Grid::multiples(1 << 20), 1 << 30).unwrap();
        assert_eq!(both, Grid { unit: 3 << 20, remainder: 2 << 20 });
        assert_eq!(stripe.and(Grid::multiples(1 << 20), 1 << 20), None);
    }

    #[test]
    fn neighbors_on_the_grid_enclose_an_address() {
        let grid = Grid { unit: 4096, remainder: 3584 };
        assert_eq!(grid.before(63 * 512), Some(63 * 512));
        assert_eq!(grid.after(64 * 512), Some(71 * 512));
        assert_eq!(grid.before(100), None);
        assert_eq!(grid.after(u64::MAX), None);
    }
}
