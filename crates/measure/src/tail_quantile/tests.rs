//! Intervals of series whose answer can be worked out by hand.

use super::{ALPHA, Tail, needed};

/// The numbers from 1 to `last` in an order without neighbors that are alike.
fn shuffled(last: u64) -> Vec<u64> {
    let mut random = testkit::random(41);
    let mut values: Vec<u64> = (1..=last).collect();
    for place in (1..values.len()).rev() {
        let other = usize::try_from(random.below(place as u64 + 1)).unwrap();
        values.swap(place, other);
    }
    values
}

#[test]
fn the_numbers_that_are_needed_are_those_of_the_formula() {
    assert_eq!(needed(0.99), Some(368));
    assert_eq!(needed(0.5), Some(6));
    assert_eq!(needed(0.95), Some(72));
    assert_eq!(needed(0.999), Some(3688));
    for share in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(needed(share), None);
        assert_eq!(Tail::of(&[1, 2, 3], share), None);
    }
}

#[test]
fn below_368_values_a_p99_has_no_upper_end() {
    for values in [1, 19, 20, 100, 367] {
        let tail = Tail::of(&shuffled(values), 0.99).unwrap();
        assert_eq!((tail.high_ns, tail.samples, tail.needed_samples), (None, values, 368));
        assert!(tail.more_for_an_end() + values >= 368);
    }
    assert_eq!(Tail::of(&[], 0.99), None);
}

#[test]
fn without_neighbors_alike_the_ends_are_near_the_ranks_of_the_binomial() {
    let tail = Tail::of(&shuffled(10_000), 0.99).unwrap();
    assert_eq!(tail.value_ns, 9900);
    assert!((5000..=10_000).contains(&tail.effective_samples), "{tail:?}");
    let (low, high) = (tail.low_ns.unwrap(), tail.high_ns.unwrap());
    assert!((9860..=9881).contains(&low) && (9919..=9930).contains(&high), "{tail:?}");
}

#[test]
fn values_in_order_are_worth_next_to_none() {
    let series: Vec<u64> = (1..=10_000).collect();
    let tail = Tail::of(&series, 0.99).unwrap();
    assert!(tail.effective_samples < 200, "{tail:?}");
    assert_eq!(tail.high_ns, None);
    assert!(tail.more_for_an_end() > 10_000);
}

#[test]
fn values_that_are_all_the_same_have_an_interval_of_one_value() {
    let tail = Tail::of(&[7; 1000], 0.99).unwrap();
    assert_eq!((tail.low_ns, tail.value_ns, tail.high_ns), (Some(7), 7, Some(7)));
}

#[test]
fn a_wider_interval_needs_more_values_to_leave_a_limit() {
    let tail = Tail {
        quantile_percent: 99.0,
        value_ns: 100,
        low_ns: Some(80),
        high_ns: Some(140),
        alpha: ALPHA,
        samples: 1000,
        effective_samples: 800,
        needed_samples: 368,
    };
    assert_eq!(tail.samples_to_leave(120), Some(16_000));
    assert_eq!(tail.samples_to_leave(90), Some(16_000));
    assert_eq!(tail.samples_to_leave(100), None);
}
