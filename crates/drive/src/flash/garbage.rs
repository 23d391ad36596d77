//! Additional work of a write by garbage collection.
//!
//! Pages are erased in blocks. To get an empty block, what is still valid in the block with the
//! most garbage is programmed elsewhere first. Where writes are uniformly random and that block is
//! always the one taken (greedy), a share `p` of its pages is valid with `p = exp(-(1 - p) * T /
//! U)`, of
//! `T` bytes of flash with `U` in use, and each page that the host has programmed costs `1 / (1 -
//! p)` programs: L. Xiang and B. Kurkoski, "An Improved Analytic Expression for Write Amplification
//! in NAND Flash", arXiv 1110.4245 (2.36 at `T / U` = 1.3, where their simulation found 2.35). The
//! question is X.-Y. Hu et al.'s, "Write Amplification Analysis in Flash-Based Solid State Drives",
//! SYSTOR 2009. Writes that are not uniformly random cost less; by how much, this does not say.

use super::unmapped::Unmapped;

/// A fraction's unit: 2^32.
const ONE: u64 = 1 << 32;
/// Above this `T / U`, no page that is collected is valid, to six digits.
const RATIO_MAX: u64 = 16;

/// The account of what is in use and what is owed to it.
#[derive(Clone, Debug)]
pub(super) struct Garbage {
    flash_bytes: u64,
    capacity_bytes: u64,
    /// Pages that can be programmed before garbage must be collected.
    erased_pages: u64,
    pub(super) unmapped: Unmapped,
    /// Programs beyond each page's own, as a fraction of [`ONE`].
    extra: u64,
    /// For how many bytes in use that holds.
    extra_for: u64,
    /// Work that was not yet a whole page.
    owed: u64,
}

impl Garbage {
    /// `flash_bytes` hold `capacity_bytes` of addresses, of which all but those `unmapped` are in
    /// use; `erased_pages` can be programmed at once.
    pub(super) fn new(
        flash_bytes: u64,
        capacity_bytes: u64,
        erased_pages: u64,
        unmapped: Unmapped,
    ) -> Garbage {
        let used = capacity_bytes - unmapped.bytes();
        let extra = extra(flash_bytes, used);
        Garbage {
            flash_bytes,
            capacity_bytes,
            erased_pages,
            unmapped,
            extra,
            extra_for: used,
            owed: 0,
        }
    }

    /// Returns how many valid pages are programmed elsewhere so that `pages` can be programmed.
    pub(super) fn moved(&mut self, pages: u64) -> u64 {
        let erased = self.erased_pages.min(pages);
        self.erased_pages -= erased;
        let used = self.capacity_bytes - self.unmapped.bytes();
        if used.abs_diff(self.extra_for) > self.flash_bytes >> 10 {
            (self.extra, self.extra_for) = (extra(self.flash_bytes, used), used);
        }
        let owed = u128::from(self.owed) + u128::from(self.extra) * u128::from(pages - erased);
        self.owed = u64::try_from(owed % u128::from(ONE)).unwrap_or(0);
        u64::try_from(owed / u128::from(ONE)).unwrap_or(u64::MAX)
    }
}

/// `1 / (1 - p) - 1` in units of 1/2^32, where `used_bytes` of `flash_bytes` are in use, the first
/// below the second.
fn extra(flash_bytes: u64, used_bytes: u64) -> u64 {
    if used_bytes == 0 || flash_bytes / used_bytes >= RATIO_MAX {
        return 0;
    }
    let fraction = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    let ratio = fraction(u128::from(flash_bytes) * u128::from(ONE) / u128::from(used_bytes));
    // p = 1 solves it too; the other solution lies below, and between them p is the larger.
    let (mut low, mut high) = (0, ONE - (ONE >> 10));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let exponent = u128::from(ONE - middle) * u128::from(ratio) / u128::from(ONE);
        match middle < exp_minus(fraction(exponent)) {
            true => low = middle,
            false => high = middle,
        }
    }
    fraction(u128::from(low) * u128::from(ONE) / u128::from(ONE - low))
}

/// `exp(-x)` with `x` from 0 to 16, both in units of 1/2^32: a sixty-fourth of `x` by its series,
/// then squared six times.
fn exp_minus(x: u64) -> u64 {
    let product = |left: u64, right: u64| {
        u64::try_from(u128::from(left) * u128::from(right) / u128::from(ONE)).unwrap_or(u64::MAX)
    };
    let small = x / 64;
    let horner = |sum: u64, divisor: u64| ONE - product(small, sum) / divisor;
    let series = [7, 6, 5, 4, 3, 2, 1].into_iter().fold(ONE, horner);
    (0..6).fold(series, |power, _| product(power, power))
}

#[cfg(test)]
mod tests {
    use super::{ONE, exp_minus, extra};

    /// `found` against `wanted` in thousandths, to one thousandth of it or of one.
    fn is_near(found: u64, wanted: u64) {
        let thousandths = u128::from(found) * 1000 / u128::from(ONE);
        let wanted = u128::from(wanted);
        assert!(thousandths.abs_diff(wanted) <= 1 + wanted / 1000, "{thousandths} for {wanted}");
    }

    #[test]
    fn the_exponential_is_right_to_a_thousandth() {
        for (x, wanted) in [(0, 1000), (1000, 368), (550, 577), (3000, 50), (15_000, 0)] {
            is_near(exp_minus(x * ONE / 1000), wanted);
        }
    }

    /// The papers' own value, and p solved by hand for others: p = exp(-(1 - p) T / U).
    #[test]
    fn write_amplification_is_that_of_the_published_formula() {
        // 1.3: the abstract says 2.36.
        is_near(extra(1300, 1000) / 10 * 10, 1362);
        assert!((1_355..1_365).contains(&(extra(1300, 1000) * 1000 / ONE)));
        // T / U = 2: p = 0.2032, 1 / (1 - p) = 1.255.
        is_near(extra(2000, 1000), 255);
        assert_eq!(extra(1600, 100), 0);
        assert_eq!(extra(1600, 0), 0);
    }

    #[test]
    fn less_spare_flash_never_means_less_to_move() {
        let amplification: Vec<u64> =
            (1010..2000).step_by(10).map(|flash| extra(flash, 1000)).collect();
        assert!(amplification.is_sorted_by(|less, more| less > more));
        // At a hundredth to spare, near 1 / (2 * 0.01).
        assert!((45..55).contains(&(amplification[0] / ONE)));
    }
}
