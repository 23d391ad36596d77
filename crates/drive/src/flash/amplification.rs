//! Write amplification of greedy garbage collection, in closed form.
//!
//! Pages are erased in blocks. To get an empty one, what is still valid in the block with the least
//! is programmed elsewhere first. Of pieces of equal length that are overwritten at random, `n` of
//! which fill a block, with `a` bytes of flash for each byte in use, each programmed piece costs
//! `1 / (1 - v + 1 / 2n)` programs, where `v a` is the smaller solution of `y exp(-y) = c a exp(-c
//! a)` and `c = 1 + 1 / 2n`: P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR
//! 2012. With `n` large it is `1 / (1 - p)` with `p = exp(-(1 - p) a)`: L. Xiang and B. Kurkoski,
//! arXiv 1110.4245 (2.36 at `a` = 1.3, where their simulation found 2.35). With `n` = 1, what fills
//! blocks by itself, it is 1.

/// Above this `a`, no page that is collected is valid, to six digits.
const RATIO_MAX: f64 = 16.0;

/// Programs for each programmed piece, at least 1: with `ratio` bytes of flash for each byte in
/// use, above 1, and `pieces` of a block.
pub(crate) fn amplification(ratio: f64, pieces: f64) -> f64 {
    if ratio >= RATIO_MAX {
        return 1.0;
    }
    let half = 0.5 / pieces.max(1.0);
    let z = (1.0 + half) * ratio;
    // Newton's method from the left of the root of a concave function: it only comes nearer.
    let mut y = 0.0;
    for _ in 0..40 {
        let power = z * exp_minus(z - y);
        let step = (power - y) / (1.0 - power).max(1e-12);
        y += step;
        if step < 1e-9 {
            break;
        }
    }
    (1.0 / (1.0 - y / ratio + half)).max(1.0)
}

/// `exp(-x)` for `x` from 0 to some tens: a sixty-fourth of `x` by its series, then squared six
/// times. The same on every machine, as a library's is not.
fn exp_minus(x: f64) -> f64 {
    let small = x / 64.0;
    let horner = |sum: f64, divisor: f64| 1.0 - small * sum / divisor;
    let series = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0].into_iter().fold(1.0, horner);
    (0..6).fold(series, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, wanted: f64, percent: f64) {
        assert!((found / wanted - 1.0).abs() * 100.0 <= percent, "{found} for {wanted}");
    }

    #[test]
    fn the_exponential_is_right_to_a_millionth() {
        for (x, wanted) in [(0.0, 1.0), (1.0, 0.367_879_441), (5.0, 0.006_737_947)] {
            assert_near(exp_minus(x), wanted, 1e-4);
        }
    }

    /// The abstract's own value, and p solved by hand for another: p = exp(-(1 - p) a).
    #[test]
    fn write_amplification_is_that_of_the_published_formula() {
        assert_near(amplification(1.3, 1e6), 2.36, 0.2);
        // p = 0.2032.
        assert_near(amplification(2.0, 1e6), 1.255, 0.1);
        // p = 0.8663.
        assert_near(amplification(1.0735, 1e6), 7.48, 0.2);
        assert_eq!(amplification(16.0, 1e6), 1.0);
    }

    #[test]
    fn less_spare_flash_never_means_less_to_move_and_longer_pieces_never_more() {
        let ratios = (1..200).map(|step| 1.0 + f64::from(step) / 200.0);
        let costs: Vec<f64> = ratios.map(|ratio| amplification(ratio, 512.0)).collect();
        assert!(costs.is_sorted_by(|more, less| more >= less));
        let pieces = [1.0, 2.0, 8.0, 64.0, 1024.0, 1e6];
        let costs = pieces.map(|pieces| amplification(1.07, pieces));
        assert!(costs.is_sorted_by(|less, more| less < more) && costs[0] < 1.1, "{costs:?}");
    }
}
