//! Properties that slow hosts share: a kernel, a type of machine. Where one explains the
//! difference, it is named, and not each host.
//!
//! A value explains it if every host that has it takes at least twice the median of all others, and
//! if that is no accident: so many hosts, picked by chance, would all be slow in one of a hundred
//! groups at most. That chance is exact, of picking without putting back (Fisher's test, one-sided;
//! R. A. Fisher, "The Design of Experiments", 1935), and is multiplied by the values that are
//! tried.

use std::collections::{BTreeMap, BTreeSet};

use super::outlier_rule::{FACTOR_MIN, HOSTS_MIN, median};
use units::number::real;

/// The greatest chance of an accident.
const CHANCE_MAX: f64 = 0.01;

/// The most values that are tried: with more, files of a fleet do not mean what they say.
const VALUES_MAX: usize = 256;

/// Values of one host, each with the name of what it is a value of.
pub(super) type HostValues = BTreeMap<&'static str, String>;

/// A value that explains why hosts are slow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Explanation {
    /// In words: `kernel 6.1.0-13`.
    pub(super) what: String,
    /// Places of the hosts that have it.
    pub(super) places: BTreeSet<usize>,
    /// Logarithm of how many times as long they take.
    pub(super) rise: f64,
}

/// Returns what explains that some of `hosts` are slow; of several values the surest, and those
/// that the same hosts have. Each host has its values and the logarithm of its latency.
pub(super) fn explanation(hosts: &[(&HostValues, f64)]) -> Option<Explanation> {
    let mut having: BTreeMap<(&str, &str), BTreeSet<usize>> = BTreeMap::new();
    for (place, (values, _)) in hosts.iter().enumerate() {
        for (name, value) in *values {
            having.entry((name, value)).or_default().insert(place);
        }
    }
    having.retain(|_, places| (2..hosts.len()).contains(&places.len()));
    if hosts.len() < HOSTS_MIN || having.len() > VALUES_MAX {
        return None;
    }
    let tried = count(having.len());
    let mut found: Option<(f64, Explanation)> = None;
    for ((name, value), places) in having {
        let Some((chance, rise)) = judged(hosts, &places) else { continue };
        let what = format!("{name} {value}");
        match &mut found {
            Some((_, best)) if best.places == places => best.what += &format!(", {what}"),
            Some((least, _)) if *least <= chance => {}
            _ => found = Some((chance, Explanation { what, places, rise })),
        }
    }
    found.filter(|(chance, _)| chance * tried <= CHANCE_MAX).map(|(_, found)| found)
}

/// Returns the chance that hosts as many as those at `places` are all slow, and how slow these
/// are; `None` where one of them is not.
fn judged(hosts: &[(&HostValues, f64)], places: &BTreeSet<usize>) -> Option<(f64, f64)> {
    let of = |are_inside: bool| -> Vec<f64> {
        let places = (0..hosts.len()).filter(|place| places.contains(place) == are_inside);
        places.map(|place| hosts[place].1).collect()
    };
    let (inside, middle) = (of(true), median(&of(false)));
    let is_slow = |latency: &f64| latency - middle >= FACTOR_MIN.ln();
    if !inside.iter().all(is_slow) {
        return None;
    }
    let slow = hosts.iter().filter(|(_, latency)| is_slow(latency)).count();
    let share = |at: usize| count(slow - at) / count(hosts.len() - at);
    Some(((0..inside.len()).map(share).product(), median(&inside) - middle))
}

fn count(number: usize) -> f64 {
    real(u64::try_from(number).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what explains it where `slow` says which of twenty hosts are, and `value` what each
    /// has.
    fn explained(
        slow: impl Fn(usize) -> bool,
        value: impl Fn(usize) -> &'static [(&'static str, &'static str)],
    ) -> Option<String> {
        let values = |place| value(place).iter().map(|(name, it)| (*name, (*it).to_owned()));
        let values: Vec<HostValues> = (0..20).map(|place| values(place).collect()).collect();
        let latency = |place| if slow(place) { 18.0 } else { 14.0 };
        let hosts: Vec<(&HostValues, f64)> =
            values.iter().enumerate().map(|(place, values)| (values, latency(place))).collect();
        explanation(&hosts).map(|found| found.what)
    }

    #[test]
    fn a_value_that_all_slow_hosts_have_and_no_other_is_named() {
        let kernel = |place: usize| -> &'static [_] {
            if place < 7 { &[("kernel", "6.1")] } else { &[("kernel", "6.12")] }
        };
        assert_eq!(explained(|place| place < 7, kernel).unwrap(), "kernel 6.1");
        // More than half are slow.
        assert_eq!(explained(|place| place >= 7, kernel).unwrap(), "kernel 6.12");
        // Another slow host, which does not have it.
        assert_eq!(explained(|place| place < 7 || place == 11, kernel).unwrap(), "kernel 6.1");
        assert_eq!(explained(|place| place < 6, kernel), None, "one with it is quick");
        assert_eq!(explained(|_| true, kernel), None);
        assert_eq!(explained(|_| false, kernel), None);
    }

    #[test]
    fn two_values_of_the_same_hosts_are_named_together_and_accidents_are_not() {
        let both = |place: usize| -> &'static [_] {
            if place < 7 { &[("kernel", "6.1"), ("machine type", "R640")] } else { &[] }
        };
        let named = explained(|place| place < 7, both).unwrap();
        assert_eq!(named, "kernel 6.1, machine type R640");
        let two = |place: usize| -> &'static [_] {
            if place < 2 { &[("kernel", "6.1")] } else { &[("kernel", "6.12")] }
        };
        assert_eq!(explained(|place| place < 2, two), None, "1 of 190, twice tried");
        let one = |place: usize| -> &'static [_] {
            if place < 1 { &[("kernel", "6.1")] } else { &[("kernel", "6.12")] }
        };
        assert_eq!(explained(|place| place < 1, one), None, "it may as well be the host");
    }
}
