//! Targets that are judged together: members of one array or volume group.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A target that lacks members, and the ids of what it lacks them of.
pub(super) struct WaitingTarget {
    pub(super) index: usize,
    pub(super) lacks: BTreeSet<String>,
}

/// Targets that share an array or a volume group, directly or through others, in order.
pub(super) fn groups(waiting: &[WaitingTarget]) -> Vec<Vec<usize>> {
    // The first target that lacks members of each array or group, and the next link from each
    // target toward the first of its group.
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut toward: Vec<usize> = (0..waiting.len()).collect();
    for (place, one) in waiting.iter().enumerate() {
        for id in &one.lacks {
            let other = *first.entry(id).or_insert(place);
            let (one, other) = (end(&mut toward, place), end(&mut toward, other));
            toward[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, one) in waiting.iter().enumerate() {
        groups.entry(end(&mut toward, place)).or_default().push(one.index);
    }
    groups.into_values().collect()
}

/// The first of the group that `place` belongs to; the way there is shortened.
fn end(toward: &mut [usize], mut place: usize) -> usize {
    while toward[place] != place {
        toward[place] = toward[toward[place]];
        place = toward[place];
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(index: usize, lacks: &[&str]) -> WaitingTarget {
        WaitingTarget { index, lacks: lacks.iter().map(|&id| id.to_owned()).collect() }
    }

    #[test]
    fn targets_that_share_anything_directly_or_not_are_one_group() {
        let found = groups(&[
            waiting(0, &["a"]),
            waiting(1, &["b"]),
            waiting(2, &["c"]),
            waiting(3, &["a", "b"]),
        ]);
        assert_eq!(found, [vec![0, 1, 3], vec![2]]);
    }
}
